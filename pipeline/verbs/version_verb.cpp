// `kdgat version`: what this is and what it was built with. Loads nothing.
#include <nlohmann/json.hpp>
#include <ostream>

#include "kdgat/stage_abi.h"
#include "pipeline/cli/command_line.h"
#include "pipeline/verbs/json_forms.h"

namespace kdgat {

namespace {

constexpr const char* kVersionHelp = R"(Print the version and what it was built with.

  kdgat version
  kdgat version --json

usage: kdgat version [--json]
)";

int version_verb(Context& context, const std::vector<std::string>& arguments) {
  CommandLine(context, "kdgat version").parse(arguments);
  const std::string abi = std::to_string(KDGAT_ABI_MAJOR) + "." + std::to_string(KDGAT_ABI_MINOR);
  const std::string compiler = std::string("g++ ") + __VERSION__;
  if (context.json) {
    print_json(
        context, "kdgat.version",
        nlohmann::json{{"kdgat", KDGAT_VERSION}, {"plugin_abi", abi}, {"compiler", compiler}});
  } else {
    context.out << "kdgat " << KDGAT_VERSION << ", plugin ABI " << abi << ", " << compiler << '\n';
  }
  return 0;
}

}  // namespace

Verb make_version_verb() {
  return {"version", "print the version and what it was built with", Needs::kNothing, version_verb,
          help_text(kVersionHelp)};
}

}  // namespace kdgat
