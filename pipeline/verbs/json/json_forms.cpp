#include "pipeline/verbs/json/json_forms.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "kdgat/text.h"
#include "pipeline/cli/json_error.h"
#include "pipeline/show/table.h"
#include "pipeline/show/text.h"

namespace kdgat {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr const char* kProgram = "kdgat.";
constexpr const char* kDialect = "https://json-schema.org/draft/2020-12/schema";

struct KeyLine {
  std::string path, type, words;
};

std::vector<KeyLine> key_lines(const std::string& keys) {
  std::istringstream in(keys);
  std::vector<KeyLine> out;
  for (std::string text; std::getline(in, text);) {
    std::istringstream line(text);
    KeyLine one;
    if (!(line >> one.path)) continue;
    line >> one.type >> std::ws;
    std::getline(line, one.words);
    out.push_back(std::move(one));
  }
  return out;
}

const JsonPart* find_part(const std::string& name) {
  static const std::vector<JsonPart> parts = [] {
    std::vector<JsonPart> out;
    for (const auto& of : {json_parts_of_runs, json_parts_of_data, json_parts_of_program}) {
      for (const JsonPart& part : of()) out.push_back(part);
    }
    return out;
  }();
  const auto found = std::find_if(parts.begin(), parts.end(),
                                  [&](const JsonPart& part) { return part.name == name; });
  return found == parts.end() ? nullptr : &*found;
}

/// Builds the JSON Schema of one object, line by line.
class SchemaBuilder {
 public:
  explicit SchemaBuilder(std::string form) : form_(std::move(form)) {}

  void add(ordered_json& object, const std::string& keys) {
    for (const KeyLine& line : key_lines(keys)) {
      if (line.path.front() != '@') {
        add(object, line);
      } else if (const JsonPart* part = find_part(line.path.substr(1))) {
        add(object, part->keys);
      } else {
        refuse(line);
      }
    }
  }

 private:
  [[noreturn]] void refuse(const KeyLine& line) const {
    throw std::logic_error("form " + form_ + ": line \"" + line.path + " " + line.type +
                           "\" is not as json_forms.h has it");
  }

  void add(ordered_json& object, const KeyLine& line) {
    ordered_json* at = &object;
    const std::vector<std::string> names = parts_of(line.path, '.');
    for (std::size_t i = 0; i < names.size(); ++i) {
      at = &below(*at, names[i], i + 1 == names.size(), line);
    }
    const std::vector<std::string> types = parts_of(line.type, '|');
    if (types.empty()) refuse(line);
    const std::string& first = types.front();
    ordered_json names_of_types = ordered_json::array();
    for (const std::string& type : types) {
      if (type == "any") continue;
      names_of_types.push_back(type == "open" || type.front() == '@' ? "object" : type);
    }
    if (names_of_types.size() == 1) {
      (*at)["type"] = names_of_types.front();
    } else if (!names_of_types.empty()) {
      (*at)["type"] = names_of_types;
    }
    if (first == "open") (*at)["additionalProperties"] = true;
    if (first.front() != '@') return;
    const JsonPart* part = find_part(first.substr(1));
    if (part == nullptr) refuse(line);
    add(*at, part->keys);
  }

  /// The schema of the values of a name; its own where it is the last of a path, which is then new.
  ordered_json& below(ordered_json& object, std::string name, bool is_last, const KeyLine& line) {
    const bool may_lack = name.ends_with('?');
    if (may_lack) name.pop_back();
    std::size_t lists = 0;
    for (; name.ends_with("[]"); ++lists) name.resize(name.size() - 2);
    const bool is_any = name == "*";
    // First: a key that is added moves the others.
    if (is_last && !is_any && !may_lack) object["required"].push_back(name);
    ordered_json& all = is_any ? object : object["properties"];
    const std::string key = is_any ? "additionalProperties" : name;
    if (all.contains(key) == is_last) refuse(line);
    ordered_json* at = &all[key];
    if (is_last && !line.words.empty()) (*at)["description"] = line.words;
    for (; lists > 0; --lists) {
      if (is_last) (*at)["type"] = "array";
      at = &(*at)["items"];
    }
    return *at;
  }

  std::string form_;
};

}  // namespace

const std::vector<JsonForm>& json_forms() {
  static const std::vector<JsonForm> all = [] {
    std::vector<JsonForm> out;
    for (const auto& of : {json_forms_of_work, json_forms_of_runs, json_forms_of_logs,
                           json_forms_of_data, json_forms_of_program}) {
      for (const JsonForm& form : of()) out.push_back(form);
    }
    return out;
  }();
  return all;
}

const JsonForm* find_json_form(const std::string& name) {
  std::string wanted = name.substr(0, name.find('/'));
  std::replace(wanted.begin(), wanted.end(), ' ', '.');
  if (!wanted.starts_with(kProgram)) wanted.insert(0, kProgram);
  const std::vector<JsonForm>& all = json_forms();
  const auto found = std::find_if(all.begin(), all.end(), [&](const JsonForm& form) {
    return form.name == wanted &&
           (name.find('/') == std::string::npos || name.ends_with(form.schema()) ||
            kProgram + name == form.schema());
  });
  return found == all.end() ? nullptr : &*found;
}

ordered_json json_schema(const JsonForm& form) {
  const bool is_document = form.kind == JsonForm::Kind::kDocument;
  ordered_json out = {{"$schema", kDialect},
                      {"title", form.schema()},
                      {"description", form.what + ", as " + form.command + " --json prints it" +
                                          (is_document ? "" : ", one object a line")},
                      {"type", "object"},
                      {"required", ordered_json::array()},
                      {"properties", ordered_json::object()}};
  if (is_document) {
    out["required"].push_back("schema");
    out["properties"]["schema"] = {{"const", form.schema()},
                                   {"description", "the form and its version"}};
  }
  SchemaBuilder(form.name).add(out, form.keys);
  return out;
}

std::string form_text(const JsonForm& form) {
  std::string out = form.schema() + ": " + form.what + "\nprinted by " + form.command + " --json" +
                    (form.kind == JsonForm::Kind::kLines ? ", one object a line" : "") + "\n\n";
  Table table;
  const auto add = [&](const auto& self, const std::string& keys,
                       const std::string& before) -> void {
    for (const KeyLine& line : key_lines(keys)) {
      if (line.path.front() == '@') {
        self(self, find_part(line.path.substr(1))->keys, before);
        continue;
      }
      const std::string type = line.type.substr(0, line.type.find('|'));
      const JsonPart* part = type.starts_with('@') ? find_part(type.substr(1)) : nullptr;
      const std::string rest = line.type.substr(type.size());
      table.add({before + line.path, part == nullptr ? line.type : "object" + rest, line.words});
      if (part == nullptr) continue;
      std::string path = before + line.path;
      if (path.ends_with('?')) path.pop_back();
      self(self, part->keys, path + ".");
    }
  };
  add(add, form.keys, "");
  return out + table.text();
}

void print_json(const Context& context, const std::string& name, const ordered_json& answer) {
  const JsonForm* form = find_json_form(name);
  if (form == nullptr || form->kind != JsonForm::Kind::kDocument || answer.contains("schema")) {
    throw std::logic_error("no answer is of the form " + name);
  }
  ordered_json out = {{"schema", form->schema()}};
  out.update(answer);
  context.out << out.dump(1, ' ', false, ordered_json::error_handler_t::replace) << '\n';
}

std::string json_line(const json& line) {
  return line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace kdgat
