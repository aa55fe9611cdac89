#include "pipeline/execute/begin_run.h"

#include "pipeline/records/recorder.h"
#include "pipeline/run/run_labels.h"
#include "pipeline/system/signals.h"

namespace kdgat {

using nlohmann::json;

std::optional<Run> begin_run(const RunSession& session, Status& status, Plan& plan,
                             const std::function<Plan()>& again, bool makes_empty) {
  session.check_libraries(plan);
  std::string busy;
  if (!session.options.plan.force) {
    const auto on_wait = [&](const std::string& whom) { status.message("info", whom); };
    std::optional<Run> run = Run::resume(session.dataset_root, plan, busy, on_wait);
    if (run) {
      if (again) plan = again();
      run->record_plan(plan);
      status.message("info", "continuing run " + short_run(run->id()));
      return run;
    }
  }
  if (plan.needs_no_work() && !makes_empty) return std::nullopt;
  if (!busy.empty()) {
    status.message("info",
                   "run " + short_run(busy) + " of the same plan is running; starting another");
  }
  return Run::create(session.dataset_root, session.profile.name, plan);
}

void describe_run(Run& run, const RunSession& session, const std::optional<PreparedData>& data,
                  const RunStart& start) {
  json about = {{"command", start.command}, {"device", start.device}};
  if (start.threads > 0) about["threads"] = start.threads;
  if (start.seed) about["seed"] = *start.seed;
  if (data) {
    about["data"] = {{"path", session.profile.data.path},
                     {"folder", std::filesystem::absolute(data->folder).string()},
                     {"options", session.profile.data.import.values},
                     {"summary", data->summary}};
  }
  about.update(start.more);
  run.describe(about);
}

void label_run(const Run& run, const RunSession& session) {
  const LabelChange& labels = session.options.labels;
  if (!labels.is_empty()) change_labels(run.folder(), labels);
}

int record_run(Run& run, const RecordTargets& targets, Status& status,
               const std::function<int()>& work) {
  // Of a submitted run each job records a part: what stands there stays.
  if (!run.is_shared()) run.set_records(targets.public_json());
  Recorder recorder(run.folder(), targets);
  const int code = work();
  for (const std::string& problem : recorder.finish(is_urgent)) {
    status.message("warning", problem + "; later: " + sync_line(run.folder(), targets));
  }
  if (!run.is_shared()) run.set_records(targets.public_json(), recorder.cpu_seconds());
  return code;
}

}  // namespace kdgat
