// The command line: one table of verbs, each saying how much must be loaded before it runs.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "pipeline/plugin/plugin_catalog.h"

namespace kdgat {

/// What a verb needs before it can run, in rising order of cost.
enum class Needs { kNothing, kCatalog, kPlugins };

/// What every verb gets. Results go to `out`, everything else to `err`.
struct Context {
  std::ostream& out;
  std::ostream& err;
  PluginCatalog catalog;                              ///< filled if the verb needs it
  std::vector<std::filesystem::path> plugin_folders;  ///< from --plugin-dir
  bool json = false;
  int verbosity = 0;           ///< -q -1, -v +1
  std::vector<int> positions;  ///< of each argument after the verb on the command line

  /// "command line, argument 4" for the argument with this index.
  std::string place(size_t index) const;
};

struct Verb {
  std::string name;
  std::string summary;
  Needs needs = Needs::kNothing;
  /// Arguments after the verb. Returns the exit code; throws Error.
  std::function<int(Context&, const std::vector<std::string>&)> run;
  bool hidden = false;
};

/// The table. A new verb is one row in cli.cpp, and its help a row in help.cpp unless it prints its
/// own for --help.
const std::vector<Verb>& verbs();

/// The documented exit codes, with what each means.
std::string exit_codes_text();
/// What `kdgat --help` prints.
std::string program_help();
/// What `kdgat VERB --help` prints; for `run STAGE` with that stage's options. "" if the verb
/// prints its own.
std::string verb_help(const std::string& verb, const std::vector<std::string>& arguments,
                      const PluginCatalog& catalog);

/// Parses and runs one command; prints errors to `err`; never throws.
int run_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

// The verbs, each in <name>_verb.cpp.
int run_verb(Context& context, const std::vector<std::string>& arguments);
int plan_verb(Context& context, const std::vector<std::string>& arguments);
int tune_verb(Context& context, const std::vector<std::string>& arguments);
int submit_verb(Context& context, const std::vector<std::string>& arguments);
int jobs_verb(Context& context, const std::vector<std::string>& arguments);
int cancel_verb(Context& context, const std::vector<std::string>& arguments);
int memory_verb(Context& context, const std::vector<std::string>& arguments);
int report_verb(Context& context, const std::vector<std::string>& arguments);
int runs_verb(Context& context, const std::vector<std::string>& arguments);
int sync_verb(Context& context, const std::vector<std::string>& arguments);
int score_verb(Context& context, const std::vector<std::string>& arguments);
int data_verb(Context& context, const std::vector<std::string>& arguments);
int plugins_verb(Context& context, const std::vector<std::string>& arguments);
int config_verb(Context& context, const std::vector<std::string>& arguments);
int completion_verb(Context& context, const std::vector<std::string>& arguments);
int doctor_verb(Context& context, const std::vector<std::string>& arguments);
int version_verb(Context& context, const std::vector<std::string>& arguments);
/// Hidden: what a batch script starts for one step (see job_script.h).
int job_verb(Context& context, const std::vector<std::string>& arguments);
/// Hidden: what the runner starts for one stage (see runner.h).
int stage_verb(Context& context, const std::vector<std::string>& arguments);
/// Hidden: what a sweep starts for its trials (see tune/trial_process.h).
int trials_verb(Context& context, const std::vector<std::string>& arguments);
/// Hidden: keeps the records of a run while it runs (see recorder.h).
int records_verb(Context& context, const std::vector<std::string>& arguments);
/// Hidden: writes kdgat_<stage>.json for a freshly built plugin: `kdgat describe-plugin X.so`.
int describe_verb(Context& context, const std::vector<std::string>& arguments);

}  // namespace kdgat
