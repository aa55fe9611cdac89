// Scoring with a network: windows of its own vocabulary and shape, scored as they fill. No
// LibTorch.
#pragma once

#include <memory>

#include "kdgat/stage.h"
#include "scoring/log_scoring.h"
#include "scoring/score_options.h"
#include "scoring/window_network.h"

namespace kdgat::score {

/// Throws Error(kUsage) for options that a network does not have, and where the options and the
/// model together give no threshold. `options` and `host` must outlive it.
std::unique_ptr<LogScoring> open_network(WindowNetwork network, const ScoreOptions& options,
                                         const Host& host);

/// Throws Error(kUsage) for options that a network does not have.
void check_network_options(const std::filesystem::path& file, const ScoreOptions& options);
/// Throws Error(kUsage) where the options and the model together give no threshold.
void require_threshold(const WindowNetwork& network, const ScoreOptions& options);

/// All logs that `request` names, one after another. Throws Error(kData) where they hold no window.
StageResult score_logs(LogScoring& scoring, const ScoreOptions& options, const Request& request,
                       const Host& host);

}  // namespace kdgat::score
