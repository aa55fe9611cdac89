// JSON Schema of profile files, for editors and validators. It says of a file alone what
// resolve_profile() says of all layers together; where layers that are not shipped could make
// something good, it lets that pass.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "pipeline/plugin/plugin_catalog.h"
#include "pipeline/profile/profile.h"

namespace kdgat {

/// Draft 2020-12. Keys, stages, presets and options that are unknown are refused, at the top and in
/// steps of any name; `preset_folders` hold the presets that are known by name.
nlohmann::json profile_schema(const PluginCatalog& catalog, const SectionSchemas& sections,
                              const std::vector<std::filesystem::path>& preset_folders);

}  // namespace kdgat
