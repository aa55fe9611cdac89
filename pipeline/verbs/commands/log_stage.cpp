#include "pipeline/verbs/commands/log_stage.h"

#include <algorithm>
#include <ostream>

#include "kdgat/error.h"
#include "kdgat/event.h"
#include "kdgat/kinds.h"
#include "pipeline/execute/device.h"
#include "pipeline/plugin/option_groups.h"
#include "pipeline/plugin/schema.h"
#include "pipeline/run/find_model.h"
#include "pipeline/system/signals.h"
#include "pipeline/verbs/json/json_forms.h"

namespace kdgat {

using nlohmann::json;

const PluginDescription& stage_behind(const char* verb, const char* takes,
                                      const PluginCatalog& catalog) {
  if (const PluginDescription* plugin = catalog.find_taking(takes)) return *plugin;
  throw Error(ExitCode::kPlugin, std::string("the plugin behind kdgat ") + verb + " is not there",
              "see kdgat plugins list");
}

Help help_around(const char* verb, const char* head, const char* takes, const char* end) {
  return [=](const std::vector<std::string>&, const PluginCatalog& catalog) {
    const PluginDescription* plugin = catalog.find_taking(takes);
    return head + (plugin == nullptr ? "" : options_text(options_of_verb(plugin->options, verb))) +
           end;
  };
}

CommandLine::Set ModelWords::declare(CommandLine& line, const json& schema) {
  line.value("--model", model, Offer::kRuns);
  line.value("--root", root, Offer::kFiles);
  return line.options_of(schema, options);
}

std::filesystem::path ModelWords::find(const PluginCatalog& catalog) const {
  if (run.empty() && model.empty()) return shipped_detector();
  return run.empty() ? find_model(model, "", root, catalog) : find_model(run, model, root, catalog);
}

std::string ModelWords::said_of_model() const {
  if (!run.empty() || !model.empty()) return "";
  return "no model is named: the detector that comes with kdgat scores";
}

void EngineWords::declare(CommandLine& line) {
  static const std::vector<std::string> engines = {"auto", "native", "libtorch"};
  const auto read = [this, &line](const std::string& text) {
    if (std::find(engines.begin(), engines.end(), text) == engines.end()) {
      line.problem("--engine: \"" + text + "\" is none of auto, native and libtorch");
    }
    engine = text;
  };
  line.value("--engine", read, Offer(engines));
}

const PluginDescription& EngineWords::choose(const PluginDescription& plugin,
                                             const PluginCatalog& catalog,
                                             const std::filesystem::path& model) const {
  require_device(device, {&plugin}, Machine());
  const PluginDescription* other = catalog.find_stand_in(plugin.name);
  if (engine == "libtorch" || other == nullptr) return plugin;
  if (engine == "auto" && device != "cpu") return plugin;
  StageCall call = log_stage_call(*other, json::object(), model, "");
  call.entry = "plan";
  const StageAnswer answer = call_stage(
      call, [](const json&) {}, [] { return 0; });
  const StagePlan plan = answer.planned();
  const bool computes = answer.code == 0 && plan.computes;
  if (engine == "auto") return computes && plan.fits ? *other : plugin;
  if (computes) return *other;
  const std::string cannot = "--engine native: cannot compute " + model.string() + ": ";
  if (answer.code == 0) {
    throw Error(ExitCode::kUsage, cannot + plan.why, "leave --engine away");
  }
  std::vector<Diagnostic> problems = answer.diagnostics;
  for (Diagnostic& one : problems) one.message.insert(0, cannot);
  throw Error(ExitCode::kUsage, std::move(problems));
}

StageCall log_stage_call(const PluginDescription& plugin, const json& options,
                         const std::filesystem::path& model, const std::string& log) {
  const auto input = [](const char* name, const char* of_kind, const std::string& path) {
    return json::array({{{"name", name}, {"kind", of_kind}, {"path", path}}});
  };
  return {"run",
          plugin,
          {{"step", plugin.name},
           {"options", options},
           {"inputs",
            {{"model", input("model", kind::kModel, model.string())},
             {"log", input("log", kind::kLog, log)}}}}};
}

StageAnswer call_shown(const StageCall& call, Status& status,
                       const std::function<void(const json& event)>& on_event,
                       const std::function<bool()>& is_stopped) {
  return call_stage(
      call,
      [&](const json& event) {
        if (kind_of(event) != EventKind::kLog) return on_event(event);
        const LogEvent log = event.get<LogEvent>();
        status.message(log.level, log.message);
      },
      [&] {
        const bool stops = is_stopped && is_stopped();
        return stops ? static_cast<int>(ExitCode::kInterrupted) : pending_signal();
      });
}

void require_done(const StageAnswer& answer) {
  if (answer.code == 0) return;
  // A wait cut short by a signal says only that it was interrupted.
  throw Error(static_cast<ExitCode>(pending_signal() != 0 ? pending_signal() : answer.code),
              answer.diagnostics);
}

int write_by_stage(Context& context, const PluginDescription& plugin, const json& options,
                   const json& inputs, const std::string& form, const std::string& written) {
  install_signal_flags();
  const auto status = terminal_status(context);
  const StageCall call{
      "run", plugin, {{"step", plugin.name}, {"options", options}, {"inputs", inputs}}};
  const StageAnswer answer = call_shown(call, *status, [](const json&) {});
  require_done(answer);
  const StageResult result = answer.made();
  if (context.json) print_json(context, form, result.metrics);
  status->message("info", written + ": " + result.summary.value_or(""));
  return 0;
}

}  // namespace kdgat
