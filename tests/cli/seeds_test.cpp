// kdgat run --seeds as a user starts it: replicates are the runs they would be alone, a killed one
// is continued, a failed one leaves the others.
#include <catch2/catch.hpp>
#include <csignal>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "support/graphs/variable.h"
#include "support/programs/background.h"
#include "support/programs/cli.h"
#include "support/runs/compile_plugin.h"

namespace {

const std::string kSeeded = "run classifier --preset smoke data.synth.seconds=20 max_epochs=3 ";

/// The run of replicates below a folder.
fs::path replicated_run(const fs::path& folder) {
  return newest_run(folder / "runs" / "smoke", [](const fs::path& run) {
    return json::parse(read_text(run / "run.json")).contains("replicates");
  });
}

/// The folder of the replicate of each seed.
std::map<int64_t, fs::path> replicates_below(const fs::path& folder) {
  const fs::path group = replicated_run(folder);
  std::map<int64_t, fs::path> out;
  const json document = json::parse(read_text(group / "run.json"));
  for (const json& one : document.at("replicates")) {
    const std::string run = one.at("run");
    out[one.at("seed")] = group.parent_path() / run;
  }
  return out;
}

}  // namespace

TEST_CASE("a replicate has the weights of a single run with its seed and threads", "[cli][seeds]") {
  const ScratchFolder folder;
  const CommandResult done = must_kdgat(kSeeded + "--seeds 1..3 --threads 1 --json", folder.path());
  const json told = json::parse(done.out);
  REQUIRE(told.at("replicates").size() == 3);
  CHECK(told.at("exit_code") == 0);
  const auto runs = replicates_below(folder.path());
  std::map<int64_t, std::string> weights;
  for (const auto& [seed, run] : runs) {
    weights[seed] = read_text(run / "classifier" / "model.safetensors");
    CHECK(weights[seed].size() > 1000);
    const json document = json::parse(read_text(run / "run.json"));
    CHECK(document.at("seed") == seed);
    CHECK(document.at("replicate_of") == replicated_run(folder.path()).filename().string());
  }
  CHECK((weights[1] != weights[2]));
  for (const int64_t seed : {1, 3}) {
    const ScratchFolder alone;
    must_kdgat(kSeeded + "--threads 1 --seed " + std::to_string(seed), alone.path());
    const fs::path lone = newest_run(alone / "runs" / "smoke", "classifier");
    CHECK((read_text(lone / "classifier" / "model.safetensors") == weights[seed]));
  }
  for (const json& figure : told.at("figures")) CHECK(figure.at("n") == 3);

  SECTION("the same words again keep all, more seeds keep those that are there") {
    const CommandResult again = must_kdgat(kSeeded + "--seeds 1..3 --threads 1", folder.path());
    CHECK(again.err.find("everything is up to date") != std::string::npos);
    CHECK(replicates_below(folder.path()) == runs);
    must_kdgat(kSeeded + "--seeds 1,2,3,4 --threads 1", folder.path());
    const auto more = replicates_below(folder.path());
    REQUIRE(more.size() == 4);
    const json kept = json::parse(read_text(more.at(2) / "run.json"));
    CHECK(kept.at("steps").at(0).at("status") == "kept");
  }
  SECTION("they are one row of a list and one report") {
    const std::string list = must_kdgat("runs list", folder.path()).out;
    CHECK(list.find("3/3 seeds") != std::string::npos);
    CHECK(std::count(list.begin(), list.end(), '\n') == 2);
    const fs::path group = replicated_run(folder.path());
    must_kdgat("report " + group.string() + " -o page.html", folder.path());
    const std::string page = read_text(folder / "page.html");
    CHECK(page.find("Over 3 seeds") != std::string::npos);
  }
}

TEST_CASE("seeds of a profile are those of the command line, and config shows them",
          "[cli][seeds]") {
  const ScratchFolder folder;
  std::ofstream(folder / "two.yaml") << "preset: [smoke]\nseeds: 4..5\nmax_epochs: 2\n"
                                        "data: {synth: {seconds: 20}}\nstages: {classifier: {}}\n";
  const json told = json::parse(must_kdgat("run two.yaml --json --threads 1", folder.path()).out);
  CHECK(told.at("replicates").size() == 2);
  CHECK(told.at("replicates").at(1).at("seed") == 5);
  CHECK(must_kdgat("config show two.yaml", folder.path()).out.find("seeds") != std::string::npos);
  const CommandResult wrong = run_shell(kdgat_word() + " run two.yaml --seeds 5..1", folder.path());
  CHECK(wrong.exit_code == 2);
  CHECK(wrong.err.find("ends before it begins") != std::string::npos);
}

TEST_CASE("a killed run of replicates is continued by the same words", "[cli][seeds]") {
  const ScratchFolder folder;
  make_plugin(folder / "plugins");
  std::ofstream(folder / "held.yaml")
      << "preset: [student]\ndataset: smoke\ndata: {synth: {seconds: 20}}\n"
         "stages:\n  classifier: {max_epochs: 3}\n  gate: {stage: probe, mode: gate}\n";
  const std::string words =
      "run held.yaml --plugin-dir plugins --seeds 1..3 --threads 1 --at-once 1";
  const Variable gate("PROBE_GATE", folder.path().string());
  std::ofstream(folder / "1") << "open";
  {
    // Killed once the first has ended, while the second is held behind its classifier.
    Background killed(words, folder.path());
    REQUIRE(wait_for(folder.path(), "journal.jsonl", "waits", 2));
    CHECK(killed.end(SIGKILL) == 137);
  }
  for (const char* seed : {"2", "3"}) std::ofstream(folder / seed) << "open";
  const auto before = replicates_below(folder.path());
  const fs::path group = replicated_run(folder.path());
  const std::string first = read_text(before.at(1) / "classifier" / "journal.jsonl");
  const CommandResult again = must_kdgat(words, folder.path());
  CHECK(again.err.find("continuing run") != std::string::npos);
  CHECK(replicated_run(folder.path()) == group);
  const auto after = replicates_below(folder.path());
  CHECK(after.at(1) == before.at(1));
  CHECK(read_text(after.at(1) / "classifier" / "journal.jsonl") == first);
  CHECK(after.size() == 3);
  for (const auto& [seed, run] : after) {
    CHECK(json::parse(read_text(run / "run.json")).at("exit_code") == 0);
  }
}

TEST_CASE("a replicate that fails leaves the others, and the exit code tells", "[cli][seeds]") {
  const ScratchFolder folder;
  const std::string words = kSeeded + "--seeds 1..2 --threads 1 --at-once 1 ";
  // More than any figure can be.
  const CommandResult unmet =
      run_shell(kdgat_word() + " " + words + "--require 'classifier.val_loss<0'", folder.path());
  CHECK(unmet.exit_code == 11);
  const json document = json::parse(read_text(replicated_run(folder.path()) / "run.json"));
  CHECK(document.at("exit_code") == 11);
  for (const json& one : document.at("replicates")) CHECK(one.at("exit_code") == 11);
  CHECK(unmet.out.find("failed") != std::string::npos);
  const CommandResult stdin_data =
      run_shell(kdgat_word() + " run classifier --seeds 1..2 --data - < /dev/null", folder.path());
  CHECK(stdin_data.exit_code == 2);
}
