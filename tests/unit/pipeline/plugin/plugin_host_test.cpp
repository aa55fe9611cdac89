#include "pipeline/plugin/plugin_host.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "kdgat/atomic_file.h"
#include "support/runs/probe_plugin.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;

namespace {

std::string message_of(const PluginDescription& plugin) {
  try {
    PluginHost().open(plugin);
  } catch (const Error& e) {
    return std::to_string(static_cast<int>(e.code())) + " " + e.what();
  }
  return "no error";
}

std::string message_of(const std::filesystem::path& library) {
  return message_of(describe_as(library, library.stem().string().substr(6)));
}

PluginDescription described(const std::string& name, uint32_t major, uint32_t minor,
                            const std::string& runtime) {
  PluginDescription plugin;
  plugin.name = name;
  plugin.library = "kdgat_" + name + ".so";
  plugin.abi_major = major;
  plugin.abi_minor = minor;
  plugin.runtime = runtime;
  return plugin;
}

/// The LibTorch that the stages of this build need, which is the one that the host opens.
std::string runtime_of_stages() {
  const PluginCatalog catalog = PluginCatalog::scan({build_folder() / "plugins"});
  const PluginDescription* stage = catalog.find("autoencoder");
  return stage != nullptr ? stage->runtime : "libtorch 1.0.0";
}

}  // namespace

TEST_CASE("plugin host opens a good plugin", "[plugin_host]") {
  const ScratchFolder scratch;
  const auto library = compile_plugin(scratch.path());
  const kdgat_stage& stage = PluginHost().open(describe_as(library, "probe"));
  CHECK(std::string(stage.name) == "probe");
}

TEST_CASE("plugin host says what is wrong with a file that is no plugin", "[plugin_host]") {
  const ScratchFolder scratch;
  CHECK_THAT(message_of(scratch / "kdgat_gone.so"),
             Contains("4 plugin ") && Contains("kdgat_gone.so is missing"));
  write_file(scratch / "kdgat_text.so", "hello");
  CHECK_THAT(message_of(scratch / "kdgat_text.so"),
             Contains("kdgat_text.so is not a shared library"));
  write_file(scratch / "kdgat_torn.so",
             "\x7f"
             "ELF and nothing more");
  CHECK_THAT(message_of(scratch / "kdgat_torn.so"), Contains("cannot load"));
  CHECK_THAT(message_of(compile_plugin(scratch.path(), "mute", "-DNO_SYMBOL")),
             Contains("is not a kdgat plugin: it exports no kdgat_stage_entry"));
}

TEST_CASE("plugin host names both versions when they do not agree", "[plugin_host]") {
  const ScratchFolder scratch;
  CHECK_THAT(message_of(compile_plugin(scratch.path(), "other", "-DMAJOR=2u")),
             Contains("4 ") &&
                 Contains("speaks plugin ABI 2.0, this kdgat 1.0: the major versions differ"));
  CHECK_THAT(message_of(compile_plugin(scratch.path(), "newer", "-DMINOR=9u")),
             Contains("speaks plugin ABI 1.9, this kdgat 1.0: the plugin is newer"));
}

TEST_CASE("plugin host refuses two plugins of different LibTorch builds", "[plugin_host]") {
  const ScratchFolder scratch;
  const std::string runtime = runtime_of_stages();
  const auto one = compile_plugin(scratch.path(), "one", "-DRUNTIME='\"" + runtime + "\"'");
  const auto two = compile_plugin(scratch.path(), "two", "-DRUNTIME='\"libtorch 2.0.0\"'");
  const auto none = compile_plugin(scratch.path(), "none");
  PluginHost plugins;
  plugins.open(describe_as(one, "one"));
  plugins.open(describe_as(none, "none"));
  CHECK_THROWS_WITH(plugins.open(describe_as(two, "two")),
                    Contains("kdgat_two.so is built for libtorch 2.0.0") &&
                        Contains("kdgat_one.so for " + runtime));
}

TEST_CASE("plugin host refuses a library that is not the one described", "[plugin_host]") {
  const ScratchFolder scratch;
  PluginDescription plugin = describe_as(compile_plugin(scratch.path()), "probe");
  plugin.library_hash = std::string(32, '0');
  CHECK_THAT(message_of(plugin),
             Contains("4 ") && Contains("kdgat_probe.json describes another build of") &&
                 Contains(std::string(32, '0')) && Contains("kdgat describe-plugin"));
  CHECK_THAT(message_of(describe_as(plugin.library, "another")),
             Contains("holds the stage probe, not another"));
}

TEST_CASE("plugin descriptions alone show versions and runtimes that do not agree",
          "[plugin_host]") {
  const PluginDescription good = described("good", 1, 0, "libtorch 2.13.0");
  const PluginDescription free = described("free", 1, 0, "none");
  const PluginDescription odd = described("odd", 1, 0, "libtorch 2.12.0");
  const PluginDescription old = described("old", 0, 3, "none");
  CHECK_NOTHROW(check_compatible({&good, &free}));
  try {
    check_compatible({&good, &odd, &old});
    FAIL("accepted");
  } catch (const Error& e) {
    CHECK(e.code() == ExitCode::kPlugin);
    REQUIRE(e.diagnostics().size() == 2);
    CHECK_THAT(e.what(), Contains("libtorch 2.12.0") && Contains("plugin ABI 0.3, this kdgat 1.0"));
  }
}

TEST_CASE("describe-plugin writes what the catalog reads", "[plugin_host]") {
  const ScratchFolder scratch;
  make_plugin(scratch.path());
  const PluginCatalog catalog = PluginCatalog::scan({scratch.path()});
  const PluginDescription* plugin = catalog.find("probe");
  REQUIRE(plugin != nullptr);
  CHECK(plugin->abi_major == KDGAT_ABI_MAJOR);
  CHECK(plugin->library == scratch / "kdgat_probe.so");
  CHECK(plugin->inputs.at(0).many);
  CHECK(plugin->options.at("properties").contains("mode"));
  CHECK_NOTHROW(PluginHost().open(*plugin));
}

TEST_CASE("catalog keeps a broken description as a problem of that stage alone", "[plugin_host]") {
  const ScratchFolder scratch;
  make_plugin(scratch / "good");
  std::filesystem::create_directories(scratch / "bad");
  write_file(scratch / "bad/kdgat_torn.json", "{\"name\": \"torn\",");
  write_file(scratch / "bad/kdgat_poor.json", "{\"name\": \"poor\"}");
  const PluginCatalog catalog =
      PluginCatalog::scan({scratch / "bad", scratch / "good", scratch / "absent"});
  CHECK(catalog.find("probe") != nullptr);
  CHECK(catalog.find("torn") == nullptr);
  REQUIRE(catalog.problems().size() == 2);
  CHECK_THAT(catalog.problems().at("torn").text(),
             Contains("kdgat_torn.json:1: bad plugin description: not valid JSON"));
}

TEST_CASE("a plugin that others may write is used only from a folder that was named",
          "[plugin_host]") {
  const ScratchFolder scratch;
  const std::filesystem::path library = make_plugin(scratch / "plugins");
  const std::filesystem::path folder = library.parent_path();
  const auto used = [&](std::size_t named) {
    return PluginCatalog::scan({folder}, named).find("probe") != nullptr;
  };
  using std::filesystem::perms;
  CHECK(used(0));
  for (const std::filesystem::path& path :
       {folder, library, std::filesystem::path(library).replace_extension(".json")}) {
    INFO(path);
    std::filesystem::permissions(path, perms::others_write, std::filesystem::perm_options::add);
    CHECK_FALSE(used(0));
    CHECK(used(1));
    const PluginCatalog catalog = PluginCatalog::scan({folder}, 0);
    REQUIRE(catalog.problems().contains("probe"));
    CHECK_THAT(catalog.problems().at("probe").text(), Contains(path.string()) &&
                                                          Contains("everybody may write") &&
                                                          Contains("--plugin-dir"));
    std::filesystem::permissions(path, perms::others_write, std::filesystem::perm_options::remove);
  }
  if (::geteuid() == 0) {  // who else may give a folder away
    REQUIRE(::chown(folder.c_str(), 12345, 12345) == 0);
    CHECK_FALSE(used(0));
    CHECK(used(1));
  } else {
    WARN("not root: another user's folder was not tried");
  }
  // As it is typed: refused by the environment's folder, taken by name.
  std::filesystem::permissions(folder, perms::others_write, std::filesystem::perm_options::add);
  const CommandResult by_variable =
      run_shell("KDGAT_PLUGIN_PATH=plugins '" + std::filesystem::absolute(kdgat_binary()).string() +
                    "' run probe --dry-run",
                scratch.path());
  CHECK(by_variable.exit_code == 4);
  CHECK_THAT(by_variable.err, Contains("may write to it"));
  CHECK(run_kdgat("run probe --dry-run --plugin-dir plugins", scratch.path()).exit_code == 0);
}

TEST_CASE("a plugin folder that is not used hides no stage of another", "[plugin_host]") {
  const ScratchFolder scratch;
  const std::filesystem::path open = make_plugin(scratch / "open").parent_path();
  const std::filesystem::path own = make_plugin(scratch / "own").parent_path();
  std::filesystem::permissions(open, std::filesystem::perms::all);
  const PluginCatalog catalog = PluginCatalog::scan({open, own}, 0);
  REQUIRE(catalog.find("probe") != nullptr);
  CHECK(catalog.find("probe")->library == own / "kdgat_probe.so");
  CHECK(catalog.problems().contains("probe"));  // told by kdgat plugins list
}

TEST_CASE("a plugin is not used where others can put another in its place", "[plugin_host]") {
  namespace fs = std::filesystem;
  const ScratchFolder scratch;
  fs::create_directories(scratch / "outer");
  const fs::path folder = make_plugin(scratch / "outer/plugins").parent_path();
  const auto problem = [](const fs::path& of) {
    const PluginCatalog catalog = PluginCatalog::scan({of}, 0);
    return catalog.problems().contains("probe") ? catalog.problems().at("probe").text() : "";
  };
  CHECK(problem(folder) == "");
  fs::permissions(scratch / "outer", fs::perms::all);
  CHECK_THAT(problem(folder), Contains((scratch / "outer").string() + ": not used, as everybody"));
  fs::permissions(scratch / "outer", fs::perms::all | fs::perms::sticky_bit);  // as /tmp has
  CHECK(problem(folder) == "");
  fs::permissions(scratch / "outer", fs::perms::owner_all | fs::perms::group_all);
  CHECK(problem(folder) == "");  // its group is this user's own
  if (::geteuid() == 0) {
    REQUIRE(::chown((scratch / "outer").c_str(), 0, 12345) == 0);
    CHECK_THAT(problem(folder), Contains((scratch / "outer").string() + ": not used, as a group"));
    REQUIRE(::chown((scratch / "outer").c_str(), 0, 0) == 0);
  } else {
    WARN("not root: the folder of another group was not tried");
  }
  // Symlinks: of the folder, and of the files.
  fs::create_directories(scratch / "safe");
  fs::create_directory_symlink(folder, scratch / "safe/link");
  for (const char* file : {"kdgat_probe.so", "kdgat_probe.json"}) {
    fs::create_directories(scratch / "safe/files");
    fs::create_symlink(folder / file, scratch / "safe/files" / file);
  }
  CHECK(problem(scratch / "safe/link") == "");
  CHECK(problem(scratch / "safe/files") == "");
  fs::permissions(scratch / "outer", fs::perms::all);
  CHECK_THAT(problem(scratch / "safe/link"), Contains("everybody may write"));
  CHECK_THAT(problem(scratch / "safe/files"), Contains("everybody may write"));
}

TEST_CASE("a description with odd names, or with what steers a terminal, is refused",
          "[plugin_host]") {
  const ScratchFolder scratch;
  const std::filesystem::path description =
      std::filesystem::path(make_plugin(scratch / "plugins")).replace_extension(".json");
  const nlohmann::json good = nlohmann::json::parse(read_text(description));
  const auto problem = [&](const nlohmann::json& content) {
    write_file(description, content.dump());
    const PluginCatalog catalog = PluginCatalog::scan({scratch / "plugins"});
    return catalog.problems().contains("probe") ? catalog.problems().at("probe").text() : "";
  };
  CHECK(problem(good) == "");
  nlohmann::json bad = good;
  bad["summary"] = "a \x1b[2J b";
  CHECK_THAT(problem(bad), Contains("control character"));
  bad = good;
  bad["options"]["properties"]["mode"]["description"] = "a\rb";
  CHECK_THAT(problem(bad), Contains("control character"));
  bad = good;
  bad["options"]["properties"]["$(touch PWNED)"] = bad["options"]["properties"]["mode"];
  CHECK_THAT(problem(bad), Contains("the option \"$(touch PWNED)\" holds more than letters"));
  bad = good;
  bad["name"] = "probe;x";
  CHECK_THAT(problem(bad), Contains("its name \"probe;x\""));
}

TEST_CASE("a description names a library of its own folder", "[plugin_host]") {
  const ScratchFolder scratch;
  const std::filesystem::path library = make_plugin(scratch / "plugins");
  const std::filesystem::path description =
      std::filesystem::path(library).replace_extension(".json");
  nlohmann::json content = nlohmann::json::parse(read_text(description));
  for (const std::string& other :
       {std::string("../kdgat_probe.so"), library.string(), std::string(".."), std::string()}) {
    INFO(other);
    content["library"] = other;
    write_file(description, content.dump());
    const PluginCatalog catalog = PluginCatalog::scan({scratch / "plugins"});
    CHECK(catalog.find("probe") == nullptr);
    CHECK_THAT(catalog.problems().at("probe").text(), Contains("is no file of its folder"));
  }
}

TEST_CASE("a plugin exports one symbol", "[plugin_host]") {
  const std::string library = build_folder() / "plugins/kdgat_example.so";
  const CommandResult symbols = run_shell(
      "nm -D --defined-only '" + library + "' | wc -l && nm -D --defined-only '" + library + "'",
      std::filesystem::current_path());
  CHECK_THAT(symbols.out, Catch::StartsWith("1\n") && Contains(" T kdgat_stage_entry"));
}
