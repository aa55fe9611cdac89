// Plugins of tests/plugins as the program knows them.
#pragma once

#include <string>

#include "pipeline/plugin/plugin_catalog.h"
#include "pipeline/system/hash.h"
#include "support/runs/compile_plugin.h"

namespace kdgat::test {

/// A description that says what it should of a library that may not deserve it.
inline PluginDescription describe_as(const std::filesystem::path& library,
                                     const std::string& name) {
  PluginDescription plugin;
  plugin.name = name;
  plugin.library = library;
  plugin.description = std::filesystem::path(library).replace_extension(".json");
  if (std::filesystem::exists(library)) plugin.library_hash = hash_file(library);
  return plugin;
}

/// A profile of three steps, two of them of the probe.
inline constexpr const char* kProbeChain = R"(stages:
  first: {stage: probe}
  second: {stage: probe, mode: good, needs: first}
  third: {stage: example, steps: 2}
)";

}  // namespace kdgat::test
