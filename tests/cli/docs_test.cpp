// Every command line shown in README.md and docs/ is run, in order, a scratch folder for each file.
//
// A command is a line starting with "$ " inside a ```console block. It must end with 0, or with the
// code an `$ echo $?` right below it shows. Blocks marked ```console-setup need a fresh machine or
// the whole test run itself and are left out.
#include <catch2/catch.hpp>
#include <cctype>
#include <string>
#include <vector>

#include "support/programs/cli.h"

namespace {

struct Shown {
  std::string file;
  int line = 0;
  std::string command;
  int exit_code = 0;
};

std::vector<Shown> commands_of(const fs::path& file) {
  std::vector<Shown> found;
  std::ifstream in(file);
  std::string text;
  bool inside = false, status_next = false;
  for (int line = 1; std::getline(in, text); ++line) {
    if (text.rfind("```", 0) == 0) {
      inside = !inside && text == "```console";
      continue;
    }
    if (!inside) continue;
    if (text == "$ echo $?") {
      status_next = true;
    } else if (text.rfind("$ ", 0) == 0) {
      found.push_back({file.filename().string(), line, text.substr(2), 0});
    } else if (status_next && !found.empty()) {
      found.back().exit_code = std::stoi(text);
      status_next = false;
    }
  }
  return found;
}

/// The shown line with the build under test in the place of scripts/kdgat and kdgat.
std::string runnable(std::string command) {
  const std::string binary = fs::absolute(kdgat_binary()).string();
  for (const std::string name : {"scripts/kdgat", "kdgat"}) {
    const std::string piped = "| " + name + " ";
    if (const std::size_t at = command.find(piped); at != std::string::npos) {
      command.replace(at + 2, name.size(), "'" + binary + "'");
    }
    if (command.rfind(name + " ", 0) == 0) command.replace(0, name.size(), "'" + binary + "'");
  }
  return "set -o pipefail; export KDGAT_BINARY='" + binary + "'; " + command;
}

}  // namespace

TEST_CASE("every command line shown in the documentation runs", "[docs][cli]") {
  if (!has_all_fields()) return;
  const fs::path root = fs::current_path();
  std::vector<fs::path> files = {root / "README.md"};
  if (fs::exists(root / "docs")) {
    for (const auto& entry : fs::recursive_directory_iterator(root / "docs")) {
      if (entry.path().extension() == ".md") files.push_back(entry.path());
    }
  }
  int run = 0;
  for (const fs::path& file : files) {
    const ScratchFolder scratch;
    for (const char* name : {"profiles", "plugins", "scripts", "docs"}) {
      fs::create_directory_symlink(root / name, scratch / name);
    }
    for (const Shown& shown : commands_of(file)) {
      INFO(shown.file << ":" << shown.line << ": " << shown.command);
      const CommandResult result = run_shell(runnable(shown.command), scratch.path());
      INFO(result.err);
      CHECK(result.exit_code == shown.exit_code);
      ++run;
    }
  }
  CHECK(run > 0);
}

TEST_CASE("pages of options and commands are what the program says", "[docs][cli]") {
  if (!has_all_fields()) return;
  const CommandResult result =
      run_shell("KDGAT_BINARY='" + fs::absolute(kdgat_binary()).string() + "' scripts/docs --check",
                fs::current_path());
  INFO(result.out << result.err);
  CHECK(result.exit_code == 0);
}
