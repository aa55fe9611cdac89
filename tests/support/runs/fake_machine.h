// What is asked of a machine, replaced by files and variables of a test's own.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "kdgat/atomic_file.h"
#include "pipeline/system/machine.h"
#include "support/programs/command.h"

namespace kdgat::test {

/// A machine made of files.
struct FakeMachine {
  void file(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root / path).parent_path());
    write_file(root / path, text);
  }
  ScratchFolder root;
  Machine machine{root.path()};
};

/// Variables of the environment for as long as a test runs.
class Variables {
 public:
  using Values = std::map<std::string, std::string>;

  explicit Variables(Values values) : values_(std::move(values)) {
    for (const auto& [name, value] : values_) ::setenv(name.c_str(), value.c_str(), 1);
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;
  ~Variables() {
    for (const auto& [name, value] : values_) ::unsetenv(name.c_str());
  }

 private:
  Values values_;
};

}  // namespace kdgat::test
