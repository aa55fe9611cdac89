#include "engine/file/tar.h"

#include <catch2/catch.hpp>
#include <vector>

#include "support/can/log_text.h"
#include "support/graphs/tar_text.h"
#include "support/programs/command.h"

namespace kdgat::file {
namespace {

using test::pax_record;
using test::tar_end;
using test::tar_entry;

using Files = std::vector<std::pair<std::string, std::string>>;

Files read_all(const std::string& bytes) {
  TarReader archive("a.tar", bytes);
  Files out;
  while (archive.next()) {
    std::string name = archive.name();
    out.emplace_back(std::move(name), archive.content());
  }
  return out;
}

std::string refused(const std::string& bytes) {
  return test::data_error([&] { read_all(bytes); });
}

TEST_CASE("the files of an archive are read, other entries passed over", "[tar]") {
  const std::string block(512, 'x');
  const std::string archive = tar_entry("folder/", "", '5') + tar_entry("a.swc", "one") +
                              tar_entry("link", "", '2') + tar_entry("empty", "") +
                              tar_entry("b.swc", block, '0', "deep/folder") + tar_end();
  CHECK(read_all(archive) == Files{{"a.swc", "one"}, {"empty", ""}, {"deep/folder/b.swc", block}});
  CHECK(read_all(tar_end()).empty());
  // Contents that no one asked for are passed over.
  TarReader reader("a.tar", archive);
  int files = 0;
  while (reader.next()) ++files;
  CHECK(files == 3);
}

TEST_CASE("names longer than a header holds are read in both ways", "[tar]") {
  const std::string name(300, 'n');
  CHECK(read_all(tar_entry("././@LongLink", name + std::string(1, '\0'), 'L') +
                 tar_entry(name, "gnu") + tar_entry("next", "") + tar_end()) ==
        Files{{name, "gnu"}, {"next", ""}});
  CHECK(read_all(tar_entry("x", pax_record("mtime", "1.5") + pax_record("path", name), 'x') +
                 tar_entry(name, "pax") + tar_entry("next", "") + tar_end()) ==
        Files{{name, "pax"}, {"next", ""}});
  CHECK(read_all(tar_entry("g", pax_record("comment", "c"), 'g') + tar_entry("a", "1") +
                 tar_end()) == Files{{"a", "1"}});
}

TEST_CASE("a file may be read piece by piece", "[tar]") {
  const std::string block(1000, 'x');
  const std::string archive = tar_entry("a", block) + tar_entry("b", "two") + tar_end();
  for (const std::size_t room : {1U, 7U, 512U, 4096U}) {
    TarReader reader("a.tar", archive);
    REQUIRE(reader.next());
    std::string all, piece(room, '\0');
    const auto read = reader.stream();
    while (const std::size_t bytes = read(piece.data(), piece.size())) all.append(piece, 0, bytes);
    CHECK(all == block);
    REQUIRE(reader.next());
    CHECK(reader.content() == "two");
  }
  TarReader reader("a.tar", archive);
  REQUIRE(reader.next());
  char some[10];
  CHECK(reader.stream()(some, sizeof some) == sizeof some);  // the rest is passed over
  REQUIRE(reader.next());
  CHECK(reader.name() == "b");
}

TEST_CASE("a file in an archive that is larger than asked for is refused before it is read",
          "[tar]") {
  const test::ScratchFolder folder;
  test::write_text(folder / "a.tar",
                   tar_entry("small", "1") + tar_entry("large", "123456") + tar_end());
  TarReader reader(folder / "a.tar", {}, 5);
  REQUIRE(reader.next());
  CHECK(reader.content() == "1");
  REQUIRE(reader.next());
  const std::string wanted = (folder / "a.tar").string() +
                             ": large has 6 bytes, more than 5\n  hint: a larger largest_member_mb";
  CHECK(test::data_error([&] { reader.content(); }) == wanted);
  CHECK(test::data_error([&] { reader.stream(); }) == wanted);
  CHECK_FALSE(reader.next());  // passed over it is no matter
}

TEST_CASE("what tar writes is read, packed or not", "[tar]") {
  const test::ScratchFolder folder;
  const std::string name = std::string(60, 'd') + "/" + std::string(120, 'f') + ".swc";
  test::write_text(folder / ("in/" + name), "text");
  for (const std::string form : {"gnu", "pax"}) {
    for (const std::string pack : {"", "z"}) {
      INFO(form << pack);
      REQUIRE(test::run_shell("tar -c" + pack + "f a.tar --format=" + form + " in", folder.path())
                  .exit_code == 0);
      TarReader archive(folder / "a.tar");
      REQUIRE(archive.next());
      CHECK(archive.name() == "in/" + name);
      CHECK(archive.content() == "text");
      CHECK_FALSE(archive.next());
      CHECK(archive.bytes_read() > 0);
    }
  }
}

TEST_CASE("a damaged archive is refused", "[tar]") {
  const std::string entry = tar_entry("a.swc", "one");
  CHECK_THAT(refused(""), Catch::Contains("it ends before its end mark"));
  CHECK_THAT(refused(entry), Catch::Contains("it ends before its end mark"));
  CHECK_THAT(refused(entry.substr(0, 300)), Catch::Contains("it ends in the middle"));
  CHECK_THAT(refused(entry.substr(0, 514)), Catch::Contains("it ends in the middle of a.swc"));
  std::string flipped = entry + tar_end();
  flipped[3] ^= 1;
  CHECK(refused(flipped) ==
        "cannot read a.tar: damaged tar archive: a header differs from its checksum");
  CHECK_THAT(refused(tar_entry("x", "12 path", 'x') + entry + tar_end()),
             Catch::Contains("a pax header is malformed"));
  CHECK_THAT(refused(tar_entry("x", pax_record("size", "-1"), 'x') + entry + tar_end()),
             Catch::Contains("a pax header is malformed"));
  CHECK_THAT(refused(std::string(600, 'a')), Catch::Contains("checksum"));
}

}  // namespace
}  // namespace kdgat::file
