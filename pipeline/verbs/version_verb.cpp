// `kdgat version`: what this is and what it was built with. Loads nothing.
#include <nlohmann/json.hpp>
#include <ostream>

#include "kdgat/stage_abi.h"
#include "pipeline/cli/command_line.h"
#include "pipeline/show/table.h"
#include "pipeline/verbs/commands/linked_libraries.h"
#include "pipeline/verbs/json/json_forms.h"

namespace kdgat {

namespace {

constexpr const char* kVersionHelp = R"(Print the version and what it was built with.

  kdgat version
  kdgat version --all           also the libraries it holds or opens, with versions and licences
  kdgat version --all --json

usage: kdgat version [--all] [--json]
)";

std::string library_table() {
  Table table;
  table.add({"library", "version", "licence", "how", "files"});
  for (const LinkedLibrary& library : linked_libraries()) {
    table.add({library.name, library.version, library.licence, library.how, library.files});
  }
  return table.text();
}

int version_verb(Context& context, const std::vector<std::string>& arguments) {
  bool all = false;
  CommandLine line(context, "kdgat version");
  line.flag("--all", all);
  line.parse(arguments);
  const std::string abi = std::to_string(KDGAT_ABI_MAJOR) + "." + std::to_string(KDGAT_ABI_MINOR);
  const std::string compiler = std::string("g++ ") + __VERSION__;
  if (context.json) {
    nlohmann::json answer{{"kdgat", KDGAT_VERSION}, {"plugin_abi", abi}, {"compiler", compiler}};
    if (all) answer["libraries"] = libraries_json();
    print_json(context, "kdgat.version", answer);
    return 0;
  }
  context.out << "kdgat " << KDGAT_VERSION << ", plugin ABI " << abi << ", " << compiler << '\n';
  if (all) context.out << '\n' << library_table();
  return 0;
}

}  // namespace

Verb make_version_verb() {
  return {"version", "print the version and what it was built with", Needs::kNothing, version_verb,
          help_text(kVersionHelp)};
}

}  // namespace kdgat
