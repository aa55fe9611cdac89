// The one way to a run folder, for every verb that has one: taken up or made, described, labelled,
// and its numbers sent while it is worked on. What is done in the run is the caller's.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "pipeline/execute/run_session.h"
#include "pipeline/records/record_targets.h"
#include "pipeline/run/artifacts.h"
#include "pipeline/show/status.h"

namespace kdgat {

/// How a run was started, beside what its session says.
struct RunStart {
  std::string command;  ///< what was typed
  std::string device;
  int threads = 1;              ///< of each step
  std::optional<int64_t> seed;  ///< none where the run is several, with a seed each
  nlohmann::json more = nlohmann::json::object();  ///< keys of a kind of runs
};

/// Takes up the newest run of the same plan that did not end well, unless the session forces, or
/// makes one. nullopt if there is none to take up, every step is kept and `makes_empty` is not set.
/// `again`: makes `plan` anew for a run that is taken up, for another process may have finished a
/// step of it; empty: the plan stays. Throws as check_libraries(), Run::resume() and Run::create().
std::optional<Run> begin_run(const RunSession& session, Status& status, Plan& plan,
                             const std::function<Plan()>& again, bool makes_empty);

/// Writes into run.json what a run is of and made with, the same keys whoever starts it: command,
/// device, threads, seed, data, machine, versions, git. Then its labels. `plan`: of its stages.
void describe_run(Run& run, const RunSession& session, const Plan& plan,
                  const std::optional<PreparedData>& data, const RunStart& start);

/// Does `work` on a run while its numbers go where `targets` say; warns of those that did not get
/// there. Returns the exit code of `work`.
int record_run(Run& run, const RecordTargets& targets, Status& status,
               const std::function<int()>& work);
/// The same for one job of several that share a run: its record stays as it is.
int record_job(const Run& run, const RecordTargets& targets, Status& status,
               const std::function<int()>& work);

}  // namespace kdgat
