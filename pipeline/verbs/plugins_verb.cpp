// `kdgat plugins list|show`: what stages there are, from their descriptions alone.
#include <nlohmann/json.hpp>
#include <ostream>

#include "pipeline/cli/command_line.h"
#include "pipeline/plugin/schema.h"
#include "pipeline/show/table.h"
#include "pipeline/verbs/json/json_forms.h"

namespace kdgat {
namespace {

using nlohmann::json;

json ports_json(const std::vector<PortDescription>& ports) {
  json out = json::array();
  for (const PortDescription& port : ports) {
    out.push_back({{"name", port.name},
                   {"kind", port.kind},
                   {"required", port.required},
                   {"many", port.many}});
    if (!port.domain.empty()) out.back()["domain"] = port.domain;
  }
  return out;
}

json plugin_json(const PluginDescription& plugin) {
  return {{"name", plugin.name},
          {"version", plugin.version},
          {"abi", std::to_string(plugin.abi_major) + "." + std::to_string(plugin.abi_minor)},
          {"runtime", plugin.runtime},
          {"summary", plugin.summary},
          {"library", plugin.library.string()},
          {"library_hash", plugin.library_hash},
          {"inputs", ports_json(plugin.inputs)},
          {"outputs", ports_json(plugin.outputs)},
          {"options", plugin.options},
          {"refused", plugin.refused}};
}

std::string ports_text(const std::vector<PortDescription>& ports) {
  std::string out;
  for (const PortDescription& port : ports) {
    out += (out.empty() ? "" : ", ") + port.name;
    if (port.name != port.kind) out += " (" + port.kind + ")";
    if (port.many) out += ", any number";
    if (port.kind != kind::kGraphs && !port.domain.empty()) out += " for " + port.domain + " alone";
    if (!port.required) out += ", optional";
  }
  return out.empty() ? "none" : out;
}

int list_plugins(Context& context) {
  if (context.json) {
    json out = json::array();
    for (const auto& [name, plugin] : context.catalog.all()) out.push_back(plugin_json(plugin));
    print_json(context, "kdgat.plugins.list", {{"plugins", std::move(out)}});
    return 0;
  }
  Table table;
  for (const auto& [name, plugin] : context.catalog.all()) {
    table.add({name, "version " + std::to_string(plugin.version), plugin.runtime, plugin.summary});
  }
  context.out << table.text();
  for (const auto& [name, problem] : context.catalog.problems()) {
    context.err << "warning: " << problem.text() << '\n';
  }
  if (context.catalog.all().empty()) {
    context.err << "no plugin was found in\n";
    for (const auto& folder : PluginCatalog::search_path(context.plugin_folders)) {
      context.err << "  " << folder.string() << '\n';
    }
  }
  return 0;
}

int show_plugin(Context& context, const std::string& name) {
  const PluginDescription* plugin = context.catalog.find(name);
  if (plugin == nullptr) {
    const auto problem = context.catalog.problems().find(name);
    if (problem != context.catalog.problems().end()) {
      throw Error(ExitCode::kPlugin, {problem->second});
    }
    throw Error(ExitCode::kUsage, "no plugin for stage " + name,
                suggestion(name, stage_names(context.catalog), "kdgat plugins list"));
  }
  if (context.json) {
    print_json(context, "kdgat.plugins.show", plugin_json(*plugin));
    return 0;
  }
  context.out << plugin->name << ": " << plugin->summary << "\n\n";
  Table table;
  table.add({"library", plugin->library.string()});
  table.add({"stage version", std::to_string(plugin->version) + " "});
  table.add({"plugin ABI",
             std::to_string(plugin->abi_major) + "." + std::to_string(plugin->abi_minor) + " "});
  table.add({"runtime", plugin->runtime});
  table.add({"reads", ports_text(plugin->inputs)});
  table.add({"makes", ports_text(plugin->outputs)});
  context.out << table.text() << "\noptions\n" << options_text(plugin->options);
  for (const PublishedKey& refused : plugin->refused) {
    context.out << "not in this version: " << refused.name << " (" << refused.reason << ")\n";
  }
  return 0;
}

constexpr const char* kPluginsHelp = R"(The stages there are.

  kdgat plugins list                                name, version, LibTorch build, what it does
  kdgat plugins show classifier                     inputs, outputs and every option
  kdgat plugins list --plugin-dir my_plugins/

usage: kdgat plugins list | show STAGE [--json]

Plugins are searched in --plugin-dir, KDGAT_PLUGIN_PATH, plugins/ beside the executable and
$XDG_DATA_HOME/kdgat/plugins. Of these only --plugin-dir may name a folder that others may write to.
)";

int plugins_verb(Context& context, const std::vector<std::string>& arguments) {
  const Command command = read_action(context, "plugins", arguments, {"list", "show"});
  const bool is_show = command.name == "show";
  std::string stage;
  CommandLine line(context, "kdgat plugins " + command.name);
  if (is_show) line.word(stage, Offer::kStages);
  line.parse(command.words);
  if (!is_show) return list_plugins(context);
  if (!stage.empty()) return show_plugin(context, stage);
  throw Error(ExitCode::kUsage, "plugins show needs a stage", "kdgat plugins show autoencoder");
}

}  // namespace

Verb make_plugins_verb() {
  return {"plugins", "list the stages there are and show one", Needs::kPlugins, plugins_verb,
          help_text(kPluginsHelp)};
}

}  // namespace kdgat
