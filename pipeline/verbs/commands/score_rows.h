// kdgat score with a model that says rows of its own instead of windows of logs.
#pragma once

#include <string>
#include <vector>

#include "pipeline/cli/cli.h"
#include "pipeline/plugin/plugin_catalog.h"

namespace kdgat {

/// The stage that the model file of `--run` names for it, where it names one; nullptr otherwise,
/// and where the words name no model. Throws Error(kPlugin) if that stage is not there.
const PluginDescription* row_scorer(const Context& context, const std::vector<std::string>& words);

/// Writes the rows that the stage sends: an event "columns" with their names, then an event "row"
/// for each, as CSV or, with --json, as they are.
int score_rows(Context& context, const PluginDescription& plugin,
               const std::vector<std::string>& words);

}  // namespace kdgat
