// Scoring with a detector (engine/decision/detector/detector_model.h): windows relative to what is
// usual on the bus of the log, and alarms.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "engine/decision/stream/log_scoring.h"
#include "engine/decision/stream/score_options.h"
#include "kdgat/stage.h"

namespace kdgat::decision {

/// Whether a file is JSON, as a detector is; any other model is safetensors, whose header begins
/// with its length.
bool is_json_file(const std::filesystem::path& file);

/// Throws Error(kData) for what is no detector, Error(kUsage) for options that it does not have.
/// `options` and `host` must outlive it.
std::unique_ptr<LogScoring> open_detector(const std::filesystem::path& file,
                                          const ScoreOptions& options, const Request& request,
                                          const Host& host);

}  // namespace kdgat::decision
