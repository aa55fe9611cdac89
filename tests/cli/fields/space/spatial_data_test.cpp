// `kdgat data` on graphs in space, as a person meets it.
#include <catch2/catch.hpp>
#include <fstream>
#include <string>

#include "support/programs/cli.h"

TEST_CASE("trees: synth, import, inspect and verify follow one another", "[cli][data]") {
  const ScratchFolder scratch;
  must_kdgat("data synth -o trees --kind tree --graphs 12 --nodes 200 --classes 4", scratch.path())
      .out;
  const std::string imported = must_kdgat("data import trees -o data", scratch.path()).out;
  CHECK_THAT(imported, Catch::Contains("tree_0011.swc") &&
                           Catch::Contains("12 trees, 4 classes: train ") &&
                           Catch::Contains("written to data"));
  const std::string table = must_kdgat("data inspect data", scratch.path()).out;
  CHECK_THAT(table, Catch::StartsWith("data/graphs.safetensors: 12 trees, 4 classes, 0 without"));
  CHECK_THAT(table, Catch::Contains("9 node features") && Catch::Contains("shape_3 ") &&
                        Catch::Contains("paths"));
  CHECK(table.find("attack") == std::string::npos);
  CHECK(must_kdgat("data verify data", scratch.path()).out == "ok\n");

  const json seen = json::parse(must_kdgat("data inspect data --json", scratch.path()).out);
  CHECK(seen.at("facts").at("spatial").at("class_graphs") == json{3, 3, 3, 3});
  CHECK(seen.at("files").size() == 12);
  CHECK(seen.at("files")[0].at("classes") == json{1, 0, 0, 0});

  // An archive of the same files is the same data, and a folder of it is found in.
  REQUIRE(run_shell("mkdir packed && tar -czf packed/trees.tar.gz -C trees . && cp "
                    "trees/labels.csv packed",
                    scratch.path())
              .exit_code == 0);
  const json packed = json::parse(must_kdgat("data inspect packed --json", scratch.path()).out);
  CHECK(packed.at("facts") == seen.at("facts"));

  const json samples =
      json::parse(must_kdgat("data import trees -o samples subtrees=30 min_nodes=16 max_nodes=64 "
                             "normalise=graph_source folds=3 fold=2 --json",
                             scratch.path())
                      .out);
  CHECK(samples.at("graphs") == 30);
  CHECK(samples.at("parts").at("test") > 0);
  CHECK(samples.at("spatial").at("classes").size() == 4);
}

TEST_CASE("points: synth, import and inspect follow one another", "[cli][data]") {
  const ScratchFolder scratch;
  must_kdgat("data synth -o points --kind superpixel --graphs 6", scratch.path()).out;
  CHECK_THAT(must_kdgat("data import points -o data neighbours=5", scratch.path()).out,
             Catch::Contains("6 graphs, 3 classes: train "));
  const json seen = json::parse(must_kdgat("data inspect data --json", scratch.path()).out);
  CHECK(seen.at("facts").at("nodes").at("sum") == 600);
  CHECK(seen.at("facts").at("edges").at("sum") == 3000);
}

TEST_CASE("a bad neuron is refused with file and line, or repaired where asked", "[cli][data]") {
  const ScratchFolder scratch;
  std::ofstream(scratch / "n.swc") << "1 1 0 0 0 1 -1\n2 3 1 0 0 1 1\n3 3 2 0 0 1 -1\n";
  const CommandResult bad = run_kdgat("data import n.swc -o out", scratch.path());
  CHECK(bad.exit_code == 3);
  CHECK_THAT(bad.err, Catch::Contains("n.swc:3: a second root, the first is in line 1") &&
                          Catch::Contains("repair=roots"));
  CHECK_FALSE(std::filesystem::exists(scratch / "out" / "graphs.safetensors"));
  const CommandResult mended = run_kdgat("data import n.swc -o out repair=roots", scratch.path());
  CHECK(mended.exit_code == 0);
  CHECK_THAT(mended.err, Catch::Contains("n.swc: repaired roots: 1 row of 1 file"));
  CHECK_THAT(mended.out, Catch::Contains("1 tree (without labels)"));

  const CommandResult folds = run_kdgat("data import n.swc -o out folds=4 fold=4", scratch.path());
  CHECK(folds.exit_code == 2);
  CHECK_THAT(folds.err, Catch::Contains("fold: 4 is not below folds, 4"));
  const CommandResult kind = run_kdgat("data synth -o out --kind trees", scratch.path());
  CHECK(kind.exit_code == 2);
  CHECK_THAT(kind.err, Catch::Contains("kind: "));
}
