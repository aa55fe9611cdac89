#include "pipeline/execute/device.h"

#include <algorithm>

#include "kdgat/error.h"

namespace kdgat {
namespace {

bool is_cuda_build(const std::vector<const PluginDescription*>& stages) {
  return std::any_of(stages.begin(), stages.end(), [](const auto* stage) {
    return stage->runtime.find("cuda") != std::string::npos;
  });
}

void require(const std::string& device, const std::vector<const PluginDescription*>& stages,
             bool has_driver) {
  if (device.rfind("cuda", 0) != 0) return;
  const std::string hint = "use --device cpu; see kdgat doctor";
  if (!has_driver) {
    throw Error(ExitCode::kUsage, "device " + device + ": this machine has no NVIDIA driver", hint);
  }
  if (!is_cuda_build(stages)) {
    throw Error(ExitCode::kUsage, "device " + device + ": the stages are built for a CPU LibTorch",
                hint);
  }
}

}  // namespace

void require_device(const std::string& device, const std::vector<const PluginDescription*>& stages,
                    const Machine& machine) {
  require(device, stages, machine.has_nvidia_driver());
}

std::string choose_device(const std::string& wanted,
                          const std::vector<const PluginDescription*>& stages,
                          const Machine& machine, bool runs_elsewhere) {
  const bool has_driver = runs_elsewhere || machine.has_nvidia_driver();
  if (wanted == "auto") return is_cuda_build(stages) && has_driver ? "cuda" : "cpu";
  require(wanted, stages, has_driver);
  return wanted;
}

}  // namespace kdgat
