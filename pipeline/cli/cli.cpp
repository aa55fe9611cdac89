#include "pipeline/cli/cli.h"

#include <algorithm>
#include <new>
#include <ostream>

#include "pipeline/cli/command_line.h"
#include "pipeline/show/text.h"

namespace kdgat {

namespace {

int help_verb(Context& context, const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    context.out << program_help();
    return 0;
  }
  if (arguments.front() == "exit-codes") {
    context.out << exit_codes_text();
    return 0;
  }
  std::vector<std::string> words(arguments);
  words.push_back("--help");
  return run_command(words, context.out, context.err);
}

/// A problem with a file and line begins with it, so that editors find the place; any other with
/// "error:", and with the argument at the end.
void print_problem(std::ostream& err, const Diagnostic& d) {
  const bool is_word = d.where.rfind("command line", 0) == 0;
  const Diagnostic shown = is_word ? Diagnostic{"", d.message + " (" + d.where + ")", d.hint} : d;
  err << (shown.where.empty() ? "error: " : "") << printable(shown.text()) << '\n';
}

void print_problems(std::ostream& err, const std::vector<Diagnostic>& list) {
  constexpr size_t kShown = 50;  // more of them have one cause
  for (size_t i = 0; i < std::min(list.size(), kShown); ++i) print_problem(err, list[i]);
  if (list.size() > kShown) {
    err << "error: and " << list.size() - kShown << " more problems\n";
  }
}

[[noreturn]] void unknown_verb(const std::string& name, const Context& context) {
  if (name[0] == '-') {
    throw Error(ExitCode::kUsage, "unknown option " + name, "see kdgat --help");
  }
  std::vector<std::string> known;
  for (const Verb& verb : verbs()) {
    if (!verb.hidden) known.push_back(verb.name);
  }
  const PluginCatalog catalog =
      PluginCatalog::scan(PluginCatalog::search_path(context.plugin_folders));
  const bool can_run = catalog.find(name) != nullptr || std::filesystem::exists(name);
  const std::string near = can_run ? "run " + name : nearest(name, known);
  throw Error(ExitCode::kUsage, "unknown command " + name,
              near.empty() ? "see kdgat --help" : "did you mean kdgat " + near + "?");
}

int run_words(const std::vector<std::string>& words, Context& context) {
  std::vector<std::string> names;
  for (const Verb& verb : verbs()) names.push_back(verb.name);
  for (size_t i = 0; i < words.size(); ++i) context.positions.push_back(static_cast<int>(i) + 1);
  Command command = read_command(context, words, names);
  if (command.version) return version_verb(context, {});
  if (command.name.empty()) {
    if (!command.words.empty()) unknown_verb(command.words.front(), context);
    (command.help ? context.out : context.err) << program_help();
    return static_cast<int>(command.help ? ExitCode::kOk : ExitCode::kUsage);
  }
  const Verb& verb = *std::find_if(verbs().begin(), verbs().end(),
                                   [&](const Verb& row) { return row.name == command.name; });
  if (verb.needs != Needs::kNothing && (!command.help || !command.words.empty())) {
    context.catalog = PluginCatalog::scan(PluginCatalog::search_path(context.plugin_folders));
  }
  if (command.help) {
    const std::string text = verb_help(verb.name, command.words, context.catalog);
    if (!text.empty()) {
      context.out << text;
      return 0;
    }
    command.words.push_back("--help");
    context.positions.push_back(static_cast<int>(words.size()));
  }
  return verb.run(context, command.words);
}

}  // namespace

std::string Context::place(size_t index) const {
  if (index >= positions.size()) return "command line";
  return "command line, argument " + std::to_string(positions[index]);
}

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> table = {
      {"run", "run the stages of a profile, a preset or one stage", Needs::kPlugins, run_verb},
      {"plan", "say what memory each stage needs and which batch fits, here or on another card",
       Needs::kPlugins, plan_verb},
      {"tune", "try many settings of one stage at once, as many as there is memory for",
       Needs::kPlugins, tune_verb},
      {"submit", "hand the steps of a run to SLURM, a job each", Needs::kPlugins, submit_verb},
      {"jobs", "show how the jobs of a submitted run stand; submit failed ones again",
       Needs::kNothing, jobs_verb},
      {"cancel", "end the jobs of a submitted run", Needs::kNothing, cancel_verb},
      {"memory", "estimate a stage's memory, or report planned against measured", Needs::kCatalog,
       memory_verb},
      {"report", "one HTML file of what runs did: curves, tables, memory, differences",
       Needs::kNothing, report_verb},
      {"runs", "list, show, compare and remove runs", Needs::kNothing, runs_verb},
      {"score", "score the windows of a log with a trained model", Needs::kCatalog, score_verb},
      {"sync", "write and send what is missing of the records of runs", Needs::kNothing, sync_verb},
      {"data", "import, inspect, verify and synthesise logs and graphs in space", Needs::kNothing,
       data_verb},
      {"config", "show the resolved profile, the options of a stage, or begin a profile",
       Needs::kCatalog, config_verb},
      {"plugins", "list the stages there are and show one", Needs::kPlugins, plugins_verb},
      {"doctor", "check this machine: device, libraries, plugins, limits", Needs::kPlugins,
       doctor_verb},
      {"completion", "print the completion script for bash, zsh or fish", Needs::kCatalog,
       completion_verb},
      {"version", "print the version and what it was built with", Needs::kNothing, version_verb},
      {"help", "this help, that of a verb, or exit-codes", Needs::kNothing, help_verb},
      {"job", "", Needs::kPlugins, job_verb, true},
      {"stage-child", "", Needs::kNothing, stage_verb, true},
      {"trials-child", "", Needs::kNothing, trials_verb, true},
      {"records-child", "", Needs::kNothing, records_verb, true},
      {"describe-plugin", "", Needs::kNothing, describe_verb, true},
  };
  return table;
}

int run_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  ExitCode code = ExitCode::kStageFailed;
  try {
    Context context{out, err, {}, {}, false, 0, {}};
    const int status = run_words(arguments, context);
    out.flush();
    err.flush();
    return status;
  } catch (const Error& e) {
    code = e.code();
    print_problems(err, e.diagnostics());
  } catch (const std::bad_alloc&) {
    code = ExitCode::kHostMemory;
    err << "error: out of host memory\n";
  } catch (const std::exception& e) {
    err << "error: " << e.what() << '\n';
  }
  out.flush();
  err.flush();
  return static_cast<int>(code);
}

}  // namespace kdgat
