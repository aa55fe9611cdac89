// What verbs print under --json, in one table: a form for each kind of answer, with its name, its
// version and its keys; and the one way to print an answer. docs/json.md says what a version
// promises.
//
// Keys are written one a line: path, type, words. The path is of names joined by dots; "[]" behind
// a name is a list of such values, "*" any name, and a last name with "?" may be left out. Types
// are those of JSON Schema, several joined by "|"; "open" is an object that may have further keys,
// "any" any value, and "@part" an object with the keys of a JsonPart ("@part|null" too); "@part"
// alone on a line stands for these keys themselves. A line is below those that it belongs to. Of a
// record the lines follow from its keys (system/record.h): record::keys_text<RunRecord>().
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pipeline/cli/cli.h"

namespace kdgat {

struct JsonForm {
  enum class Kind { kDocument, kLines };  ///< one object with `schema`, or objects a line without
  std::string name;                       ///< "kdgat.runs.list"
  /// Raised when a key goes away, or means something else, or has another type or unit.
  int version = 1;
  std::string command;  ///< who prints it: "kdgat runs list"
  std::string what;     ///< in a few words
  std::string keys{};
  Kind kind = Kind::kDocument;

  std::string schema() const { return name + "/" + std::to_string(version); }
};

/// Keys that several forms have.
struct JsonPart {
  std::string name, keys;
};

// The tables, by what the verbs are about: json_forms_*.cpp.
std::vector<JsonForm> json_forms_of_work();
std::vector<JsonForm> json_forms_of_runs();
std::vector<JsonForm> json_forms_of_logs();
std::vector<JsonForm> json_forms_of_data();
std::vector<JsonForm> json_forms_of_program();
std::vector<JsonPart> json_parts_of_runs();
std::vector<JsonPart> json_parts_of_data();
std::vector<JsonPart> json_parts_of_program();

/// Every form there is.
const std::vector<JsonForm>& json_forms();
/// By "kdgat.runs.list", "runs.list", "runs list" or with "/1" behind; nullptr if there is none.
const JsonForm* find_json_form(const std::string& name);
/// JSON Schema (draft 2020-12). Objects may have further keys: a later program of the same version
/// may add some. Throws std::logic_error for a table that is written wrong.
nlohmann::ordered_json json_schema(const JsonForm& form);

/// A form as its table has it, for people.
std::string form_text(const JsonForm& form);

/// `answer`, an object, on standard output as the form of this name: "schema" and then its keys.
/// Throws std::logic_error if there is no such form.
void print_json(const Context& context, const std::string& name,
                const nlohmann::ordered_json& answer);
/// One line of a form of lines, with its end.
std::string json_line(const nlohmann::json& line);

/// `kdgat help json [FORM]`: the list, or one form in words; under --json the list as JSON, and of
/// one form its JSON Schema. Returns the exit code; throws Error(kUsage) for a form that there is
/// not.
int help_json(const Context& context, const std::vector<std::string>& words);

}  // namespace kdgat
