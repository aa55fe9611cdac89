// kdgat config show|schema|options|init: what a profile comes to, what it may say, and how to begin
// one.
#include <map>
#include <ostream>
#include <vector>

#include "kdgat/atomic_file.h"
#include "pipeline/cli/command_line.h"
#include "pipeline/data/data.h"
#include "pipeline/execute/profile_text.h"
#include "pipeline/execute/run_options.h"
#include "pipeline/plugin/option_groups.h"
#include "pipeline/plugin/schema.h"
#include "pipeline/profile/profile_schema.h"
#include "pipeline/show/text.h"
#include "pipeline/system/program.h"
#include "pipeline/verbs/json/json_forms.h"

namespace kdgat {

namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;

namespace {

int show_config(Context& context, const std::vector<std::string>& arguments) {
  bool origin = false;
  const RunFlags extras{"kdgat config show",
                        [&](CommandLine& line, RunOptions&) { line.flag("--origin", origin); }};
  const RunOptions options = parse_run_options(context, arguments, extras);
  const Profile profile = resolve_profile(options.profile, context.catalog, profile_sections());
  if (context.verbosity >= 0) {
    for (const Diagnostic& note : profile.notes)
      context.err << "note: " << problem_text(note) << '\n';
  }
  if (context.json) {
    context.out << profile_json(profile, origin).dump(2, ' ', false, json::error_handler_t::replace)
                << '\n';
  } else {
    write_profile(context.out, profile, origin);
  }
  return 0;
}

int schema(Context& context, const std::vector<std::string>& arguments) {
  std::string name;
  CommandLine line(context, "kdgat config schema");
  line.word(name, {Offer::kStages, {"data", "synth"}});
  line.parse(arguments);
  if (name.empty()) {
    if (context.json) {
      context.out
          << profile_schema(context.catalog, profile_sections(), default_preset_folders()).dump(2)
          << '\n';
      return 0;
    }
    context.out << "Keys of a profile that are not options of a stage:\n\n"
                << options_text(run_schema(profile_sections()))
                << "\nand preset, data, options, stages. See also:\n\n"
                   "  kdgat config schema data\n  kdgat config schema synth\n";
    for (const auto& [name, plugin] : context.catalog.all()) {
      context.out << "  kdgat config schema " << name << '\n';
    }
    return 0;
  }
  const SectionSchemas sections = data_schemas();
  const PluginDescription* plugin = context.catalog.find(name);
  if (name != "data" && name != "synth" && plugin == nullptr) {
    std::vector<std::string> known = stage_names(context.catalog);
    known.insert(known.end(), {"data", "synth"});
    throw Error(ExitCode::kUsage, "unknown stage " + name,
                suggestion(name, known, "kdgat plugins list"), context.place(0));
  }
  const json& options = plugin != nullptr ? plugin->options
                        : name == "data"  ? sections.import
                                          : sections.synth;
  const std::string prefix = plugin != nullptr ? "" : name == "data" ? "data." : "data.synth.";
  context.out << (context.json ? options.dump(2) + "\n" : options_text(options, prefix));
  return 0;
}

/// Every option of a stage by what it is for, and those that matter first: what docs/options.md is
/// made of, too.
int options(Context& context, const std::vector<std::string>& arguments) {
  CommandLine line(context, "kdgat config options");
  line.parse(arguments);
  std::map<std::string, std::vector<std::string>> stages_of;
  json rows = json::object();  // of a name in several stages, one with advice
  for (const auto& [stage, plugin] : context.catalog.all()) {
    for (const std::string& name : own_option_names(plugin.options)) {
      stages_of[name].push_back(stage);
      json& kept = rows[name];
      if (read_option(kept).advice.value_or("").empty()) kept = option_schema(plugin.options, name);
    }
  }
  const json all = {{"properties", std::move(rows)}};
  const std::vector<std::string> first = first_options(all);
  const std::vector<OptionGroup> groups = grouped_options(all);
  if (context.json) {
    ordered_json out = {{"first", json::array()}, {"purposes", json::array()}};
    for (const std::string& name : first) {
      out["first"].push_back({{"name", name},
                              {"advice", *read_option(option_schema(all, name)).advice},
                              {"stages", stages_of.at(name)}});
    }
    for (const OptionGroup& group : groups) {
      ordered_json listed = ordered_json::array();
      for (const std::string& name : group.names) {
        listed.push_back({{"name", name}, {"stages", stages_of.at(name)}});
      }
      out["purposes"].push_back({{"title", group.title}, {"options", std::move(listed)}});
    }
    print_json(context, "kdgat.config.options", out);
    return 0;
  }
  constexpr std::size_t kWidth = 80, kIndent = 2;
  context.out << "Options to look at first\n  " << wrapped(joined(first, " "), kIndent, kWidth)
              << '\n';
  for (const OptionGroup& group : groups) {
    context.out << '\n'
                << group.title << "\n  " << wrapped(joined(group.names, " "), kIndent, kWidth)
                << '\n';
  }
  return 0;
}

constexpr const char* kStarter =
    R"(# A kdgat profile. Check it with: kdgat config show FILE --origin
dataset: my_logs              # runs go to runs/my_logs/
preset: [student]             # sizes of the models: student or teacher
data:
  path: logs/                 # a log, a folder of logs or a graph store
  window: 100                 # rows of one graph; see kdgat config schema data
  # synth: {seconds: 60}      # instead of path: synthetic traffic
# device: auto                # auto, cpu, cuda or cuda:N
# seed: 42

stages:                       # the steps, in this order; options: kdgat config schema STAGE
  autoencoder:
    max_epochs: 30
  classifier:
    max_epochs: 30
  evaluate:
)";

int init(Context& context, const std::vector<std::string>& arguments) {
  std::string word = "kdgat.yaml";
  bool force = false;
  CommandLine line(context, "kdgat config init");
  line.word(word, Offer::kFiles);
  line.flag("--force", force);
  line.parse(arguments);
  const fs::path file = word;
  if (file == "-") {
    context.out << kStarter;
    return 0;
  }
  if (fs::exists(file) && !force) {
    throw Error(ExitCode::kUsage, "there already", "--force replaces it", file.string());
  }
  write_file(file, kStarter);
  if (context.verbosity >= 0) {
    context.err << "wrote " << file.string() << "; next: kdgat config show "
                << shell_line({file.string()}) << '\n';
  }
  return 0;
}

constexpr const char* kConfigHelp = R"(Look at profiles and options without running anything.

  kdgat config show --preset smoke                  the resolved profile, ready to be a file
  kdgat config show my.yaml lr=0.01 --origin        and who set each value
  kdgat config schema autoencoder                   the options of a stage
  kdgat config options                              names of all options of stages, by purpose
  kdgat config schema --json > profile.schema.json  JSON Schema of a profile, for editors
  kdgat config init my.yaml                         begin a profile, with comments

usage: kdgat config show [what kdgat run takes] [--origin] [--json]
       kdgat config schema [STAGE | data | synth] [--json]
       kdgat config options [--json]
       kdgat config init [FILE] [--force]
)";

int config_verb(Context& context, const std::vector<std::string>& arguments) {
  const Command command =
      read_action(context, "config", arguments, {"show", "schema", "options", "init"});
  if (command.name == "schema") return schema(context, command.words);
  if (command.name == "options") return options(context, command.words);
  if (command.name == "init") return init(context, command.words);
  return show_config(context, command.words);
}

}  // namespace

Verb make_config_verb() {
  return {"config", "show the resolved profile, the options of a stage, or begin a profile",
          Needs::kCatalog, config_verb, help_text(kConfigHelp)};
}

}  // namespace kdgat
