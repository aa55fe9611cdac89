#include "pipeline/verbs/log_stage.h"

#include "kdgat/error.h"
#include "kdgat/event.h"
#include "kdgat/kinds.h"
#include "pipeline/plugin/schema.h"
#include "pipeline/run/find_model.h"
#include "pipeline/system/signals.h"

namespace kdgat {

using nlohmann::json;

const PluginDescription& stage_behind(const char* verb, const char* takes,
                                      const PluginCatalog& catalog) {
  if (const PluginDescription* plugin = catalog.find_taking(takes)) return *plugin;
  throw Error(ExitCode::kPlugin, std::string("the plugin behind kdgat ") + verb + " is not there",
              "see kdgat plugins list");
}

json score_options(const PluginDescription& plugin) {
  return without_options(plugin.options, {"explain", "explain_at", "top"});
}

json why_options(const PluginDescription& plugin) {
  return without_options(plugin.options,
                         {"batch", "explain", "explain_at", "false_alarms", "reasons"});
}

json adapt_options(const PluginDescription& plugin) {
  return without_options(plugin.options, {"output"});
}

Help help_around(const char* head, const char* takes, json (*options)(const PluginDescription&),
                 const char* end) {
  return [=](const std::vector<std::string>&, const PluginCatalog& catalog) {
    const PluginDescription* plugin = catalog.find_taking(takes);
    return head + (plugin == nullptr ? "" : options_text(options(*plugin))) + end;
  };
}

CommandLine::Set ModelWords::declare(CommandLine& line, const json& schema) {
  line.value("--model", model);
  line.value("--root", root);
  return line.options_of(schema, options);
}

std::filesystem::path ModelWords::find(const PluginCatalog& catalog) const {
  return find_model(run, model, root, catalog);
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

}  // namespace kdgat
