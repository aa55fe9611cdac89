// config.json of a step: what it was asked to do.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pipeline/system/record.h"

namespace kdgat {

/// An output of another step, or data, that a step was given.
struct StepInput {
  std::string name, kind, path;
  nlohmann::json facts;  ///< null = not said

  static auto keys() {
    return std::tuple{key("name", &StepInput::name), key("kind", &StepInput::kind),
                      key("path", &StepInput::path), key("facts", &StepInput::facts)};
  }
};

struct StepConfig {
  bool is_there = false;
  nlohmann::json options, origin;  ///< by option: its value, and who set it; null = not said
  nlohmann::json seed, version;    ///< version: of the stage; null = not said
  std::string stage, step, kdgat, device;
  int threads = 0;
  std::map<std::string, std::vector<StepInput>> inputs;  ///< by port
  std::string data;  ///< fingerprint of the graphs; "" = not said

  /// The first input of a port; null = it has none.
  const StepInput* input(const std::string& port) const;

  static auto keys() {
    using C = StepConfig;
    return std::tuple{key("options", &C::options), key("origin", &C::origin),
                      key("seed", &C::seed),       key("version", &C::version),
                      key("stage", &C::stage),     key("step", &C::step),
                      key("kdgat", &C::kdgat),     key("device", &C::device),
                      key("threads", &C::threads), key("inputs", &C::inputs)};
  }
};

/// What is absent or of another type is not there.
StepConfig read_step_config(const std::filesystem::path& step_folder);

}  // namespace kdgat
