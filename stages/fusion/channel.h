// The channel of a detector beside a fusion: its two files in the step's folder.
#pragma once

#include "engine/train/data_set.h"
#include "engine/train/objective.h"
#include "fusion/fusion_options.h"
#include "kdgat/stage.h"

namespace kdgat::fusion {

/// Gives the fusion in request.run_dir, which `network` is, the detector that stands in `made`:
/// channel.json and channel_detector.json (engine/decision/detector/network_channel.h). Figures of
/// it. Throws Error(kData) where graphs are not the detector's windows, Error(kUsage) for a budget
/// that the benign validation windows do not support.
nlohmann::json add_channel(const FusionOptions& options, const std::filesystem::path& made,
                           const train::Data& data, train::Scorer& network, const Request& request,
                           const Host& host);

}  // namespace kdgat::fusion
