// The commands that a verb suggests at its end. They work as they are printed, a path of the user's
// in the place of LOG or of another word in capitals.
#pragma once

#include <filesystem>
#include <string>

#include "pipeline/plugin/plugin_catalog.h"

namespace kdgat {

/// A run as a word of a command: its short id where verbs look by themselves (root "runs"), else
/// its folder.
std::string run_word(const std::filesystem::path& folder, const std::filesystem::path& root);

/// "kdgat report RUN · kdgat score LOG --run RUN", the latter only if the run has a model that
/// scores, with --model where it has several to choose from. `run`: see run_word().
std::string commands_after(const std::filesystem::path& folder, const std::string& run,
                           const PluginCatalog& catalog);

}  // namespace kdgat
