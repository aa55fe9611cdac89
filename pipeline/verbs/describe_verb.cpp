// `kdgat describe-plugin X.so...`: writes kdgat_<stage>.json beside a freshly built plugin. `kdgat
// open-plugin X.so...`: opens plugins and does nothing else, for kdgat doctor; with --kernels it
// prints what the engine beside them says of a card's kernels
// (stages/engine/kernels/kernels_for.h).
#include <ostream>

#include "kdgat/atomic_file.h"
#include "pipeline/cli/command_line.h"
#include "pipeline/plugin/libtorch.h"
#include "pipeline/plugin/plugin_host.h"
#include "pipeline/system/hash.h"

namespace kdgat {
namespace {

void describe(PluginHost& plugins, const std::filesystem::path& library) {
  const kdgat_stage& stage = plugins.open_library(library);
  nlohmann::json description = nlohmann::json::parse(stage.describe_json);
  const std::string stem = library.stem().string();
  if (record::read<SaidByPlugin>(description).name != stage.name ||
      stem != std::string("kdgat_") + stage.name) {
    throw Error(ExitCode::kPlugin, library.string() + " holds the stage " + stage.name,
                "name it kdgat_" + std::string(stage.name) + ".so");
  }
  description["abi"] = {{"major", stage.abi_major}, {"minor", stage.abi_minor}};
  description["library"] = library.filename().string();
  description["library_hash"] = hash_file(library);
  std::filesystem::path path = library;
  path.replace_extension(".json");
  write_file(path, description.dump(1) + "\n");
}

int describe_verb(Context& context, const std::vector<std::string>& arguments) {
  std::vector<std::string> libraries;
  CommandLine line(context, "kdgat describe-plugin");
  line.words([&](const std::string& library) { libraries.push_back(library); });
  line.parse(arguments);
  if (libraries.empty()) {
    throw Error(ExitCode::kUsage, "no plugin is named", "kdgat describe-plugin kdgat_example.so");
  }
  load_libtorch();  // which stages need it is what is to be written
  PluginHost plugins;
  for (const std::string& library : libraries) describe(plugins, library);
  return 0;
}

/// As a stage's process opens it, if it is described.
void open(PluginHost& plugins, const std::filesystem::path& library) {
  const auto catalog = PluginCatalog::scan({library.parent_path()}, 1);
  for (const auto& [name, plugin] : catalog.all()) {
    if (plugin.library != library) continue;
    plugins.open(plugin);
    return;
  }
  plugins.open_library(library);
}

int open_verb(Context& context, const std::vector<std::string>& arguments) {
  CommandLine line(context, "kdgat open-plugin");
  PluginHost plugins;
  bool with_kernels = false;
  line.flag("--kernels", with_kernels);
  line.words([&](const std::string& library) { open(plugins, library); });
  line.parse(arguments);
  if (with_kernels) context.out << kernels_in_words() << '\n';
  return 0;
}

}  // namespace

Verb make_open_plugin_verb() {
  return {"open-plugin", "", Needs::kNothing, open_verb, nullptr, true};
}

Verb make_describe_verb() {
  return {"describe-plugin", "", Needs::kNothing, describe_verb, nullptr, true};
}

}  // namespace kdgat
