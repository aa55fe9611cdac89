#include "pipeline/execute/begin_run.h"

#include "pipeline/execute/run_origin.h"
#include "pipeline/records/recorder.h"
#include "pipeline/run/run_labels.h"
#include "pipeline/show/text.h"
#include "pipeline/system/signals.h"

namespace kdgat {
namespace {

using nlohmann::json;

/// Returns the processor time that the records took, in seconds.
double record_while(const Run& run, const RecordTargets& targets, Status& status,
                    const std::function<void()>& work) {
  Recorder recorder(run.folder(), targets);
  work();
  for (const std::string& problem : recorder.finish(is_urgent)) {
    status.message("warning", problem + "; later: " + sync_line(run.folder(), targets));
  }
  return recorder.cpu_seconds();
}

}  // namespace

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

void describe_run(Run& run, const RunSession& session, const Plan& plan,
                  const std::optional<PreparedData>& data, const RunStart& start) {
  json about = {{"command", start.command}, {"device", start.device}, {"threads", start.threads}};
  if (start.seed) about["seed"] = *start.seed;
  if (data) {
    about["data"] = {{"path", session.profile.data.path},
                     {"folder", std::filesystem::absolute(data->folder).string()},
                     {"options", session.profile.data.import.values},
                     {"summary", data->summary}};
  }
  about.update(run_origin(session, plan));
  about.update(start.more);
  run.describe(about);
  const LabelChange& labels = session.options.labels;
  if (!labels.is_empty()) change_labels(run.folder(), labels);
}

int record_run(Run& run, const RecordTargets& targets, Status& status,
               const std::function<int()>& work) {
  run.set_records(targets.public_json());
  int code = 0;
  const double seconds = record_while(run, targets, status, [&] { code = work(); });
  run.set_records(targets.public_json(), seconds);
  return code;
}

int record_job(const Run& run, const RecordTargets& targets, Status& status,
               const std::function<int()>& work) {
  int code = 0;
  record_while(run, targets, status, [&] { code = work(); });
  return code;
}

}  // namespace kdgat
