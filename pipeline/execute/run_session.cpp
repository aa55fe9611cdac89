#include "pipeline/execute/run_session.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "pipeline/execute/device.h"
#include "pipeline/plugin/plugin_host.h"
#include "pipeline/profile/path_options.h"
#include "pipeline/profile/seed_words.h"
#include "pipeline/records/record_targets.h"
#include "pipeline/run/step_metrics.h"
#include "pipeline/system/record.h"
#include "pipeline/system/signals.h"

namespace kdgat {
namespace {

using nlohmann::json;

bool reads_data(const Plan& plan) {
  return std::any_of(plan.steps.begin(), plan.steps.end(), [](const PlannedStep& step) {
    return std::find(step.needs.begin(), step.needs.end(), "data") != step.needs.end();
  });
}

std::vector<const PluginDescription*> plugins_of(const Plan& plan, const PluginCatalog& catalog) {
  std::vector<const PluginDescription*> plugins;
  std::set<std::string> seen;
  for (const PlannedStep& step : plan.steps) {
    if (seen.insert(step.spec.stage).second) plugins.push_back(catalog.find(step.spec.stage));
  }
  return plugins;
}

}  // namespace

RunSession::RunSession(Context& of, const std::vector<std::string>& words, const RunFlags& extras)
    : RunSession(of, parse_run_options(of, words, extras), extras.runs_elsewhere,
                 extras.takes_seeds) {}

RunSession::RunSession(Context& of, RunOptions read, bool runs_elsewhere, bool takes_seeds)
    : context(of), options(std::move(read)) {
  profile = resolve_profile(options.profile, context.catalog, profile_sections());
  take_seeds(takes_seeds);
  options.plan.only = profile.only;
  resolve_path_options(profile);
  dataset_root = profile.root / profile.dataset;
  const Plan sketch = make_plan(profile, context.catalog, kUnknownData, {}, options.plan);
  const std::vector<const PluginDescription*> plugins = plugins_of(sketch, context.catalog);
  check_compatible(plugins);
  needs_data = reads_data(sketch);
  device = choose_device(profile.device, plugins, machine, runs_elsewhere);
  threads = profile.threads > 0 ? profile.threads : std::max(1, machine.threads() / profile.nproc);
  for (const PlannedStep& step : sketch.steps) names_.push_back(step.spec.name);
  read_requirements();
}

void RunSession::take_seeds(bool takes_seeds) {
  seeds = read_seeds(profile.seeds);
  if (takes_seeds || seeds.empty()) return;
  seeds.clear();
  profile.notes.push_back(
      {profile.origin["seeds"],
       "seeds has no effect here: one run, with the seed " + std::to_string(profile.seed),
       "kdgat run makes a run for each seed"});
}

void RunSession::read_requirements() {
  std::vector<Diagnostic> problems;
  const auto add = [&](const std::string& text, const std::string& where) {
    if (auto one = read_requirement(text, where, problems)) requirements.push_back(*one);
  };
  for (const std::string& text : profile.require) add(text, profile.origin["require"]);
  for (const ProfileRequest::Override& one : options.require) add(one.value, one.origin);
  if (!problems.empty()) throw Error(ExitCode::kUsage, std::move(problems));
  if (requirements.empty()) return;
  const UsualFigures usual = usual_figures();
  known_ = {names_, std::nullopt, usual.of_steps, usual.of_parts};
  if (check_names(requirements, known_).empty()) return;
  // To ask takes a process for each stage, so it is done only where there are other names.
  for (const std::string& name : announced_figures()) {
    for (std::vector<std::string>* list : {&known_.of_steps, &known_.of_parts}) {
      if (std::find(list->begin(), list->end(), name) == list->end()) list->push_back(name);
    }
  }
  problems = check_names(requirements, known_);
  if (!problems.empty()) throw Error(ExitCode::kUsage, std::move(problems));
}

std::vector<std::string> RunSession::announced_figures() const {
  const Plan sketch = make_plan(profile, context.catalog, kUnknownData, {}, options.plan);
  std::vector<std::string> out;
  ask_stages(input(sketch, std::nullopt), process(),
             [&](const PlannedStep&, const StageAnswer& answer) {
               const std::vector<std::string> figures = answer.planned().figures;
               out.insert(out.end(), figures.begin(), figures.end());
             });
  return out;
}

void RunSession::check_parts(const PreparedData& data) const {
  const auto facts = record::read<StoreFacts>(data.facts);
  if (requirements.empty() || !facts.parts) return;
  KnownNames known = known_;
  known.parts.emplace();
  for (const auto& [name, graphs] : *facts.parts) {
    known.parts->push_back(name.substr(name.rfind('/') + 1));  // "test/test_01"; npos + 1 = 0
  }
  std::vector<Diagnostic> problems = check_names(requirements, known);
  if (!problems.empty()) throw Error(ExitCode::kUsage, std::move(problems));
}

void RunSession::tell_notes(Status& status) const {
  for (const Diagnostic& note : profile.notes) status.message("note", problem_text(note));
  const std::string withheld = withheld_credentials(targets());
  if (!withheld.empty()) status.message("note", withheld);
}

std::vector<std::string> RunSession::step_names() const { return names_; }

Plan RunSession::plan_for(const std::optional<PreparedData>& data) const {
  const std::string fingerprint = data ? data->fingerprint : needs_data ? kUnknownData : "none";
  // Which of its steps earlier runs have is asked by fingerprint, so these come first.
  const Plan bare = make_plan(profile, context.catalog, fingerprint, {}, options.plan);
  Plan plan = make_plan(profile, context.catalog, fingerprint, find_past_steps(dataset_root, bare),
                        options.plan);
  if (data) check_domains(plan, context.catalog, {data->domain, data->classes});
  return plan;
}

std::optional<PreparedData> RunSession::find_data() const {
  if (!needs_data) return std::nullopt;
  std::optional<PreparedData> found =
      find_prepared(data_folder(profile.data, dataset_root), options.verify);
  if (found) {
    check_parts(*found);
    return found;
  }
  check_domains(make_plan(profile, context.catalog, kUnknownData, {}, options.plan),
                context.catalog, {data_domain(profile.data)});
  check_data(profile.data);
  return std::nullopt;
}

std::optional<PreparedData> RunSession::import(Status& status) const {
  if (!needs_data) return std::nullopt;
  check_domains(make_plan(profile, context.catalog, kUnknownData, {}, options.plan),
                context.catalog, {data_domain(profile.data)});
  clear_data_leftovers(dataset_root);
  const Clock clock = steady_clock();
  const double started = clock();
  status.begin("data");
  const std::string phase = profile.data.synthetic ? "synthesis" : "import";
  PreparedData data;
  try {
    data = prepare_data(
        profile.data, data_folder(profile.data, dataset_root),
        [&](int64_t done, int64_t total) {
          status.progress({"data", phase, "bytes", done, total, json::object(), 0});
        },
        [] { return pending_signal() != 0; }, options.verify);
  } catch (const Error& e) {
    if (pending_signal() == 0 || e.code() != ExitCode::kInterrupted) throw;
    throw Error(static_cast<ExitCode>(pending_signal()), e.diagnostics());
  }
  status.end({"data", "done", data.summary, clock() - started, 0});
  for (const Diagnostic& d : data.warnings) status.message("warning", d.text());
  check_parts(data);
  return data;
}

void RunSession::check_libraries(const Plan& plan) const {
  std::vector<Diagnostic> problems;
  std::set<std::string> seen;
  for (const PlannedStep& step : plan.steps) {
    if (step.action == Action::kKeep || !seen.insert(step.spec.stage).second) continue;
    try {
      check_library(*context.catalog.find(step.spec.stage));
    } catch (const Error& e) {
      problems.insert(problems.end(), e.diagnostics().begin(), e.diagnostics().end());
    }
  }
  if (!problems.empty()) throw Error(ExitCode::kPlugin, std::move(problems));
}

void RunSession::check_start(const Plan& plan) const {
  static_cast<void>(targets());  // an address of the environment may be a wrong one
  check_libraries(plan);
  if (!plan.needs_no_work()) check_can_create(dataset_root);
}

RecordTargets RunSession::targets() const {
  const auto origin = profile.origin.find("mlflow_uri");
  return make_targets(profile.records, origin == profile.origin.end() ? "" : origin->second);
}

Place RunSession::place() const {
  Place place = place_of([](const char* name) { return std::getenv(name); });
  if (profile.nproc > 1 && place.world > 1) {
    throw Error(ExitCode::kUsage,
                "this program was started with others (srun, or RANK and WORLD_SIZE), and nproc=" +
                    std::to_string(profile.nproc) + " asks for more processes on this machine",
                "start as many programs as there are to be processes");
  }
  if (options.in_process && (profile.nproc > 1 || place.world > 1)) {
    throw Error(ExitCode::kUsage, "--in-process is for one process");
  }
  return place;
}

ProcessSettings RunSession::process() const {
  ProcessSettings process;
  process.threads = threads;
  process.allocator = profile.allocator;
  process.machine = machine;
  return process;
}

RunnerInput RunSession::input(const Plan& plan, const std::optional<PreparedData>& data) const {
  MemoryRequest memory;
  memory.limit = static_cast<int64_t>(profile.memory_limit);
  machine.settle_memory();
  memory.available = static_cast<int64_t>(machine.limited_memory());
  return {plan, context.catalog, device, threads, profile.seed, data, memory};
}

uint64_t RunSession::memory_limit() const { return machine.memory_for_runs(profile.memory_limit); }

std::map<std::string, json> ask_stages(
    const RunnerInput& input, const ProcessSettings& process,
    const std::function<void(const PlannedStep& step, const StageAnswer& answer)>& on_answer) {
  std::map<std::string, Made> made;
  std::map<std::string, json> facts;
  std::set<std::string> failed;
  for (const PlannedStep& step : input.plan.steps) {
    const auto lost = std::find_if(step.needs.begin(), step.needs.end(),
                                   [&](const std::string& need) { return failed.contains(need); });
    if (lost != step.needs.end()) {
      failed.insert(step.spec.name);
      continue;
    }
    const StageCall call{"plan", *input.catalog.find(step.spec.stage),
                         make_request(input, step, made, ""), step.spec.allocator};
    const StageAnswer answer = plan_in_child(call, process);
    on_answer(step, answer);
    if (answer.code != 0) {
      failed.insert(step.spec.name);
      continue;
    }
    facts[step.spec.name] = answer.result;
    made[step.spec.name] =
        step.kept ? Made{step.kept->folder, step.kept->facts} : Made{"", answer.result};
  }
  return facts;
}

}  // namespace kdgat
