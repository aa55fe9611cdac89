// What an import says of what it does not use: one line, each with -v, all as JSON, an error with
// --strict.
#include <catch2/catch.hpp>
#include <string>

#include "support/programs/cli.h"

namespace {

using Catch::Contains;

/// A log with a column that no import uses, an error frame, and a file next to it that is no log.
class Drive {
 public:
  Drive() {
    std::string log = "timestamp,arbitration_id,data_field,attack,weather\n";
    for (int i = 0; i < 300; ++i) {
      log += std::to_string(1000 + i * 0.01) + ",1A" + std::to_string(i % 3) + ",0011,0,rain\n";
    }
    write_text(scratch_ / "drive/train/a.csv", log);
    std::string dump;
    for (int i = 0; i < 300; ++i) {
      dump +=
          "(" + std::to_string(1000 + i * 0.01) + ") can0 1A" + std::to_string(i % 3) + "#0011\n";
    }
    dump += "(1004.0) can0 20000004#0000000000000000\n";
    write_text(scratch_ / "drive/train/b.log", dump);
    write_text(scratch_ / "drive/train/notes.doc", "wet road\n");
  }
  const fs::path& path() const { return scratch_.path(); }
  fs::path operator/(const std::string& name) const { return scratch_ / name; }

 private:
  ScratchFolder scratch_;
};

}  // namespace

TEST_CASE("what an import does not use is counted in one line, and named with -v", "[cli][data]") {
  const Drive drive;
  const CommandResult brief = run_kdgat("data import drive -o brief", drive.path());
  INFO(brief.err);
  REQUIRE(brief.exit_code == 0);
  CHECK_THAT(brief.err, Contains("not used: 1 column, 1 error frame, 1 file"));
  CHECK_THAT(brief.err, !Contains("weather"));

  const CommandResult all = run_kdgat("data import drive -o all -v", drive.path());
  INFO(all.err);
  REQUIRE(all.exit_code == 0);
  CHECK_THAT(all.err, Contains("a.csv: column weather is not used"));
  CHECK_THAT(all.err, Contains("b.log: 1 error frame"));
  CHECK_THAT(all.err, Contains(".doc"));
}

TEST_CASE("options that mean nothing for the data are named, and strict refuses them",
          "[cli][data]") {
  const Drive drive;
  const CommandResult named =
      run_kdgat("data import drive -o out undirected=true largest_member_mb=7 -v", drive.path());
  INFO(named.err);
  CHECK(named.exit_code == 0);
  CHECK_THAT(named.err, Contains("undirected has no effect on data of the kind can") &&
                            Contains("largest_member_mb has no effect"));
  const CommandResult refused =
      run_kdgat("data import drive/train/b.log -o never undirected=true --strict", drive.path());
  CHECK(refused.exit_code == 3);
  CHECK_THAT(refused.err, Contains("undirected has no effect"));
  CHECK(run_kdgat("data import none -o never -n", drive.path()).exit_code != 0);
}

TEST_CASE("the JSON of an import names all that it does not use", "[cli][data]") {
  const Drive drive;
  for (const std::string action : {"import", "inspect"}) {
    INFO(action);
    const CommandResult done = run_kdgat(
        "data " + action + " drive --json" + (action == "import" ? " -o out" : ""), drive.path());
    INFO(done.err);
    REQUIRE(done.exit_code == 0);
    const json result = json::parse(done.out);
    CHECK(result.at("unused") == json{{"column", 1}, {"error frame", 1}, {"file", 1}});
    int64_t named = 0;
    for (const json& warning : result.at("warnings")) named += warning.contains("unused") ? 1 : 0;
    CHECK(named == 3);
  }
}

TEST_CASE("--strict refuses what is not used, but not what sound logs have", "[cli][data]") {
  const Drive drive;
  const CommandResult refused = run_kdgat("data import drive -o out --strict true", drive.path());
  CHECK(refused.exit_code == 3);
  CHECK_THAT(refused.err, Contains("a.csv: column weather is not used"));
  CHECK_THAT(refused.err, !Contains("error frame"));
  CHECK_FALSE(fs::exists(drive / "out/graphs.safetensors"));

  fs::remove(drive / "drive/train/a.csv");
  const CommandResult taken = run_kdgat("data import drive -o out --strict true", drive.path());
  INFO(taken.err);
  CHECK(taken.exit_code == 0);
  CHECK(fs::exists(drive / "out/graphs.safetensors"));
}

TEST_CASE("--strict is of every kind of data", "[cli][data]") {
  const ScratchFolder scratch;
  std::string nodes = "graph,node,a,row\n", edges = "graph,source,target\n",
              labels = "graph,class\n";
  int row = 0;
  for (int g = 0; g < 10; ++g) {
    for (int n = 0; n < 4; ++n) {
      nodes += std::to_string(g) + "," + std::to_string(n) + "," + std::to_string(n * g % 3) + "," +
               std::to_string(row++) + "\n";
      if (n > 0)
        edges += std::to_string(g) + "," + std::to_string(n - 1) + "," + std::to_string(n) + "\n";
    }
    labels += std::to_string(g) + "," + (g % 2 == 0 ? "even" : "odd") + "\n";
  }
  write_text(scratch / "set/nodes.csv", nodes);
  write_text(scratch / "set/edges.csv", edges);
  write_text(scratch / "set/graphs.csv", labels);
  const CommandResult taken = run_kdgat("data import set -o out --json", scratch.path());
  INFO(taken.err);
  REQUIRE(taken.exit_code == 0);
  CHECK(json::parse(taken.out).at("unused") == json{{"column", 1}});
  const CommandResult refused = run_kdgat("data import set -o out --strict true", scratch.path());
  CHECK(refused.exit_code == 3);
  CHECK_THAT(refused.err, Contains("counts the rows and is not used"));
}
