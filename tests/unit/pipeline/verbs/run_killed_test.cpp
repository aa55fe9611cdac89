// `kdgat run` that is interrupted or killed, and what goes on after it.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>

#include "kdgat/atomic_file.h"
#include "support/background.h"
#include "support/probe_plugin.h"
#include "support/processes.h"
#include "support/runs.h"
#include "support/soak.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// The process of a stage that the program `host` has started; 0 if there is none.
pid_t stage_of(pid_t host) {
  for (int i = 0; i < 1000; ++i, ::usleep(10'000)) {
    for (const auto& [number, words] : command_lines()) {
      if (words.find("stage-child") == std::string::npos) continue;
      std::istringstream status(process_file(number, "stat"));
      std::string pid, name, state;
      pid_t parent = 0;
      if (status >> pid >> name >> state >> parent && parent == host) return std::stoi(pid);
    }
  }
  return 0;
}

}  // namespace

TEST_CASE("kdgat run answers each signal with its code and continues afterwards", "[run]") {
  const ScratchFolder scratch;
  std::size_t starts = 0;
  for (const auto& [signal, code] : {std::pair{SIGINT, 130}, {SIGTERM, 143}, {SIGUSR1, 85}}) {
    Background run("run example steps=1000 seconds=0.02", scratch.path());
    REQUIRE(wait_for(scratch.path(), "journal.jsonl", "\"start\"", ++starts));
    run.signal(signal);
    CHECK(run.wait() == code);
    CHECK_THAT(read_text(scratch / "err"), Contains("kdgat run continues it"));
  }
  REQUIRE(runs_in(scratch.path()).size() == 1);
  const CommandResult rest = run_kdgat("run example steps=1000 seconds=0", scratch.path());
  CHECK(rest.exit_code == 0);
  CHECK_THAT(rest.err, Contains("continuing run") && Contains("counted to 1000"));
  CHECK(runs_in(scratch.path()).size() == 1);
}

TEST_CASE("a second SIGINT ends kdgat run at once even if the stage does not listen", "[run]") {
  const ScratchFolder scratch;
  make_plugin(scratch / "plugins");
  Background run("run probe mode=hang --plugin-dir plugins", scratch.path());
  REQUIRE(wait_for(scratch.path(), "journal.jsonl", "\"start\""));
  run.signal(SIGINT);
  ::usleep(100'000);
  run.signal(SIGINT);
  CHECK(run.wait() == 130);
}

TEST_CASE("two kdgat run of one plan at once do not share a folder", "[run]") {
  const ScratchFolder scratch;
  Background first("run example steps=1000 seconds=0.02", scratch.path());
  REQUIRE(wait_for(scratch.path(), "journal.jsonl", "\"start\""));
  const CommandResult second = run_kdgat("run example steps=1000 seconds=0", scratch.path());
  CHECK(second.exit_code == 0);
  CHECK_THAT(second.err, Contains("is running; starting another"));
  CHECK(runs_in(scratch.path()).size() == 2);
  first.signal(SIGINT);
  CHECK(first.wait() == 130);
}

TEST_CASE("kdgat run waits for a stage that outlives its killed program", "[run]") {
  const ScratchFolder scratch;
  make_plugin(scratch / "plugins");
  const std::string words = "run probe mode=hang --plugin-dir plugins";
  pid_t stage = 0;
  {
    Background first(words, scratch.path());
    // Not before its own words: without its call, which its program sends, a stage ends by itself.
    REQUIRE(wait_for(scratch.path(), "journal.jsonl", "hangs"));
    stage = stage_of(first.pid());
    REQUIRE(stage > 0);
    first.end(SIGKILL);
  }
  Background second(words, scratch.path());
  REQUIRE(wait_for(scratch.path(), "err", "waiting for the stage of runs"));
  ::kill(stage, SIGKILL);
  REQUIRE(wait_for(scratch.path(), "err", "continuing run"));
  REQUIRE(wait_for(scratch.path(), "journal.jsonl", "\"start\"", 2));
  CHECK(runs_in(scratch.path()).size() == 1);
  second.signal(SIGINT);
  ::usleep(100'000);
  second.signal(SIGINT);
  CHECK(second.wait() == 130);
}

TEST_CASE("kdgat run completes what was killed at any moment", "[run]") {
  const ScratchFolder scratch;
  make_plugin(scratch / "plugins");
  write_file(scratch / "p.yaml", kProbeChain);
  constexpr int kMoments[] = {2, 5, 10, 15, 20, 30, 40, 60, 90, 140};
  for (int round = 0; round < kdgat::test::soak(10); ++round) {
    const int milliseconds = kMoments[round % 10] + 3 * (round / 10);
    const std::string words = "run p.yaml --plugin-dir plugins --root r" +
                              std::to_string(milliseconds) + " third.steps=5 third.seconds=0.02";
    {
      Background run(words, scratch.path());
      ::usleep(static_cast<useconds_t>(milliseconds) * 1000);
      run.signal(SIGKILL);
      run.wait();
    }
    const CommandResult rest = run_kdgat(words + " --json", scratch.path());
    INFO(milliseconds << " ms: " << rest.err);
    REQUIRE(rest.exit_code == 0);
    const json result = json::parse(rest.out);
    REQUIRE(result.at("steps").size() == 3);
    for (const json& step : result.at("steps")) {
      CHECK((step.at("status") == "done" || step.at("status") == "kept"));
      CHECK(!step.at("result").empty());
    }
    const fs::path root = scratch / ("r" + std::to_string(milliseconds));
    REQUIRE(runs_in(root).size() == 1);
    for (const auto& entry : fs::recursive_directory_iterator(runs_in(root)[0])) {
      CHECK(entry.path().filename().string().find(".tmp.") == std::string::npos);
    }
  }
}
