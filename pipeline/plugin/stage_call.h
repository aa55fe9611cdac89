// Calls one entry of a plugin in this process and hands on what it says. Used in a stage's own
// process, and by --in-process for debugging.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "kdgat/result.h"
#include "pipeline/plugin/plugin_catalog.h"
#include "pipeline/system/record.h"

namespace kdgat {

/// What is asked of a stage's process, as it travels.
struct StageCall {
  std::string entry;         ///< "validate", "plan" or "run" (which validates first)
  PluginDescription plugin;  ///< name, library, description and hash
  nlohmann::json request;    ///< see stage_abi.h
  /// The CUDA allocator's settings of this step's process; none = those of ProcessSettings. Does
  /// not travel: the process must find them when it starts.
  std::optional<std::string> allocator{};

  nlohmann::json to_json() const;
  static StageCall from_json(const nlohmann::json& json);
};

/// What a stage says of what it would do.
struct StagePlan {
  nlohmann::json memory;                ///< null = it plans none
  std::vector<std::string> figures;     ///< names of what it will measure
  bool computes = false, fits = false;  ///< of one that stands in for another: the model
  std::string why;                      ///< it does not compute the model

  static auto keys() {
    return std::tuple{key("memory", &StagePlan::memory), key("figures", &StagePlan::figures),
                      key("computes", &StagePlan::computes), key("fits", &StagePlan::fits),
                      key("why", &StagePlan::why)};
  }
};

struct StageAnswer {
  int code = 0;  ///< 0 or an exit code
  nlohmann::json result = nlohmann::json::object();
  std::vector<Diagnostic> diagnostics;

  /// The result of "run", and of "plan".
  StageResult made() const { return result.get<StageResult>(); }
  StagePlan planned() const { return record::read<StagePlan>(result); }
  nlohmann::json to_json() const;
  static StageAnswer from_json(const nlohmann::json& json);
};

/// The last line of a stage's process.
struct StageEndLine {
  nlohmann::json answer;  ///< null: it is another line
  uint64_t peak_resident_bytes = 0;
  static auto keys() {
    return std::tuple{key("answer", &StageEndLine::answer),
                      key("peak_resident_bytes", &StageEndLine::peak_resident_bytes)};
  }
};

/// What went wrong, a line each.
std::string diagnostics_text(const std::vector<Diagnostic>& list);

/// `emit` gets events (objects whose "event" is a text), one call at a time; `cancelled` is asked
/// from any thread. Never throws for what the plugin does; a plugin that cannot be opened is an
/// answer with code 4.
StageAnswer call_stage(const StageCall& call,
                       const std::function<void(const nlohmann::json&)>& emit,
                       const std::function<int()>& cancelled);

}  // namespace kdgat
