// Whatever the bytes, parsing either throws Error(kData) or gives tensors whose every byte may be
// read. With clang: clang++ -std=c++20 -fsanitize=fuzzer,address with the sources of kdgat_graph.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "engine/file/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using kdgat::file::SafetensorsFile;
  try {
    const SafetensorsFile file =
        SafetensorsFile::parse(std::as_bytes(std::span(data, size)), "fuzz.safetensors");
    for (const auto& [name, view] : file.tensors()) {
      if (static_cast<size_t>(view.elements()) * kdgat::file::dtype_size(view.dtype) != view.bytes)
        std::abort();
      if (reinterpret_cast<std::uintptr_t>(view.data) % kdgat::file::dtype_size(view.dtype) != 0)
        std::abort();
      if (view.bytes > size) std::abort();
    }
    kdgat::file::verify_hashes(file);  // reads the header again and every byte of data
  } catch (const kdgat::Error& error) {
    if (error.code() != kdgat::ExitCode::kData) std::abort();
  }
  return 0;
}
