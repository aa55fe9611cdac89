// Whatever the bytes, a DBC either throws Error(kData) or gives messages whose parts are in range.
// With clang: clang++ -std=c++20 -fsanitize=fuzzer,address with the sources of kdgat_graph.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "engine/data/can/logs/dbc.h"
#include "kdgat/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kdgat::data;
  using namespace kdgat::file;
  try {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const DbcNames names{LineReader("fuzz", text)};
    if (names.is_empty()) std::abort();
    for (const DbcMessage& message : names.messages()) {
      if (message.id >= (message.extended ? 1U << 29 : 1U << 11)) std::abort();
      if (message.name.empty() || !kdgat::is_utf8(message.name)) std::abort();
      if (names.find(message.id, message.extended) != &message) std::abort();
      if (names.of_key(message.id) == nullptr) std::abort();
      for (const DbcSignal& signal : message.signals) {
        if (signal.name.empty() || !kdgat::is_utf8(signal.name)) std::abort();
        if (signal.length < 1 || signal.start < 0) std::abort();
        if (signal.last_byte() < signal.first_byte()) std::abort();
        if (message.signals_at(signal.last_byte()).empty()) std::abort();
      }
    }
  } catch (const kdgat::Error& error) {
    if (error.code() != kdgat::ExitCode::kData) std::abort();
  }
  return 0;
}
