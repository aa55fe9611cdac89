// kdgat score: a line for each window of a log, from the score stage in this process.
#include <utility>

#include "kdgat/event.h"
#include "kdgat/kinds.h"
#include "kdgat/text.h"
#include "pipeline/cli/command_line.h"
#include "pipeline/data/data.h"
#include "pipeline/plugin/option_groups.h"
#include "pipeline/plugin/schema.h"
#include "pipeline/plugin/stage_call.h"
#include "pipeline/show/status.h"
#include "pipeline/system/record.h"
#include "pipeline/system/signals.h"
#include "pipeline/verbs/commands/log_stage.h"
#include "pipeline/verbs/commands/score_output.h"
#include "pipeline/verbs/commands/score_rows.h"
#include "pipeline/verbs/json/json_forms.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// The option that says what of a log is one.
struct ScoredLog {
  std::string channel;
  static auto keys() { return std::tuple{key("channel", &ScoredLog::channel)}; }
};

struct ScoreRequest : ModelWords, EngineWords {
  std::string log, output, fail_on, threads = "1";

  /// Lines have to say of which log, or bus, they are.
  bool is_of_several() const {
    return std::filesystem::is_directory(log) || record::read<ScoredLog>(options).channel == "each";
  }
};

/// Nothing ends a pipe or a terminal but whoever writes to it: lines are wanted as they come.
bool is_live(const std::string& log) {
  std::error_code ignored;
  return log == "-" || (fs::exists(log, ignored) && !fs::is_regular_file(log, ignored) &&
                        !fs::is_directory(log, ignored));
}

/// Throws Error(kUsage) with every problem.
ScoreRequest read_request(const Context& context, const json& schema,
                          const std::vector<std::string>& words) {
  ScoreRequest request;
  CommandLine line(context, "kdgat score");
  line.word(request.log, Offer::kFiles);
  line.value("--run", request.run, Offer::kRuns);
  line.value("-o,--output", request.output, Offer::kFiles);
  line.value("--fail-on", request.fail_on, {kAttackDecision});
  line.value("--device", request.device, {"cpu", "cuda"});
  line.value("--threads", request.threads);
  const CommandLine::Set set = request.ModelWords::declare(line, schema);
  request.EngineWords::declare(line);
  line.value("--threshold", [&](const std::string& text) { set("threshold", text); });
  std::vector<Diagnostic> problems = line.read(words);
  const std::string usage = "kdgat score --help shows examples";
  if (request.log.empty()) problems.push_back({"", "kdgat score needs a log", usage});
  const json threads = plain_scalar(request.threads).value;
  if (!threads.is_number_integer() || threads < 1) {
    problems.push_back({"", "--threads: " + request.threads + " is not a number of threads", ""});
  }
  if (!request.fail_on.empty() && request.fail_on != kAttackDecision) {
    problems.push_back({"", "--fail-on: \"" + request.fail_on + "\" is nothing to fail on",
                        "--fail-on attack ends with 10 if a window was flagged"});
  }
  if (!problems.empty()) throw Error(ExitCode::kUsage, std::move(problems));
  return request;
}

constexpr const char* kScoreHelp =
    R"(Score the windows of a log: one line a window on standard output.

  kdgat score drive.log                                      with the detector that comes with kdgat
  kdgat score drive.log --run runs/my/01JD.../classifier     a step's folder, or its model file
  kdgat score drive.csv.gz --run 01JD                        a run by its id, or its beginning
  candump -L can0 | kdgat score - --run 01JD --calibrate 100 lines come as windows fill
  kdgat score logs/ --run 01JD --model student --json -o scores.jsonl
  candump -L can0 | kdgat score - --run detector.json --json
  kdgat score drive.log --run 01JD -o scores.csv --fail-on attack   for a script: 10 = an attack

  kdgat score pocket.pdb --run runs/my/01JD... --top 10   ligands for a pocket, with such a model

usage: kdgat score LOG [--run RUN] [options]

LOG is a log of any form, gzip or not, a folder of logs, or - for standard input. Without --run and
--model, the detector that comes with kdgat scores: it needs no training and knows no vehicle.
Vocabulary, features and windows are the model file's own, which is all that is needed. A detector
(detector.json) finds the vehicle of a log by its first 100 windows; of one that it does not know
it learns what is usual from the first 15 s (or N windows, --calibrate N), which are taken as
benign. Windows that were listened to are scored when that is known, all others when the one behind
them is complete; rows behind the last full window are not. Columns:

  time       of the window's first row, in the log's own clock; empty where the log has none
  window     number in its log, from 0
  row        the window's first row in its log, from 0; malformed rows do not count
  ids        distinct ids
  score      probability of attack (classifier), reconstruction error (autoencoder), log-odds
             above the threshold (detector)
  decision   attack, benign, or calibration: taken as benign to set the threshold
  reason_1 .. reason_3   of a detector's flagged window: what made most of its score, an id and what
             it did, "316: 41 frames where 10 are usual; gap of 0.5 ms where 10 ms is usual"; empty
             where there is no more to say; kdgat why says all. --reasons=false leaves them out
  frames     with --frames, of a detector's flagged window: rows of its frames that were injected,
             from 0, with spaces between them; with --json their times, ids and scores
  file       for a folder of logs, and with --channel each: drive.log#can1

A model file names the stage that scores with it. One of the stage equivariant ranks ligands for
pockets: LOG is then a PDB, mmCIF or AMBER file, or a folder or tar of them, the columns are
molecule, rank, ligand and distance, and the options are --top N (default 10), --ligand NAME (cut
the pocket around each copy of it) and --pocket_cutoff A (default 5).

Flagged windows less than two seconds apart are one alarm: with --json a line when it opens and one
when it is over ({"event":"alarm","open":..}), else a line at the end on standard error.

  --run RUN            a run's id or folder, a step's folder, or a model file or detector.json
  --model STEP         which model of a run that has several (else the fusion, else the classifier);
                       without --run the model itself
  -o, --output FILE    write there, whole or not at all
  --fail-on attack     end with exit code 10 if a window was flagged; what is written is the same
  --json               a JSON object a line
  --root DIR           folder that holds all runs (default runs)
  --device D           cpu, cuda or cuda:N (default cpu)
  --engine E           auto, native or libtorch (default auto): native needs no LibTorch and starts
                       at once; auto takes it for detectors, and on the CPU for networks of up to
                       a million parameters
  --threads N          threads (default 1)

)";

constexpr const char* kScoreEnd = R"(
Exit codes: 0 every window was scored; 2 usage, or no threshold; 3 the log or the model cannot be
read, or fills no window; 10 a window was flagged (--fail-on attack); 129, 130, 131 and 143
stopped by a signal, after the lines written so far. Where whoever reads the lines stops early, as
head does, scoring stops too, and --fail-on judges the windows scored until then.
)";

int score_verb(Context& context, const std::vector<std::string>& arguments) {
  if (const PluginDescription* other = row_scorer(context, arguments)) {
    return score_rows(context, *other, arguments);
  }
  const PluginDescription& plugin = stage_behind("score", kind::kLog, context.catalog);
  ScoreRequest request = read_request(context, options_of_verb(plugin.options, "score"), arguments);
  require_input(request.log);
  const fs::path model = request.find(context.catalog);
  if (is_live(request.log)) request.options["batch"] = 1;
  StageCall call = log_stage_call(request.choose(plugin, context.catalog, model), request.options,
                                  model, request.log);
  call.request["device"] = request.device;
  call.request["threads"] = plain_scalar(request.threads).value;
  install_signal_flags();
  WindowLines lines(context, request.output, is_live(request.log), request.is_of_several());
  const auto status = terminal_status(context);
  if (const std::string said = request.said_of_model(); !said.empty()) {
    status->message("info", said);
  }
  AlarmTexts alarms(*status, request.is_of_several(), is_live(request.log));
  AttackCount attacks;
  const StageAnswer answer = call_shown(
      call, *status,
      [&](const json& event) {
        const EventKind kind = kind_of(event);
        if (kind == EventKind::kAlarm && !context.json) alarms.add(event.get<AlarmEvent>());
        if (kind == EventKind::kWindow && !lines.is_stopped()) {
          attacks.add(event.get<WindowEvent>());
        }
        if (kind == EventKind::kWindow || kind == EventKind::kAlarm) return lines.add(event);
        if (kind == EventKind::kMetrics) {
          const auto metrics = event.get<MetricsEvent>();
          if (metrics.what == "frames") return lines.show_frames();
          lines.set_reasons(static_cast<std::size_t>(metrics.index));
        }
      },
      [&] { return lines.is_stopped(); });
  if (lines.is_closed()) return attacks.finish(request.fail_on, *status);
  if (!lines.is_stopped()) require_done(answer);
  lines.finish();
  if (lines.is_closed()) return attacks.finish(request.fail_on, *status);
  alarms.finish();
  if (!request.output.empty()) {
    status->message("info", answer.made().summary.value_or("") + ": " + request.output);
  }
  return attacks.finish(request.fail_on, *status);
}

}  // namespace

Verb make_score_verb() {
  return {"score", "score the windows of a log", Needs::kCatalog, score_verb,
          help_around("score", kScoreHelp, kind::kLog, kScoreEnd)};
}

}  // namespace kdgat
