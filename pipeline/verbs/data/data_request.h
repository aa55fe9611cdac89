// What may be said to `kdgat data`: its actions, the options of each and its help.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pipeline/cli/command_line.h"

namespace kdgat {

struct DataRequest {
  std::string action, output;
  std::vector<std::string> paths;  ///< one; of inject one at least
  bool dry_run = false;
  nlohmann::json options = nlohmann::json::object();  ///< by canonical name, only those given
};

std::vector<std::string> data_actions();

/// `command` names one of the actions. Throws Error(kUsage) with every problem.
DataRequest read_data_request(const Context& context, const Command& command);

/// Of an action; with "" of the verb.
std::string data_help(const std::string& action);

}  // namespace kdgat
