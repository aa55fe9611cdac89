// What `kdgat watch --metrics` answers: the last report of the traffic, and what became of alarms,
// as metrics of Prometheus. Knows no socket.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "pipeline/alarms/alarms.h"
#include "pipeline/alarms/metrics_text.h"

namespace kdgat {

/// `traffic`: values of the last report of the stage watch, or null before the first. `model`: hash
/// of its file.
std::vector<Metric> watch_metrics(const nlohmann::json& traffic, const std::string& model,
                                  const std::vector<AlarmSinks::Counts>& sinks);

}  // namespace kdgat
