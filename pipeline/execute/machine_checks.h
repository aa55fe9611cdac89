// Whether this machine can run stages: device, libraries, plugins, limits; and for what is not well
// what to type. Plugins are opened in processes of their own, so that none can end this one.
#pragma once

#include <string>
#include <vector>

#include "pipeline/plugin/plugin_catalog.h"

namespace kdgat {

struct MachineCheck {
  std::string name;
  std::string verdict;  ///< "ok", "warn" or "fail"
  std::string finding;
  std::string hint;  ///< what to type; empty with "ok"
};

std::vector<MachineCheck> check_machine(const PluginCatalog& catalog);

}  // namespace kdgat
