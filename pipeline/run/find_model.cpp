#include "pipeline/run/find_model.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

#include "kdgat/error.h"
#include "pipeline/profile/path_options.h"
#include "pipeline/profile/profile.h"
#include "pipeline/run/plan.h"
#include "pipeline/run/run_labels.h"
#include "pipeline/show/text.h"
#include "pipeline/system/json_file.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kShipped = "cars";

/// "01M7…TE", or with three dots: how an id begins and ends.
bool is_short_form(const std::string& name, const std::string& id) {
  for (const std::string dots : {"…", "..."}) {
    const std::size_t at = name.find(dots);
    if (at == std::string::npos) continue;
    const std::string end = name.substr(at + dots.size());
    return at > 0 && !end.empty() && at + end.size() <= id.size() &&
           id.compare(0, at, name, 0, at) == 0 && id.ends_with(end);
  }
  return false;
}

/// The shortest form that means no other of these runs.
std::string short_form(const fs::path& run, const std::vector<fs::path>& runs) {
  const std::string id = run.filename().string();
  std::string out = short_run(id);
  for (std::size_t end = 3; out != id; ++end) {
    const auto meant = std::count_if(runs.begin(), runs.end(), [&](const fs::path& one) {
      return is_short_form(out, one.filename().string());
    });
    if (meant <= 1) break;
    out = short_run(id, end);
  }
  return out;
}

/// Those whose id is, begins with, or is shown as `name`, or that their user called so. A whole id
/// means no other run.
std::vector<fs::path> runs_named(const std::string& name, const std::vector<fs::path>& runs) {
  std::vector<fs::path> out;
  for (const fs::path& run : runs) {
    const std::string id = run.filename().string();
    if (id == name) return {run};
    const bool is_it =
        id.rfind(name, 0) == 0 || is_short_form(name, id) || read_labels(run).name == name;
    if (is_it) out.push_back(run);
  }
  return out;
}

/// As "01M7…TE (baseline)".
std::string candidate(const fs::path& run, const std::vector<fs::path>& runs) {
  const std::string name = read_labels(run).name;
  return short_form(run, runs) + (name.empty() ? "" : " (" + name + ")");
}

/// The newest first, and no more than can be read.
std::string candidates(std::vector<fs::path> runs) {
  constexpr std::size_t kShown = 6;
  std::sort(runs.begin(), runs.end(),
            [](const fs::path& a, const fs::path& b) { return a.filename() < b.filename(); });
  std::vector<std::string> words;
  for (auto run = runs.rbegin(); run != runs.rend() && words.size() < kShown; ++run) {
    words.push_back(candidate(*run, runs));
  }
  const std::size_t more = runs.size() - words.size();
  return joined(words, ", ") + (more == 0 ? "" : " and " + std::to_string(more) + " more");
}

/// The name that is nearest to a word; "" if none is near.
std::string nearest_name(const std::string& word, const std::vector<fs::path>& runs) {
  std::vector<std::string> names;
  for (const fs::path& run : runs) {
    if (std::string name = read_labels(run).name; !name.empty()) names.push_back(std::move(name));
  }
  return nearest(word, names);
}

/// The run whose id has most of `name` at its beginning, the newest of several, as it is shown; ""
/// if there is none that begins like it.
std::string nearest_run(const std::string& name, const std::vector<fs::path>& runs) {
  std::string best;
  std::size_t most = 2;  // "01" begins every id
  for (const fs::path& run : runs) {
    const std::string id = run.filename().string();
    const auto differ = std::mismatch(name.begin(), name.end(), id.begin(), id.end()).first;
    const auto same = static_cast<std::size_t>(differ - name.begin());
    const bool is_newer = same == most && !best.empty() && id > best;
    if (same <= most && !is_newer) continue;
    most = same;
    best = id;
  }
  return best.empty() ? "" : short_run(best);
}

/// The one run that `name` means. `sought` says what else it might have been.
fs::path only_run_named(const std::string& name, const fs::path& root, const std::string& sought) {
  if (name.empty()) {
    throw Error(ExitCode::kUsage, "\"\" names no run", "kdgat runs list shows their ids");
  }
  const std::vector<fs::path> all = runs_below(root);
  const std::vector<fs::path> found = runs_named(name, all);
  if (found.size() > 1) {
    throw Error(ExitCode::kUsage,
                std::to_string(found.size()) + " runs in " + root.string() +
                    " begin with or are called " + name + ": " + candidates(found),
                "give more of the id, or the folder");
  }
  if (found.empty()) {
    std::string near = nearest_run(name, all);
    if (near.empty()) near = nearest_name(name, all);
    throw Error(ExitCode::kData, "no " + sought + " is called " + name,
                (near.empty() ? "" : "did you mean " + near + "? ") + "runs were looked for in " +
                    root.string() + "; --root DIR names another place");
  }
  return found.front();
}

std::vector<RunModel> models_of(const fs::path& run, const PluginCatalog& catalog) {
  std::vector<RunModel> out;
  for (const StepRecord& step : read_run_file(run).steps) {
    const fs::path file = step.folder / catalog.model_file(step.stage);
    if (fs::is_regular_file(file)) out.push_back({step.step, step.stage, file});
  }
  return out;
}

std::string listed(const std::vector<RunModel>& models) {
  std::string out;
  for (const RunModel& model : models) out += (out.empty() ? "" : ", ") + model.step;
  return out;
}

/// Those of the stage that speaks most.
std::vector<RunModel> speaking_of(const std::vector<RunModel>& models,
                                  const PluginCatalog& catalog) {
  int most = 0;
  for (const RunModel& model : models) most = std::max(most, catalog.speaks(model.stage));
  std::vector<RunModel> speaking;
  std::copy_if(models.begin(), models.end(), std::back_inserter(speaking),
               [&](const RunModel& model) { return catalog.speaks(model.stage) == most; });
  return speaking;
}

fs::path choose(const fs::path& run, const std::vector<RunModel>& models, const std::string& step,
                const PluginCatalog& catalog) {
  if (models.empty()) {
    throw Error(ExitCode::kData, run.string() + ": the run has no model",
                "a step that trains leaves one when it is done");
  }
  if (!step.empty()) {
    for (const RunModel& model : models) {
      if (model.step == step) return model.path;
    }
    throw Error(ExitCode::kUsage, run.string() + " has no model of a step " + step,
                "there are: " + listed(models));
  }
  const std::vector<RunModel> speaking = speaking_of(models, catalog);
  if (speaking.size() == 1) return speaking.front().path;
  throw Error(ExitCode::kUsage, run.string() + " has several models: " + listed(models),
              "--model STEP chooses one");
}

}  // namespace

fs::path find_model(const std::string& run, const std::string& step, const fs::path& root,
                    const PluginCatalog& catalog) {
  std::error_code ignored;
  const fs::path path = run;
  if (run.empty()) return only_run_named(run, root, "run");  // says so
  const auto chosen_by_path = [&](const fs::path& file) {
    if (step.empty()) return file;
    throw Error(ExitCode::kUsage, "--model chooses a step of a run, and " + run + " is one model");
  };
  if (is_pytorch_file(path)) {
    throw Error(ExitCode::kUsage, run + " is a PyTorch file, not a model of kdgat",
                "convert it once: scripts/convert_checkpoint " + run +
                    " --store DATA -o model.safetensors");
  }
  if (fs::is_regular_file(path, ignored)) return chosen_by_path(path);
  if (fs::exists(path / "run.json", ignored)) {
    return choose(path, models_of(path, catalog), step, catalog);
  }
  for (const std::string& name : catalog.model_files()) {
    if (fs::is_regular_file(path / name, ignored)) return chosen_by_path(path / name);
  }
  if (fs::is_directory(path, ignored)) {
    throw Error(ExitCode::kData, run + ": neither a run nor the folder of a model");
  }
  if (run == kShipped && runs_named(run, runs_below(root)).empty()) {
    return chosen_by_path(shipped_detector());
  }
  const fs::path found = only_run_named(run, root, "run, folder or model file");
  return choose(found, models_of(found, catalog), step, catalog);
}

fs::path shipped_detector() {
  for (const fs::path& folder : default_preset_folders()) {
    fs::path file = folder / "detectors" / (std::string(kShipped) + ".json");
    if (fs::is_regular_file(file)) return file;
  }
  throw Error(ExitCode::kPlugin, "the detector that comes with kdgat is not there",
              "name another one: --model DETECTOR");
}

std::vector<RunModel> speaking_models(const fs::path& run, const PluginCatalog& catalog) {
  return speaking_of(models_of(run, catalog), catalog);
}

std::string short_name(const fs::path& run, const fs::path& root) {
  return short_form(run, runs_below(root));
}

bool names_whole_run(const std::string& name, const fs::path& folder) {
  fs::path path = fs::path(name).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  return path.filename() == fs::canonical(folder).filename();
}

std::vector<fs::path> runs_below(const fs::path& root) {
  std::vector<fs::path> out;
  std::error_code ignored;
  for (const auto& dataset : fs::directory_iterator(root, ignored)) {
    for (const auto& run : fs::directory_iterator(dataset.path(), ignored)) {
      if (fs::exists(run.path() / "run.json", ignored)) out.push_back(run.path());
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

fs::path find_run(const std::string& name, const fs::path& root) {
  std::error_code ignored;
  if (!name.empty() && fs::exists(fs::path(name) / "run.json", ignored)) return name;
  if (fs::is_directory(name, ignored))
    throw Error(ExitCode::kData, name + ": not the folder of a run");
  return only_run_named(name, root, "run or folder");
}

std::vector<fs::path> find_runs(const std::vector<std::string>& names, const fs::path& root) {
  std::vector<fs::path> out;
  out.reserve(names.size());
  for (const std::string& name : names) out.push_back(find_run(name, root));
  return out;
}

}  // namespace kdgat
