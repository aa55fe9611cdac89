// `kdgat doctor`: one line a check, and for what is not well what to type.
#include <ostream>

#include "pipeline/cli/command_line.h"
#include "pipeline/execute/machine_checks.h"
#include "pipeline/show/table.h"
#include "pipeline/verbs/json/json_forms.h"

namespace kdgat {
namespace {

constexpr const char* kDoctorHelp = R"(Check this machine.

  kdgat doctor                                      one line a check: ok, warn or fail
  kdgat doctor --json

usage: kdgat doctor [--json]
)";

int doctor_verb(Context& context, const std::vector<std::string>& arguments) {
  CommandLine(context, "kdgat doctor").parse(arguments);
  Table table;
  nlohmann::json list = nlohmann::json::array();
  bool has_failed = false;
  for (const MachineCheck& check : check_machine(context.catalog)) {
    if (check.verdict == "fail") {
      has_failed = true;
      context.failures->push_back({check.name, {{"", check.finding, check.hint}}});
    }
    table.add({check.verdict, check.name,
               check.finding + (check.hint.empty() ? "" : "; type: " + check.hint)});
    list.push_back({{"check", check.name},
                    {"verdict", check.verdict},
                    {"finding", check.finding},
                    {"hint", check.hint}});
  }
  if (context.json) {
    print_json(context, "kdgat.doctor", {{"checks", std::move(list)}});
  } else {
    context.out << table.text();
  }
  return has_failed ? static_cast<int>(ExitCode::kStageFailed) : 0;
}

}  // namespace

Verb make_doctor_verb() {
  return {"doctor", "check this machine: device, libraries, plugins, limits", Needs::kPlugins,
          doctor_verb, help_text(kDoctorHelp)};
}

}  // namespace kdgat
