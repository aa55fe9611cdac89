// Which run, and which model file, a user means. Reads run folders; knows no stage:
// which speaks for a run, its description says.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pipeline/plugin/plugin_catalog.h"

namespace kdgat {

/// `run`: a model file, the folder of a step or of a run, or a run below `root` by its id (whole,
/// its beginning, or as shown: 01M7...TE) or its name; or "cars", the detector that comes with the
/// program, unless a run is called so. Of a run with several models `step` chooses;
/// without it the only one of the stage that speaks most. Throws Error(kUsage) with what there is
/// to choose from, Error(kData) if there is no model.
std::filesystem::path find_model(const std::string& run, const std::string& step,
                                 const std::filesystem::path& root, const PluginCatalog& catalog);

/// The detector that comes with the program, for cars that nobody trained one for. Throws
/// Error(kPlugin) if it is not there.
std::filesystem::path shipped_detector();

/// A model that a step of a run has left.
struct RunModel {
  std::string step, stage;
  std::filesystem::path path;
};
/// Those of the stage that speaks most, in the order of the steps: find_model() takes the only one
/// of these, of several `step` chooses. Throws Error(kData) for what is not the folder of a run.
std::vector<RunModel> speaking_models(const std::filesystem::path& run,
                                      const PluginCatalog& catalog);

/// The folder of a run by that folder, or its id or name below `root`. Throws as find_model().
std::filesystem::path find_run(const std::string& name, const std::filesystem::path& root);
/// The same of each name.
std::vector<std::filesystem::path> find_runs(const std::vector<std::string>& names,
                                             const std::filesystem::path& root);

/// Folders of every run below `root`, in the order of their paths.
std::vector<std::filesystem::path> runs_below(const std::filesystem::path& root);

/// The id of a run below `root` as it is shown, "01M7…TE", longer where that means others, too.
std::string short_name(const std::filesystem::path& run, const std::filesystem::path& root);

/// Whether `name` is the whole id of the run in `folder`, or its folder: it can mean no other.
bool names_whole_run(const std::string& name, const std::filesystem::path& folder);

}  // namespace kdgat
