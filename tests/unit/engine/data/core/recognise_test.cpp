// What a source is taken for, and what is said of one that is nothing.
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <thread>

#include "engine/data/core/piped_input.h"
#include "support/can/log_text.h"
#include "support/graphs/import_options.h"
#include "support/programs/command.h"
#include "support/programs/mutate.h"

namespace kdgat::data {
namespace {

namespace fs = std::filesystem;
using test::write_gzip;
using test::write_text;

std::string domain_of(const fs::path& source) {
  return domain_of_source(all_domains(), source, nlohmann::json::object()).name();
}

TEST_CASE("a log with tabs is no corpus, and the refusal says what it is", "[recognise]") {
  const test::ScratchFolder folder;
  const std::string rows[] = {
      "1478198376.389427\t0316\t8\t05 21 68 09 21 21 00 6f\tR\n",
      "(1478198376.389427)\tcan0\t316#05216809\n",
      "1\t316\t8\tff ab cd ef ff ff ff ff\tnormal\n",
  };
  for (const std::string& row : rows) {
    for (const char* header : {"", "timestamp\tarbitration_id\tdata_field\tattack\n"}) {
      INFO(header << row);
      write_text(folder / "log.txt", header + row + row + row + row);
      CHECK(domain_of(folder / "log.txt") == "can");
    }
  }
  write_text(folder / "log.txt", rows[0] + rows[0]);
  const std::string said =
      test::data_error([&] { graph::import_logs(folder / "log.txt", folder / "out", {}); });
  CHECK_THAT(said, Catch::Contains("no known log form fits the first line") &&
                       Catch::Contains("a table of 5 columns between tabs"));
}

TEST_CASE("what is no text at all is refused as what it is", "[recognise]") {
  const test::ScratchFolder folder;
  test::MutationRandom random(9);
  const auto refused = [&](const std::string& bytes) {
    std::string all;
    for (const char* name : {"a.txt", "a.csv", "a.log", "a.tsv"}) {
      write_text(folder / name, bytes);
      const std::string said =
          test::data_error([&] { graph::import_logs(folder / name, folder / "out", {}); });
      CHECK_FALSE(said.empty());
      all += said + "\n";
    }
    return all;
  };
  for (int round = 0; round < 20; ++round) {
    std::string bytes(200 + random.below(3000), '\0');
    for (char& c : bytes) c = static_cast<char>(random.below(256));
    bytes += "label\tsome words of a text\n";
    refused(bytes);
  }
  std::string binary(512, '\0');
  CHECK_THAT(refused(binary + "a\tb c\n"), Catch::Contains("binary data, not lines of text"));
  std::string wide = "\xFF\xFE";
  for (const char c : std::string("earn\tthe company said its profit rose\n"))
    wide += std::string(1, c) + '\0';
  CHECK_THAT(refused(wide), Catch::Contains("text in UTF-16, not lines of text") &&
                                Catch::Contains("iconv -f UTF-16 -t UTF-8"));
}

TEST_CASE("a pipe is imported as its content is from a file", "[recognise]") {
  const test::ScratchFolder folder;
  std::string log = "timestamp,arbitration_id,data_field,attack\n";
  for (int row = 0; row < 200; ++row) log += std::to_string(row) + ".5,1A0,0011,0\n";
  REQUIRE(::mkfifo((folder / "log").c_str(), 0600) == 0);
  for (const bool packed : {false, true}) {
    std::thread writer(
        [&] { packed ? write_gzip(folder / "log", log) : write_text(folder / "log", log); });
    const ImportReport report = graph::import_logs(folder / "log", folder / "out", {});
    writer.join();
    CHECK(report.rows == 200);
    CHECK(test::names_in(folder / "out").contains("graphs.safetensors"));
  }
}

TEST_CASE("what is wrong in a pipe is told under its own name", "[recognise]") {
  const test::ScratchFolder folder;
  REQUIRE(::mkfifo((folder / "log.csv").c_str(), 0600) == 0);
  std::thread writer([&] { write_text(folder / "log.csv", "no log\n"); });
  const std::string said =
      test::data_error([&] { graph::import_logs(folder / "log.csv", folder / "out", {}); });
  writer.join();
  CHECK_THAT(said, Catch::StartsWith((folder / "log.csv").string() + ":1: no known log form"));
  CHECK(test::names_in(folder / "out").empty());
}

TEST_CASE("waiting for a pipe ends when it is cancelled", "[recognise]") {
  const test::ScratchFolder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK(is_pipe(folder / "pipe"));
  CHECK_FALSE(is_pipe(folder.path()));
  int asked = 0;
  CHECK_THAT(test::error_of(
                 [&] {
                   graph::import_logs(folder / "pipe", folder / "out", {}, {},
                                      [&] { return ++asked > 2; });
                 },
                 ExitCode::kInterrupted),
             Catch::Contains("interrupted while reading"));
  CHECK(test::names_in(folder / "out").empty());
  CHECK_THAT(test::data_error([&] { graph::import_logs("/dev/zero", folder / "out", {}); }),
             Catch::Contains("neither a file nor a folder nor a pipe"));
}

}  // namespace
}  // namespace kdgat::data
