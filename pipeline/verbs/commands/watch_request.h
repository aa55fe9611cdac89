// What kdgat watch is asked: its words, and their help.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/verbs/commands/log_stage.h"

namespace kdgat {

struct WatchRequest : ModelWords {
  std::vector<std::string> buses, alarms;
  std::string replay;
  std::optional<int> metrics;
  bool has_speed = false;
};

/// `schema`: of the options of the stage. Throws Error(kUsage) with every problem.
WatchRequest read_watch_request(const Context& context, const nlohmann::json& schema,
                                const std::vector<std::string>& words);

Help watch_help();

}  // namespace kdgat
