#include "pipeline/profile/profile_schema.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "pipeline/profile/profile_keys.h"
#include "pipeline/profile/profile_layers.h"

namespace kdgat {
namespace {

using nlohmann::json;

constexpr const char* kFileName = "\\.(yaml|yml|json)$";

json defined(const std::string& name) { return {{"$ref", "#/$defs/" + name}}; }

/// An object, or nothing, whose keys are these alone.
json closed(json properties) {
  return {{"type", {"object", "null"}},
          {"properties", std::move(properties)},
          {"additionalProperties", false}};
}

/// An option as it may stand in a file: check_value() takes a number for a text that looks like
/// one, and one value or "a,b" for a list.
json as_written(const json& option) {
  json out = option;
  const std::string type = option.value("type", "");
  if (type == "array") {
    const json item = as_written(option.at("items"));
    out = {{"anyOf",
            {{{"type", "array"}, {"items", item}}, item, {{"type", "string"}, {"pattern", ","}}}}};
  } else if (type == "string" && option.contains("enum") && has_forms(option.at("enum"))) {
    out = {{"type", "string"}, {"pattern", pattern_of(option.at("enum"))}};
  } else if (type == "string" && option.contains("enum")) {
    out.erase("type");
    for (const json& choice : option.at("enum")) {
      const json plain = plain_scalar(choice.get<std::string>()).value;
      if (plain != choice) out["enum"].push_back(plain);
    }
  } else if (type == "string") {
    out["type"] = {"string", "number", "boolean", "null"};
  }
  for (const char* key : {"description", "default"}) {
    if (option.contains(key)) out[key] = option.at(key);
  }
  for (const auto& [key, value] : option.items()) {
    if (key.starts_with("x-")) out.erase(key);
  }
  return out;
}

/// Options under their own and their published names.
json properties_of(const json& schema) {
  json out = json::object();
  for (const auto& [name, option] : schema.at("properties").items()) {
    const json written = as_written(option);
    out[name] = written;
    for (const json& alias : option.value("x-aliases", json::array())) {
      out[alias.get<std::string>()] = written;
    }
  }
  return out;
}

/// What a section of a stage or step may hold, beside what only steps have.
json options_of(const PluginDescription& plugin) {
  json out = properties_of(plugin.options);
  for (const PublishedKey& refused : plugin.refused) {
    if (!refused.neutral.empty()) out[refused.name] = {{"enum", refused.neutral}};
  }
  out["allocator"] = as_written(option_schema(host_schema(), "allocator"));
  return out;
}

/// Adds a path of sections within sections.
void add_path(json& properties, const std::string& path, const json& leaf) {
  const std::size_t dot = path.find('.');
  json& at = properties[path.substr(0, dot)];
  if (dot == std::string::npos) {
    if (at.is_null()) at = leaf;
    return;
  }
  if (!at.contains("properties")) at = closed(json::object());
  add_path(at["properties"], path.substr(dot + 1), leaf);
}

std::string joined(const std::set<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : "|") + word;
  return out;
}

std::set<std::string> keys_of(const json& object) {
  std::set<std::string> out;
  for (const auto& [key, value] : object.items()) out.insert(key);
  return out;
}

class Writer {
 public:
  Writer(const PluginCatalog& catalog, const SectionSchemas& sections,
         const std::vector<std::filesystem::path>& preset_folders)
      : catalog_(catalog), sections_(sections) {
    for (const auto& [name, plugin] : catalog.all()) step_stages_[name] = name;
    for (const std::string& name : preset_names(preset_folders)) {
      presets_.push_back(name);
      read_steps(name, preset_folders);
    }
  }

  json write() {
    json steps = json::object(), options = json::object(), named = json::array();
    json any_option = json::object();
    for (const auto& [name, plugin] : catalog_.all()) {
      const json of_stage = options_of(plugin);
      defs_["options_" + name] = closed(of_stage);
      json of_step = of_stage;
      of_step.update({{"stage", {{"const", name}}},
                      {"needs", defined("names")},
                      {"preset", defined("presets")}});
      defs_["step_" + name] = closed(of_step);
      options[name] = defined("options_" + name);
      named.push_back(
          {{"if", {{"properties", {{"stage", {{"const", name}}}}}, {"required", {"stage"}}}},
           {"then", defined("step_" + name)}});
      for (const auto& [key, option] : of_stage.items()) {
        json& forms = any_option[key]["anyOf"];
        if (std::find(forms.begin(), forms.end(), option) == forms.end()) forms.push_back(option);
      }
    }
    json of_any_step = any_option;
    of_any_step.update({{"needs", defined("names")}, {"preset", defined("presets")}});
    defs_["names"] = {{"type", {"string", "array", "null"}}, {"items", {{"type", "string"}}}};
    defs_["preset"] = {
        {"anyOf", {{{"enum", presets_}}, {{"type", "string"}, {"pattern", kFileName}}}}};
    defs_["presets"] = {{"anyOf",
                         {defined("preset"),
                          {{"type", "array"}, {"items", defined("preset")}},
                          {{"type", "null"}}}}};
    defs_["named"] = {{"type", "object"},
                      {"required", {"stage"}},
                      {"properties", {{"stage", {{"enum", keys_of(options)}}}}},
                      {"allOf", named}};
    // A step that a layer below declares with its stage.
    defs_["refined"] = {{"if", {{"type", "object"}, {"required", {"stage"}}}},
                        {"then", defined("named")},
                        {"else", closed(of_any_step)}};
    json known = json::object();
    for (const auto& [step, stage] : step_stages_) {
      steps[step] = {{"if", {{"type", "object"}, {"required", {"stage"}}}},
                     {"then", defined("named")},
                     {"else", defined("step_" + stage)}};
      known[step] = true;
    }
    json out = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                {"title", "kdgat profile"},
                {"type", {"object", "null"}},
                {"additionalProperties", false}};
    out["properties"] = top(any_option);
    out["properties"]["preset"] = defined("presets");
    out["properties"]["data"] = data();
    out["properties"]["options"] = closed(options);
    out["properties"]["stages"] = {{"type", {"object", "null"}},
                                   {"propertyNames", {{"pattern", "^[A-Za-z0-9 _-]+$"}}},
                                   {"properties", steps},
                                   {"additionalProperties", defined("refined")}};
    // Only a preset that is a file may declare a step that no shipped preset has.
    const json file = {{"type", "string"}, {"pattern", kFileName}};
    out["if"] = {
        {"properties", {{"preset", {{"anyOf", {file, {{"type", "array"}, {"contains", file}}}}}}}},
        {"required", {"preset"}}};
    out["else"] = {
        {"properties",
         {{"stages", {{"properties", known}, {"additionalProperties", defined("named")}}}}}};
    out["patternProperties"] = dotted(any_option);
    out["$defs"] = std::move(defs_);
    return out;
  }

 private:
  /// Which steps a shipped preset declares, and of which stage.
  void read_steps(const std::string& preset, const std::vector<std::filesystem::path>& folders) {
    for (const std::filesystem::path& folder : folders) {
      for (const char* end : {".yaml", ".yml", ".json"}) {
        const std::filesystem::path file = folder / (preset + end);
        if (!std::filesystem::is_regular_file(file)) continue;
        std::vector<Diagnostic> ignored;
        for (const StepDeclaration& step : read_layer(file, catalog_, ignored).steps) {
          const std::string stage = step.stage.empty() ? step.name : step.stage;
          if (catalog_.find(stage) != nullptr) step_stages_.emplace(step.name, stage);
        }
        return;
      }
    }
  }

  /// Keys of the host, those of published programs, and options for every step that has them.
  json top(const json& any_option) const {
    json out = any_option;
    for (const auto& [name, plugin] : catalog_.all()) {
      if (!plugin.published) continue;
      json published = json::object();
      for (const auto& [path, key] : plugin.published->paths) add_path(published, path, json(true));
      const json options = properties_of(plugin.options);
      for (const auto& [name_of, option] : options.items()) {
        add_path(published, plugin.published->options + "." + name_of, option);
      }
      for (const auto& [key, section] : published.items()) {
        out[key] = out.contains(key) ? json{{"anyOf", {out.at(key), section}}} : section;
      }
    }
    for (const std::string& key : published_keys(catalog_)) {
      if (!out.contains(key)) out[key] = true;
    }
    const json host = properties_of(run_schema(sections_));
    for (const auto& [key, option] : host.items()) {
      out[key] =
          out.contains(key) && key != "allocator" ? json{{"anyOf", {out.at(key), option}}} : option;
    }
    return out;
  }

  json data() const {
    json properties = properties_of(sections_.import);
    properties["path"] = {{"type", "string"},
                          {"description", "A log, a folder of logs, a graph store, or -."}};
    properties["synth"] = closed(properties_of(sections_.synth));
    json section = closed(std::move(properties));
    section["not"] = {{"type", "object"}, {"required", {"path", "synth"}}};
    return {{"anyOf", {{{"type", "string"}}, std::move(section)}}};
  }

  /// Keys with dots, as the command line has them.
  json dotted(const json& any_option) const {
    std::set<std::string> steps;
    for (const auto& [step, stage] : step_stages_) steps.insert(step);
    json import = properties_of(sections_.import);
    import["path"] = true;
    const std::string options = "\\.(" + joined(keys_of(any_option)) + ")$";
    return {{"^data\\.(" + joined(keys_of(import)) + ")$", true},
            {"^data\\.synth\\.(" + joined(keys_of(properties_of(sections_.synth))) + ")$", true},
            {"^(options|stages)\\.[^.]+" + options, true},
            {"^(" + joined(steps) + ")" + options, true}};
  }

  const PluginCatalog& catalog_;
  const SectionSchemas& sections_;
  std::vector<std::string> presets_;
  std::map<std::string, std::string> step_stages_;
  json defs_ = json::object();
};

}  // namespace

json profile_schema(const PluginCatalog& catalog, const SectionSchemas& sections,
                    const std::vector<std::filesystem::path>& preset_folders) {
  return Writer(catalog, sections, preset_folders).write();
}

}  // namespace kdgat
