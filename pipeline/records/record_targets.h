// Where the numbers of a run go beside the journals, as its options say and run.json keeps it.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace kdgat {

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

/// What the options of a profile (RecordOptions) come to with MLFLOW_TRACKING_URI and
/// MLFLOW_EXPERIMENT_NAME; a relative folder is made absolute. Throws Error(kUsage) for an address
/// of a kind that cannot be written to.
RecordTargets make_targets(const nlohmann::json& options);

/// Those of a run made earlier: as its run.json says; `uri`, where one is given, in place of its
/// address or of MLFLOW_TRACKING_URI.
RecordTargets targets_of_run(const std::filesystem::path& run, const std::string& uri);

}  // namespace kdgat
