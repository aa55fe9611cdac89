// The only file that includes yaml-cpp: profile files and values of the command line.
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include "kdgat/parse_json.h"
#include "pipeline/profile/profile_keys.h"
#include "pipeline/profile/profile_layers.h"
#include "pipeline/show/text.h"

namespace kdgat {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// A tab outside quotes, where yaml-cpp wants blanks although JSON allows it.
void blanks_for_tabs(std::string& text) {
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (quoted && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && text[i] == '\t') {
      text[i] = ' ';
    }
  }
}

/// As a person would name the file: relative when it lies below the current folder.
std::string shown_path(const fs::path& file) {
  std::error_code ignored;
  const fs::path relative = fs::proximate(file, ignored);
  return ignored || relative.empty() || *relative.begin() == ".." ? file.string()
                                                                  : relative.string();
}

/// The key of YAML whose maps are merged into the one that it stands in.
constexpr const char* kMerge = "<<";

/// How much lists may hold: aliases make a few lines stand for more than fits in memory, or for a
/// list within itself.
struct ListLimits {
  int depth = 8;
  int items = 100'000;
};

Value value_of(const YAML::Node& node, ListLimits& limits) {
  if (node.IsNull()) return {nullptr, "", {}};
  if (node.IsSequence()) {
    if (limits.depth == 0) throw YAML::Exception(node.Mark(), "lists nest too deeply");
    --limits.depth;
    Value list{json::array(), "", {}};
    for (const YAML::Node& item : node) {
      if (--limits.items < 0) throw YAML::Exception(node.Mark(), "a list is too long");
      list.items.push_back(value_of(item, limits));
      list.value.push_back(list.items.back().value);
    }
    ++limits.depth;
    return list;
  }
  if (node.IsMap()) return {json::object(), "", {}};
  const std::string &tag = node.Tag(), &text = node.Scalar();
  if (tag == "!" || tag == "tag:yaml.org,2002:str") return {text, "", {}};
  return plain_scalar(text);
}

Value value_of(const YAML::Node& node) {
  ListLimits limits;
  return value_of(node, limits);
}

/// A line of a file, cut to what fits, and a caret below its column (from 0).
std::string line_with_caret(const std::string& line, int column) {
  constexpr std::size_t kWidth = 72, kBefore = 50;
  const std::size_t at = std::min(static_cast<std::size_t>(std::max(0, column)), line.size());
  const std::size_t from = at > kBefore && line.size() > kWidth ? at - kBefore : 0;
  std::string shown = line.substr(from, kWidth);
  std::replace(shown.begin(), shown.end(), '\t', ' ');  // else the caret is elsewhere
  return "\n    " + shown + "\n    " + std::string(text_width(line.substr(from, at - from)), ' ') +
         "^";
}

/// What yaml-cpp says, clearer where it names a symptom, and the place.
Diagnostic yaml_problem(const std::string& file, const YAML::Exception& e,
                        const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  for (int i = 0; i <= e.mark.line && std::getline(lines, line); ++i) continue;
  if (!line.empty() && line.back() == '\r') line.pop_back();
  const size_t first = line.find_first_not_of(' ');
  const bool has_tab = first != std::string::npos && line[first] == '\t';
  const bool is_deep = dynamic_cast<const YAML::DeepRecursion*>(&e) != nullptr;
  const bool has_place = !is_deep && dynamic_cast<const YAML::ParserException*>(&e) != nullptr;
  return {file + ":" + std::to_string(e.mark.line + 1),
          "not valid YAML: " + (is_deep ? "nested too deeply" : e.msg) +
              (has_place && !line.empty() ? line_with_caret(line, e.mark.column) : ""),
          has_tab ? "indent with blanks; YAML allows no tabs there" : ""};
}

/// Walks one document and fills a layer. `where` is always the line of the key.
class Reader {
 public:
  Reader(std::string file, const PluginCatalog& catalog, std::vector<Diagnostic>& problems)
      : file_(std::move(file)), catalog_(catalog), problems_(problems) {}

  void read(const YAML::Node& document) {
    each(document, "a profile", file_ + ":1", [&](const auto& key, const auto& node, auto& where) {
      if (key == "preset") {
        layer_.presets = words(key, node, where);
        layer_.presets_where = where;
      } else if (key == "data") {
        read_data(node, where);
      } else if (key == "options") {
        each(node, key, where, [&](const auto& stage, const auto& options, auto& place) {
          assign_all(Scope::kStage, stage, options, place);
        });
      } else if (key == "stages") {
        each(node, key, where, [&](const auto& step, const auto& body, auto& place) {
          read_step(step, body, place);
        });
      } else if (const PluginDescription* stage = published_section(key, catalog_)) {
        read_published_model(*stage, node, where);
      } else if (node.IsMap() && is_published_section(key)) {
        read_published(key, node, where);
      } else if (const std::string own = published_path(key, catalog_);
                 !own.empty() && own != key) {
        set_published(key, node, where);
      } else if (node.IsMap()) {
        problem(where, "unknown section " + key,
                "settings of a stage belong below options:, steps below stages:");
      } else {
        layer_.assignments.push_back(assignment_of(key, value_of(node), where));
      }
    });
  }

  Layer take() { return std::move(layer_); }

 private:
  void problem(const std::string& where, std::string message, std::string hint = "") {
    problems_.push_back({where, std::move(message), std::move(hint)});
  }

  /// Calls visit(key, value, where) for each entry of a map; null is an empty map.
  template <class Visit>
  void each(const YAML::Node& map, const std::string& what, const std::string& map_where,
            const Visit& visit) {
    if (map.IsNull()) return;
    if (!map.IsMap()) return problem(map_where, what + " must be a map (name: value)");
    std::set<std::string> seen;
    int left = 1000;
    visit_merged(map, seen, left, visit);
  }

  /// The entries of a map, then those of the maps that its "<<" names, where no key of `seen`
  /// stands in their way. At most `left` more maps: one may name itself.
  template <class Visit>
  void visit_merged(const YAML::Node& map, std::set<std::string>& seen, int& left,
                    const Visit& visit) {
    std::set<std::string> own;
    std::vector<std::pair<YAML::Node, std::string>> merges;
    for (const auto& entry : map) {
      const std::string where = where_of(entry.first);
      if (!entry.first.IsScalar()) {
        problem(where, "a key must be a text");
      } else if (const std::string key = entry.first.Scalar(); !own.insert(key).second) {
        problem(where, key + " is set twice");
      } else if (key == kMerge) {
        merges.emplace_back(entry.second, where);
      } else if (seen.insert(key).second) {
        visit(key, entry.second, where);
      }
    }
    for (const auto& [node, where] : merges) {
      const bool is_list = node.IsSequence();
      for (std::size_t i = 0; i < (is_list ? node.size() : 1); ++i) {
        const YAML::Node one = is_list ? node[i] : node;
        if (!one.IsMap()) {
          problem(where, "<< takes a map or a list of maps: <<: *name");
        } else if (left == 0) {
          return problem(where, "<< names too many maps, or itself");
        } else {
          visit_merged(one, seen, --left, visit);
        }
      }
    }
  }

  std::string where_of(const YAML::Node& node) const {
    return file_ + ":" + std::to_string(node.Mark().line + 1);
  }

  std::vector<std::string> words(const std::string& key, const YAML::Node& node,
                                 const std::string& where) {
    if (node.IsNull()) return {};
    if (node.IsScalar()) return {node.Scalar()};
    std::vector<std::string> out;
    for (const YAML::Node& item : node) {
      if (node.IsSequence() && item.IsScalar()) out.push_back(item.Scalar());
    }
    if (out.size() != node.size()) problem(where, key + " must be a name or a list of names");
    return out;
  }

  void assign(Scope scope, const std::string& target, const std::string& key,
              const YAML::Node& node, const std::string& where) {
    if (node.IsMap()) return problem(where, target + "." + key + " must be a value, not a map");
    layer_.assignments.push_back({scope, target, key, value_of(node), where});
  }

  void assign_all(Scope scope, const std::string& target, const YAML::Node& options,
                  const std::string& where) {
    each(options, target, where, [&](const auto& key, const auto& node, auto& place) {
      assign(scope, target, key, node, place);
    });
  }

  void read_data(const YAML::Node& node, const std::string& where) {
    if (node.IsScalar()) return assign(Scope::kData, "data", "path", node, where);
    bool has_path = false, has_synth = false;
    each(node, "data", where, [&](const auto& key, const auto& value, auto& place) {
      has_path = has_path || key == "path";
      has_synth = has_synth || key == "synth";
      if (key == "synth") {
        layer_.assignments.push_back({Scope::kSynth, "data.synth", "", {}, place});
        assign_all(Scope::kSynth, "data.synth", value, place);
      } else {
        assign(Scope::kData, "data", key, value, place);
      }
    });
    if (has_path && has_synth) {
      problem(where, "data has both path and synth: one input at a time");
    }
  }

  // ---- profiles of published programs: sections within sections

  bool is_published_section(const std::string& key) const {
    const std::vector<std::string> paths = published_paths(catalog_);
    return std::any_of(paths.begin(), paths.end(),
                       [&](const std::string& path) { return path.starts_with(key + "."); });
  }

  void read_published_model(const PluginDescription& stage, const YAML::Node& node,
                            const std::string& where) {
    std::vector<Assignment> defaults;
    for (const auto& [key, value] : stage.published->defaults) {
      defaults.push_back(assignment_of(key, {value, "", {}}, where));
    }
    // Before all the file says.
    layer_.assignments.insert(layer_.assignments.begin(), defaults.begin(), defaults.end());
    layer_.steps.push_back({stage.name, "", std::nullopt, where, {}, ""});
    read_published(stage.published->section, node, where);
  }

  void read_published(const std::string& section, const YAML::Node& node,
                      const std::string& where) {
    each(node, section, where, [&](const auto& key, const auto& value, auto& place) {
      const std::string path = section + "." + key;
      if (const std::string hint = refused_path(path, catalog_); !hint.empty()) {
        problem(place, path + " is not supported", hint);
      } else if (value.IsMap()) {
        read_published(path, value, place);
      } else {
        set_published(path, value, place);
      }
    });
  }

  void set_published(const std::string& path, const YAML::Node& node, const std::string& where) {
    const std::string key = published_path(path, catalog_);
    if (key.empty()) {
      const std::string near = nearest(path, published_paths(catalog_));
      return problem(where, "unknown option " + path,
                     near.empty() ? "" : "did you mean " + near + "?");
    }
    if (node.IsNull()) return;  // as if it were not there
    if (key.find('.') != std::string::npos && published_key(key, catalog_) != nullptr) {
      layer_.assignments.push_back({Scope::kAll, "", key, value_of(node), where});
    } else {
      layer_.assignments.push_back(assignment_of(key, value_of(node), where));
    }
  }

  void read_step(const std::string& name, const YAML::Node& body, const std::string& where) {
    StepDeclaration step{name, "", std::nullopt, where, {}, ""};
    each(body, "stages." + name, where, [&](const auto& key, const auto& node, auto& place) {
      if (key == "stage" && node.IsScalar()) {
        step.stage = node.Scalar();
      } else if (key == "needs") {
        step.needs = words(key, node, place);
      } else if (key == "preset") {
        step.presets = words(key, node, place);
        step.presets_where = place;
      } else {
        assign(Scope::kStep, name, key, node, place);
      }
    });
    layer_.steps.push_back(std::move(step));
  }

  std::string file_;
  const PluginCatalog& catalog_;
  std::vector<Diagnostic>& problems_;
  Layer layer_;
};

}  // namespace

Value parse_value(const std::string& text) {
  if (text.empty() || (text.front() != '[' && text.front() != '"' && text.front() != '\'')) {
    return plain_scalar(text);
  }
  try {
    return value_of(YAML::Load(text));
  } catch (const YAML::Exception& e) {
    throw Error(ExitCode::kUsage, text + " is not a value: " + e.msg);
  }
}

Layer read_layer(const fs::path& file, const PluginCatalog& catalog,
                 std::vector<Diagnostic>& problems) {
  std::string text;
  try {
    text = small_file(file, kLargestProfile);
  } catch (const Error& e) {
    problems.insert(problems.end(), e.diagnostics().begin(), e.diagnostics().end());
    return {};
  }
  Reader reader(shown_path(file), catalog, problems);
  try {
    if (file.extension() == ".json") {
      checked_json(text, shown_path(file));  // for its messages; marks come below
      blanks_for_tabs(text);
    }
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.size() > 1) {
      problems.push_back({shown_path(file), "holds more than one YAML document", ""});
    }
    if (!documents.empty()) reader.read(documents.front());
  } catch (const Error& e) {
    problems.insert(problems.end(), e.diagnostics().begin(), e.diagnostics().end());
  } catch (const YAML::Exception& e) {
    problems.push_back(yaml_problem(shown_path(file), e, text));
  }
  Layer layer = reader.take();
  layer.name = file.stem().string();
  return layer;
}

}  // namespace kdgat
