// What is there for a while, and what a kill leaves of it.
#include "pipeline/system/temporary.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>

#include "kdgat/atomic_file.h"
#include "support/programs/command.h"

using namespace kdgat;
using namespace kdgat::test;
namespace fs = std::filesystem;

namespace {

/// Kills a process that has made a temporary folder and half a file in `folder`.
void leave_behind(const fs::path& folder) {
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const TemporaryFolder made(folder, "logs.");
    write_file(made.path() / "a.csv", "1,2\n");
    AtomicFile file(folder / "graphs.safetensors");
    file.write("half of it");
    if (::write(ready[1], "x", 1) != 1) ::_exit(1);
    ::pause();
    ::_exit(0);
  }
  ::close(ready[1]);
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  ::close(ready[0]);
  // While it lives nothing of it is taken.
  clear_leftovers(folder, {"logs."});
  CHECK(std::distance(fs::directory_iterator(folder), fs::directory_iterator()) == 2);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

}  // namespace

TEST_CASE("what a killed process left is cleared, what is held or named otherwise stays",
          "[temporary]") {
  const ScratchFolder scratch;
  leave_behind(scratch.path());
  const std::vector<fs::path> others = {scratch / "logs.backup1", scratch / "logs.of",
                                        scratch / "notes.tmp.txt", scratch / "a.tmp.1x.2",
                                        scratch / ".synth.abcdef"};
  for (const fs::path& path : others) fs::create_directories(path);
  const TemporaryFolder mine(scratch.path(), "logs.");
  AtomicFile file(scratch / "split.safetensors");
  clear_leftovers(scratch.path(), {"logs."});
  for (const fs::path& path : others) {
    INFO(path);
    CHECK(fs::exists(path));
  }
  CHECK(fs::exists(mine.path()));
  file.write("whole");
  file.commit();
  CHECK(read_text(scratch / "split.safetensors") == "whole");
  std::size_t left = 0;
  for (const auto& entry : fs::directory_iterator(scratch.path())) {
    left += fs::is_regular_file(entry) ? 1 : 0;
    CHECK_FALSE(fs::exists(entry.path() / "a.csv"));
  }
  CHECK(left == 1);
  clear_leftovers(scratch.path(), {".synth."});
  CHECK_FALSE(fs::exists(scratch / ".synth.abcdef"));
}

TEST_CASE("a temporary folder is locked and goes at the end", "[temporary]") {
  const ScratchFolder scratch;
  fs::path path;
  {
    const TemporaryFolder made(scratch.path(), "kdgat-inspect.");
    path = made.path();
    CHECK(lock_folder(path).get() < 0);
  }
  CHECK_FALSE(fs::exists(path));
  CHECK(lock_folder(path).get() < 0);
  CHECK(lock_folder(scratch.path()).get() >= 0);
}
