// Files are replaced whole; devices and pipes are written where they are.
#include "kdgat/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "support/can/log_text.h"
#include "support/programs/command.h"

using namespace kdgat;
using namespace kdgat::test;
namespace fs = std::filesystem;

TEST_CASE("a file stands under its name only after commit", "[sdk]") {
  ScratchFolder scratch;
  const fs::path path = scratch / "out.txt";
  {
    AtomicFile file(path);
    file.write("never");
    CHECK_FALSE(fs::exists(path));
  }
  CHECK(fs::is_empty(scratch.path()));
  write_file(path, "first");
  write_file(path, "second");
  CHECK(read_text(path) == "second");
}

TEST_CASE("a temporary file of another process stays as it is", "[sdk]") {
  ScratchFolder scratch;
  // What a container left whose only process had the same number.
  const std::string mark = "out.txt.tmp." + std::to_string(::getpid()) + ".";
  uint64_t next = 0;
  {
    const AtomicFile file(scratch / "out.txt");
    const std::string name = fs::directory_iterator(scratch.path())->path().filename().string();
    REQUIRE(name.starts_with(mark));
    CHECK(name.size() <= mark.size() + 9);  // clear_leftovers() knows it by that
    next = std::stoull(name.substr(mark.size())) + 1;
  }
  const fs::path taken = scratch / (mark + std::to_string(next));
  std::ofstream(taken) << "another's";
  write_file(scratch / "out.txt", "mine");
  CHECK(read_text(scratch / "out.txt") == "mine");
  CHECK(read_text(taken) == "another's");
}

TEST_CASE("a pipe is written in place and stays a pipe", "[sdk]") {
  ScratchFolder scratch;
  const fs::path path = scratch / "pipe";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  REQUIRE(reader >= 0);
  write_file(path, "a line");
  char text[16] = {};
  CHECK(::read(reader, text, sizeof text) == 6);
  CHECK(std::string(text) == "a line");
  ::close(reader);
  CHECK(fs::is_fifo(path));
  fs::remove(path);
  CHECK(fs::is_empty(scratch.path()));
}

TEST_CASE("a device is written in place and stays a device", "[sdk]") {
  REQUIRE(fs::is_character_file("/dev/full"));
  CHECK_THROWS_WITH(write_file("/dev/full", "text"),
                    Catch::Contains("cannot write /dev/full: No space left on device"));
  CHECK(fs::is_character_file("/dev/full"));
  write_file("/dev/null", "text");
  CHECK(fs::is_character_file("/dev/null"));
}
