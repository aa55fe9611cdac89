#include "pipeline/verbs/verbs.h"

#include <ostream>

#include "pipeline/cli/command_line.h"
#include "pipeline/verbs/json/json_forms.h"

namespace kdgat {

// Each defined in <name>_verb.cpp; job, stage, trials, replicate, records, guard, describe,
// open_plugin and texts are hidden.
Verb make_run_verb();
Verb make_fit_verb();
Verb make_plan_verb();
Verb make_tune_verb();
Verb make_submit_verb();
Verb make_jobs_verb();
Verb make_cancel_verb();
Verb make_memory_verb();
Verb make_report_verb();
Verb make_runs_verb();
Verb make_top_verb();
Verb make_score_verb();
Verb make_why_verb();
Verb make_watch_verb();
Verb make_adapt_verb();
Verb make_export_verb();
Verb make_sync_verb();
Verb make_data_verb();
Verb make_config_verb();
Verb make_plugins_verb();
Verb make_doctor_verb();
Verb make_completion_verb();
Verb make_version_verb();
Verb make_job_verb();
Verb make_stage_verb();
Verb make_trials_verb();
Verb make_replicate_verb();
Verb make_records_verb();
Verb make_guard_verb();
Verb make_describe_verb();
Verb make_open_plugin_verb();
Verb make_texts_verb();

namespace {

constexpr const char* kHelpHelp = R"(Help.

  kdgat help                                        what there is
  kdgat help run                                    one verb
  kdgat help run autoencoder                        the options of a stage
  kdgat help exit-codes
  kdgat help json                                   the forms of what --json prints
  kdgat help json runs.list                         the keys of one; with --json as JSON Schema

usage: kdgat help [VERB | exit-codes | json [FORM]]
)";

int help_verb(Context& context, const std::vector<std::string>& said) {
  std::vector<std::string> arguments;
  CommandLine line(context, "kdgat help");
  line.words([&](const std::string& word) { arguments.push_back(word); },
             {Offer::kVerbs, {"exit-codes", "json"}});
  line.parse(said);
  if (arguments.empty()) {
    context.out << program_help(verbs());
    return 0;
  }
  if (arguments.front() == "exit-codes") {
    context.out << exit_codes_text();
    return 0;
  }
  if (arguments.front() == "json") {
    return help_json(context, {arguments.begin() + 1, arguments.end()});
  }
  std::vector<std::string> words(arguments);
  words.push_back("--help");
  if (context.json) words.push_back("--json");
  return run_command(verbs(), words, context.out, context.err);
}

Verb make_help_verb() {
  return {"help", "this help, that of a verb, exit-codes, or json", Needs::kNothing, help_verb,
          help_text(kHelpHelp)};
}

}  // namespace

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> table = {
      make_run_verb(),      make_fit_verb(),         make_plan_verb(),    make_tune_verb(),
      make_submit_verb(),   make_jobs_verb(),        make_cancel_verb(),  make_memory_verb(),
      make_report_verb(),   make_runs_verb(),        make_top_verb(),     make_score_verb(),
      make_why_verb(),      make_watch_verb(),       make_adapt_verb(),   make_export_verb(),
      make_sync_verb(),     make_data_verb(),        make_config_verb(),  make_plugins_verb(),
      make_doctor_verb(),   make_completion_verb(),  make_version_verb(), make_help_verb(),
      make_job_verb(),      make_stage_verb(),       make_trials_verb(),  make_records_verb(),
      make_describe_verb(), make_open_plugin_verb(), make_texts_verb(),   make_replicate_verb(),
      make_guard_verb(),
  };
  return table;
}

}  // namespace kdgat
