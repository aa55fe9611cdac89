// Whatever the bytes, a neuron, and an archive of neurons, either throws Error(kData) or gives
// trees whose numbers are in range. The first byte picks what is read and which repairs are wanted.
// With clang: clang++ -std=c++20 -fsanitize=fuzzer,address with the sources of kdgat_graph.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "engine/arrays/spatial.h"
#include "engine/file/tar.h"
#include "fields/space/data/swc.h"
#include "kdgat/error.h"

namespace {

void check_neuron(kdgat::file::LineReader lines, const kdgat::space::SwcRepairs& repairs) {
  using namespace kdgat::arrays;
  using namespace kdgat::file;
  using namespace kdgat::space;
  const Neuron neuron = read_swc(std::move(lines), repairs);
  const std::size_t nodes = neuron.parent.size();
  if (nodes == 0 || neuron.pos.size() != 3 * nodes || neuron.type.size() != nodes ||
      neuron.radius.size() != nodes || neuron.row.size() != nodes) {
    std::abort();
  }
  if (!faulty_nodes(neuron.parent).empty() || children_of(neuron.parent).roots.size() != 1) {
    std::abort();
  }
  for (const float p : neuron.pos) {
    if (!std::isfinite(p)) std::abort();
  }
  for (std::size_t n = 0; n < nodes; ++n) {
    if (neuron.type[n] < 0 || neuron.type[n] >= kSwcTypes) std::abort();
    if (!(neuron.radius[n] >= 0) || !std::isfinite(neuron.radius[n])) std::abort();
    if (neuron.row[n] < 0 || neuron.row[n] >= neuron.rows) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kdgat::arrays;
  using namespace kdgat::file;
  using namespace kdgat::space;
  if (size == 0) return 0;
  const uint8_t choice = data[0];
  const SwcRepairs repairs{(choice & 1) != 0, (choice & 2) != 0, (choice & 4) != 0,
                           (choice & 8) != 0};
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    if (choice < 128) {
      check_neuron(LineReader("fuzz", text), repairs);
    } else {
      TarReader archive("fuzz", text);
      while (archive.next()) {
        const std::string content = archive.content();
        if (content.size() > size && (text[0] != '\x1f')) std::abort();
        check_neuron(LineReader(archive.name(), content), repairs);
      }
    }
  } catch (const kdgat::Error& error) {
    if (error.code() != kdgat::ExitCode::kData) std::abort();
  }
  return 0;
}
