// A fusion's folder with the channel of a detector: both files, held to the hashes that the fusion
// wrote.
#pragma once

#include <filesystem>

#include "engine/decision/detector/detector_model.h"
#include "engine/decision/detector/network_channel.h"

namespace kdgat::decision {

struct JoinedFiles {
  NetworkChannel channel;
  DetectorModel model;
};

bool is_joined(const std::filesystem::path& folder);

/// Throws Error(kData) where the detector or the network (kModelFile) is missing, or is not the one
/// that the fusion was made with. `warn` is told of a channel of an earlier version, without a
/// hash; that of the detector is in the channel.
JoinedFiles read_joined(const std::filesystem::path& folder, const Warn& warn = {});

}  // namespace kdgat::decision
