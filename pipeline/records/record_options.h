// The options that say where the numbers of a run go.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "kdgat/options.h"
#include "pipeline/profile/profile.h"

namespace kdgat {

struct RecordOptions {
  std::vector<std::string> records = {"csv", "tensorboard"};
  std::string mlflow_uri;  ///< "none" = not to MLflow
  std::string mlflow_experiment = "kd-gat-pipeline";

  static auto table() {
    using O = RecordOptions;
    return std::tuple{
        field("records", &O::records,
              "Files made of each step's journal: metrics.csv, and TensorBoard's event files; [] = "
              "none.")
            .choices({"csv", "tensorboard"})
            .runtime(),
        field("mlflow_uri", &O::mlflow_uri,
              "Where metrics go to MLflow: http://HOST:PORT of a server, or a folder (mlruns); "
              "empty = MLFLOW_TRACKING_URI, none = nowhere. What cannot be sent waits for kdgat "
              "sync.")
            .runtime(),
        field("mlflow_experiment", &O::mlflow_experiment,
              "Experiment of MLflow; MLFLOW_EXPERIMENT_NAME replaces the default.")
            .runtime()};
  }
  /// An address that cannot be written to.
  std::vector<Diagnostic> validate() const;
};

/// The same as a profile takes them.
OptionSection record_section();

}  // namespace kdgat
