// Opens stage plugins and checks them before use. Owns nothing that can be given back: a plugin
// stays loaded for the life of the process. It knows no stage.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kdgat/stage_abi.h"
#include "pipeline/plugin/plugin_catalog.h"
#include "pipeline/system/record.h"

namespace kdgat {

/// What a plugin says of itself and is not trusted in: its description (plugin_catalog.h) is.
struct SaidByPlugin {
  std::string name, runtime = "none";
  static auto keys() {
    return std::tuple{key("name", &SaidByPlugin::name), key("runtime", &SaidByPlugin::runtime)};
  }
};

class PluginHost {
 public:
  /// Opens the plugin a description speaks of. Throws Error(kPlugin) with one clear message for
  /// each failure: missing, not a shared library, not a plugin, wrong major, newer minor, another
  /// runtime than the plugins opened before or than the LibTorch that is here, or not the library
  /// that was described.
  const kdgat_stage& open(const PluginDescription& plugin);

  /// The same without a description to compare with: for a library just built.
  const kdgat_stage& open_library(const std::filesystem::path& library);

 private:
  std::string runtime_;        ///< of the first plugin that has one
  std::string runtime_owner_;  ///< its file, for the message
};

/// Looks at a plugin's file without opening it: there, a library, and the one that was described.
/// Throws Error(kPlugin).
void check_library(const PluginDescription& plugin);

/// What can be said from the descriptions alone, before anything is opened: versions, and that all
/// runtimes agree. Throws Error(kPlugin) with every problem.
void check_compatible(const std::vector<const PluginDescription*>& plugins);

}  // namespace kdgat
