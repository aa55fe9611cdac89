#include "fields/texts/data/text_import.h"

#include <catch2/catch.hpp>
#include <numeric>

#include "engine/data/can/can_domain.h"
#include "engine/data/can/logs/can_log.h"
#include "engine/file/line_reader.h"
#include "fields/texts/data/text_clean.h"
#include "fields/texts/data/text_options.h"
#include "fields/texts/data/text_store.h"
#include "fields/texts/data/texts_domain.h"
#include "support/can/log_text.h"
#include "support/graphs/import_options.h"
#include "support/graphs/synth_of.h"
#include "support/programs/command.h"

namespace kdgat::texts {
namespace {

using ImportChoices = graph::ImportOptionsWith<TextOptions>;

using test::data_error;
using test::write_text;

/// All words count, and all documents are for training unless files say otherwise.
ImportChoices plain_options() {
  ImportChoices options;
  options.remove_rare_words = 0;
  options.val_fraction = options.test_fraction = 0;
  options.build_threads = 1;
  return options;
}

struct Imported {
  data::ImportReport report;
  TextStore store;
};

Imported import_from(const std::filesystem::path& source, const test::ScratchFolder& folder,
                     const ImportChoices& options = plain_options()) {
  data::ImportReport report = graph::import_logs(source, folder / "out", options);
  TextStore store = TextStore::open(folder / "out/graphs.safetensors");
  CHECK(store.verify().empty());
  return {std::move(report), std::move(store)};
}

int64_t count(std::span<const bool> mask) { return std::count(mask.begin(), mask.end(), true); }

std::string join(const std::vector<std::string>& words) {
  return std::accumulate(words.begin(), words.end(), std::string(),
                         [](std::string a, const std::string& b) { return a + b + " "; });
}

const char* const kLines =
    "sport\tThe red team won, the red team!\n"
    "money\tMarkets fell; the red ink\n"
    "\n"
    "sport\tteam play\n"
    "money\tink markets markets\n";

}  // namespace

TEST_CASE("label and text a line: words, labels and parts", "[text_import]") {
  const test::ScratchFolder folder;
  write_text(folder / "in/c.train.en", kLines);
  test::write_gzip(folder / "in/c.test.en.gz", "money\tred markets\nsport\tred won\n");
  const auto [report, store] = import_from(folder / "in", folder);
  CHECK(report.rows == 6);
  CHECK(report.warnings.empty());
  CHECK(report.sources.size() == 2);
  CHECK(store.documents() == 6);
  CHECK(store.class_names() == std::vector<std::string>{"money", "sport"});
  // Most frequent first, ties as they come; stop words ("won" of won't) are left out, punctuation
  // is a word.
  CHECK(join(store.vocabulary()) == "red markets team ink , ! fell play ");
  CHECK(count(store.mask("train")) == 4);
  CHECK(count(store.mask("val")) == 0);
  CHECK(count(store.mask("test")) == 2);
  CHECK(count(store.doc_mask()) == 6);
  // Files by name: the one for testing comes first.
  const std::vector<int64_t> y(store.y().begin(), store.y().begin() + 7);
  CHECK(y == std::vector<int64_t>{0, 1, 1, 0, 1, 0, -1});
  CHECK(store.mask("test")[0]);
  CHECK(store.sources()[0].path == "c.test.en.gz");
  CHECK(store.doc_source()[2] == 1);
  CHECK(store.doc_row()[4] == 4);
  CHECK(store.facts().at("text").at("tokens") == 18);
  CHECK(store.facts().at("parts") == nlohmann::json{{"train", 4}, {"val", 0}, {"test", 2}});
  CHECK(report.build.at("text_bytes") > 0);
}

TEST_CASE("the four forms of the same texts are the same graph", "[text_import]") {
  const test::ScratchFolder folder;
  write_text(folder / "a/x.train.txt", "b\tone two\nc\tthree \"four\"\n");
  write_text(folder / "a/x.test.txt", "b\tone three\n");
  write_text(folder / "b.tsv", "test\tb\tone three\ntrain\tb\tone two\ntrain\tc\tthree \"four\"\n");
  write_text(folder / "c/test.csv", "text,label\none three,b\n");
  write_text(folder / "c/train.csv",
             "id,text,label\r\n1,\"one\ntwo\",b\r\n2,\"three \"\"four\"\"\",c\r\n");
  write_text(folder / "d/test/b/1", "one three");
  write_text(folder / "d/train/b/1", "one\ntwo");
  write_text(folder / "d/train/c/2", "three \"four\"");
  write_text(folder / "d/README", "not a text");
  const ImportChoices options = plain_options();
  const TextStore first = import_from(folder / "a", folder, options).store;
  CHECK(first.facts().at("text").at("tokens") == 6);
  for (const auto& [name, form] : std::vector<std::pair<std::string, std::string>>{
           {"b.tsv", "split-label-text"}, {"c", "text-csv"}, {"d", "class-folders"}}) {
    INFO(name);
    for (const std::string& format : {std::string("auto"), std::string("text"), form}) {
      ImportChoices forced = options;
      forced.format = format;
      const TextStore store = import_from(folder / name, folder, forced).store;
      CHECK(store.facts() == first.facts());
      CHECK(std::equal(store.value().begin(), store.value().end(), first.value().begin()));
      CHECK(std::equal(store.y().begin(), store.y().end(), first.y().begin()));
      CHECK(store.sources().front().format == form);
    }
  }
  CHECK(import_from(folder / "c", folder).store.doc_row()[2] == 4);  // a row of two lines before it
}

TEST_CASE("logs and graphs in space are not taken for texts", "[text_import]") {
  const test::ScratchFolder folder;
  write_text(folder / "log.csv", "timestamp,arbitration_id,data_field,attack\n1.0,1A0,00,0\n");
  write_text(folder / "can/carA/a.txt",
             "(1.0) can0 1A0#0011 False\tFalse\n(1.1) can0 1A0#0011 False\tFalse\n");
  write_text(folder / "can/carB/b.txt",
             "(1.0) can0 1A0#0011 False\tFalse\n(1.1) can0 1A0#0011 False\tFalse\n");
  write_text(folder / "points.csv", "graph,x,y\na,1,2\n");
  const auto domain_of = [&](const char* name) {
    return std::string(
        data::domain_of_source(data::all_domains(), folder / name, nlohmann::json::object())
            .name());
  };
  CHECK(domain_of("log.csv") == "can");
  CHECK(domain_of("can") == "can");
  CHECK(domain_of("points.csv") == "space");
  data::Notes notes;
  TextImportOptions named;
  named.format = "hcrl";
  write_text(folder / "t.tsv", "a\tb c\n");
  CHECK(find_text_input(folder / "t.tsv", {}, notes)->format == "label-text");
  CHECK_FALSE(find_text_input(folder / "t.tsv", named, notes));
}

TEST_CASE("a file of all documents beside those of the parts is left out", "[text_import]") {
  const test::ScratchFolder folder;
  for (const char* name : {"train", "val", "test", "ALL"}) {
    write_text(folder / "in" / (std::string(name) + ".csv"),
               std::string("text,label\nred ") + name + ",a\nblue " + name + ",b\n");
  }
  const auto [report, store] = import_from(folder / "in", folder);
  CHECK(store.documents() == 6);
  CHECK(count(store.mask("val")) == 2);
  REQUIRE(report.warnings.size() == 1);
  CHECK_THAT(report.warnings[0].text(), Catch::Contains("ALL.csv: left out"));
}

TEST_CASE("any folder above a class, or below it, may name the part", "[text_import]") {
  const test::ScratchFolder folder;
  for (const char* name : {"set/Train/a/1.txt", "set/Train/b/2.txt", "a/TEST/3.txt", "b/TEST/4.txt",
                           "Validation/a/5.txt", "Validation/b/more/6.TXT"}) {
    write_text(folder / "in" / name, std::string("red ") + name);
  }
  write_text(folder / "in/README.txt", "of all");
  const auto [report, store] = import_from(folder / "in", folder);
  CHECK(store.documents() == 6);
  CHECK(count(store.mask("val")) == 2);
  CHECK(count(store.mask("test")) == 2);
  REQUIRE(report.warnings.size() == 1);
  CHECK_THAT(report.warnings[0].text(),
             Catch::Contains("1 file left out: in no folder of a class"));
}

TEST_CASE("what is wrong with texts is said with its place", "[text_import]") {
  const test::ScratchFolder folder;
  const auto fails = [&](const std::string& name, const std::string& text,
                         ImportChoices options = plain_options()) {
    write_text(folder / "in" / name, text);
    return data_error([&] { import_from(folder / "in" / name, folder, options); });
  };
  ImportChoices text = plain_options();
  text.format = "text";
  ImportChoices csv = text;
  csv.format = "text-csv";
  ImportChoices strict = plain_options();
  strict.strict = true;
  CHECK_THAT(fails("one.tsv", "a\tred\na\tblue\n"),
             Catch::Contains("one.tsv: only one class, 'a'"));
  CHECK_THAT(fails("none.tsv", "\tred\n\tblue\n",
                   [&] {
                     ImportChoices o = text;
                     o.format = "label-text";
                     return o;
                   }()),
             Catch::Contains("no document has a label"));
  CHECK_THAT(fails("empty.csv", "", csv), Catch::Contains("empty.csv: the file is empty"));
  CHECK_THAT(fails("empty.tsv", "", text),
             Catch::Contains("no texts were found") && Catch::Contains("label<TAB>text"));
  CHECK_THAT(fails("head.csv", "text,label\n"), Catch::Contains("head.csv: no document"));
  CHECK_THAT(fails("cols.csv", "text,page\nred,a\n", csv),
             Catch::Contains("cols.csv:1: no column 'label'") && Catch::Contains("text, page"));
  CHECK_THAT(fails("cols2.csv", "words,label\nred,a\n", csv), Catch::Contains("no column 'text'"));
  CHECK_THAT(fails("few.csv", "text,label\nred,a\nblue\n"), Catch::Contains("few.csv:3: 1 fields"));
  CHECK_THAT(fails("open.csv", "text,label\nred,a\n\"blue,b\ngreen,b\n"),
             Catch::Contains("open.csv:3: a quoted field does not end"));
  CHECK_THAT(fails("bad.tsv", "a\tred\nb blue\nb\tblue\n", strict),
             Catch::Contains("bad.tsv:2: no tab between label and text: b blue"));
  CHECK_THAT(fails("bad2.tsv", "train\ta\tred\nrest\tb\tblue\n", strict),
             Catch::Contains("bad2.tsv:2: the split is not one of train, val, test: rest"));
  ImportChoices rare = plain_options();
  rare.remove_rare_words = 9;
  CHECK_THAT(fails("rare.tsv", "a\tred\nb\tblue\n", rare),
             Catch::Contains("no word is left") && Catch::Contains("remove_rare_words"));
  ImportChoices folders = text;
  folders.format = "class-folders";
  CHECK_THAT(fails("file.tsv", "a\tred\n", folders), Catch::Contains("class-folders are folders"));
  CHECK_FALSE(std::filesystem::exists(folder / "out/graphs.safetensors"));
  ImportChoices window = plain_options();
  window.window = 15;
  write_text(folder / "ok.tsv", kLines);
  CHECK_THAT(
      test::error_of([&] { import_from(folder / "ok.tsv", folder, window); }, ExitCode::kUsage),
      Catch::Contains("word_window=15"));
}

TEST_CASE("malformed lines, rows without label and bytes that are no text are counted",
          "[text_import]") {
  const test::ScratchFolder folder;
  write_text(folder / "in.tsv",
             "a\tred\xff\xfe\nno tab\n\tunlabelled\nb\tcaf\xc3\xa9\nw\n x\ny\nb\t\n");
  const auto [report, store] = import_from(folder / "in.tsv", folder);
  CHECK(store.documents() == 3);
  std::string all;
  for (const Diagnostic& warning : report.warnings) all += warning.text() + "\n";
  CHECK_THAT(all,
             Catch::Contains("in.tsv:2: no tab") && Catch::Contains("4 malformed lines in all"));
  CHECK_THAT(all, Catch::Contains("in.tsv:3: 1 row without a label left out"));
  CHECK_THAT(all, Catch::Contains("in.tsv:1: 2 bytes that are no UTF-8 were replaced"));
  CHECK_THAT(all, Catch::Contains("1 document without a word of the vocabulary kept"));
  CHECK(store.sources()[0].malformed == 4);
  CHECK(store.facts().at("text").at("empty") == 1);
}

TEST_CASE("the vocabulary of the original is of all documents, of seed of those to train on",
          "[text_import]") {
  const test::ScratchFolder folder;
  write_text(folder / "in/x.train.txt", "a\tred red blue the the the\nb\tblue green, red\n");
  write_text(folder / "in/x.test.txt", "a\tpink pink pink, green\nb\tpink\n");
  ImportChoices options = plain_options();
  const auto words = [&] {
    return join(import_from(folder / "in", folder, options).store.vocabulary());
  };
  CHECK(words() == "pink red , green blue ");
  options.remove_rare_words = 3;
  CHECK(words() == "pink red ");
  options.remove_stopwords = false;
  CHECK(words() == "pink red the ");
  options.vocab_size = 2;
  CHECK(words() == "pink red ");
  options.cleaning = "seed";
  options.vocab_size = 0;
  options.remove_rare_words = 0;
  CHECK(words() == "red the blue green ");
  // As published: two fewer than asked for, before stop words and rare words go.
  options.vocab_size = 4;
  options.remove_stopwords = true;
  CHECK(words() == "red ");
  options.vocab_size = 0;
  options.remove_rare_words = 2;
  CHECK(words() == "red blue ");
  // A document without such a word goes.
  std::filesystem::remove_all(folder / "out");  // what is there already is not said again
  const auto [report, store] = import_from(folder / "in", folder, options);
  CHECK(store.documents() == 2);
  CHECK_THAT(report.warnings.at(0).text(),
             Catch::Contains("2 documents") && Catch::Contains("left out"));
  CHECK(count(store.mask("test")) == 0);
  options = plain_options();
  options.max_len = 1;
  CHECK(import_from(folder / "in", folder, options).store.facts().at("text").at("tokens") == 4);
}

TEST_CASE("parts by shares, of each class", "[text_import]") {
  const test::ScratchFolder folder;
  std::string text;
  for (int d = 0; d < 200; ++d) {
    text += (d % 4 == 0 ? "rare\tword" : "often\tword") + std::to_string(d % 7) + "\n";
  }
  write_text(folder / "in.tsv", text);
  ImportChoices options = plain_options();
  const auto store = [&] { return import_from(folder / "in.tsv", folder, options).store; };
  const auto counts = [&](const TextStore& s) {
    return std::vector<int64_t>{count(s.mask("train")), count(s.mask("val")),
                                count(s.mask("test"))};
  };
  options.tvt_split = {0.7, 0.2, 0.1};
  const TextStore seeded = store();
  CHECK(counts(seeded) == std::vector<int64_t>{140, 40, 20});
  for (const char* part : {"train", "val", "test"}) {
    int64_t rare = 0;
    for (int64_t n = 0; n < seeded.nodes(); ++n) {
      const auto i = static_cast<std::size_t>(n);
      rare += seeded.mask(part)[i] &&
              seeded.class_names()[static_cast<std::size_t>(seeded.y()[i])] == "rare";
    }
    CHECK(4 * rare == count(seeded.mask(part)));
  }
  options.seed = 43;
  CHECK_FALSE(std::ranges::equal(store().mask("test"), seeded.mask("test")));
  options.tvt_split = {0.8, 0, 0.2};  // as the guide advises
  CHECK(counts(store()) == std::vector<int64_t>{160, 0, 40});
  options.tvt_split = {1, 0, 0};
  CHECK(counts(store()) == std::vector<int64_t>{200, 0, 0});
  options.tvt_split = {};
  options.test_fraction = 0.25;
  options.val_fraction = 0.1;
  CHECK(counts(store()) == std::vector<int64_t>{135, 15, 50});
  options.split = "random";
  CHECK(counts(store()) == std::vector<int64_t>{135, 15, 50});
  options.train_subsample = 0.1;
  CHECK(count(store().mask("train")) == 14);
  CHECK(count(store().doc_mask()) == 200);
  options.val_fraction = 0.9;
  options.test_fraction = 0.9;
  write_text(folder / "in.tsv", "a\tx\nb\tx\n");
  CHECK_THAT(data_error([&] { store(); }), Catch::Contains("no document is left to train on"));

  const auto refused = [](const nlohmann::json& shares) {
    return test::error_of(
        [&] {
          load_options<ImportChoices>({{"tvt_split", shares}});
        },
        ExitCode::kUsage);
  };
  CHECK_THAT(refused({1, 0.5, 0.5}), Catch::Contains("add up to 2, not 1"));
  CHECK_THAT(refused({0.8, 1, 0.1}), Catch::Contains("add up to 1.9, not 1"));
  CHECK_THAT(refused({0.8, 0.2}), Catch::Contains("2 shares"));
  CHECK_THAT(refused({1.5, -0.5, 0}), Catch::Contains("1.5 is not a share"));
  CHECK_THAT(refused({0, 0.5, 0.5}), Catch::Contains("nothing would be left"));
}

TEST_CASE("documents for testing may stand behind the words", "[text_import]") {
  const test::ScratchFolder folder;
  write_text(folder / "in/x.train.txt", kLines);
  write_text(folder / "in/x.test.txt", "money\tred markets\nsport\tred won\n");
  ImportChoices options = plain_options();
  const TextStore plain = import_from(folder / "in", folder, options).store;
  const std::vector<float> values(plain.value().begin(), plain.value().end());
  options.node_order = "train-words-test";
  const TextStore store = import_from(folder / "in", folder, options).store;
  CHECK(store.facts().at("text").at("first_documents") == 4);
  const int64_t words = store.words();
  for (int64_t n = 0; n < store.nodes(); ++n) {
    const auto i = static_cast<std::size_t>(n);
    CHECK(store.doc_mask()[i] == (n < 4 || n >= 4 + words));
    CHECK(store.mask("test")[i] == (n >= 4 + words));
  }
  // The same numbers at other places.
  std::vector<float> moved(store.value().begin(), store.value().end()), sorted = values;
  std::sort(moved.begin(), moved.end());
  std::sort(sorted.begin(), sorted.end());
  CHECK(moved == sorted);
  CHECK(store.sources()[static_cast<std::size_t>(store.doc_source()[5])].path == "x.test.txt");
}

TEST_CASE("an import of texts is not repeated without need, and is the same bytes if it is",
          "[text_import]") {
  const test::ScratchFolder folder;
  graph::SynthOptions synth;
  synth.kind = "text";
  synth.graphs = 60;
  graph::write_synthetic(folder / "in", synth);
  ImportChoices options = plain_options();
  CHECK_FALSE(import_from(folder / "in", folder, options).report.reused);
  const std::string bytes = test::read_text(folder / "out/graphs.safetensors");
  options.build_threads = 3;  // change no result, so nothing is made again
  options.build_memory_mb = 1;
  options.window = ImportChoices().window;
  CHECK(import_from(folder / "in", folder, options).report.reused);
  std::filesystem::remove(folder / "out/graphs.safetensors");
  CHECK_FALSE(import_from(folder / "in", folder, options).report.reused);
  CHECK(test::read_text(folder / "out/graphs.safetensors") == bytes);
  options.word_window = 10;
  CHECK_FALSE(import_from(folder / "in", folder, options).report.reused);
  const nlohmann::json values = dump_options(options);
  CHECK(texts_domain().import_identity(values).contains("word_window"));
  CHECK_FALSE(texts_domain().import_identity(values).contains("build_threads"));
  CHECK_FALSE(data::can_domain().import_identity(values).contains("word_window"));
}

TEST_CASE("texts on standard input need the name of their form", "[text_import]") {
  const test::ScratchFolder folder;
  write_text(folder / "in.tsv", kLines);
  ImportChoices options = plain_options();
  options.format = "label-text";
  {
    const test::StandardInput input(folder / "in.tsv");
    CHECK(import_from("-", folder, options).store.documents() == 4);
  }
  options.format = "text";
  CHECK_THAT(test::error_of([&] { import_from("-", folder, options); }, ExitCode::kUsage),
             Catch::Contains("format=label-text"));
}

TEST_CASE("made-up texts are the same for the same seed and learnable", "[text_import]") {
  const test::ScratchFolder folder;
  graph::SynthOptions synth = test::synth_of("text", 30, 40);
  graph::write_synthetic(folder / "a", synth);
  graph::write_synthetic(folder / "b", synth);
  const std::string train = test::read_text(folder / "a/corpus.train.en");
  CHECK(train == test::read_text(folder / "b/corpus.train.en"));
  CHECK(train.starts_with("topic_0\t"));
  synth.seed = 2;
  graph::write_synthetic(folder / "c", synth);
  CHECK(train != test::read_text(folder / "c/corpus.train.en"));
  const TextStore store = import_from(folder / "a", folder).store;
  CHECK(store.documents() == 30);
  CHECK(store.classes() == 3);
  CHECK(count(store.mask("test")) == 9);
  CHECK(store.facts().at("text").at("average_length") > 20);
  CHECK(&data::domain_of_synth(data::all_domains(), synth.values()) == &texts_domain());
  CHECK(graph::synth_identity(synth).at("kind") == "text");
}

}  // namespace kdgat::texts
