#include "pipeline/verbs/commands/next_commands.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "kdgat/error.h"
#include "kdgat/kinds.h"
#include "pipeline/run/find_model.h"
#include "pipeline/run/plan.h"
#include "pipeline/system/program.h"
#include "pipeline/system/tensor_file.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;

/// What a model is given to score, as a word in capitals; "" if no verb scores with it.
std::string input_of(const RunModel& model, const PluginCatalog& catalog) {
  const std::string scorer = tensor_metadata(model.path, "scored_by");
  if (scorer.empty()) {
    const PluginDescription* stage = catalog.find(model.stage);
    return stage != nullptr && stage->makes(kind::kModel) ? "LOG" : "";
  }
  const PluginDescription* plugin = catalog.find(scorer);
  if (plugin == nullptr) return "";
  for (const PortDescription& port : plugin->inputs) {
    if (port.name == "model") continue;
    std::string word = port.name;
    for (char& c : word) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return word;
  }
  return "";
}

std::string score_command(const fs::path& folder, const std::string& run,
                          const PluginCatalog& catalog) {
  std::vector<RunModel> models = speaking_models(folder, catalog);
  const bool is_chosen = models.size() == 1;
  std::erase_if(models, [&](const RunModel& model) { return input_of(model, catalog).empty(); });
  if (models.empty()) return "";
  // Of several the one that is called as its stage is what the profile is about.
  auto best = std::find_if(models.begin(), models.end(),
                           [](const RunModel& model) { return model.step == model.stage; });
  if (best == models.end()) best = models.begin();
  std::string out = "kdgat score " + input_of(*best, catalog) + " --run " + run;
  if (!is_chosen) out += " --model " + shell_line({best->step});
  return out;
}

}  // namespace

std::string run_word(const fs::path& folder, const fs::path& root) {
  return root == "runs" ? short_name(folder, root) : shell_line({folder.string()});
}

std::string commands_after(const fs::path& folder, const std::string& run,
                           const PluginCatalog& catalog) {
  const std::string score = score_command(folder, run, catalog);
  return "kdgat report " + run + (score.empty() ? "" : " · " + score);
}

}  // namespace kdgat
