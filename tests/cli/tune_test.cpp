// Sweeps as a user starts them: trials beside one another, out of memory, killed, continued,
// stopped early.
#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <string>
#include <vector>

#include "support/can/log_text.h"
#include "support/graphs/variable.h"
#include "support/programs/background.h"
#include "support/programs/cli.h"
#include "support/runs/compile_plugin.h"

namespace {

const std::string kShortSweep =
    "classifier --preset smoke data.synth.seconds=20 max_epochs=3 --threads 1 ";
const std::string kSweep =
    "tune " + kShortSweep + "'lr=[0.001,0.01]' 'hidden=[8,16]' --max-workers 2 ";

json sweep_of(const fs::path& folder) {
  return json::parse(read_text(newest_run(folder / "runs" / "smoke") / "tune.json"));
}

std::vector<std::string> states(const json& sweep) {
  std::vector<std::string> out;
  for (const json& trial : sweep.at("trials")) out.push_back(trial.at("state"));
  return out;
}

}  // namespace

TEST_CASE("a trial of a sweep is the run it would be alone", "[cli][tune]") {
  const ScratchFolder folder;
  const CommandResult done = must_kdgat(kSweep + "--json", folder.path());
  const json sweep = json::parse(done.out);
  CHECK(states(sweep) == std::vector<std::string>(4, "done"));
  const fs::path run = newest_run(folder / "runs" / "smoke");
  // Two of them ran at once, in threads of one process, each with first weights from the seed.
  const ScratchFolder alone;
  must_kdgat("run " + kShortSweep + "lr=0.01 hidden=16", alone.path());
  const fs::path lone = newest_run(alone / "runs" / "smoke") / "classifier";
  CHECK(read_text(run / "lr0.01-hidden16" / "model.safetensors") ==
        read_text(lone / "model.safetensors"));
  for (const json& trial : sweep.at("trials")) {
    CHECK(trial.at("needed") > 0);
    CHECK(trial.at("needed") <= trial.at("reserved"));
    CHECK(trial.at("cpu_seconds").is_number());
  }
  const std::string best = sweep.at("best");
  for (const json& trial : sweep.at("trials")) {
    if (trial.at("name") == best) {
      for (const json& other : sweep.at("trials")) CHECK(trial.at("value") <= other.at("value"));
    }
  }

  SECTION("the same again keeps all, and report and show draw them") {
    const CommandResult again = must_kdgat(kSweep, folder.path());
    CHECK(again.out.find("best by val_loss: " + best) != std::string::npos);
    CHECK(states(sweep_of(folder.path())) == std::vector<std::string>(4, "kept"));
    const std::string word = run.string();
    must_kdgat("report " + word, folder.path());
    const std::string page = read_text(run / "report.html");
    CHECK(page.find("Trials and their results") != std::string::npos);
    const CommandResult shown =
        must_kdgat("tune show " + word + " --simulate 16GiB --copies 200 --json", folder.path());
    const json simulated = json::parse(shown.out);
    CHECK(simulated.at("published").at("workers") == 9);
    CHECK(simulated.at("measured").at("mean_admitted") >= 27);
    CHECK(simulated.at("measured").at("exceeded") == 0);
    CHECK(simulated.at("measured").at("peak_reserved") <= simulated.at("room"));
  }
}

TEST_CASE("what is reserved for small trials is enough for each at once", "[cli][tune]") {
  const ScratchFolder folder;
  std::vector<CommandResult> sweeps = {must_kdgat(kSweep + "--json", folder.path())};
  if (has_stage("textgcn")) {
    must_kdgat("data synth -o texts --kind text --graphs 60 --nodes 30", folder.path());
    sweeps.push_back(
        must_kdgat("tune textgcn --data texts --name t max_epochs=2 'lr=[0.01,0.02,0.03,0.04]' "
                   "--threads 1 --json",
                   folder.path()));
  }
  for (const CommandResult& done : sweeps) {
    CHECK(done.err.find("tried again") == std::string::npos);
    const json sweep = json::parse(done.out);
    CHECK(sweep.at("trials").size() >= 4);
    for (const json& trial : sweep.at("trials")) {
      INFO(trial.dump());
      CHECK(trial.at("state") == "done");
      CHECK(trial.at("attempts") == 1);
      CHECK(trial.at("needed") <= trial.at("reserved"));
      // Not by reserving what no trial of this size needs.
      CHECK(trial.at("reserved") < 2 * trial.at("planned").get<double>() + (2 << 20));
    }
  }
}

TEST_CASE("a trial that runs out of memory is tried again with more", "[cli][tune]") {
  const ScratchFolder folder;
  const CommandResult done = must_kdgat(kSweep + "--model-memory 0.0003", folder.path());
  CHECK(done.err.find("tried again with twice that") != std::string::npos);
  const json sweep = sweep_of(folder.path());
  CHECK(states(sweep) == std::vector<std::string>(4, "done"));
  for (const json& trial : sweep.at("trials")) {
    CHECK(trial.at("attempts") > 1);
    CHECK(trial.at("needed") <= trial.at("reserved"));
  }
}

TEST_CASE("a sweep that was killed goes on where it stood", "[cli][tune]") {
  const ScratchFolder folder;
  make_plugin(folder / "plugins");
  const Variable gate("PROBE_GATE", folder.path().string());
  const std::string sweep =
      "tune probe 'mode=[good,gate]' --metric count --max-workers 1 --plugin-dir plugins";
  {
    Background killed(sweep, folder.path());
    REQUIRE(wait_for(folder.path(), "tune.json", "\"state\": \"running\""));
    REQUIRE(wait_for(folder.path(), "journal.jsonl", "waits"));
  }
  const fs::path runs = folder / "runs" / "default";
  const auto now = [&] { return states(json::parse(read_text(newest_run(runs) / "tune.json"))); };
  CHECK(now() == std::vector<std::string>{"done", "running"});
  write_text(folder / "42", "");  // the default seed
  must_kdgat(sweep, folder.path());
  CHECK(now() == std::vector<std::string>{"kept", "done"});
}

TEST_CASE("an interrupted sweep leaves checkpoints, and the same words go on with them",
          "[cli][tune]") {
  const ScratchFolder folder;
  // Trials without an end of their own, so that they are at work when they are stopped.
  const std::string endless = kSweep + "max_epochs=1000000 patience=1000000";
  for (const std::string at_work :
       {R"("event":"metrics","index":1,)", "continues from the checkpoint at epoch"}) {
    Background sweep(endless, folder.path());
    REQUIRE(wait_for(folder.path(), "journal.jsonl", at_work, 2));  // both that run at once
    CHECK(sweep.end(SIGINT) == 130);
    INFO(read_text(folder / "err"));
    const json left = sweep_of(folder.path());
    const auto after = states(left);
    CHECK(std::count(after.begin(), after.end(), "interrupted") == 2);
    for (const json& trial : left.at("trials")) {
      if (trial.at("state") != "interrupted") continue;
      const std::string name = trial.at("name");
      CHECK(fs::exists(newest_run(folder / "runs" / "smoke") / name / "checkpoint"));
    }
  }
  CHECK(runs_in(folder / "runs").size() == 1);
}

TEST_CASE("successive halving stops what is behind", "[cli][tune]") {
  const ScratchFolder folder;
  must_kdgat("tune " + kShortSweep +
                 "max_epochs=4 'lr=log(1e-5,1e-1)' --mode asha --samples 8 --max-workers 1",
             folder.path());
  const json sweep = sweep_of(folder.path());
  const auto after = states(sweep);
  CHECK(std::count(after.begin(), after.end(), "stopped") >= 3);
  CHECK(std::count(after.begin(), after.end(), "done") >= 1);
  for (const json& trial : sweep.at("trials")) {
    if (trial.at("name") == sweep.at("best")) CHECK(trial.at("state") == "done");
  }
}

TEST_CASE("a sweep that makes no sense is refused before it begins", "[cli][tune]") {
  const ScratchFolder folder;
  const auto refused = [&](const std::string& words, const std::string& message) {
    const CommandResult result =
        run_shell(kdgat_word() + " tune --preset smoke " + words, folder.path());
    INFO(result.err);
    CHECK(result.exit_code == 2);
    CHECK(result.err.find(message) != std::string::npos);
  };
  refused("classifier --mode random", "there is nothing to try");
  refused("classifier", "classifier can vary");
  refused("classifier", "kdgat config schema classifier");
  refused("", "e.g. \"lr=[0.001,0.01]\"");
  refused("classifier lr=0.01 hidden=8", "no option is given several values");
  refused("classifier 'lr=[]'", "empty value");
  refused("classifier 'lr=log(0,1)'", "begins above 0");
  refused("classifier 'lr=[0.1,0.2]' --metric test_f1", "chosen by validation");
  refused("classifier 'lr=[0.1,0.2]' --mode gird", "did you mean grid?");
  refused("classifier 'lr=log(1e-3,1)' --mode grid", "--mode random draws from it");
  refused("classifier 'lr=[0.1,many]'", "lr");
  refused("'lr=[0.1,0.2]'", "name the step");
  refused("--mode architecture", "has all of the options");
  CHECK_FALSE(fs::exists(folder / "runs" / "smoke"));
  const CommandResult bare = run_shell(kdgat_word() + " tune", folder.path());
  CHECK(bare.exit_code == 2);
  CHECK(bare.err.find("nothing to tune: no preset, profile or stage is named") !=
        std::string::npos);
  CHECK(bare.err.find("kdgat tune STAGE --data PATH \"lr=[0.001,0.01]\"") != std::string::npos);
}

TEST_CASE("memory that stays free is a number of GiB or a size", "[cli][tune]") {
  const ScratchFolder folder;
  for (const std::string buffer : {"0.5", "512MiB"}) {
    const CommandResult plan = must_kdgat(
        "tune " + kShortSweep + "'lr=[0.001,0.01]' --gpu-buffer " + buffer + " --dry-run --json",
        folder.path());
    CHECK(json::parse(plan.out).at("buffer") == 1 << 29);
  }
}
