// Whatever the bytes, a log either throws Error(kData) or gives frames whose values are in range.
// The first byte picks the form. With clang: clang++ -std=c++20 -fsanitize=fuzzer,address with the
// sources of kdgat_graph.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "engine/data/can/logs/can_log.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kdgat::data;
  using namespace kdgat::file;
  if (size == 0) return 0;
  const auto formats = log_formats();
  const size_t choice = data[0] % (formats.size() + 1);
  const char* format = choice == formats.size() ? "auto" : formats[choice];
  const bool strict = data[0] >= 128;
  try {
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    CanLog log(ByteReader("fuzz", text), format, strict);
    CanFrame frame;
    while (log.next(frame)) {
      if (frame.id >= 1U << 29 || frame.length > (frame.fd ? 64 : 8)) std::abort();
      if (frame.label < -1 || frame.label > 1 || std::isinf(frame.time)) std::abort();
      for (size_t i = frame.length; i < frame.payload.size(); ++i) {
        if (frame.payload[i] != 0) std::abort();
      }
    }
    if (strict && log.malformed() > 0) std::abort();
    log.problems();
  } catch (const kdgat::Error& error) {
    if (error.code() != kdgat::ExitCode::kData) std::abort();
  }
  return 0;
}
