// Scoring with a fusion that was given a detector (engine/decision/detector/network_channel.h): the
// windows of the detector, each by the higher of what the two say.
#pragma once

#include <filesystem>
#include <memory>

#include "engine/decision/stream/log_scoring.h"
#include "engine/decision/stream/score_options.h"
#include "kdgat/stage.h"

namespace kdgat::score {

/// Whether a channel stands beside the network's file.
bool has_channel(const std::filesystem::path& network);

/// `network`: its file, or its step's folder. Throws Error(kData) where a file is missing or is not
/// the one that the fusion was made with, Error(kUsage) for options that a detector does not have.
/// `options` and `host` must outlive it.
std::unique_ptr<decision::LogScoring> open_joined(const std::filesystem::path& network,
                                                  const decision::ScoreOptions& options,
                                                  const Request& request, const Host& host);

}  // namespace kdgat::score
