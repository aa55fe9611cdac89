// Opens the runs that this process carries out, for every verb that makes one: taken up or made,
// described, labelled, its numbers sent while it is worked on. Describes submitted runs, too. What
// is done in a run is the caller's.
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
  int threads = 0;              ///< of each step; 0 = not known yet
  std::optional<int64_t> seed;  ///< none where the run is several, with a seed each
  nlohmann::json more = nlohmann::json::object();  ///< keys of a kind of runs
};

/// Takes up the newest run of the same plan that did not end well, unless the session forces, or
/// makes one. nullopt if there is none to take up, every step is kept and `makes_empty` is not set.
/// `again` makes the plan anew for a run that is taken up, for another process may have finished a
/// step of it. If it is empty, the plan stays. Throws as check_libraries(), Run::resume() and
/// Run::create().
std::optional<Run> begin_run(const RunSession& session, Status& status, Plan& plan,
                             const std::function<Plan()>& again, bool makes_empty);

/// Writes into run.json how a run was started and on what data, the same keys whoever starts it.
/// What it is made with is asked for afterwards, for that may take a while: run_origin().
void describe_run(Run& run, const RunSession& session, const std::optional<PreparedData>& data,
                  const RunStart& start);

/// Gives a run the name and the tags that were asked for.
void label_run(const Run& run, const RunSession& session);

/// Does `work` on a run while its numbers go where `targets` say; warns of those that did not get
/// there. Returns the exit code of `work`.
int record_run(Run& run, const RecordTargets& targets, Status& status,
               const std::function<int()>& work);

}  // namespace kdgat
