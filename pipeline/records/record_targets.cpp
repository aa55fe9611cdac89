#include "pipeline/records/record_targets.h"

#include <algorithm>

#include "kdgat/error.h"
#include "pipeline/records/mlflow_address.h"
#include "pipeline/records/record_options.h"
#include "pipeline/system/json_file.h"
#include "pipeline/system/program.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNowhere = "none";

/// What run.json says of them.
struct RecordsOfRun {
  nlohmann::json records = nlohmann::json::object();
  static auto keys() { return std::tuple{key("records", &RecordsOfRun::records)}; }
};

/// Whether MLFLOW_TRACKING_URI is of the same server.
bool is_of_environment(const std::string& uri) {
  const std::string set = variable("MLFLOW_TRACKING_URI");
  return !set.empty() && mlflow_origin(set) == mlflow_origin(uri);
}

/// As it is kept: a folder by its whole path, whatever form it was given in.
std::string settled_uri(const std::string& uri) {
  if (uri.empty() || mlflow_kind(uri) == MlflowKind::kServer) return uri;
  return fs::absolute(mlflow_folder(uri)).lexically_normal().string();
}

/// A variable that holds a credential for the server of MLflow; "" if none does or there is none.
std::string credential_for(const RecordTargets& targets) {
  if (targets.mlflow_uri.empty() || mlflow_kind(targets.mlflow_uri) != MlflowKind::kServer) {
    return "";
  }
  for (const char* name :
       {"MLFLOW_TRACKING_TOKEN", "MLFLOW_TRACKING_USERNAME", "MLFLOW_TRACKING_PASSWORD"}) {
    if (!variable(name).empty()) return name;
  }
  return "";
}

}  // namespace

nlohmann::json RecordTargets::public_json() const {
  RecordTargets out = *this;
  out.mlflow_uri = without_password(mlflow_uri);
  return record::write<nlohmann::json>(out);
}

RecordTargets make_targets(const nlohmann::json& options, const std::string& origin) {
  const auto asked = load_options<RecordOptions>(options);
  const auto has = [&](const char* name) {
    return std::find(asked.records.begin(), asked.records.end(), name) != asked.records.end();
  };
  RecordTargets out{has("csv"), has("tensorboard"), "", asked.mlflow_experiment};
  if (asked.mlflow_uri != kNowhere) {
    out.mlflow_uri =
        settled_uri(asked.mlflow_uri.empty() ? variable("MLFLOW_TRACKING_URI") : asked.mlflow_uri);
  }
  if (const std::string name = variable("MLFLOW_EXPERIMENT_NAME");
      asked.mlflow_experiment == RecordOptions().mlflow_experiment && !name.empty()) {
    out.experiment = name;
  }
  const bool is_users = origin.starts_with("command line") || origin.starts_with("KDGAT_");
  out.sends_credentials = is_users || is_of_environment(out.mlflow_uri);
  return out;
}

std::string withheld_credentials(const RecordTargets& targets) {
  const std::string name = credential_for(targets);
  if (targets.sends_credentials || name.empty()) return "";
  return name + " is not sent to " + mlflow_origin(targets.mlflow_uri) +
         ", which a file names; to send it, name the address with --mlflow-uri (kdgat sync: "
         "--to) or in MLFLOW_TRACKING_URI";
}

std::string sync_line(const fs::path& run, const RecordTargets& targets) {
  std::vector<std::string> words = {"kdgat", "sync", run.string()};
  if (targets.sends_credentials && !credential_for(targets).empty()) {
    words.insert(words.end(), {"--to", without_password(targets.mlflow_uri)});
  }
  return shell_line(words);
}

RecordTargets targets_of_run(const fs::path& run, const std::string& uri, bool trusts_run) {
  const nlohmann::json document = read_json(run / "run.json");
  const RecordsOfRun kept = record::read<RecordsOfRun>(document);
  if (!kept.records.is_object() || !record::problem<RecordTargets>(kept.records).empty()) {
    throw Error(ExitCode::kData, (run / "run.json").string() +
                                     ": \"records\" is not an object of " +
                                     "csv, tensorboard, mlflow_uri and experiment");
  }
  RecordTargets out = record::read<RecordTargets>(kept.records);
  const std::string set = settled_uri(uri.empty() ? variable("MLFLOW_TRACKING_URI") : uri);
  // The environment's serves a run that named none, and knows the password of one that did.
  const bool same = out.mlflow_uri.empty() || without_password(set) == out.mlflow_uri;
  if (!set.empty() && (!uri.empty() || same)) out.mlflow_uri = set;
  out.sends_credentials =
      !uri.empty() || (trusts_run && out.sends_credentials) || is_of_environment(out.mlflow_uri);
  return out;
}

}  // namespace kdgat
