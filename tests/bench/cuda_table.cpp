// What NVRTC makes of the kernels for cards: registers, shared memory and spills of each, for every
// architecture named, or of kdgat's cards all that the compiler knows. Needs NVRTC and no card.
//
//   kdgat_cuda_table [ARCHITECTURE...]     75 80 90; $KDGAT_NVRTC names the library
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include "engine/kernels/cuda/card/nvrtc.h"
#include "engine/kernels/cuda/card/source_text.h"

int main(int argc, char** argv) {
  using namespace kdgat::kernels::cuda;
  try {
    const Nvrtc nvrtc(nvrtc_names({}));
    std::printf("NVRTC %s, %s\n", nvrtc.version().c_str(), nvrtc.library().c_str());
    std::map<std::string, std::map<int, KernelUse>> table;
    std::vector<int> architectures;
    for (int i = 1; i < argc; ++i) architectures.push_back(std::atoi(argv[i]));
    if (argc == 1) {
      const std::vector<int>& known = nvrtc.architectures();
      for (const int card : {70, 75, 80, 86, 89, 90, 100, 120}) {
        if (std::find(known.begin(), known.end(), card) != known.end()) {
          architectures.push_back(card);
        }
      }
    }
    int spills = 0;
    for (const int architecture : architectures) {
      std::string log;
      const std::string image = nvrtc.compile(source_text(), architecture, &log);
      std::printf("sm_%d: %zu bytes\n", architecture, image.size());
      for (const KernelUse& use : kernel_uses(log)) {
        table[use.kernel][architecture] = use;
        if (use.spilled_bytes > 0) ++spills;
      }
    }
    std::printf("%-28s", "registers, shared bytes");
    for (const int architecture : architectures) std::printf("  %12s%d", "sm_", architecture);
    std::printf("\n");
    for (const auto& [kernel, uses] : table) {
      std::printf("%-28s", kernel.c_str());
      for (const int architecture : architectures) {
        const auto found = uses.find(architecture);
        const KernelUse use = found == uses.end() ? KernelUse() : found->second;
        std::printf("  %4d %6d%s", use.registers, use.shared_bytes,
                    use.spilled_bytes > 0 ? " !!" : "   ");
      }
      std::printf("\n");
    }
    std::printf("%zu kernels, %d spill registers\n", table.size(), spills);
    for (const auto& [kernel, uses] : table) {
      if (uses.size() == architectures.size()) continue;
      std::fprintf(stderr, "%s is not there for every architecture\n", kernel.c_str());
      return 1;
    }
    return table.empty() ? 1 : 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
