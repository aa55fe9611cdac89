#include "pipeline/profile/profile_keys.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <sstream>

#include "pipeline/profile/seed_words.h"
#include "pipeline/profile/version_requirement.h"
#include "pipeline/show/quantity.h"
#include "pipeline/show/text.h"
#include "pipeline/system/program.h"

namespace kdgat {

using nlohmann::json;

namespace {

Diagnostic check_device(const std::string& name) {
  const bool numbered = name.rfind("cuda:", 0) == 0 && name.size() > 5 &&
                        name.find_first_not_of("0123456789", 5) == std::string::npos;
  if (name == "auto" || name == "cpu" || name == "cuda" || numbered) return {};
  return {"", "\"" + name + "\" is not a device", "one of auto, cpu, cuda, cuda:N"};
}

Diagnostic check_memory_limit(const std::string& text) {
  constexpr uint64_t kLeast = uint64_t{1} << 20;  // what is less was meant in another unit
  try {
    const uint64_t bytes = parse_bytes(text);
    if (bytes == 0 || bytes >= kLeast) return {};
    return {"", text + " is less than 1 MiB", "a size has a unit: 4GiB, 512MiB"};
  } catch (const Error& e) {
    return e.diagnostics().front();
  }
}

/// One setting of PYTORCH_CUDA_ALLOC_CONF; LibTorch itself ends a stage at one it does not know.
struct AllocatorSetting {
  std::vector<std::string> words;  ///< its two values; empty: a number of at least `least`
  double least = 0;
};

const std::map<std::string, AllocatorSetting>& allocator_settings() {
  static const std::vector<std::string> truth = {"True", "False"};
  static const std::map<std::string, AllocatorSetting> settings = {
      {"backend", {{"native", "cudaMallocAsync"}}},
      {"expandable_segments", {truth}},
      {"garbage_collection_threshold", {{}, 0}},
      {"max_non_split_rounding_mb", {{}, 1}},
      {"max_split_size_mb", {{}, 21}},
      {"pinned_use_background_threads", {truth}},
      {"pinned_use_cuda_host_register", {truth}},
      {"release_lock_on_cudamalloc", {truth}},
      {"roundup_power2_divisions", {{}, 1}}};
  return settings;
}

Diagnostic check_allocator(const std::string& text) {
  std::vector<std::string> names;
  for (const auto& [name, setting] : allocator_settings()) names.push_back(name);
  std::istringstream list(text);
  for (std::string item; std::getline(list, item, ',');) {
    const std::size_t colon = item.find(':');
    const std::string name = item.substr(0, colon);
    const auto found = allocator_settings().find(name);
    if (found == allocator_settings().end()) {
      const std::string near = nearest(name, names);
      return {"", "\"" + name + "\" is not a setting of the allocator",
              near.empty() ? "e.g. expandable_segments:True,max_split_size_mb:128"
                           : "did you mean " + near + "?"};
    }
    const std::string value = colon == std::string::npos ? "" : item.substr(colon + 1);
    const AllocatorSetting& setting = found->second;
    std::string wrong = name;
    wrong.append(": \"").append(value).append("\" is ");
    if (!setting.words.empty()) {
      const auto& words = setting.words;
      if (std::find(words.begin(), words.end(), value) != words.end()) continue;
      return {"", wrong.append("not ").append(words[0]).append(" or ").append(words[1]), ""};
    }
    char* end = nullptr;
    const double number = std::strtod(value.c_str(), &end);
    if (value.empty() || *end != '\0' || !(number >= setting.least) || !std::isfinite(number)) {
      return {"", wrong.append("not a number of at least ").append(value_text(setting.least)), ""};
    }
  }
  return {};
}

/// Published keys of every program that no option stands for.
const std::vector<PublishedKey>& keys_of_all_programs() {
  static const std::vector<PublishedKey> keys = {
      {"num_workers", {}, "no effect: batches are gathered from the mapping, there are no workers"},
      {"mp_start_method", {}, "no effect: there are no data-loader processes"},
      {"model_size", {}, "only a label: the presets teacher and student set the sizes"},
      {"modality", {"automotive"}, "only CAN traffic of cars (automotive) can be read"},
      {"run_test", {true}, "tests belong to the step evaluate: leave that step out instead"},
      {"log_teacher_student_comparison", {}, ""},
      {"training_step_interval", {}, "no effect: gpu_training_steps are the steps of an episode"},
      {"run_name", {}, "no effect: a run is named by its time"}};
  return keys;
}

constexpr std::size_t kLongestName = 255;  // bytes, of file systems

/// What is wrong with the name of one folder; "" if nothing is.
std::string problem_of_name(const std::string& name) {
  if (holds_control(name)) return "holds a control character";
  if (name.size() <= kLongestName) return "";
  return "is a name of " + std::to_string(name.size()) + " bytes, and no folder has more than " +
         std::to_string(kLongestName);
}

/// So much of a name as a message can hold.
std::string shortened(const std::string& name) {
  constexpr std::size_t kShown = 40;
  return '"' + (name.size() > kShown ? name.substr(0, kShown) + "..." : name) + '"';
}

Diagnostic check_root(const std::string& path) {
  if (path.empty()) return {"", "\"\" names no folder", "the default is runs"};
  std::istringstream names(path);
  std::string problem = problem_of_name(holds_control(path) ? path : "");
  for (std::string name; problem.empty() && std::getline(names, name, '/');) {
    problem = problem_of_name(name);
  }
  if (problem.empty()) return {};
  return {"", shortened(path) + " " + problem, ""};
}

Diagnostic check_dataset(const std::string& name) {
  if (name.empty()) return {"", "\"\" names no data set", "the default is default"};
  if (name == "." || name == ".." || name.find('/') != std::string::npos) {
    return {"", shortened(name) + " cannot name a folder below root", ""};
  }
  const std::string problem = problem_of_name(name);
  if (problem.empty()) return {};
  return {"", shortened(name) + " " + problem, ""};
}

Diagnostic check_seeds(const Value& value) {
  const Checked checked = check_value(option_schema(host_schema(), "seeds"), value);
  if (!checked.problem.empty()) return {};  // its schema says so
  try {
    read_seeds(checked.value.get<std::vector<std::string>>());
  } catch (const Error& e) {
    return e.diagnostics().front();
  }
  return {};
}

}  // namespace

Diagnostic check_host_value(const std::string& key, const Value& value) {
  if (key == "seeds") return check_seeds(value);
  static const json text = {{"type", "string"}};
  const Checked checked = check_value(text, value);
  if (!checked.problem.empty()) return {};  // its schema says so
  const std::string word = checked.value;
  if (key == "device") return check_device(word);
  if (key == "memory_limit") return check_memory_limit(word);
  if (key == "allocator") return check_allocator(word);
  if (key == "root") return check_root(word);
  if (key == "dataset") return check_dataset(word);
  if (key == "kdgat_version") {
    const std::string problem = problem_of_version(word, KDGAT_VERSION);
    if (!problem.empty()) return {"", problem, "install such a version, or change kdgat_version"};
  }
  return {};
}

const json& host_schema() {
  static const json schema = [] {
    json out = options_schema<HostOptions>();
    out["properties"]["device"]["examples"] = {"auto", "cpu", "cuda"};
    return out;
  }();
  return schema;
}

const PublishedKey* published_key(const std::string& name, const PluginCatalog& catalog) {
  const auto find_in = [&](const std::vector<PublishedKey>& list) -> const PublishedKey* {
    const auto found = std::find_if(list.begin(), list.end(),
                                    [&](const PublishedKey& key) { return key.name == name; });
    return found == list.end() ? nullptr : &*found;
  };
  if (const PublishedKey* key = find_in(keys_of_all_programs())) return key;
  for (const auto& [stage, plugin] : catalog.all()) {
    const PublishedKey* key = plugin.published ? find_in(plugin.published->keys) : nullptr;
    if (key != nullptr) return key;
  }
  return nullptr;
}

std::vector<std::string> published_keys(const PluginCatalog& catalog) {
  std::vector<std::string> out;
  for (const PublishedKey& key : keys_of_all_programs()) out.push_back(key.name);
  for (const auto& [stage, plugin] : catalog.all()) {
    if (!plugin.published) continue;
    for (const PublishedKey& key : plugin.published->keys) out.push_back(key.name);
  }
  return out;
}

const PluginDescription* published_section(const std::string& section,
                                           const PluginCatalog& catalog) {
  for (const auto& [stage, plugin] : catalog.all()) {
    if (plugin.published && plugin.published->section == section) return &plugin;
  }
  return nullptr;
}

std::string published_path(const std::string& path, const PluginCatalog& catalog) {
  for (const auto& [stage, plugin] : catalog.all()) {
    if (!plugin.published) continue;
    const std::string& below = plugin.published->options;
    if (path.starts_with(below + ".") && path.find('.', below.size() + 1) == std::string::npos) {
      return "options." + stage + path.substr(below.size());
    }
    const auto found = plugin.published->paths.find(path);
    if (found != plugin.published->paths.end()) return found->second;
  }
  return "";
}

std::vector<std::string> published_paths(const PluginCatalog& catalog) {
  std::vector<std::string> out;
  for (const auto& [stage, plugin] : catalog.all()) {
    if (!plugin.published) continue;
    for (const auto& [path, key] : plugin.published->paths) out.push_back(path);
  }
  return out;
}

std::string refused_path(const std::string& path, const PluginCatalog& catalog) {
  for (const auto& [stage, plugin] : catalog.all()) {
    if (!plugin.published) continue;
    const auto found = plugin.published->refused.find(path);
    if (found != plugin.published->refused.end()) return found->second;
  }
  return "";
}

std::string published_stage(const std::string& name, const PluginCatalog& catalog) {
  for (const auto& [stage, plugin] : catalog.all()) {
    const std::vector<std::string>& names = plugin.published_names;
    if (std::find(names.begin(), names.end(), name) != names.end()) return stage;
  }
  return "";
}

}  // namespace kdgat
