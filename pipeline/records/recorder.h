// The records of a run: everything derived from its journals, brought up to date. Owns the lock
// under which it is done; what is written where is record_files.h's and mlflow_sync.h's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/records/mlflow.h"
#include "pipeline/records/record_files.h"
#include "pipeline/system/owned_fd.h"
#include "pipeline/system/subprocess.h"

namespace kdgat {

/// Where numbers go beside the journal.
struct RecordTargets {
  bool csv = true;
  bool tensorboard = true;
  std::string mlflow_uri;  ///< with the password, if it has one; "" = not to MLflow
  std::string experiment = "kd-gat-pipeline";

  bool any() const { return csv || tensorboard || !mlflow_uri.empty(); }
  /// As run.json keeps it: without the password.
  nlohmann::json public_json() const;
  nlohmann::json json() const;
  static RecordTargets from_json(const nlohmann::json& json);
};

/// What the options `records`, `mlflow_uri` and `mlflow_experiment` come to with
/// MLFLOW_TRACKING_URI and MLFLOW_EXPERIMENT_NAME; a relative folder is made absolute. Throws
/// Error(kUsage) for an address of a kind that cannot be written to.
RecordTargets make_targets(const std::vector<std::string>& records, const std::string& mlflow_uri,
                           const std::string& experiment);

/// Those of a run made earlier: as its run.json says; `uri`, where one is given, in place of its
/// address or of MLFLOW_TRACKING_URI.
RecordTargets targets_of_run(const std::filesystem::path& run, const std::string& uri);

class RunRecords {
 public:
  struct Outcome {
    int64_t sent = 0;                   ///< numbers, to MLflow
    std::vector<std::string> problems;  ///< what could not be written or sent, and why
  };

  /// `seconds`: the most one request to a server may take.
  RunRecords(const std::filesystem::path& run, RecordTargets targets, double seconds);

  /// Does nothing if nothing changed since the last time it all went well. Never throws for what
  /// disk and network do. A server that does not answer is asked ever less often, and what another
  /// process is at is left to it; `now`: asked at once, and waited for.
  Outcome update(bool now);

 private:
  bool lock(double seconds);
  void update_files(Outcome& outcome);
  void update_mlflow(Outcome& outcome, bool now);
  std::vector<std::filesystem::path> step_folders() const;
  std::string size_of_journals() const;

  std::filesystem::path run_;
  RecordTargets targets_;
  std::unique_ptr<MlflowStore> store_;
  std::map<std::string, RecordFiles> files_;  ///< by step
  OwnedFd lock_;
  std::string done_;  ///< sizes of the journals when all went well
  double pause_ = 0;  ///< seconds to the next request after one that failed
  Deadline not_before_{};
  std::string refused_;  ///< why the last one failed
};

/// Keeps the records of a run up to date while it runs, in a process of its own: nothing that
/// happens to it, or to the network, happens to the run. If the run's process dies, it ends by
/// itself.
class Recorder {
 public:
  /// Starts the process, if there is anything to write.
  Recorder(const std::filesystem::path& run, const RecordTargets& targets);
  /// The run has ended: waits some seconds for the last numbers, or until `hurry`. Returns what is
  /// to be said, at most one line for each target.
  std::vector<std::string> finish(const std::function<bool()>& hurry);
  /// Processor time the records took, in seconds; 0 before finish().
  double cpu_seconds() const { return cpu_seconds_; }

 private:
  std::optional<Subprocess> process_;
  std::vector<std::string> problems_;
  double cpu_seconds_ = 0;
};

/// The process of a Recorder: reads from standard input what to do, until that ends.
int record_from_input(std::istream& in, std::ostream& out);

}  // namespace kdgat
