// Scoring with a network: windows of its own vocabulary and shape, scored as they fill.
#pragma once

#include <memory>

#include "engine/decision/stream/log_scoring.h"
#include "engine/decision/stream/score_options.h"
#include "engine/decision/stream/window_network.h"
#include "kdgat/stage.h"

namespace kdgat::decision {

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

}  // namespace kdgat::decision
