// kdgat help json: the forms of JSON that verbs print.
#include "pipeline/cli/command_line.h"
#include "pipeline/show/table.h"
#include "pipeline/show/text.h"
#include "pipeline/verbs/json/json_forms.h"

namespace kdgat {

using nlohmann::json;

int help_json(const Context& context, const std::vector<std::string>& words) {
  const std::string name = joined(words, " ");
  if (!name.empty()) {
    const JsonForm* form = find_json_form(name);
    if (form == nullptr) {
      std::vector<std::string> known;
      known.reserve(json_forms().size());
      for (const JsonForm& one : json_forms()) known.push_back(one.name.substr(6));
      throw Error(ExitCode::kUsage, "no form of JSON is called " + name,
                  suggestion(name, known, "kdgat help json"));
    }
    context.out << (context.json ? json_schema(*form).dump(1) + "\n" : form_text(*form));
    return 0;
  }
  Table table;
  json list = json::array();
  for (const JsonForm& form : json_forms()) {
    const bool is_lines = form.kind == JsonForm::Kind::kLines;
    table.add({form.schema(), is_lines ? "lines" : "", form.command, form.what});
    list.push_back({{"schema", form.schema()},
                    {"name", form.name},
                    {"version", form.version},
                    {"command", form.command},
                    {"lines", is_lines},
                    {"summary", form.what}});
  }
  if (context.json) {
    print_json(context, "kdgat.help.json", {{"forms", std::move(list)}});
  } else {
    context.out << table.text()
                << "\nkdgat help json FORM shows the keys of one, with --json as JSON Schema\n";
  }
  return 0;
}

}  // namespace kdgat
