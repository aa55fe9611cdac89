// `kdgat run` that is interrupted or killed, and what goes on after it.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <vector>

#include "kdgat/atomic_file.h"
#include "support/programs/background.h"
#include "support/programs/processes.h"
#include "support/programs/soak.h"
#include "support/runs/probe_plugin.h"
#include "support/runs/runs.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

// Far longer than any test waits, and with a rest so short that a signal is soon answered.
constexpr const char* kLong = "run example steps=800 seconds=0.5";
constexpr const char* kShort = "run example steps=800 seconds=0";  // the same, to be continued

/// The process of a stage that the program `host` has started; 0 if there is none.
pid_t stage_of(pid_t host) {
  std::vector<pid_t> found;
  comes_true([&] { return !(found = children_of(host, "stage-child")).empty(); });
  return found.empty() ? 0 : found.front();
}

/// What writers have not yet given its name.
std::vector<fs::path> temporaries_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code ignored;  // of what goes while it is looked at
  for (fs::recursive_directory_iterator at(folder, ignored), end; at != end;
       at.increment(ignored)) {
    if (at->path().filename().string().find(".tmp.") != std::string::npos) {
      found.push_back(at->path());
    }
  }
  return found;
}

/// A process that is none of this one's children, killed at the end of the test.
struct Stranger {
  pid_t pid = 0;
  ~Stranger() {
    if (pid > 0) ::kill(pid, SIGKILL);
  }
};

}  // namespace

TEST_CASE("kdgat run answers each signal with its code and continues afterwards", "[run]") {
  const ScratchFolder scratch;
  std::size_t starts = 0;
  for (const auto& [signal, code] : {std::pair{SIGINT, 130}, {SIGTERM, 143}, {SIGUSR1, 85}}) {
    Background run(kLong, scratch.path());
    REQUIRE(wait_for(scratch.path(), "journal.jsonl", "\"start\"", ++starts));
    CHECK(run.end(signal) == code);
    CHECK_THAT(read_text(scratch / "err"), Contains("kdgat run continues it"));
  }
  REQUIRE(runs_in(scratch.path()).size() == 1);
  const CommandResult rest = run_kdgat(kShort, scratch.path());
  CHECK(rest.exit_code == 0);
  CHECK_THAT(rest.err, Contains("continuing run") && Contains("counted to 800"));
  CHECK(runs_in(scratch.path()).size() == 1);
}

TEST_CASE("a second SIGINT ends kdgat run at once even if the stage does not listen", "[run]") {
  const ScratchFolder scratch;
  make_plugin(scratch / "plugins");
  Background run("run probe mode=hang --plugin-dir plugins", scratch.path());
  REQUIRE(wait_for(scratch.path(), "journal.jsonl", "\"start\""));
  run.signal(SIGINT);
  CHECK(run.end(SIGINT) == 130);
}

TEST_CASE("two kdgat run of one plan at once do not share a folder", "[run]") {
  const ScratchFolder scratch;
  Background first(kLong, scratch.path());
  REQUIRE(wait_for(scratch.path(), "journal.jsonl", "\"start\""));
  const CommandResult second = run_kdgat(kShort, scratch.path());
  CHECK(second.exit_code == 0);
  CHECK_THAT(second.err, Contains("is running; starting another"));
  CHECK(runs_in(scratch.path()).size() == 2);
  CHECK(first.end(SIGINT) == 130);
}

TEST_CASE("kdgat run waits for a stage that outlives its killed program", "[run]") {
  const ScratchFolder scratch;
  make_plugin(scratch / "plugins");
  const std::string words = "run probe mode=hang --plugin-dir plugins";
  Stranger stage;
  {
    Background first(words, scratch.path());
    // Not before its own words: without its call, which its program sends, a stage ends by itself.
    REQUIRE(wait_for(scratch.path(), "journal.jsonl", "hangs"));
    stage.pid = stage_of(first.pid());
    REQUIRE(stage.pid > 0);
    first.end(SIGKILL);
  }
  Background second(words, scratch.path());
  REQUIRE(wait_for(scratch.path(), "err", "waiting for the stage of runs"));
  ::kill(stage.pid, SIGKILL);
  REQUIRE(wait_for(scratch.path(), "err", "continuing run"));
  REQUIRE(wait_for(scratch.path(), "journal.jsonl", "\"start\"", 2));
  CHECK(runs_in(scratch.path()).size() == 1);
  second.signal(SIGINT);
  CHECK(second.end(SIGINT) == 130);
}

TEST_CASE("kdgat run completes what was killed at any moment", "[run]") {
  const ScratchFolder scratch;
  make_plugin(scratch / "plugins");
  write_file(scratch / "p.yaml", kProbeChain);
  const std::string line =
      "run p.yaml --plugin-dir plugins third.steps=5 third.seconds=0.02 --root r";
  // Kills fall into all of a run, however long it takes on this machine.
  const auto began = std::chrono::steady_clock::now();
  must_kdgat(line, scratch.path());
  const std::chrono::duration<double, std::micro> whole = std::chrono::steady_clock::now() - began;
  const int rounds = kdgat::test::soak(10);
  for (int round = 0; round < rounds; ++round) {
    const auto moment = static_cast<useconds_t>(whole.count() * (round + 0.5) / rounds);
    const std::string words = line + std::to_string(round);
    {
      Background run(words, scratch.path());
      ::usleep(moment);
      run.end(SIGKILL);
    }
    const CommandResult rest = run_kdgat(words + " --json", scratch.path());
    INFO(moment << " us: " << rest.err);
    REQUIRE(rest.exit_code == 0);
    const json result = json::parse(rest.out);
    REQUIRE(result.at("steps").size() == 3);
    for (const json& step : result.at("steps")) {
      CHECK((step.at("status") == "done" || step.at("status") == "kept"));
      CHECK(!step.at("result").empty());
    }
    const fs::path root = scratch / ("r" + std::to_string(round));
    REQUIRE(runs_in(root).size() == 1);
    // The process that keeps the records outlives its program for as long as it writes them, and
    // nothing is cleared before it ends.
    CHECK(comes_true([&] {
      must_kdgat(words, scratch.path());
      return temporaries_in(runs_in(root)[0]).empty();
    }));
  }
}
