#include "pipeline/system/program.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "kdgat/program_path.h"
#include "support/can/log_text.h"
#include "support/programs/command.h"

using namespace kdgat;
using namespace kdgat::test;
namespace fs = std::filesystem;

namespace {

void write_program(const fs::path& file, const std::string& text) {
  write_text(file, "#!/bin/sh\n" + text);
  fs::permissions(file, fs::perms::owner_all);
}

/// A PATH, and a folder to stand in, for as long as it lives.
class Standing {
 public:
  Standing(const std::string& path, const fs::path& folder) : folder_(fs::current_path()) {
    if (const char* before = std::getenv("PATH")) path_ = before;
    ::setenv("PATH", path.c_str(), 1);
    fs::current_path(folder);
  }
  Standing(const Standing&) = delete;
  Standing& operator=(const Standing&) = delete;
  ~Standing() {
    ::setenv("PATH", path_.c_str(), 1);
    fs::current_path(folder_);
  }

 private:
  std::string path_;
  fs::path folder_;
};

}  // namespace

TEST_CASE("a program's answer has its code and both streams", "[program]") {
  const auto answer = run_program({"bash", "-c", "echo out; echo err >&2; exit 3"});
  REQUIRE(answer);
  CHECK(answer->exit_code == 3);
  CHECK(answer->out == "out\n");
  CHECK(answer->err == "err\n");
  CHECK(run_program({"bash", "-c", "kill -9 $$"})->exit_code == 137);
  CHECK_FALSE(run_program({"no-such-program-here"}));
  CHECK(run_program({"bash", "-c", "head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2"})
            ->out.size() == 300000);
}

TEST_CASE("programs of the current folder are never started", "[program]") {
  const ScratchFolder here, there;
  write_program(here / "asked", "echo here\n");
  write_program(here / "bin/asked", "echo here\n");
  fs::create_directories(there / "asked");  // a folder is no program
  write_text(there / "plain/asked", "");    // nor is what may not be run
  write_program(there / "bin/asked", "echo there\n");
  const std::string absolute = there.path().string();
  const std::string right = absolute + "/bin";
  for (const std::string& path :
       {":" + right, ".:" + right, "./bin:" + right, "bin:" + right, "..:" + right + ":",
        absolute + ":" + absolute + "/plain:" + right}) {
    INFO(path);
    const Standing standing(path, here.path());
    CHECK(program_path("asked") == right + "/asked");
    const auto answer = run_program({"asked"});
    REQUIRE(answer);
    CHECK(answer->out == "there\n");
  }
  const Standing standing(":.:bin:./bin", here.path());
  CHECK(program_path("asked").empty());
  CHECK_FALSE(run_program({"asked"}));
}

TEST_CASE("a program gets the folder and the environment that it is given", "[program]") {
  const ScratchFolder folder;
  const std::string at = fs::canonical(folder.path()).string();
  const auto answer =
      run_program_in({at, {"ONE=1"}, nullptr}, {"sh", "-c", "pwd -P; echo \"$ONE.$HOME.\""});
  REQUIRE(answer);
  CHECK(answer->out == at + "\n1..\n");
}

TEST_CASE("a program that is given up is killed", "[program]") {
  const ScratchFolder folder;
  const fs::path pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  int asked = 0;
  const auto answer = run_program_in({folder.path(), {}, [&] { return ++asked > 2; }},
                                     {"cat", pipe.string()});  // nobody ever writes to it
  REQUIRE(answer);
  CHECK(answer->exit_code == 137);
}
