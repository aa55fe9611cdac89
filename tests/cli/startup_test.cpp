// What the executable may load: never LibTorch, and no plugin before one must run.
#include <catch2/catch.hpp>
#include <string>

#include "support/programs/cli.h"

namespace {

/// The shared libraries opened while `kdgat words` ran, as the dynamic linker tells it.
std::string libraries_opened(const std::string& words) {
  const ScratchFolder scratch;
  const std::string log = (scratch / "ld").string();
  const CommandResult result =
      run_shell("LD_DEBUG=files LD_DEBUG_OUTPUT='" + log + "' '" +
                    std::filesystem::absolute(kdgat_binary()).string() + "' " + words,
                scratch.path());
  INFO(result.err);
  CHECK(result.exit_code == 0);
  return run_shell("cat '" + log + "'.*", scratch.path()).out;
}

}  // namespace

TEST_CASE("the executable does not link LibTorch", "[cli]") {
  const ScratchFolder scratch;
  const CommandResult result =
      run_shell("ldd '" + std::filesystem::absolute(kdgat_binary()).string() + "'", scratch.path());
  REQUIRE(result.exit_code == 0);
  CHECK(result.out.find("libkdgat_graph") != std::string::npos);
  CHECK(result.out.find("torch") == std::string::npos);
}

TEST_CASE("help, configuration, plugins and a dry run open neither LibTorch nor a plugin",
          "[cli]") {
  for (const char* words : {"--help", "config show --preset smoke", "plugins list",
                            "run --preset smoke --dry-run", "completion bash"}) {
    INFO(words);
    const std::string opened = libraries_opened(words);
    CHECK(opened.find("libkdgat_graph") != std::string::npos);
    CHECK(opened.find("torch") == std::string::npos);
    CHECK(opened.find("plugins/kdgat_") == std::string::npos);
  }
}

TEST_CASE("a plugin exports one symbol", "[cli]") {
  const std::filesystem::path folder =
      std::filesystem::absolute(kdgat_binary()).parent_path() / "plugins";
  int plugins = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".so") continue;
    INFO(entry.path());
    const CommandResult result = run_shell(
        "nm -D --defined-only '" + entry.path().string() + "' | awk '$2 != \"A\" {print $3}'",
        folder);
    CHECK(result.out == "kdgat_stage_entry\n");
    ++plugins;
  }
  CHECK(plugins > 0);
}
