#include "engine/file/line_reader.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <thread>

#include "support/can/log_text.h"
#include "support/programs/command.h"

namespace kdgat::file {
namespace {

using test::write_gzip;
using test::write_text;

std::vector<std::string> lines_of(LineReader reader) {
  std::vector<std::string> out;
  std::string_view line;
  while (reader.next(line)) out.emplace_back(line);
  CHECK(reader.line_number() == static_cast<int64_t>(out.size()));
  return out;
}

const std::vector<std::string> kThree = {"one", "", "three"};

TEST_CASE("lines end in LF or CRLF and the last one needs neither", "[line_reader]") {
  CHECK(lines_of({"text", "one\n\nthree\n"}) == kThree);
  CHECK(lines_of({"text", "one\n\nthree"}) == kThree);
  CHECK(lines_of({"text", "one\r\n\r\nthree\r\n"}) == kThree);
  CHECK(lines_of({"text", "one\r\n\nthree\r"}) == kThree);
  CHECK(lines_of({"text", ""}).empty());
  CHECK(lines_of({"text", "\n"}) == std::vector<std::string>{""});
}

TEST_CASE("plain and gzip files give the same lines", "[line_reader]") {
  const test::ScratchFolder folder;
  std::string text;
  std::vector<std::string> expected;
  for (int i = 0; i < 150'000; ++i) {
    expected.push_back("line " + std::to_string(i));
    text += expected.back() + (i % 3 == 0 ? "\r\n" : "\n");
  }
  write_text(folder / "plain", text);
  write_gzip(folder / "packed", text);
  CHECK(lines_of(LineReader(folder / "plain")) == expected);
  CHECK(lines_of(LineReader(folder / "packed")) == expected);
}

TEST_CASE("a line may go over blocks, and be as long as a line may be", "[line_reader]") {
  const test::ScratchFolder folder;
  const std::string huge(kLongestLine, 'x');
  write_text(folder / "long", "a\n" + huge + "\nb\n" + huge);
  CHECK(lines_of(LineReader(folder / "long")) == std::vector<std::string>{"a", huge, "b", huge});
}

TEST_CASE("a longer line is refused where it stands, and no more of it is read", "[line_reader]") {
  const test::ScratchFolder folder;
  const std::string wanted = ":2: a line longer than 1 MiB: not a text";
  for (const char* end : {"", "\nc"}) {
    const std::string text = "a\n" + std::string(kLongestLine + 1, 'x') + end;
    write_text(folder / "long", text);
    CHECK(test::data_error([&] { lines_of(LineReader(folder / "long")); }) ==
          (folder / "long").string() + wanted);
    CHECK(test::data_error([&] { lines_of({"text", text}); }) == "text" + wanted);
  }
  // A bomb: 200 MB of one line in 200 kB.
  write_gzip(folder / "bomb", std::string(200'000'000, 'x'));
  int64_t before = 0, after = 0;
  const auto resident = [](int64_t& to) {
    std::ifstream file("/proc/self/statm");
    file >> to >> to;
  };
  resident(before);
  CHECK_THAT(test::data_error([&] { lines_of(LineReader(folder / "bomb")); }),
             Catch::Contains("a line longer than 1 MiB"));
  resident(after);
  CHECK((after - before) * 4096 < 50'000'000);
}

TEST_CASE("what is unpacked for long can be interrupted", "[line_reader]") {
  const test::ScratchFolder folder;
  std::string lines;
  for (int i = 0; i < 1'000'000; ++i) lines += "0123456789abcdefghijklmnopqrst\n";
  write_gzip(folder / "many", lines);
  int asked = 0;
  LineReader reader(folder / "many", [&asked] { return ++asked > 4; });
  std::string_view line;
  CHECK_THAT(test::error_of(
                 [&] {
                   while (reader.next(line)) continue;
                 },
                 ExitCode::kInterrupted),
             Catch::Contains("interrupted while reading"));
  CHECK(reader.line_number() > 1000);
  CHECK(reader.line_number() < 900'000);
}

TEST_CASE("a pipe is waited for, and the wait can be interrupted", "[line_reader]") {
  const test::ScratchFolder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  {
    int asked = 0;
    std::string_view line;
    LineReader nobody(folder / "pipe", [&asked] { return ++asked > 2; });
    CHECK_FALSE(test::error_of([&] { nobody.next(line); }, ExitCode::kInterrupted).empty());
  }  // with it open a writer could be done before the next reader is there

  std::thread writer([&] { write_text(folder / "pipe", "one\n\nthree"); });
  CHECK(lines_of(LineReader(folder / "pipe")) == kThree);
  writer.join();
}

TEST_CASE("bytes read are those of the stored file", "[line_reader]") {
  const test::ScratchFolder folder;
  write_gzip(folder / "packed", std::string(100'000, 'x') + "\n");
  LineReader reader(folder / "packed");
  std::string_view line;
  while (reader.next(line)) continue;
  CHECK(reader.bytes_read() == static_cast<int64_t>(std::filesystem::file_size(folder / "packed")));
}

TEST_CASE("damaged and cut gzip files are refused by name", "[line_reader]") {
  const test::ScratchFolder folder;
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += std::to_string(i * 7919) + "\n";
  write_gzip(folder / "whole", text);
  const std::string bytes = test::read_text(folder / "whole");
  write_text(folder / "cut", bytes.substr(0, bytes.size() / 2));
  std::string damaged = bytes;
  for (std::size_t i = 0; i < 64; ++i) damaged[damaged.size() / 2 + i] ^= 0x5A;
  write_text(folder / "damaged", damaged);
  CHECK(test::data_error([&] { lines_of(LineReader(folder / "cut")); }) ==
        "cannot read " + (folder / "cut").string() + ": the gzip data ends too early");
  CHECK_THAT(
      test::data_error([&] { lines_of(LineReader(folder / "damaged")); }),
      Catch::StartsWith("cannot read " + (folder / "damaged").string() + ": damaged gzip data"));
}

TEST_CASE("a file that cannot be opened is refused by name", "[line_reader]") {
  const test::ScratchFolder folder;
  CHECK(test::data_error([&] { LineReader reader(folder / "none"); }) ==
        "cannot read " + (folder / "none").string() + ": No such file or directory");
  CHECK_THAT(test::data_error([&] { lines_of(LineReader(folder.path())); }),
             Catch::Contains("Is a directory"));
}

TEST_CASE("standard input is read, packed or not", "[line_reader]") {
  const test::ScratchFolder folder;
  write_text(folder / "plain", "one\n\nthree");
  write_gzip(folder / "packed", "one\n\nthree");
  for (const char* name : {"plain", "packed"}) {
    const test::StandardInput input(folder / name);
    LineReader reader("-");
    CHECK(reader.name() == "standard input");
    CHECK(lines_of(std::move(reader)) == kThree);
  }
}

}  // namespace
}  // namespace kdgat::file
