// What run.json records of a run, whichever verb begins it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "support/programs/cli.h"
#include "support/runs/fake_cluster.h"

TEST_CASE("run, seeds, tune and submit record the same of a run", "[cli][record]") {
  const std::string commit(40, 'a');
  const std::string words =
      " classifier --preset smoke data.synth.seconds=20 max_epochs=1 --name mine --tag paper ";
  struct Way {
    std::string name, line;
    std::string own;  ///< key that runs of this kind have beside
  };
  const std::vector<Way> ways = {
      {"alone", "run" + words + "threads=1", ""},
      {"seeds", "run" + words + "threads=1 --seeds 1,2 --at-once 1", "replicates"},
      {"sweep", "tune" + words + "threads=1 'lr=[0.001,0.01]' --max-workers 1", "tune"},
      {"job", "submit" + words, "submitted"}};
  const Cluster cluster;
  write_text(cluster.scratch / ".git/HEAD", commit + "\n");
  for (const Way& way : ways) {
    const CommandResult done = cluster.kdgat(way.line + " --root " + way.name);
    INFO(way.line << "\n" << done.out << done.err);
    REQUIRE(done.exit_code == 0);
    json run;
    int named = 0;
    for (const fs::path& folder : runs_in(cluster.scratch / way.name / "smoke")) {
      const json one = json::parse(read_text(folder / "run.json"));
      if (way.own.empty() || one.contains(way.own)) run = one;
      const json labels = json::parse(read_text(folder / "labels.json"));
      CHECK(labels.at("tags") == json{"paper"});
      if (labels.contains("name") && labels.at("name") == "mine") ++named;
    }
    CHECK(named == 1);  // of several seeds the whole, not each of them
    REQUIRE(run.is_object());
    CHECK_THAT(run.at("command").get<std::string>(), Catch::StartsWith("kdgat " + way.line));
    CHECK(run.at("device") == "cpu");
    CHECK(run.at("threads") >= 1);  // of a job as many as it found
    if (way.own == "replicates") {
      CHECK_FALSE(run.contains("seed"));  // each of them has its own
    } else {
      CHECK(run.at("seed") == 42);
    }
    CHECK(run.at("machine").at("cores") > 0);
    CHECK(run.at("versions").at("stages").contains("classifier"));
    CHECK(run.at("versions").contains("libtorch"));
    CHECK(run.at("git").at("commit") == commit);
    std::set<std::string> of_data;
    for (const auto& [key, value] : run.at("data").items()) of_data.insert(key);
    CHECK(of_data == std::set<std::string>{"folder", "options", "path", "summary"});
    const json found =
        cluster.answer("runs list --tag paper --where data.window==100 --root " + way.name);
    const auto has_it = [&](const json& one) { return one.at("id") == run.at("id"); };
    CHECK(std::any_of(found.at("runs").begin(), found.at("runs").end(), has_it));
  }
}
