#include "pipeline/profile/profile_hints.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "kdgat/text.h"
#include "pipeline/profile/profile_keys.h"
#include "pipeline/show/text.h"
#include "pipeline/system/program.h"

namespace kdgat {

namespace fs = std::filesystem;
using nlohmann::json;

std::string hint_for_option(const std::string& key, const KnownNames& known) {
  for (const auto& [section, schema] : {std::pair{"data.", &known.sections.import},
                                        std::pair{"data.synth.", &known.sections.synth}}) {
    if (!own_option_name(*schema, key).empty()) {
      return std::string("did you mean ") + section + key + "?";
    }
  }
  std::vector<std::string> candidates;
  for (const StepSpec& step : known.steps) {
    if (const PluginDescription* plugin = known.catalog.find(step.stage)) {
      for (const std::string& name : option_names(plugin->options)) candidates.push_back(name);
    }
  }
  for (const std::string& name : option_names(known.keys)) candidates.push_back(name);
  for (const char* section : {"data", "preset", "options", "stages"}) {
    candidates.push_back(section);
  }
  const std::string near = nearest(key, candidates);
  std::string see;
  for (const StepSpec& step : known.steps) {
    const PluginDescription* plugin = known.catalog.find(step.stage);
    if (plugin == nullptr || !see.empty()) continue;
    if (near.empty() || !own_option_name(plugin->options, near).empty()) {
      see = "see kdgat config schema " + plugin->name;
    }
  }
  std::string hint = near.empty() ? "" : "did you mean " + near + "?";
  if (!see.empty()) hint += (hint.empty() ? "" : " ") + see;
  return hint;
}

std::string hint_for_target(const std::string& target, const std::string& key,
                            const KnownNames& known) {
  std::vector<std::string> names = {"data", "data.synth"};
  for (const StepSpec& step : known.steps) names.push_back(step.name);
  for (const auto& [name, plugin] : known.catalog.all()) names.push_back(name);
  const std::string near = nearest(target, names);
  if (!near.empty()) return "did you mean " + near + "." + key + "?";
  std::string hint;
  for (const std::string& name : names) hint += (hint.empty() ? "known: " : ", ") + name;
  return hint;
}

std::string dataset_name(const std::string& path) {
  fs::path name = fs::path(path).lexically_normal();
  if (!name.has_filename()) name = name.parent_path();
  // Any bytes become a plain name.
  std::string stem = escaped_name(name.filename().string());
  std::replace(stem.begin(), stem.end(), '\\', '_');
  stem = stem.substr(0, stem.find('.', 1));
  const bool nameless = stem.empty() || stem == "-" || stem == "." || stem == ".." || stem == "/";
  if (holds_control(stem)) {
    std::replace_if(
        stem.begin(), stem.end(), [](char c) { return c < ' ' || c > '~'; }, '_');
  }
  return nameless ? "default" : stem;
}

}  // namespace kdgat
