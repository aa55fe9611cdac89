// Only regular files are opened to be read as a whole.
#include "kdgat/small_file.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>

#include "support/can/log_text.h"
#include "support/programs/command.h"

using namespace kdgat;
using namespace kdgat::test;
namespace fs = std::filesystem;

TEST_CASE("what is no regular file is not opened, and a stream without one says so", "[sdk]") {
  ScratchFolder scratch;
  const fs::path pipe = scratch / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  for (const auto& path : {scratch / "none", pipe.parent_path(), pipe}) {
    std::ifstream in = regular_file(path);
    CHECK_FALSE(in.is_open());
    CHECK(in.fail());
    CHECK_THROWS_AS(small_file(path, kLargestNotes), Error);
  }
}

TEST_CASE("an empty file is read as one, and one that is too large is refused", "[sdk]") {
  ScratchFolder scratch;
  const fs::path file = scratch / "file";
  std::ofstream(file).flush();
  std::ifstream in = regular_file(file);
  CHECK(std::string{std::istreambuf_iterator<char>(in), {}}.empty());
  CHECK_FALSE(in.fail());
  CHECK(small_file(file, 3).empty());
  std::ofstream(file) << "1234";
  CHECK(small_file(file, 4) == "1234");
  CHECK_THROWS_AS(small_file(file, 3), Error);
}
