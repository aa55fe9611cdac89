// What verbs share that have a stage read logs with a model, in this process.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "pipeline/cli/cli.h"
#include "pipeline/plugin/stage_call.h"

namespace kdgat {

/// The plugin that takes inputs of a kind, for `kdgat <verb>`. Throws Error(kPlugin) without one.
const PluginDescription& stage_behind(const char* verb, const char* takes,
                                      const PluginCatalog& catalog);

// Of the options of a stage those that are flags of the verb; others the verb says in its own way.
nlohmann::json score_options(const PluginDescription& plugin);
nlohmann::json why_options(const PluginDescription& plugin);
nlohmann::json adapt_options(const PluginDescription& plugin);

/// Help with these options of the plugin that takes inputs of a kind in its middle. The texts must
/// outlive it.
Help help_around(const char* head, const char* takes,
                 nlohmann::json (*options)(const PluginDescription&), const char* end);

/// Its run with these options, on a model and a log.
StageCall log_stage_call(const PluginDescription& plugin, const nlohmann::json& options,
                         const std::filesystem::path& model, const std::string& log);

/// Throws Error with the stage's diagnostics where it failed, with the code of the signal where one
/// stopped it.
void require_done(const StageAnswer& answer);

}  // namespace kdgat
