// What `kdgat watch --metrics` answers: the last report of the traffic, and what became of alarms,
// as metrics of Prometheus. Knows no socket.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pipeline/alarms/alarms.h"
#include "pipeline/alarms/metrics_text.h"
#include "pipeline/alarms/traffic.h"

namespace kdgat {

/// `traffic`: the last report of the stage watch. `model`: hash of its file.
std::vector<Metric> watch_metrics(const std::optional<Traffic>& traffic, const std::string& model,
                                  const std::vector<AlarmSinks::Counts>& sinks);

}  // namespace kdgat
