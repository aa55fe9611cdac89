// Calls one entry of a plugin in this process and hands on what it says. Used in a stage's own
// process, and by --in-process for debugging.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/plugin/plugin_catalog.h"

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

struct StageAnswer {
  int code = 0;  ///< 0 or an exit code
  nlohmann::json result = nlohmann::json::object();
  std::vector<Diagnostic> diagnostics;

  nlohmann::json to_json() const;
  static StageAnswer from_json(const nlohmann::json& json);
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
