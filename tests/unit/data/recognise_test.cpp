// What a source is taken for, and what is said of one that is nothing.
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <thread>

#include "data/piped_input.h"
#include "support/command.h"
#include "support/import_options.h"
#include "support/log_text.h"
#include "support/mutate.h"

namespace kdgat::graph {
namespace {

namespace fs = std::filesystem;
using test::write_gzip;
using test::write_text;

std::string domain_of(const fs::path& source) {
  return domain_of_source(all_domains(), source, nlohmann::json::object()).name();
}

const std::string kTexts =
    "earn\tthe company said its profit rose\nacq\tthe group buys a share of the bank\n"
    "earn\tnet loss of the year\nacq\tshareholders agree to the offer\n"
    "earn\tthe company pays a dividend\nacq\tthe bank sells the company\n";

TEST_CASE("a corpus is known by labels and words", "[recognise]") {
  const test::ScratchFolder folder;
  for (const std::string& text :
       {kTexts, std::string("1\tgood film\n0\tbad film\n"),
        std::string("label\ttext\nA\ta b c\nB\td e f\n"), std::string("pos\t10/10 good!\n"),
        std::string("1.5\n\n"), std::string("\xEF\xBB\xBFx\t\xD0\xBC\xD0\xB8\xD1\x80\n")}) {
    write_text(folder / "a.txt", text);
    INFO(text);
    CHECK(domain_of(folder / "a.txt") == (text.starts_with("1.5") ? "can" : "texts"));
  }
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
      test::data_error([&] { import_logs(folder / "log.txt", folder / "out", {}); });
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
          test::data_error([&] { import_logs(folder / name, folder / "out", {}); });
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
  for (const char c : kTexts) wide += std::string(1, c) + '\0';
  CHECK_THAT(refused(wide), Catch::Contains("text in UTF-16, not lines of text") &&
                                Catch::Contains("iconv -f UTF-16 -t UTF-8"));
}

TEST_CASE("documents of a folder for each class must be texts", "[recognise]") {
  const test::ScratchFolder folder;
  for (const char* name : {"in/a/1.txt", "in/a/2.txt", "in/b/1.txt", "in/b/2.txt"}) {
    write_text(folder / name, "some words");
  }
  CHECK(domain_of(folder / "in") == "texts");
  write_text(folder / "in/b/1.txt", std::string("\0\1\2\3", 4));
  CHECK(domain_of(folder / "in") == "can");
}

TEST_CASE("a pipe is imported as its content is from a file", "[recognise]") {
  const test::ScratchFolder folder;
  write_text(folder / "file/texts.txt", kTexts);
  ImportOptions options;
  options.remove_rare_words = 1;
  REQUIRE(::mkfifo((folder / "texts").c_str(), 0600) == 0);
  for (const bool packed : {false, true}) {
    std::thread writer([&] {
      packed ? write_gzip(folder / "texts", kTexts) : write_text(folder / "texts", kTexts);
    });
    const ImportReport report = import_logs(folder / "texts", folder / "out", options);
    writer.join();
    CHECK(report.rows == 6);
    CHECK(test::names_in(folder / "out") == std::set<std::string>{"graphs.safetensors"});
  }
}

TEST_CASE("what is wrong in a pipe is told under its own name", "[recognise]") {
  const test::ScratchFolder folder;
  REQUIRE(::mkfifo((folder / "log.csv").c_str(), 0600) == 0);
  std::thread writer([&] { write_text(folder / "log.csv", "no log\n"); });
  const std::string said =
      test::data_error([&] { import_logs(folder / "log.csv", folder / "out", {}); });
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
                   import_logs(folder / "pipe", folder / "out", {}, {},
                               [&] { return ++asked > 2; });
                 },
                 ExitCode::kInterrupted),
             Catch::Contains("interrupted while reading"));
  CHECK(test::names_in(folder / "out").empty());
  CHECK_THAT(test::data_error([&] { import_logs("/dev/zero", folder / "out", {}); }),
             Catch::Contains("neither a file nor a folder nor a pipe"));
}

}  // namespace
}  // namespace kdgat::graph
