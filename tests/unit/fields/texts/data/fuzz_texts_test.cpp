#include <catch2/catch.hpp>

#include "fields/texts/data/text_import.h"
#include "support/can/log_text.h"
#include "support/programs/command.h"
#include "support/programs/mutate.h"

// The fuzz target itself, under a name of its own so that several may stand in one program.
#define LLVMFuzzerTestOneInput fuzz_texts
#include "fuzz/fuzz_texts.cpp"
#undef LLVMFuzzerTestOneInput

namespace kdgat::texts {
namespace {

TEST_CASE("mutated texts are read as words, mutated tables as rows", "[text_clean]") {
  std::vector<std::string> seeds;
  for (const char form : {'\0', '\1', '\2'}) {
    seeds.push_back(
        form + std::string("It's Part 1 of 3, don't (see http://a.org/x) begin 644 f.gif "
                           "M!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!! ` end caf\xc3\xa9 \xe2\x82\xac!"));
  }
  seeds.push_back("\3text,label\n\"one\ntwo, \"\"three\"\"\",a\r\nfour,b\n\n\"\",\"\"\n");
  seeds.push_back("\7Sentence\tlabel\n\"one\ttwo; three\"\ta\nfour\tb\n");
  test::run_mutations(seeds, 6000, 1, fuzz_texts);
}

TEST_CASE("mutated files of documents are refused, or each row is one or malformed",
          "[text_clean]") {
  const test::ScratchFolder folder;
  const std::filesystem::path file = folder / "documents.txt";
  const std::vector<std::string> seeds = {
      "__label__good the film was long\n__label__bad, a dull one\n__label__good words\n",
      "good\tthe film was long\nbad\ta dull one\ngood\tmore words\n",
      "the film was long\tgood\na dull one\tbad\nmore words\tgood\n",
      "train\tgood\tthe film was long\ntest\tbad\ta dull one\ntrain\tbad\tmore words\n",
      "text,label\n\"a long film\",good\n\"dull, it was\",bad\n"};
  test::run_mutations(seeds, 20000, 1, [&](const uint8_t* bytes, std::size_t size) {
    test::write_text(file, std::string(reinterpret_cast<const char*>(bytes), size));
    try {
      data::Notes notes;
      const TextImportOptions options;
      const auto input = find_text_input(file, options, notes);
      if (!input) return;
      std::vector<graph::Source> sources;
      int64_t rows = 0;
      read_texts(
          {*input, options, {}, [](int64_t) {}}, [&](const TextRow&) { ++rows; }, sources, notes);
      REQUIRE(sources.size() == 1);
      CHECK(sources[0].rows - sources[0].malformed == rows);
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::kData);
    }
  });
}

TEST_CASE("mutated lists and corpora of TextGCN are refused or read row by row", "[text_clean]") {
  const test::ScratchFolder folder;
  std::filesystem::create_directories(folder / "data/corpus");
  const std::vector<std::string> seeds = {
      "0\ttrain\tgood\n1\ttest\tbad\n2\ttrain\tbad\n|the film was long\na dull one\nmore words\n",
      "d/a.txt\ttraining\tgood\nd/b.txt\ttest\tbad\n|the film\na dull one\n"};
  test::run_mutations(seeds, 5000, 1, [&](const uint8_t* bytes, std::size_t size) {
    const std::string all(reinterpret_cast<const char*>(bytes), size);
    const std::size_t bar = std::min(all.find('|'), all.size());
    test::write_text(folder / "data/set.txt", all.substr(0, bar));
    test::write_text(folder / "data/corpus/set.txt", all.substr(std::min(bar + 1, all.size())));
    try {
      data::Notes notes;
      const TextImportOptions options;
      const auto input = find_text_input(folder / "data/set.txt", options, notes);
      if (!input) return;
      std::vector<graph::Source> sources;
      int64_t rows = 0;
      read_texts(
          {*input, options, {}, [](int64_t) {}}, [&](const TextRow&) { ++rows; }, sources, notes);
      int64_t counted = 0;
      for (const graph::Source& source : sources) counted += source.rows - source.malformed;
      CHECK(counted == rows);
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::kData);
    }
  });
}

}  // namespace
}  // namespace kdgat::texts
