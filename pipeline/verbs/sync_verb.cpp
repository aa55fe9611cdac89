// kdgat sync: writes and sends what is missing of the records of runs.
#include <algorithm>
#include <iostream>

#include "kdgat/text.h"
#include "pipeline/cli/cli.h"
#include "pipeline/cli/command_line.h"
#include "pipeline/records/mlflow_address.h"
#include "pipeline/records/recorder.h"
#include "pipeline/run/find_model.h"
#include "pipeline/run/run_record.h"
#include "pipeline/system/signals.h"
#include "pipeline/verbs/json/json_forms.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double kRequestSeconds = 30;

struct SyncWords {
  std::vector<std::string> runs;
  std::string root = "runs", to;
  bool follow = false;
};

SyncWords parse(Context& context, const std::vector<std::string>& arguments) {
  SyncWords words;
  CommandLine line(context, "kdgat sync");
  line.words([&](const std::string& run) { words.runs.push_back(run); }, Offer::kRuns);
  line.value("--root", words.root, Offer::kFiles);
  line.value("--to", words.to, Offer::kFiles);
  line.flag("--follow", words.follow);
  line.parse(arguments);
  if (!words.to.empty()) mlflow_kind(words.to);
  return words;
}

bool has_ended(const fs::path& run) { return read_run_file(run).exit_code.has_value(); }

/// Once, or with `follow` again and again until the run has ended or a signal comes.
RunRecords::Outcome sync_run(const fs::path& run, const SyncWords& words) {
  constexpr double kPauseSeconds = 2;
  const RecordTargets targets = targets_of_run(run, words.to);
  RunRecords records(run, targets, kRequestSeconds);
  RunRecords::Outcome all;
  while (true) {
    const bool last = !words.follow || has_ended(run) || pending_signal() != 0;
    const RunRecords::Outcome now = records.update(last);
    all.sent += now.sent;
    all.problems = now.problems;
    const std::string withheld = withheld_credentials(targets);
    if (!now.problems.empty() && !withheld.empty()) all.problems.push_back({"", withheld, ""});
    if (last) return all;
    const Deadline until = deadline_in(kPauseSeconds);
    constexpr useconds_t kLook = 100'000;
    while (pending_signal() == 0 && std::chrono::steady_clock::now() < until) ::usleep(kLook);
  }
}

constexpr const char* kSyncHelp =
    R"(Write and send what is missing of the records of runs: metrics.csv, TensorBoard's event files, and
what MLflow has not got because the network, the server or the run itself went down.

  kdgat sync                                        every run below runs/
  kdgat sync 01JD                                   one run, by its folder or id
  kdgat sync 01JD --to http://localhost:5000        to this server, or a folder: --to mlruns
  kdgat sync 01JD --follow                          while it runs, from a machine with a network

usage: kdgat sync [RUN ...] [options]

  --to URI             http://HOST:PORT or a folder, in place of where the run was to be sent
  --root DIR           folder that holds all runs (default runs)
  --follow             go on until the run has ended
  --json               results as JSON

Nothing is sent twice. Addresses of a run are its mlflow_uri, else MLFLOW_TRACKING_URI. Ends with 3
if something could not be written or sent, and says what.
)";

int sync_verb(Context& context, const std::vector<std::string>& arguments) {
  const SyncWords words = parse(context, arguments);
  const std::vector<fs::path> runs =
      words.runs.empty() ? runs_below(words.root) : find_runs(words.runs, words.root);
  if (runs.empty()) {
    throw Error(ExitCode::kData, "no runs in " + words.root,
                "name a run's folder or id; --root DIR names another place");
  }
  if (words.follow && runs.size() > 1) {
    throw Error(ExitCode::kUsage,
                "--follow is for one run, and there are " + std::to_string(runs.size()));
  }
  install_signal_flags();
  json list = json::array();
  int64_t sent = 0;
  std::vector<Diagnostic> problems;
  for (const fs::path& run : runs) {
    const RunRecords::Outcome outcome = sync_run(run, words);
    sent += outcome.sent;
    json texts = json::array();
    for (const Diagnostic& one : outcome.problems) {
      problems.push_back({"", run.string() + ": " + one.message, one.hint});
      texts.push_back(one.text());
    }
    list.push_back({{"run", run.string()}, {"sent", outcome.sent}, {"problems", texts}});
    if (pending_signal() != 0) break;
  }
  if (context.json) {
    print_json(context, "kdgat.sync", {{"sent", sent}, {"runs", list}});
  } else {
    const std::string of = std::to_string(runs.size()) + (runs.size() == 1 ? " run" : " runs");
    const std::string numbers = grouped(sent) + (sent == 1 ? " number sent" : " numbers sent");
    if (!problems.empty()) {
      context.out << numbers << "; the records of " << of << " are not complete\n";
    } else {
      context.out << (sent == 0 ? "" : numbers + "; ") << "everything is up to date (" << of
                  << ")\n";
    }
  }
  if (!problems.empty()) throw Error(ExitCode::kData, std::move(problems));
  return pending_signal();
}

int records_verb(Context& context, const std::vector<std::string>&) {
  return record_from_input(std::cin, context.out);
}

}  // namespace

Verb make_sync_verb() {
  return {"sync", "write and send what is missing of the records of runs", Needs::kNothing,
          sync_verb, help_text(kSyncHelp)};
}

Verb make_records_verb() {
  return {"records-child", "", Needs::kNothing, records_verb, nullptr, true};
}

}  // namespace kdgat
