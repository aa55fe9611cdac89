// Compiles the plugins of tests/plugins, some of them broken on purpose, where a test wants them.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>

#include "support/programs/command.h"

namespace kdgat::test {

/// kdgat_<name>.so in `folder`, of tests/plugins/<source>. `definitions`: "-DMAJOR=2u".
inline std::filesystem::path compile_plugin(const std::filesystem::path& folder,
                                            const std::string& name = "probe",
                                            const std::string& definitions = "",
                                            const std::string& source = "probe.c") {
  std::filesystem::create_directories(folder);
  const std::filesystem::path library = folder / ("kdgat_" + name + ".so");
  const std::filesystem::path root = std::filesystem::current_path();
  const bool is_c = source.ends_with(".c");
  const CommandResult built =
      run_shell(std::string(is_c ? "cc -DNAME='\"" + name + "\"'" : "c++ -std=c++20") +
                    " -shared -fPIC -fvisibility=hidden -O0 " + definitions + " -I'" +
                    (root / "pipeline/sdk").string() + "' '" +
                    (root / "tests/plugins" / source).string() + "' -o '" + library.string() + "'",
                folder);
  if (built.exit_code != 0) throw std::runtime_error("cannot compile " + source + ": " + built.err);
  return library;
}

/// The same with its description, written by the executable under test.
inline std::filesystem::path make_plugin(const std::filesystem::path& folder,
                                         const std::string& name = "probe",
                                         const std::string& definitions = "",
                                         const std::string& source = "probe.c") {
  const std::filesystem::path library = compile_plugin(folder, name, definitions, source);
  const CommandResult described =
      run_kdgat("describe-plugin '" + library.string() + "'", std::filesystem::current_path());
  if (described.exit_code != 0) throw std::runtime_error("cannot describe: " + described.err);
  return library;
}

}  // namespace kdgat::test
