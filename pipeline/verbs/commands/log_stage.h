// What verbs share that have a stage read logs with a model, in this process.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "pipeline/cli/command_line.h"
#include "pipeline/plugin/stage_call.h"

namespace kdgat {

/// The plugin that takes inputs of a kind, for `kdgat <verb>`. Throws Error(kPlugin) without one.
const PluginDescription& stage_behind(const char* verb, const char* takes,
                                      const PluginCatalog& catalog);

/// Help with the options of the plugin that takes inputs of a kind in its middle, but those that
/// the verb sets by its own words. The texts must outlive it.
Help help_around(const char* verb, const char* head, const char* takes, const char* end);

/// What such verbs are told alike: of which model, and with which options of the stage.
struct ModelWords {
  std::string run;    ///< a run's id or folder, a step's folder, or a file
  std::string model;  ///< which step of a run that has several; "" = not said
  std::string root = "runs";
  nlohmann::json options = nlohmann::json::object();

  /// --model, --root and the options of `schema`; how `run` is said differs. Keep this object while
  /// the words are read.
  CommandLine::Set declare(CommandLine& line, const nlohmann::json& schema);
  /// Of a model that --run or --model names alone; where neither does, the detector that comes with
  /// the program. Throws as find_model().
  std::filesystem::path find(const PluginCatalog& catalog) const;
  /// That it is the one that comes with the program; "" where a model is named.
  std::string said_of_model() const;
};

/// Who computes: "auto", "native" or "libtorch"; the words of --engine.
struct EngineWords {
  std::string engine = "auto", device = "cpu";

  /// --engine.
  void declare(CommandLine& line);
  /// The stage itself, or the one that stands in for it where the engine, the device and the model
  /// let it. Throws Error(kUsage) where `native` is asked for and cannot be, or the device cannot
  /// be used here.
  const PluginDescription& choose(const PluginDescription& plugin, const PluginCatalog& catalog,
                                  const std::filesystem::path& model) const;
};

/// Its run with these options, on a model and a log.
StageCall log_stage_call(const PluginDescription& plugin, const nlohmann::json& options,
                         const std::filesystem::path& model, const std::string& log);

/// Calls the stage in this process, until a signal comes or `is_stopped` says so; none = never.
/// What it logs is shown, all other events are handed on.
StageAnswer call_shown(const StageCall& call, Status& status,
                       const std::function<void(const nlohmann::json& event)>& on_event,
                       const std::function<bool()>& is_stopped = {});

/// Runs a stage that writes what its option `output` names, in this process: shows what it logs and
/// its summary, and with --json prints its metrics as
/// the form of that name (json_forms.h). Returns 0; throws as require_done().
int write_by_stage(Context& context, const PluginDescription& plugin, const nlohmann::json& options,
                   const nlohmann::json& inputs, const std::string& form,
                   const std::string& written);

/// Throws Error with the stage's diagnostics where it failed, with the code of the signal where one
/// stopped it.
void require_done(const StageAnswer& answer);

}  // namespace kdgat
