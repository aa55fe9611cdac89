// Where the numbers of a run go beside the journals, as its options say and run.json keeps it.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "pipeline/system/record.h"

namespace kdgat {

struct RecordTargets {
  bool csv = true;
  bool tensorboard = true;
  std::string mlflow_uri;  ///< with the password, if it has one; "" = not to MLflow
  std::string experiment = "kd-gat-pipeline";
  /// Whether the server is told what MLFLOW_TRACKING_TOKEN, _USERNAME and _PASSWORD hold. They are
  /// the user's, so they go only where the user or the environment sends a run, not to an address
  /// that a file names.
  bool sends_credentials = false;

  bool any() const { return csv || tensorboard || !mlflow_uri.empty(); }
  /// As run.json keeps it: without the password.
  nlohmann::json public_json() const;

  static auto keys() {
    return std::tuple{key("csv", &RecordTargets::csv),
                      key("tensorboard", &RecordTargets::tensorboard),
                      key("mlflow_uri", &RecordTargets::mlflow_uri),
                      key("experiment", &RecordTargets::experiment),
                      key("sends_credentials", &RecordTargets::sends_credentials)};
  }
};

/// What the options of a profile (RecordOptions) come to with MLFLOW_TRACKING_URI and
/// MLFLOW_EXPERIMENT_NAME; a relative folder is made absolute. `origin` says who set mlflow_uri, as
/// Profile::origin does. Throws Error(kUsage) for an address of a kind that cannot be written to.
RecordTargets make_targets(const nlohmann::json& options, const std::string& origin);

/// That the environment holds credentials which are not sent; "" if nothing is held back.
std::string withheld_credentials(const RecordTargets& targets);

/// The command that sends later what could not be sent. It names the server where credentials of
/// the environment go to it, as they go to no address that only run.json names.
std::string sync_line(const std::filesystem::path& run, const RecordTargets& targets);

/// Those of a run made earlier: as its run.json says; `uri`, where one is given, in place of its
/// address or of MLFLOW_TRACKING_URI. Whether credentials may go to the address in run.json is
/// taken from there only where `trusts_run`, for the jobs of a run that the user submitted.
RecordTargets targets_of_run(const std::filesystem::path& run, const std::string& uri,
                             bool trusts_run = false);

}  // namespace kdgat
