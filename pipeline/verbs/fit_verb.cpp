// kdgat fit: from logs to a detector, its report and the commands that go on. It is kdgat run
// --preset detector under a plain name.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "kdgat/atomic_file.h"
#include "pipeline/cli/command_line.h"
#include "pipeline/report/report_file.h"
#include "pipeline/show/quantity.h"
#include "pipeline/system/program.h"
#include "pipeline/verbs/commands/run_command.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPreset = "fit";  // profiles/fit.yaml, which makes one model
constexpr const char* kBudget = "false_alarms";

constexpr const char* kFitHelp =
    R"(Make a detector of a vehicle's logs: one command from log files to a model with a threshold.

  kdgat fit logs/                                   thresholds for as few false windows as the
                                                    benign traffic supports
  kdgat fit logs/ -o mine --budget 100/h            mine/detector.json and mine/report.html
  kdgat fit drive.csv.gz --budget 1/min --dry-run   what would run; change nothing
  kdgat fit logs/ my.yaml --seed 3 trees=100        with options, as kdgat run takes them
  kdgat score drive.log --run mine

usage: kdgat fit LOGS [-o DIR] [--budget N/h] [what kdgat run takes]

LOGS is a log of any form, a folder of logs, or - for standard input; logs below test* folders are
not learned from but judged. It says what is in the logs, what it learns from and why, and what the
thresholds stand for; then it prints figures beside those of simple methods: of the test logs, and
of training windows left out in turn. Without labels, or with benign logs only, attacks are injected
to learn from, and all traffic is taken as benign. It is kdgat run --preset fit --data LOGS, so it
is resumed, planned (kdgat plan) and submitted (kdgat submit) as such.

  -o, --output DIR     put detector.json and report.html there (else they stay in the run's folder)
  --budget N/h         false windows an hour, or /min, /day; without it the smallest that the benign
                       traffic supports. A smaller one ends with 2

See kdgat run --help for all else, kdgat run detector --help for options.

Exit codes: 0 done; 2 usage, or the benign traffic does not support the budget; 3 the logs cannot be
read, or are too short; 129, 130, 131 and 143 stopped by a signal: the same
command goes on.
)";

struct FitFlags {
  std::string output;

  /// Keep this object while the words are read.
  RunFlags declare() {
    RunFlags out;
    out.called = "kdgat fit";
    out.takes_data = true;
    out.declare = [this](CommandLine& line, RunOptions& options) {
      options.profile.presets.push_back(kPreset);
      line.value("-o,--output", output, Offer::kFiles);
      line.value("--budget", [&](const std::string& text) {
        if (const std::optional<double> budget = parse_per_hour(text)) {
          options.profile.overrides.push_back(
              {kBudget, nlohmann::json(*budget).dump(), line.place()});
        } else {
          line.problem("--budget: " + text + " is no budget of false windows",
                       "e.g. 100/h, 2/min or 48/day");
        }
      });
    };
    return out;
  }
};

/// Puts the model and its report where the user wants them. Returns what to type next.
std::string hand_over(const RunOutcome& outcome, const std::string& output, Context& context) {
  if (outcome.models.empty()) return "kdgat fit --help";  // the user's profile has it otherwise
  const fs::path made = outcome.models.begin()->second, run = made.parent_path().parent_path();
  const fs::path place = output.empty() ? run : fs::path(output);
  fs::path model = made;
  if (!output.empty()) {
    fs::create_directories(place);
    model = place / made.filename();
    std::ifstream bytes(made, std::ios::binary);
    write_file(model, std::string(std::istreambuf_iterator<char>(bytes),
                                  std::istreambuf_iterator<char>()));
  }
  write_report({read_report(run, context.catalog)}, place / "report.html");
  context.err << "model " << model.string() << ", report " << (place / "report.html").string()
              << '\n';
  const std::string name = shell_line({output.empty() ? model.string() : output});
  return "kdgat score LOG --run " + name + " · kdgat why LOG --model " + name + " · kdgat adapt " +
         name + " LOG -o mine.json";
}

int fit_verb(Context& context, const std::vector<std::string>& arguments) {
  FitFlags flags;
  return run_words(context, arguments, {flags.declare(), [&](const RunOutcome& outcome) {
                                          return hand_over(outcome, flags.output, context);
                                        }});
}

}  // namespace

Verb make_fit_verb() {
  return {"fit", "make a detector of a vehicle's logs, in one command", Needs::kPlugins, fit_verb,
          help_text(kFitHelp)};
}

}  // namespace kdgat
