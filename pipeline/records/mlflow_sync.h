// Brings a run to MLflow: a run of its own there, named by its id, and below it one for each step
// that ran, with the published names of metrics, parameters and tags. What was sent is remembered
// in the run's mlflow.json, by address: how far each journal was read. Knows neither REST nor
// folders of MLflow (mlflow.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "pipeline/records/mlflow.h"

namespace kdgat {

/// Sends what the store does not have yet, and returns how many numbers that were. Asks the store
/// nothing if there is nothing to send. `uri`: the store's address, without a password. Throws
/// Error with the store's reason when it did not take everything; a later call goes on from there.
/// Not for two at once: the caller holds the lock of the run's records.
int64_t sync_mlflow(const std::filesystem::path& run, const std::string& uri,
                    const std::string& experiment, MlflowStore& store);

}  // namespace kdgat
