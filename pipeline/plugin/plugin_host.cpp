#include "pipeline/plugin/plugin_host.h"

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "pipeline/plugin/libtorch.h"
#include "pipeline/system/hash.h"
#include "pipeline/system/program.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRebuild = "build the plugin again with this version of the SDK";

std::string version(uint32_t major, uint32_t minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

/// What is wrong with a plugin's version, if anything.
std::optional<Diagnostic> check_version(const fs::path& library, uint32_t major, uint32_t minor) {
  const std::string both = library.string() + " speaks plugin ABI " + version(major, minor) +
                           ", this kdgat " + version(KDGAT_ABI_MAJOR, KDGAT_ABI_MINOR);
  if (major != KDGAT_ABI_MAJOR)
    return Diagnostic{"", both + ": the major versions differ", kRebuild};
  if (minor > KDGAT_ABI_MINOR) {
    return Diagnostic{"", both + ": the plugin is newer",
                      "use a newer kdgat, or build the plugin with this version of the SDK"};
  }
  return std::nullopt;
}

std::optional<Diagnostic> check_runtime(const fs::path& library, const std::string& runtime,
                                        std::string& common, std::string& owner) {
  if (runtime.empty() || runtime == "none") return std::nullopt;
  if (common.empty()) {
    common = runtime;
    owner = library.string();
    return std::nullopt;
  }
  if (runtime == common) return std::nullopt;
  return Diagnostic{"",
                    library.string() + " is built for " + runtime + ", " + owner + " for " + common,
                    "build both with one LibTorch"};
}

[[noreturn]] void fail(const std::string& message, const std::string& hint) {
  throw Error(ExitCode::kPlugin, message, hint);
}

void check_file(const fs::path& library) {
  std::error_code ignored;
  if (!fs::is_regular_file(library, ignored)) {
    fail("plugin " + library.string() +
             (fs::exists(library, ignored) ? " is not a file" : " is missing"),
         "see kdgat plugins list");
  }
  std::array<char, 4> magic{};
  std::ifstream(library, std::ios::binary).read(magic.data(), magic.size());
  if (magic != std::array<char, 4>{'\x7f', 'E', 'L', 'F'}) {
    fail(library.string() + " is not a shared library", "a plugin is built with kdgat_add_stage");
  }
}

}  // namespace

const kdgat_stage& PluginHost::open_library(const fs::path& library) {
  check_file(library);
  void* handle = ::dlopen(fs::absolute(library).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = ::dlerror();
    fail("cannot load " + library.string() + ": " + (why == nullptr ? "unknown reason" : why),
         "see kdgat doctor");
  }
  using Entry = const kdgat_stage* (*)();
  const Entry entry = reinterpret_cast<Entry>(::dlsym(handle, "kdgat_stage_entry"));
  if (entry == nullptr) {
    fail(library.string() + " is not a kdgat plugin: it exports no kdgat_stage_entry",
         "a plugin ends in KDGAT_STAGE(...), see kdgat/stage.h");
  }
  const kdgat_stage* stage = entry();
  if (stage == nullptr) fail(library.string() + " gives no stage", kRebuild);
  if (const auto problem = check_version(library, stage->abi_major, stage->abi_minor)) {
    throw Error(ExitCode::kPlugin, {*problem});
  }
  if (stage->size < offsetof(kdgat_stage, run) + sizeof(stage->run) || stage->name == nullptr ||
      stage->describe_json == nullptr || stage->validate == nullptr || stage->plan == nullptr ||
      stage->run == nullptr) {
    fail(library.string() + " gives an incomplete stage", kRebuild);
  }
  const nlohmann::json description = nlohmann::json::parse(stage->describe_json, nullptr, false);
  if (!description.is_object()) {
    fail(library.string() + " describes itself with text that is not a JSON object", kRebuild);
  }
  const std::string runtime = record::read<SaidByPlugin>(description).runtime;
  if (const auto problem = check_runtime(library, runtime, runtime_, runtime_owner_)) {
    throw Error(ExitCode::kPlugin, {*problem});
  }
  check_libtorch(runtime);
  return *stage;
}

void check_library(const PluginDescription& plugin) {
  check_file(plugin.library);
  const std::string hash = hash_file(plugin.library);
  if (hash != plugin.library_hash) {
    fail(plugin.description.string() + " describes another build of " + plugin.library.string() +
             " (" + plugin.library_hash + ", the file has " + hash + ")",
         "write it again: kdgat describe-plugin " + shell_line({plugin.library.string()}));
  }
}

const kdgat_stage& PluginHost::open(const PluginDescription& plugin) {
  check_library(plugin);
  check_libtorch(plugin.runtime);
  const kdgat_stage& stage = open_library(plugin.library);
  if (stage.name != plugin.name) {
    fail(plugin.library.string() + " holds the stage " + stage.name + ", not " + plugin.name,
         "write its description again: kdgat describe-plugin " +
             shell_line({plugin.library.string()}));
  }
  return stage;
}

void check_compatible(const std::vector<const PluginDescription*>& plugins) {
  std::vector<Diagnostic> problems;
  std::string runtime, owner;
  for (const PluginDescription* plugin : plugins) {
    if (auto problem = check_version(plugin->library, plugin->abi_major, plugin->abi_minor)) {
      problems.push_back(std::move(*problem));
    }
    if (auto problem = check_runtime(plugin->library, plugin->runtime, runtime, owner)) {
      problems.push_back(std::move(*problem));
    }
  }
  if (!problems.empty()) throw Error(ExitCode::kPlugin, std::move(problems));
}

}  // namespace kdgat
