// What is taken for a corpus.
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <thread>

#include "fields/texts/data/text_options.h"
#include "support/can/log_text.h"
#include "support/graphs/import_options.h"
#include "support/programs/command.h"

namespace kdgat::texts {
namespace {

namespace fs = std::filesystem;
using test::write_gzip;
using test::write_text;

std::string domain_of(const fs::path& source) {
  return data::domain_of_source(data::all_domains(), source, nlohmann::json::object()).name();
}

const std::string kTexts =
    "earn\tthe company said its profit rose\nacq\tthe group buys a share of the bank\n"
    "earn\tnet loss of the year\nacq\tshareholders agree to the offer\n"
    "earn\tthe company pays a dividend\nacq\tthe bank sells the company\n";

}  // namespace

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

TEST_CASE("documents of a folder for each class must be texts", "[recognise]") {
  const test::ScratchFolder folder;
  for (const char* name : {"in/a/1.txt", "in/a/2.txt", "in/b/1.txt", "in/b/2.txt"}) {
    write_text(folder / name, "some words");
  }
  CHECK(domain_of(folder / "in") == "texts");
  write_text(folder / "in/README.md", "of these texts");  // next to the classes
  CHECK(domain_of(folder / "in") == "texts");
  write_text(folder / "in/b/1.txt", std::string("\0\1\2\3", 4));
  CHECK(domain_of(folder / "in") == "can");
}

TEST_CASE("a corpus from a pipe is imported as it is from a file", "[recognise]") {
  const test::ScratchFolder folder;
  write_text(folder / "file/texts.txt", kTexts);
  graph::ImportOptionsWith<TextOptions> options;
  options.remove_rare_words = 1;
  REQUIRE(::mkfifo((folder / "texts").c_str(), 0600) == 0);
  for (const bool packed : {false, true}) {
    std::thread writer([&] {
      packed ? write_gzip(folder / "texts", kTexts) : write_text(folder / "texts", kTexts);
    });
    const data::ImportReport report = graph::import_logs(folder / "texts", folder / "out", options);
    writer.join();
    CHECK(report.rows == 6);
    CHECK(test::names_in(folder / "out") ==
          std::set<std::string>{"graphs.safetensors", "import.json"});
  }
}

}  // namespace kdgat::texts
