#include "pipeline/profile/profile_layers.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>

#include "pipeline/profile/profile_keys.h"
#include "pipeline/show/problem.h"
#include "pipeline/show/text.h"
#include "pipeline/system/home_path.h"

namespace kdgat {

namespace fs = std::filesystem;

namespace {

/// A profile by its path, or where there is no such file one that comes with the program, named as
/// the documentation names it: profiles/kdgat.yaml, from any folder.
fs::path profile_file(const fs::path& name, const std::vector<fs::path>& folders) {
  if (name.is_absolute() || fs::exists(name)) return name;
  const bool says_folder = name.has_parent_path() && *name.begin() == "profiles";
  const fs::path below = says_folder ? name.lexically_relative("profiles") : name;
  for (const fs::path& folder : folders) {
    if (fs::is_regular_file(folder / below)) return folder / below;
  }
  return name;
}

/// The files of a preset's name, one of each folder that has it: a field adds what it knows of a
/// card to that card's preset. Empty if there is none.
std::vector<fs::path> preset_files(const std::string& name, const std::vector<fs::path>& folders) {
  if (name.empty()) return {};
  if (is_profile_file(name)) {
    const fs::path file = profile_file(name, folders);
    return fs::is_regular_file(file) ? std::vector<fs::path>{file} : std::vector<fs::path>();
  }
  std::vector<fs::path> files;
  for (const fs::path& folder : folders) {
    for (const char* end : {".yaml", ".yml", ".json"}) {
      fs::path file = folder / (name + end);
      if (!fs::is_regular_file(file)) continue;
      files.push_back(std::move(file));
      break;
    }
  }
  return files;
}

/// The presets that a text with blanks or signs between them names; empty if one of them is
/// unknown.
std::vector<std::string> names_in(const std::string& text, const std::vector<std::string>& known) {
  std::string words = text;
  for (char& c : words) {
    if (c == ',' || c == ';' || c == '+') c = ' ';
  }
  std::istringstream list(words);
  std::vector<std::string> out;
  for (std::string word; list >> word; out.push_back(word)) {
    if (std::find(known.begin(), known.end(), word) == known.end()) return {};
  }
  return out;
}

/// expand_home_path() of the name of a preset or a profile.
std::string expanded_name(const std::string& name, const std::string& origin,
                          std::vector<Diagnostic>& problems) {
  try {
    return expand_home_path(name);
  } catch (const Error& e) {
    for (const Diagnostic& d : e.diagnostics()) {
      problems.push_back({origin, d.message, d.hint});
    }
    return name;
  }
}

/// Adds layers below others, each file once on the way down.
class Gatherer {
 public:
  Gatherer(const std::vector<fs::path>& folders, const PluginCatalog& catalog,
           std::vector<Diagnostic>& problems)
      : folders_(folders), catalog_(catalog), problems_(problems) {}

  void add_preset(const std::string& given, const std::string& origin) {
    const std::string name = expanded_name(given, origin, problems_);
    const std::vector<fs::path> files = preset_files(name, folders_);
    for (const fs::path& file : files) add_file(file, origin);
    if (!files.empty()) return;
    const std::vector<std::string> known = preset_names(folders_);
    std::string hint;
    if (const std::vector<std::string> parts = names_in(name, known); parts.size() > 1) {
      const bool is_word = origin == kCommandLine;
      std::string list;
      for (const std::string& part : parts) {
        list += (list.empty() ? "" : is_word ? "," : ", ") + part;
      }
      hint =
          is_word ? "did you mean --preset " + list + "?" : "did you mean preset: [" + list + "]?";
    } else if (const std::string near = nearest(name, known); !near.empty()) {
      hint = "did you mean " + near + "?";
    } else if (!known.empty()) {
      hint = "presets:";
      for (const std::string& preset : known) hint += " " + preset;
    }
    problems_.push_back({origin, "unknown preset " + name, hint});
  }

  void add_file(const fs::path& file, const std::string& origin) {
    const fs::path identity = fs::weakly_canonical(file);
    if (std::find(open_.begin(), open_.end(), identity) != open_.end()) {
      problems_.push_back(
          Diagnostic{origin, "preset " + file.stem().string() + " includes itself", ""});
      return;
    }
    open_.push_back(identity);
    Layer layer = read_layer(file, catalog_, problems_);
    for (const std::string& preset : layer.presets) {
      add_preset(beside(file, preset), layer.presets_where);
    }
    for (const StepDeclaration& step : layer.steps) add_step_presets(file, identity, step);
    open_.pop_back();
    layer.file = identity.string();
    layers.push_back(std::move(layer));
  }

  std::vector<Layer> layers;

 private:
  static std::string beside(const fs::path& file, const std::string& preset) {
    const fs::path path = file.parent_path() / preset;
    return is_profile_file(path) && fs::exists(path) ? path.string() : preset;
  }

  /// What the presets of one step say about its stage, as a layer that sets this step alone.
  void add_step_presets(const fs::path& file, const fs::path& identity,
                        const StepDeclaration& step) {
    const std::string stage = plain_name(step.stage.empty() ? step.name : step.stage);
    Gatherer inner(folders_, catalog_, problems_);
    inner.open_ = open_;
    for (const std::string& preset : step.presets) {
      inner.add_preset(beside(file, preset), step.presets_where);
    }
    for (Layer& layer : inner.layers) {
      std::erase_if(layer.assignments, [&](const Assignment& a) {
        return (a.scope != Scope::kStage && a.scope != Scope::kStep) ||
               plain_name(a.target) != stage;
      });
      for (Assignment& a : layer.assignments) {
        a.scope = Scope::kStep;
        a.target = step.name;
      }
      layer.steps.clear();
      layer.file = identity.string();
      layers.push_back(std::move(layer));
    }
  }

  const std::vector<fs::path>& folders_;
  const PluginCatalog& catalog_;
  std::vector<Diagnostic>& problems_;
  std::vector<fs::path> open_;
};

/// Whether an option is the name of a file or folder, by its own name.
bool names_path(const Assignment& a) {
  const bool is_of_data = a.scope == Scope::kData && a.key == "path";
  return is_of_data || a.key == "root" || a.key.ends_with("_path");
}

/// The variable that a text names as a shell does, "${HOME}" anywhere or "$HOME/" at its beginning;
/// "" if none.
std::string variable_in(const std::string& text) {
  if (const std::size_t at = text.find("${"); at != std::string::npos) {
    const std::size_t end = text.find('}', at);
    return end == std::string::npos ? "" : text.substr(at, end + 1 - at);
  }
  std::size_t end = 1;
  const auto is_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  while (end < text.size() && is_name(text[end])) ++end;
  const bool is_whole = end == text.size() || text[end] == '/';
  return text.starts_with('$') && end > 1 && is_whole ? text.substr(0, end) : "";
}

/// Gives a text its home folder for a leading "~/". Throws Error(kUsage) for one with a variable.
void expand(Value& value, bool is_path) {
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    expand(value.items[i], is_path);
    value.value[i] = value.items[i].value;
  }
  if (!value.value.is_string()) return;
  const std::string text = value.value.get<std::string>();
  if (const std::string variable = variable_in(text); !variable.empty()) {
    throw Error(ExitCode::kUsage, text + ": variables are not expanded here: " + variable,
                "write its value, or set the option on the command line, where the shell "
                "expands it");
  }
  const std::string expanded = is_path ? expand_home_path(text) : expand_home(text);
  if (expanded == text) return;
  value.value = expanded;
  if (!value.text.empty()) value.text = expanded;
}

/// KDGAT_CLASSIFIER__LR as a key: classifier.lr.
std::string environment_key(std::string name) {
  name.erase(0, std::string("KDGAT_").size());
  std::transform(name.begin(), name.end(), name.begin(), ::tolower);
  for (size_t at; (at = name.find("__")) != std::string::npos;) name.replace(at, 2, ".");
  return name == "data" ? "data.path" : name;
}

}  // namespace

void expand_values(Layer& layer, std::vector<Diagnostic>& problems) {
  for (Assignment& a : layer.assignments) {
    try {
      expand(a.value, names_path(a));
    } catch (const Error& e) {
      for (const Diagnostic& d : e.diagnostics()) {
        problems.push_back({a.origin, a.key + ": " + d.message, d.hint});
      }
    }
  }
}

bool is_profile_file(const fs::path& file) {
  const std::string end = file.extension().string();
  return end == ".yaml" || end == ".yml" || end == ".json";
}

std::string plain_name(const std::string& name) {
  std::string plain = name;
  for (char& c : plain) {
    c = c == ' ' || c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return plain;
}

Assignment assignment_of(const std::string& key, Value value, std::string origin) {
  const auto make = [&](Scope scope, std::string target, std::string last) {
    return Assignment{scope, std::move(target), std::move(last), std::move(value),
                      std::move(origin)};
  };
  const size_t dot = key.find('.');
  if (dot == std::string::npos) {
    const std::string host = own_option_name(host_schema(), key);
    return host.empty() ? make(Scope::kAll, "", key) : make(Scope::kHost, "", host);
  }
  std::string first = key.substr(0, dot), rest = key.substr(dot + 1);
  const size_t second = rest.find('.');
  if (first == "data" && rest.rfind("synth.", 0) == 0) {
    return make(Scope::kSynth, "data.synth", rest.substr(second + 1));
  }
  if (first == "data") return make(Scope::kData, first, rest);
  if ((first == "options" || first == "stages") && second != std::string::npos) {
    return make(first == "options" ? Scope::kStage : Scope::kStep, rest.substr(0, second),
                rest.substr(second + 1));
  }
  return make(Scope::kNamed, std::move(first), std::move(rest));
}

std::vector<std::string> preset_names(const std::vector<fs::path>& folders) {
  const std::set<std::string> others = {"detectors", "fields", "slurm"};
  std::set<std::string> names;
  for (const fs::path& folder : folders) {
    std::error_code missing;
    for (const auto& entry : fs::recursive_directory_iterator(folder, missing)) {
      if (!is_profile_file(entry.path())) continue;
      const fs::path name = entry.path().lexically_relative(folder).replace_extension();
      const bool is_other = others.contains(name.begin()->string());
      if (!is_other || !name.has_parent_path()) names.insert(name.string());
    }
  }
  return {names.begin(), names.end()};
}

std::vector<Layer> gather_layers(const ProfileRequest& request, const PluginCatalog& catalog,
                                 std::vector<Diagnostic>& problems) {
  Gatherer gatherer(request.preset_folders, catalog, problems);
  for (const std::string& preset : request.presets) gatherer.add_preset(preset, "command line");
  if (request.config) {
    const std::string config = expanded_name(*request.config, "command line", problems);
    gatherer.add_file(profile_file(config, request.preset_folders), "command line");
  }
  std::vector<Layer> layers = std::move(gatherer.layers);

  const auto add = [&](Layer& layer, const std::string& key, const std::string& text,
                       const std::string& origin) {
    try {
      layer.assignments.push_back(assignment_of(key, parse_value(text), origin));
    } catch (const Error& e) {
      problems.push_back({origin, key + ": " + e.what(), ""});
    }
  };
  Layer environment{"environment", LayerKind::kEnvironment, {}, {}, {}, ""};
  for (const auto& [name, text] : request.environment) {
    add(environment, environment_key(name), text, name);
  }
  layers.push_back(std::move(environment));

  // Each word of the command line is a layer of its own: the later one wins.
  const auto add_word = [&](const std::string& key, const std::string& text,
                            const std::string& origin) {
    Layer word{"command line", LayerKind::kCommandLine, {}, {}, {}, ""};
    add(word, key, text, origin);
    layers.push_back(std::move(word));
  };
  for (const auto& o : request.overrides) add_word(o.key, o.value, o.origin);
  if (!request.data.empty()) add_word("data.path", request.data, "command line, --data");
  return layers;
}

std::vector<fs::path> default_preset_folders() {
  std::error_code unreadable;
  const fs::path here = fs::read_symlink("/proc/self/exe", unreadable).parent_path();
  const fs::path profiles = here / "profiles";
  if (!fs::is_directory(profiles)) return {};
  std::vector<fs::path> folders;
  for (const auto& field : fs::directory_iterator(profiles / "fields", unreadable)) {
    folders.push_back(field.path());
  }
  std::sort(folders.begin(), folders.end());
  folders.insert(folders.begin(), profiles);
  return folders;
}

}  // namespace kdgat
