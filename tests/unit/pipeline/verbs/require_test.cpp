// `kdgat run --require` and what records say of it, as a person types it, with the example plugin.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "kdgat/atomic_file.h"
#include "support/runs/probe_plugin.h"
#include "support/runs/runs.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

TEST_CASE("kdgat run ends with 11 where a figure is not as required", "[require][run]") {
  const ScratchFolder scratch;
  const auto kdgat = [&](const std::string& words) { return run_kdgat(words, scratch.path()); };
  const CommandResult unmet = kdgat(
      "run example steps=4 --require 'example.count>=5' --require 'exa.cou<=4' "
      "--require='example.count==3'");
  CHECK(unmet.exit_code == 11);
  CHECK_THAT(unmet.err, Contains("error: example.count is 4, required >= 5") &&
                            Contains("error: example.count is 4, required == 3") &&
                            !Contains("exa.cou"));
  // The run is done all the same: what it made is kept, and judged again.
  const fs::path run = newest_run(scratch / "runs/default");
  const json record = json::parse(read_text(run / "run.json"));
  CHECK(record.at("exit_code") == 0);
  REQUIRE(record.at("requirements").size() == 3);
  CHECK(record.at("requirements")[0].at("met") == false);
  CHECK(record.at("requirements")[1].at("met") == true);
  CHECK_THAT(kdgat("runs show '" + run.string() + "'").out,
             Contains("required  example.count >= 5: 4, not met"));
  const CommandResult kept = kdgat("run example steps=4 --require 'example.count>=5' --json");
  CHECK(kept.exit_code == 11);
  const json result = json::parse(kept.out);
  CHECK(result.at("exit_code") == 11);
  CHECK(result.at("requirements")[0].at("value") == 4);
  const CommandResult met = kdgat("run example steps=4 --require 'example.count>=4' --json");
  CHECK(met.exit_code == 0);
  CHECK(json::parse(met.out).at("requirements")[0].at("met") == true);
}

TEST_CASE("names that a run cannot have are refused before it begins", "[require][run]") {
  const ScratchFolder scratch;
  const auto refused = [&](const std::string& expression) {
    const CommandResult result =
        run_kdgat("run example --require '" + expression + "'", scratch.path());
    CHECK(result.exit_code == 2);
    CHECK_FALSE(fs::exists(scratch / "runs"));
    return result.err;
  };
  CHECK_THAT(refused("exmple.count>=1"), Contains("there is no step \"exmple\"") &&
                                             Contains("there are example") && Contains("argument"));
  CHECK_THAT(refused("example.cuont>=1"),
             Contains("there is no figure of a whole step \"cuont\"") && Contains("count"));
  CHECK_THAT(refused("example.count"), Contains("says no relation"));
  CHECK_THAT(refused("example.count>=1 or so"), Contains("is not a number"));
  CHECK(run_kdgat("run example -n --require 'exmple.count>=1'", scratch.path()).exit_code == 2);
}

TEST_CASE("a profile may require figures, and a failed step keeps its code", "[require][run]") {
  const ScratchFolder scratch;
  write_file(scratch / "p.yaml",
             "require: [\"first.count>=3\"]\n"
             "stages:\n  first: {stage: example, steps: 2}\n");
  const CommandResult unmet = run_kdgat("run p.yaml --require 'first.count<9'", scratch.path());
  CHECK(unmet.exit_code == 11);
  CHECK_THAT(unmet.err, Contains("first.count is 2, required >= 3"));
  CHECK(run_kdgat("run p.yaml 'require=[]'", scratch.path()).exit_code == 0);
  CHECK(run_kdgat("run p.yaml first.steps=3", scratch.path()).exit_code == 0);
  const CommandResult shown = run_kdgat("config show p.yaml", scratch.path());
  CHECK_THAT(shown.out, Contains("first.count>=3"));
  write_file(scratch / "bad.yaml",
             "require: [\"second.count>=3\"]\n"
             "stages:\n  first: {stage: example}\n");
  const CommandResult refused = run_kdgat("run bad.yaml", scratch.path());
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err, Contains("bad.yaml:1") && Contains("there is no step \"second\""));
  // A step that fails is what the run ends with, not what it would have come to.
  make_plugin(scratch / "plugins");
  write_file(
      scratch / "fails.yaml",
      "stages:\n  first: {stage: example, steps: 2}\n  second: {stage: probe, mode: fail}\n");
  const CommandResult failed =
      run_kdgat("run fails.yaml --plugin-dir plugins --require 'first.count>=9'", scratch.path());
  CHECK(failed.exit_code == 3);
  CHECK_THAT(failed.err, !Contains("required"));
}
