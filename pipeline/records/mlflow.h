// Where MLflow keeps runs: a tracking server, spoken to over its REST API, or a folder in the
// layout of its file store (mlruns/). Knows no journal; which numbers go there is mlflow_sync.h's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kdgat/error.h"
#include "pipeline/records/http.h"
#include "pipeline/records/mlflow_address.h"

namespace kdgat {

using MlflowPairs = std::vector<std::pair<std::string, std::string>>;

struct MlflowMetric {
  std::string key;
  double value = 0;
  int64_t milliseconds = 0;  ///< since 1970
  int64_t step = 0;
};

/// A run is "RUNNING", "FINISHED", "FAILED" or "KILLED".
struct MlflowRun {
  std::string experiment;  ///< its id
  std::string id;
};

/// The store does not know what was named, or does not want what was sent: to be tried again
/// otherwise, not later.
class MlflowRefusal : public Error {
 public:
  using Error::Error;
};

/// Every function throws Error with the store's reason if it did not happen.
class MlflowStore {
 public:
  virtual ~MlflowStore() = default;

  /// The id of the experiment of this name, which is made if there is none.
  virtual std::string experiment(const std::string& name) = 0;
  /// The id of the run with this tag; "" if there is none.
  virtual std::string find_run(const std::string& experiment, const std::string& key,
                               const std::string& value) = 0;
  virtual std::string create_run(const std::string& experiment, const std::string& name,
                                 int64_t start_milliseconds, const MlflowPairs& tags) = 0;
  /// Any number of each. A number sent twice is there once; a parameter that changed may be
  /// refused.
  virtual void log(const MlflowRun& run, const std::vector<MlflowMetric>& metrics,
                   const MlflowPairs& params, const MlflowPairs& tags) = 0;
  /// `end_milliseconds` 0: it goes on.
  virtual void set_status(const MlflowRun& run, const std::string& status,
                          int64_t end_milliseconds) = 0;
  /// A file beside the run. False where the store takes no files from here.
  virtual bool put_artifact(const MlflowRun& run, const std::string& name,
                            const std::string& content) = 0;
};

/// `uri` may hold user and password. Otherwise MLFLOW_TRACKING_TOKEN, or MLFLOW_TRACKING_USERNAME
/// and MLFLOW_TRACKING_PASSWORD, say who asks, if `sends_credentials`.
std::unique_ptr<MlflowStore> mlflow_server(const std::string& uri, Http http,
                                           bool sends_credentials = true);
std::unique_ptr<MlflowStore> mlflow_files(const std::filesystem::path& folder);

/// `text` as a name MLflow takes: letters, digits, _ - . / : and blanks, at most 250.
std::string mlflow_name(const std::string& text);

}  // namespace kdgat
