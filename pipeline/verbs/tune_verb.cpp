// `kdgat tune`: a profile, the step that is tuned and the values to try; and `kdgat tune show`,
// what a sweep came to and would be on another device.
#include <algorithm>
#include <iostream>
#include <set>

#include "kdgat/atomic_file.h"
#include "kdgat/measure.h"
#include "pipeline/cli/command_line.h"
#include "pipeline/execute/begin_run.h"
#include "pipeline/execute/device.h"
#include "pipeline/execute/run_origin.h"
#include "pipeline/execute/run_session.h"
#include "pipeline/plugin/schema.h"
#include "pipeline/profile/path_options.h"
#include "pipeline/run/find_model.h"
#include "pipeline/run/run_figures.h"
#include "pipeline/run/run_record.h"
#include "pipeline/show/json_lookup.h"
#include "pipeline/show/quantity.h"
#include "pipeline/show/text.h"
#include "pipeline/system/json_file.h"
#include "pipeline/system/program.h"
#include "pipeline/system/signals.h"
#include "pipeline/tune/sweep.h"
#include "pipeline/tune/sweep_table.h"
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
    request_ = options.profile;
    if (request_.presets.empty() && !request_.config && request_.stage.empty() &&
        request_.problems.empty()) {
      throw Error(ExitCode::kUsage, "nothing to tune: no preset, profile or stage is named",
                  "name what is tuned and the values to try: kdgat tune STAGE --data PATH " +
                      std::string(kValuesToTry));
    }
    session_.emplace(context, std::move(options));
    const bool has_sweep =
        flags_.mode.empty() ? fits_published() : !published_trials(flags_.mode).empty();
    if (dimensions.empty() && !has_sweep) refuse_without_values(session_->profile, context.catalog);
    specs_ = make_trials(flags_, dimensions, session_->profile.seed);
    choose_step();
    add_trials();
    choose_measure();
    status_ = terminal_status(context);
    std::vector<std::string> names = {"measure"};
    for (const StepSpec& step : session_->profile.steps) names.push_back(step.name);
    status_->announce(names);
    session_->tell_notes(*status_);
    if (!session_->requirements.empty()) {
      status_->message("note", "require has no effect here: trials are compared, not accepted");
    }
  }

  int preview() {
    const Plan plan = session_->plan_for(session_->find_data());
    session_->check_start(plan);
    set_steps(plan);
    if (context_.json) {
      print_json(context_, "kdgat.tune.plan", record_.json());
    } else {
      context_.out << trials_table(record_.json());
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
                  record_.threads,
                  session_->profile.seed,
                  {{"tune", flags_.mode}}});
    run->describe(run_origin(*session_, plan));
    label_run(*run, *session_);
    const int code =
        record_run(*run, targets, *status_, [&] { return carry_out(plan, data, *run); });
    report(*run, code);
    return code;
  }

  bool is_preview() const { return session_->options.dry_run; }

 private:
  /// Whether the sweep that is tried when nothing is said has a step with its options.
  bool fits_published() const {
    const std::vector<TrialSpec> trials = published_trials(kPublishedSweep);
    const Profile& profile = session_->profile;
    return std::any_of(profile.steps.begin(), profile.steps.end(), [&](const StepSpec& step) {
      return (profile.only.empty() || step.name == profile.only) && has_options(step, trials);
    });
  }

  /// The step that is tuned: the one that was named, or the only one with options that are tried.
  void choose_step() {
    const Profile& profile = session_->profile;
    if (!profile.only.empty()) {
      tuned_ = profile.only;
      return;
    }
    std::set<std::string> able;
    for (const StepSpec& step : profile.steps) {
      if (has_options(step, specs_)) able.insert(step.name);
    }
    if (able.size() == 1) {
      tuned_ = *able.begin();
      return;
    }
    std::string names;
    for (const StepSpec& step : profile.steps) names += (names.empty() ? "" : ", ") + step.name;
    throw Error(ExitCode::kUsage,
                able.empty() ? "no step of the profile has all of the options that are tried"
                             : "several steps have the options that are tried",
                "name the step: kdgat tune STEP ...; the profile has " + names);
  }

  bool has_options(const StepSpec& step, const std::vector<TrialSpec>& trials) const {
    const json& schema = context_.catalog.find(step.stage)->options;
    const auto& values = trials.front().values;
    return std::all_of(values.begin(), values.end(), [&](const auto& value) {
      const std::size_t point = value.first.rfind('.');
      const std::string last = value.first.substr(point + 1);
      const bool is_its = point == std::string::npos || value.first.substr(0, point) == step.name ||
                          value.first.substr(0, point) == step.stage;
      return is_its && !own_option_name(schema, last).empty();
    });
  }

  /// The profile whose steps are what the tuned step needs, and then the trials.
  void add_trials() {
    Profile& profile = session_->profile;
    PlanRequest only;
    only.only = tuned_;
    const Plan sketch = make_plan(profile, context_.catalog, kUnknownData, {}, only);
    const PlannedStep& tuned = sketch.steps.back();
    std::vector<StepSpec> steps;
    for (const PlannedStep& step : sketch.steps) {
      if (step.spec.name != tuned_) steps.push_back(step.spec);
    }
    for (const TrialSpec& spec : specs_) {
      ProfileRequest request = request_;
      for (const auto& [key, value] : spec.values) {
        const std::string last = key.substr(key.rfind('.') + 1);
        request.overrides.push_back({tuned_ + "." + last, value, "trial " + spec.name});
      }
      Profile of_trial = resolve_profile(request, context_.catalog, profile_sections());
      resolve_path_options(of_trial);
      const auto found = std::find_if(of_trial.steps.begin(), of_trial.steps.end(),
                                      [&](const StepSpec& step) { return step.name == tuned_; });
      StepSpec step = *found;
      step.name = spec.name;
      step.needs = tuned.needs;
      if (spec.name == tuned_) step.name += "-1";
      steps.push_back(std::move(step));
    }
    for (const TrialSpec& spec : specs_) {
      Trial trial;
      trial.spec = spec;
      record_.trials.push_back(std::move(trial));
    }
    for (std::size_t i = 0; i < specs_.size(); ++i) {
      record_.trials[i].spec.name = steps[steps.size() - specs_.size() + i].name;
    }
    profile.steps = std::move(steps);
    profile.only.clear();
    session_->options.plan = PlanRequest();
  }

  void choose_measure() {
    RunSession& session = *session_;
    SweepOptions& o = record_.options;
    const bool is_cpu = session.device == "cpu";
    const json& options = session.profile.steps.back().options.values;
    o.mode = flags_.mode;
    o.metric = choose_metric(flags_.metric, options);
    if (o.metric.rfind("test", 0) == 0) {
      throw Error(ExitCode::kUsage, "--metric " + o.metric + ": trials are chosen by validation",
                  "test data are used once, for the trial that was chosen");
    }
    if (!flags_.goal.empty() && flags_.goal != "min" && flags_.goal != "max") {
      throw Error(ExitCode::kUsage, "--goal " + flags_.goal + " is neither min nor max");
    }
    o.is_less_better =
        flags_.goal.empty() ? better_of(o.metric) == Better::kLess : flags_.goal == "min";
    o.devices = {session.device};
    if (!flags_.devices.empty()) {
      o.devices.clear();
      std::istringstream list(flags_.devices);
      for (std::string name; std::getline(list, name, ',');) {
        require_device(name, {session.context.catalog.find(session.profile.steps.back().stage)},
                       session.machine);
        o.devices.push_back(name);
      }
    }
    o.memory = static_cast<int64_t>(session.memory_limit());
    o.buffer =
        static_cast<int64_t>((flags_.buffer < 0 ? (is_cpu ? 0 : 2) : flags_.buffer) * kGibibyte);
    o.fixed_reservation = flags_.is_auto ? 0 : static_cast<int64_t>(flags_.model * kGibibyte);
    if (flags_.mode == "asha") o.first_rung = flags_.first_rung;
    o.eta = std::max<int64_t>(2, flags_.eta);
    record_.cores = session.machine.threads();
    record_.threads = std::max(1, session.profile.threads);
    const auto workers = static_cast<std::size_t>(flags_.max_workers);
    const auto by_cores = static_cast<std::size_t>(std::max(1, record_.cores / record_.threads));
    o.at_once = workers > 0 ? workers : is_cpu ? by_cores : 0;
  }

  void set_steps(const Plan& plan) {
    const std::size_t first = plan.steps.size() - record_.trials.size();
    for (std::size_t i = 0; i < record_.trials.size(); ++i) {
      for (const PlannedStep& step : plan.steps) {
        if (step.spec.name == record_.trials[i].spec.name) record_.trials[i].step = &step;
      }
    }
    prerequisites_ = first;
  }

  int carry_out(const Plan& plan, const std::optional<PreparedData>& data, Run& run) {
    set_steps(plan);
    const RunnerInput input = session_->input(plan, data);
    ProcessSettings process = session_->process();
    process.lock_fd = run.lock_fd();
    std::map<std::string, Made> made;
    if (prerequisites_ > 0) {
      Plan before = plan;
      before.steps.resize(prerequisites_);
      const int code =
          run_plan(session_->input(before, data), run, *status_, execute_in_child(process));
      if (code != 0) return code;
      for (const PlannedStep& step : before.steps) {
        const std::filesystem::path folder =
            step.kept ? step.kept->folder : run.step_folder(step.spec.name);
        const auto past = find_past_step(run.id(), folder);
        made[step.spec.name] = {folder, past ? past->facts : json::object()};
      }
    }
    process.threads = record_.threads;
    const int code = run_sweep(input, run, *status_, process, made, record_);
    run.finish(code, headline_to_record(run.folder(), context_.catalog));
    return code;
  }

  void report(const Run& run, int code) {
    const json record = record_.json();
    if (context_.json) {
      json out = record;
      out["run"] = run.id();
      out["folder"] = run.folder().string();
      out["exit_code"] = code;
      print_json(context_, "kdgat.tune", out);
    } else {
      context_.err << std::flush;
      context_.out << trials_table(record) << best_lines(record) << std::flush;
    }
    const std::string name = run_word(run.folder(), session_->profile.root);
    status_->message("info", "run " + short_run(run.id()) + " in " + run.folder().string() +
                                 "   next: kdgat report " + name + " · kdgat tune show " + name +
                                 " --simulate 16GiB");
  }

  Context& context_;
  std::string command_;
  TuneFlags flags_;
  ProfileRequest request_;
  std::optional<RunSession> session_;
  std::vector<TrialSpec> specs_;
  std::string tuned_;
  SweepRecord record_;
  std::size_t prerequisites_ = 0;
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
  const json record = read_json(folder / kSweepFile);
  if (!record.is_object()) {
    throw Error(
        ExitCode::kData, folder.string() + ": holds no sweep",
        "kdgat tune makes one; kdgat runs show " + shell_line({name}) + " says what this run is");
  }
  if (size.empty()) {
    if (context.json) {
      print_json(context, "kdgat.tune.show", record);
    } else {
      context.out << trials_table(record) << best_lines(record);
    }
    return 0;
  }
  const double total = static_cast<double>(parse_bytes(size));
  const json out = simulation_json(record, total, buffer * kGibibyte, model * kGibibyte, copies);
  if (context.json) {
    print_json(context, "kdgat.tune.simulation", out);
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
