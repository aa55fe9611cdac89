// Whether a device can be computed on here, as far as can be told without LibTorch: by the driver,
// and by what the stages are built for.
#pragma once

#include <string>
#include <vector>

#include "pipeline/plugin/plugin_catalog.h"
#include "pipeline/system/machine.h"

namespace kdgat {

/// Throws Error(kUsage) if `device` is one of CUDA ("cuda", "cuda:1") and this machine has no
/// NVIDIA driver, or none of the stages is built for CUDA. Other words pass.
void require_device(const std::string& device, const std::vector<const PluginDescription*>& stages,
                    const Machine& machine);

/// "cpu" or "cuda[:N]" for what a profile asks: "auto" takes a card where one can be used. Throws
/// as require_device(), but asks for no driver where the steps run elsewhere.
std::string choose_device(const std::string& wanted,
                          const std::vector<const PluginDescription*>& stages,
                          const Machine& machine, bool runs_elsewhere);

}  // namespace kdgat
