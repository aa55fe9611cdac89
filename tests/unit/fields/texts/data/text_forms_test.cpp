// The forms in which public texts come: lists of documents, tables, lines of fastText.
#include <algorithm>
#include <catch2/catch.hpp>

#include "fields/texts/data/text_options.h"
#include "fields/texts/data/text_store.h"
#include "support/can/log_text.h"
#include "support/graphs/import_options.h"
#include "support/programs/command.h"

namespace kdgat::texts {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;
using ImportChoices = graph::ImportOptionsWith<TextOptions>;
using test::data_error;
using test::write_text;

ImportChoices all_words() {
  ImportChoices options;
  options.remove_rare_words = 0;
  options.build_threads = 1;
  return options;
}

TextStore read_form(const fs::path& source, const test::ScratchFolder& folder,
                    std::string* format = nullptr) {
  const data::ImportReport report = graph::import_logs(source, folder / "out", all_words());
  if (format != nullptr) *format = report.sources.front().format;
  return TextStore::open(folder / "out/graphs.safetensors");
}

std::string refusal_of(const test::ScratchFolder& folder, const fs::path& source) {
  return data_error([&] { graph::import_logs(source, folder / "out", all_words()); });
}

int64_t documents(const TextStore& store, const char* part) {
  const std::span<const bool> mask = store.mask(part);
  return std::count(mask.begin(), mask.end(), true);
}

/// The layout of TextGCN: 12 documents, 4 of them for testing, of two classes.
void write_textgcn(const test::ScratchFolder& folder, const std::string& corpus) {
  std::string list, texts;
  for (int d = 0; d < 12; ++d) {
    list += "data/" + std::to_string(d) + (d % 3 == 0 ? "\t20news-test\t" : "\t20news-train\t") +
            (d % 2 == 0 ? "sport\n" : "money\n");
    texts += d % 2 == 0 ? "the team won the match\n" : "the bank raised its rates\n";
  }
  write_text(folder / "data/N.txt", list);
  if (!corpus.empty()) write_text(folder / "data/corpus" / corpus, texts);
}

constexpr const char* kRows[] = {"The team won the match again", "The bank raised its rates again"};

}  // namespace

TEST_CASE("the published layout of TextGCN keeps its split and its labels", "[text_forms]") {
  for (const char* corpus : {"N.txt", "N.clean.txt"}) {
    const test::ScratchFolder folder;
    write_textgcn(folder, corpus);
    for (const fs::path& source : {folder.path(), folder / "data", folder / "data/N.txt"}) {
      INFO(source.string());
      const TextStore store = read_form(source, folder);
      CHECK(store.classes() == 2);
      CHECK(documents(store, "test") == 4);
    }
  }
  const test::ScratchFolder folder;
  write_textgcn(folder, "");
  CHECK_THAT(
      refusal_of(folder, folder / "data/N.txt"),
      Contains("a list of documents with their labels, but no texts") && Contains("corpus/N.txt"));
  write_text(folder / "data/corpus/N.txt", "one\ntwo\n");
  CHECK_THAT(refusal_of(folder, folder / "data/N.txt"),
             Contains("N.txt:3: a document without a text"));
}

TEST_CASE("tables of texts by the columns of public sets", "[text_forms]") {
  struct Table {
    const char *header, *separator;
  };
  for (const Table& table : {Table{"review,sentiment", ","},
                             {"Sentence\tLabel", "\t"},
                             {"content;category", ";"},
                             {"tweet,class", ","}}) {
    const test::ScratchFolder folder;
    std::string text = std::string(table.header) + "\n";
    for (int d = 0; d < 12; ++d) {
      text += std::string("\"") + kRows[d % 2] + "\"" + table.separator +
              (d % 2 == 0 ? "up\n" : "down\n");
    }
    write_text(folder / "set/train.csv", text);
    write_text(folder / "set/test.csv", text);
    INFO(table.header);
    const TextStore store = read_form(folder / "set", folder);
    CHECK(store.classes() == 2);
    CHECK(documents(store, "test") == 12);
  }
}

TEST_CASE("fastText, and labels that stand last", "[text_forms]") {
  const test::ScratchFolder folder;
  std::string fast, last;
  for (int d = 0; d < 12; ++d) {
    fast += std::string("__label__") + (d % 2 == 0 ? "a " : "b ") + kRows[d % 2] + "\n";
    last += std::string(kRows[d % 2]) + "\t" + std::to_string(d % 2) + "\n";
  }
  write_text(folder / "cooking.train", fast);
  write_text(folder / "last.txt", last);
  std::string format;
  CHECK(read_form(folder / "cooking.train", folder, &format).classes() == 2);
  CHECK(format == "fasttext");
  CHECK(read_form(folder / "last.txt", folder, &format).classes() == 2);
  CHECK(format == "text-label");
}

TEST_CASE("as many classes as documents are refused, an index is no label", "[text_forms]") {
  const test::ScratchFolder folder;
  std::string text, indexed;
  for (int d = 0; d < 30; ++d) {
    text += std::to_string(7 * d) + "\tthe team won the match\n";
    indexed += std::to_string(d) + "\tReceive the match\n";
  }
  write_text(folder / "a.txt", text);
  CHECK_THAT(
      refusal_of(folder, folder / "a.txt"),
      Contains("the label has 30 different numbers for 30 documents") && Contains("regression"));
  write_text(folder / "index.txt", indexed);
  CHECK(data::domain_of_source(data::all_domains(), folder / "index.txt", nlohmann::json::object())
            .name() != std::string("texts"));
}

TEST_CASE("what a table of texts lacks is said in the words of texts", "[text_forms]") {
  const test::ScratchFolder folder;
  write_text(folder / "a.csv",
             std::string("review,stars_given\n") + kRows[0] + ",3\n" + kRows[1] + ",4\n");
  CHECK_THAT(refusal_of(folder, folder / "a.csv"),
             Contains("a table of texts (column review) without a column of labels") &&
                 !Contains("timestamp"));
}

TEST_CASE("of texts in other letters the message names cleaning=none", "[text_forms]") {
  const test::ScratchFolder folder;
  std::string text;
  for (int d = 0; d < 12; ++d) {
    text += d % 2 == 0 ? "спорт\tкоманда выиграла матч\n" : "деньги\tбанк поднял ставки\n";
  }
  write_text(folder / "a.txt", text);
  CHECK_THAT(refusal_of(folder, folder / "a.txt"),
             Contains("no word is left") && Contains("data.cleaning=none"));
}

TEST_CASE("real inputs: TextGCN, a table of reviews, Chinese, an adapter's log", "[text_forms]") {
  const test::ScratchFolder folder;
  if (const auto source = test::shared_path("field/text_gcn")) {
    CHECK(read_form(*source, folder).classes() < 20);
  }
  if (const auto source = test::shared_path("field/imdb.csv")) {
    CHECK(read_form(*source, folder).classes() == 2);
  }
  if (const auto source = test::shared_path("field/cjk.txt")) {
    const std::string fault =
        data_error([&] { graph::import_logs(*source, folder / "out", ImportChoices()); });
    CHECK_THAT(fault, Contains("cleaning=none"));
  }
  if (const auto source = test::shared_path("field/usbcan_tool.txt")) {
    CHECK(data::domain_of_source(data::all_domains(), *source, nlohmann::json::object()).name() !=
          std::string("texts"));
  }
}

}  // namespace kdgat::texts
