// `kdgat tune`: a profile, the step that is tuned and the values to try; and `kdgat tune show`,
// what a sweep came to and would be on another device.
#include <algorithm>
#include <iostream>

#include "pipeline/cli/command_line.h"
#include "pipeline/execute/begin_run.h"
#include "pipeline/execute/run_origin.h"
#include "pipeline/execute/run_session.h"
#include "pipeline/run/find_model.h"
#include "pipeline/run/run_record.h"
#include "pipeline/show/quantity.h"
#include "pipeline/show/text.h"
#include "pipeline/system/json_file.h"
#include "pipeline/system/program.h"
#include "pipeline/system/signals.h"
#include "pipeline/tune/sweep_table.h"
#include "pipeline/tune/tuned_steps.h"
#include "pipeline/verbs/commands/next_commands.h"
#include "pipeline/verbs/commands/tune_values.h"
#include "pipeline/verbs/json/json_forms.h"

namespace kdgat {
namespace {

using nlohmann::json;

constexpr const char* kShow = "show";  // the action that makes no sweep

class TuneCommand {
 public:
  TuneCommand(Context& context, const std::vector<std::string>& words)
      : context_(context), command_(typed_line(context, "kdgat tune", words)) {
    RunFlags extras{"kdgat tune", [this](CommandLine& line, RunOptions&) { flags_.declare(line); }};
    extras.action = kShow;
    RunOptions options = parse_run_options(context, words, extras);
    const std::vector<Dimension> dimensions = take_dimensions(options.profile, context.catalog);
    const ProfileRequest request = options.profile;
    if (request.presets.empty() && !request.config && request.stage.empty() &&
        request.problems.empty()) {
      throw Error(ExitCode::kUsage, "nothing to tune: no preset, profile or stage is named",
                  "name what is tuned and the values to try: kdgat tune STAGE --data PATH " +
                      std::string(kValuesToTry));
    }
    session_.emplace(context, std::move(options));
    const Profile& profile = session_->profile;
    const std::vector<TrialSpec> published =
        published_trials(flags_.mode.empty() ? kPublishedSweep : flags_.mode);
    const bool has_sweep = flags_.mode.empty() ? has_step_for(published, profile, context.catalog)
                                               : !published.empty();
    if (dimensions.empty() && !has_sweep) refuse_without_values(profile, context.catalog);
    const std::vector<TrialSpec> specs = make_trials(flags_, dimensions, profile.seed);
    const std::string tuned = choose_tuned_step(specs, profile, context.catalog);
    record_.trials = add_trials(*session_, request, tuned, specs);
    record_.options = sweep_options(flags_, *session_);
    status_ = terminal_status(context);
    std::vector<std::string> names = {"measure"};
    for (const StepSpec& step : profile.steps) names.push_back(step.name);
    status_->announce(names);
    session_->tell_notes(*status_);
    if (!session_->requirements.empty()) {
      status_->message("note", "require has no effect here: trials are compared, not accepted");
    }
  }

  int preview() {
    const Plan plan = session_->plan_for(session_->find_data());
    session_->check_start(plan);
    find_trial_steps(plan, record_.trials);
    if (context_.json) {
      print_json(context_, "kdgat.tune.plan", record::write<json>(record_.saved()));
    } else {
      context_.out << trials_table(record_.saved());
    }
    return 0;
  }

  int run() {
    install_signal_flags();
    const RecordTargets targets = session_->targets();  // may refuse
    const std::optional<PreparedData> data = session_->import(*status_);
    if (const int code = pending_signal(); code != 0) return code;
    Plan plan = session_->plan_for(data);
    std::optional<Run> run = begin_run(
        *session_, *status_, plan, [&] { return session_->plan_for(data); }, true);
    describe_run(*run, *session_, data,
                 {command_,
                  session_->device,
                  record_.options.threads,
                  session_->profile.seed,
                  {{"tune", flags_.mode}}});
    run->describe(run_origin(*session_, plan));
    label_run(*run, *session_);
    const int code = record_run(*run, targets, *status_, [&] {
      return carry_out_sweep(*session_, plan, data, *run, *status_, record_);
    });
    report(*run, code);
    return code;
  }

  bool is_preview() const { return session_->options.dry_run; }

 private:
  void report(const Run& run, int code) {
    const SavedSweep saved = record_.saved();
    if (context_.json) {
      json out = record::write<json>(saved);
      out["run"] = run.id();
      out["folder"] = run.folder().string();
      out["exit_code"] = code;
      print_json(context_, "kdgat.tune", out);
    } else {
      context_.err << std::flush;
      context_.out << trials_table(saved) << best_lines(saved) << std::flush;
    }
    const std::string name = run_word(run.folder(), session_->profile.root);
    status_->message("info", "run " + short_run(run.id()) + " in " + run.folder().string() +
                                 "   next: kdgat report " + name + " · kdgat tune show " + name +
                                 " --simulate 16GiB");
  }

  Context& context_;
  std::string command_;
  TuneFlags flags_;
  std::optional<RunSession> session_;
  SweepRecord record_;
  std::unique_ptr<Status> status_;
};

/// What a sweep came to; with --simulate, what it would be on a device of that size.
int show_sweep(Context& context, const std::vector<std::string>& words) {
  std::string name, root = "runs", size;
  int64_t copies = 1;
  double buffer = 2, model = 1.5;
  CommandLine line(context, "kdgat tune show");
  line.word(name, Offer::kRuns);
  line.value("--root", root, Offer::kFiles);
  line.value("--simulate", size);
  whole_number(line, "--copies", copies);
  gibibytes(line, "--gpu-memory-buffer-gb,--gpu-buffer", buffer);
  gibibytes(line, "--model-memory-gb,--model-memory", model);
  line.parse(words);
  if (name.empty()) {
    throw Error(ExitCode::kUsage, "kdgat tune show needs a run",
                "a run's id or folder; kdgat runs list shows them");
  }
  const std::filesystem::path folder = find_run(name, root);
  const json file = read_json(folder / kSweepFile);
  if (!file.is_object()) {
    throw Error(
        ExitCode::kData, folder.string() + ": holds no sweep",
        "kdgat tune makes one; kdgat runs show " + shell_line({name}) + " says what this run is");
  }
  const auto sweep = record::read<SavedSweep>(file);
  if (size.empty()) {
    if (context.json) {
      print_json(context, "kdgat.tune.show", file);
    } else {
      context.out << trials_table(sweep) << best_lines(sweep);
    }
    return 0;
  }
  const double total = static_cast<double>(parse_bytes(size));
  const SweepSimulation out =
      simulate_sweep(sweep, total, buffer * kGibibyte, model * kGibibyte, copies);
  if (context.json) {
    print_json(context, "kdgat.tune.simulation", record::write<json>(out));
  } else {
    context.out << simulation_text(out);
  }
  return 0;
}

constexpr const char* kTuneHelp =
    R"help(Try many settings of one stage: in one process, as many at once as there is memory for.

  kdgat tune profiles/graphsage.yaml --data ml-100k --mode architecture
  kdgat tune classifier --preset smoke "lr=[0.001,0.003]" "hidden=[16,32]"
  kdgat tune my.yaml --mode random --samples 40 "lr=log(1e-4,1e-2)" "dropout=uniform(0,0.5)"
  kdgat tune my.yaml --mode asha "lr=log(1e-4,1e-2)" "hidden=int(16,128)"
  kdgat tune show RUN                                the table again
  kdgat tune show RUN --simulate 16GiB               the same trials on a device of that size

usage: kdgat tune [STEP] [FILE.yaml | FILE.json] [key=[A,B,...] ...] [key=value ...] [options]
       kdgat tune show RUN [--simulate SIZE] [--copies N] [--root DIR] [--json]

Every option of kdgat run, and:
  --mode M             grid: every combination of the lists; random: --samples draws from lists and
                       ranges; asha: the same, and at 1, 3, 9, ... epochs only the best third goes
                       on; or a published sweep: example, architecture, loss, grid (without lists)
  --samples N          trials of random and asha (default 20)
  --min-epochs N       first epoch at which asha compares (default 1)
  --eta N              asha lets the best 1/N go on (default 3)
  --metric NAME        of validation, by which the best is chosen (default monitor_metric)
  --goal min|max       default by the metric's name: losses and errors are to be small
  --max-workers N      most trials at once (default: cores on a CPU, by memory on a GPU)
  --devices A,B        devices that take trials by their free memory, e.g. cuda:0,cuda:1
  --gpu-memory-buffer-gb X, --gpu-buffer X
                       memory that stays free, in GiB or 512MiB (default 2 on a GPU, 0 on a CPU)
  --model-memory-gb X, --model-memory X
                       reserve this for every trial instead of what is measured for each
  --auto-memory        measure each trial (what happens anyway, unless --model-memory is given)
  --simulate SIZE      of show: the same trials on a device of this size, with --gpu-buffer and
                       --model-memory
  --copies N           of show: simulate each trial so often (default 1)

A list is [A,B], a range uniform(A,B), log(A,B) or int(A,B). Each trial is measured before it runs
and reserves a tenth more; one that runs out of memory is tried again with twice as much. Trials are
steps of a run: the same command again keeps those that are done, kdgat report draws them.
)help";

int tune_verb(Context& context, const std::vector<std::string>& arguments) {
  if (!arguments.empty() && arguments.front() == kShow) {
    return show_sweep(context, {arguments.begin() + 1, arguments.end()});
  }
  TuneCommand command(context, arguments);
  return command.is_preview() ? command.preview() : command.run();
}

}  // namespace

Verb make_tune_verb() {
  return {"tune", "try many settings of one stage at once, as many as there is memory for",
          Needs::kPlugins, tune_verb, help_text(kTuneHelp)};
}

}  // namespace kdgat
