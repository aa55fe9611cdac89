// Counts of published corpora (textgcn.md, section 3), where they are there.
#include <catch2/catch.hpp>
#include <set>

#include "engine/file/line_reader.h"
#include "fields/texts/data/text_clean.h"
#include "fields/texts/data/text_options.h"
#include "fields/texts/data/text_store.h"
#include "support/can/log_text.h"
#include "support/graphs/import_options.h"
#include "support/programs/command.h"

namespace kdgat::texts {
namespace {

using ImportChoices = graph::ImportOptionsWith<TextOptions>;

using nlohmann::json;

/// Links files of the shared texts into a folder of their own.
std::filesystem::path corpus_of(const test::ScratchFolder& folder,
                                const std::filesystem::path& from,
                                const std::vector<std::string>& names) {
  std::filesystem::create_directories(folder / "in");
  for (const std::string& name : names) {
    std::filesystem::create_symlink(std::filesystem::absolute(from / name), folder / "in" / name);
  }
  return folder / "in";
}

json facts_of(const test::ScratchFolder& folder, const std::filesystem::path& source,
              const ImportChoices& options) {
  graph::import_logs(source, folder / "out", options);
  return TextStore::open(folder / "out/graphs.safetensors").facts().at("text");
}

void check(const json& text, const std::vector<int64_t>& wanted) {
  const char* const keys[] = {"documents", "words",     "nodes",       "tokens",
                              "windows",   "pmi_edges", "tfidf_edges", "nonzeros"};
  for (std::size_t i = 0; i < std::size(keys); ++i) {
    INFO(keys[i]);
    CHECK(text.at(keys[i]) == wanted[i]);
  }
}

}  // namespace

TEST_CASE("R8 is cleaned to the published words and gives the published graph", "[text_golden]") {
  const auto shared = test::shared_path("data/text");
  if (!shared) return;
  const test::ScratchFolder folder;
  const auto r8 = corpus_of(folder, *shared, {"r8.train.en.gz", "r8.test.en.gz"});
  ImportChoices options;
  const json text = facts_of(folder, r8, options);
  check(text, {7674, 7688, 15362, 504345, 367611, 2841760, 647340, 3504462});
  CHECK(text.at("pairs") == 1789030);
  CHECK(text.at("pmi_mean").get<double>() == Approx(1.9292).margin(5e-5));
  CHECK(text.at("pmi_max").get<double>() == Approx(12.1823).margin(5e-5));
  CHECK(text.at("tfidf_mean").get<double>() == Approx(5.3659).margin(5e-5));
  CHECK(text.at("tfidf_max").get<double>() == Approx(176.07).margin(5e-3));

  const TextStore store = TextStore::open(folder / "out/graphs.safetensors");
  CHECK(store.verify().empty());
  CHECK(store.facts().at("text").at("class_documents") ==
        json{2292, 374, 3923, 51, 271, 293, 144, 326});
  CHECK(store.facts().at("parts").at("test") == 2189);

  // The words of every document, in order, are those of R8.clean.txt, which has the files the other
  // way round: training first.
  std::set<std::string> vocabulary(store.vocabulary().begin(), store.vocabulary().end());
  file::LineReader published(*shared / "R8.clean.txt.gz");
  TextCleaner cleaner("original");
  int64_t same = 0;
  for (const char* name : {"r8.train.en.gz", "r8.test.en.gz"}) {
    file::LineReader raw(*shared / name);
    std::string_view line;
    while (raw.next(line)) {
      std::string words;
      for (const std::string_view word : cleaner.words(line.substr(line.find('\t') + 1))) {
        if (vocabulary.contains(std::string(word))) words += std::string(word) + " ";
      }
      std::string_view wanted;
      REQUIRE(published.next(wanted));
      if (words.ends_with(' ')) words.pop_back();
      while (wanted.ends_with(' ')) wanted.remove_suffix(1);
      same += words == wanted;
    }
  }
  CHECK(same == 7674);
}

// "subject" stands in all 18,846 documents: the published counts have its TF-IDF of 0, both ways,
// and the store does not.
constexpr int64_t kZeros = 2 * 18846;

TEST_CASE("20 Newsgroups gives the published graphs", "[text_golden][.slow]") {
  const auto shared = test::shared_path("data/text");
  if (!shared) return;
  const test::ScratchFolder folder;
  const auto news = corpus_of(folder, *shared, {"20ng.bydate.tsv.gz"});
  ImportChoices options;
  check(facts_of(folder, news, options),
        {18846, 42757, 61603, 4169809, 3811767, 22413246, 4553440 - kZeros, 27028289 - kZeros});
  options.vocab_size = 10262;
  check(facts_of(folder, news, options),
        {18846, 10262, 29108, 3737668, 3379698, 11682652, 3943306 - kZeros, 15655066 - kZeros});
  options.word_window = 15;
  check(facts_of(folder, news, options),
        {18846, 10262, 29108, 3737668, 3473833, 9950318, 3943306 - kZeros, 13922732 - kZeros});
  options.vocab_size = 0;
  options.word_window = 2;  // what follows counts words alone
  for (const auto& [rare, words] : std::vector<std::pair<int64_t, int64_t>>{
           {8, 31204}, {10, 27059}, {30, 13009}, {50, 8852}, {100, 5186}}) {
    options.remove_rare_words = rare;
    CHECK(facts_of(folder, news, options).at("words") == words);
  }
}

}  // namespace kdgat::texts
