// `kdgat data` on texts, as a person meets it.
#include <catch2/catch.hpp>
#include <fstream>
#include <string>

#include "support/programs/cli.h"

TEST_CASE("texts: synth, import, inspect and verify follow one another", "[cli][data]") {
  const ScratchFolder scratch;
  const std::string files =
      must_kdgat("data synth -o texts --kind text --graphs 120 --nodes 80 --classes 4",
                 scratch.path())
          .out;
  CHECK(files == "texts/corpus.test.en\ntexts/corpus.train.en\n");
  const std::string imported =
      must_kdgat("data import texts -o data remove_rare_words=2", scratch.path()).out;
  CHECK_THAT(imported, Catch::Contains("corpus.train.en  80 rows  train  label-text"));
  CHECK_THAT(imported, Catch::Contains("120 documents, 4 classes, ") &&
                           Catch::Contains(" words: train 64, val 16, test 40; written to data"));
  CHECK_THAT(imported, Catch::Contains("text read in ") && Catch::Contains("graph made in ") &&
                           Catch::Contains(" MiB above the start"));
  CHECK_THAT(must_kdgat("data import texts -o data remove_rare_words=2", scratch.path()).out,
             Catch::Contains("everything is up to date in data"));

  const std::string table = must_kdgat("data inspect data", scratch.path()).out;
  CHECK_THAT(table, Catch::StartsWith("data/graphs.safetensors: 120 documents, 4 classes, "));
  CHECK_THAT(table, Catch::Contains("directed edges: PMI ") && Catch::Contains("windows of 20"));
  CHECK_THAT(table, Catch::Contains("topic_3") && Catch::Contains("graph, mapped once"));
  CHECK_THAT(table, Catch::Contains("cached graph in memory (") &&
                        Catch::Contains(", reused for val (saves ~") &&
                        Catch::Contains(", reused for test (saves ~"));
  CHECK_THAT(table, Catch::Contains("shared by 3 parts: saved ~") && Catch::Contains(", 66.7%"));
  CHECK_THAT(table,
             Catch::Contains("identity features, naive") && Catch::Contains("are never allocated"));
  CHECK(must_kdgat("data verify data", scratch.path()).out == "ok\n");

  const json seen = json::parse(must_kdgat("data inspect data --json", scratch.path()).out);
  const json& memory = seen.at("memory");
  const int64_t nodes = seen.at("facts").at("text").at("nodes");
  CHECK(memory.at("identity_bytes") == 4 * nodes * nodes);
  CHECK(memory.at("saved_bytes") == 2 * memory.at("cached_bytes").get<int64_t>());
  CHECK(seen.at("parts").at("val").at("classes") == json{4, 4, 4, 4});
  CHECK(seen.at("files").size() == 2);

  // Without a part for validation two share the graph.
  const json two = json::parse(
      must_kdgat("data inspect texts --json tvt_split=[0.8,0,0.2]", scratch.path()).out);
  CHECK(two.at("path") == "texts");
  CHECK(two.at("memory").at("splits") == 2);
  CHECK(two.at("memory").at("saved_share") == 0.5);
}

TEST_CASE("bad texts are refused with the place and what to do", "[cli][data]") {
  const ScratchFolder scratch;
  std::ofstream(scratch / "t.csv") << "page,label\nred,a\n";
  const CommandResult column =
      run_kdgat("data import t.csv -o out --format text-csv", scratch.path());
  CHECK(column.exit_code == 3);
  CHECK_THAT(column.err, Catch::Contains("t.csv:1: no column 'text'") &&
                             Catch::Contains("its columns: page, label"));
  const CommandResult shares =
      run_kdgat("data import t.csv -o out tvt_split=[0.8,1,0.1]", scratch.path());
  CHECK(shares.exit_code == 2);
  CHECK_THAT(shares.err, Catch::Contains("the shares add up to 1.9, not 1"));
  const CommandResult window = run_kdgat(
      "data import t.csv -o out --format text-csv text_column=body window_size=15", scratch.path());
  CHECK(window.exit_code == 2);
  CHECK_THAT(window.err, Catch::Contains("word_window=15"));
  CHECK_FALSE(std::filesystem::exists(scratch / "out" / "graphs.safetensors"));
}
