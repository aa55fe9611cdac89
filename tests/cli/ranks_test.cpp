// Several processes that train together, as a user starts them: on one machine by --nproc, or each
// by itself with its place in the environment.
#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "support/programs/background.h"
#include "support/programs/cli.h"
#include "support/programs/held_port.h"

namespace {

/// Autoencoder (with its statistics of the batch) and classifier, in seconds.
const std::string kShortRanks =
    "run --preset smoke data.synth.seconds=10 autoencoder.max_epochs=2 classifier.max_epochs=2 "
    "optimize_batch_size=false batch_size=64 --threads 1 ";

/// Of each epoch, in training and in validation.
std::vector<std::pair<double, double>> losses(const fs::path& step) {
  std::vector<std::pair<double, double>> out;
  std::istringstream journal(read_text(step / "journal.jsonl"));
  for (std::string text; std::getline(journal, text);) {
    const json event = json::parse(text);
    if (event.value("what", "") != "epoch") continue;
    out.emplace_back(event.at("values").at("train_loss"), event.at("values").at("val_loss"));
  }
  return out;
}

void check_same_losses(const fs::path& a, const fs::path& b) {
  for (const char* step : {"autoencoder", "classifier"}) {
    INFO(step);
    const auto one = losses(a / step), two = losses(b / step);
    REQUIRE(one.size() == 2);
    REQUIRE(two.size() == 2);
    // Running statistics follow the rounding of biases ahead of them (see docs/concepts.md).
    const double val = std::string(step) == "autoencoder" ? 1e-3 : 1e-5;
    for (std::size_t i = 0; i < one.size(); ++i) {
      CHECK(one[i].first == Approx(two[i].first).epsilon(1e-5));
      CHECK(one[i].second == Approx(two[i].second).epsilon(val));
    }
  }
}

/// The process of a stage with this rank among those that `host` started; 0 if there is none.
pid_t process_of_rank(pid_t host, int rank) {
  for (const pid_t child : children_of(host, "stage-child")) {
    // Its standard input is its call, which it has read to the end.
    const json call = json::parse(read_text("/proc/" + std::to_string(child) + "/fd/0"));
    if (call.at("request").at("ranks").at("rank") == rank) return child;
  }
  return 0;
}

}  // namespace

TEST_CASE("a run of two processes is the run of one", "[cli][ranks]") {
  const ScratchFolder scratch;
  must_kdgat(kShortRanks + "--root one", scratch.path());
  const CommandResult two = must_kdgat(kShortRanks + "--root two --nproc 2", scratch.path());
  CHECK(two.err.find("2 processes of 1 thread") != std::string::npos);
  const fs::path run = newest_run(scratch / "two" / "smoke");
  check_same_losses(newest_run(scratch / "one" / "smoke"), run);
  CHECK(read_text(run / "classifier" / "log.txt").find("rank 0 of 2") != std::string::npos);
  for (const auto& entry : fs::directory_iterator(run / "classifier")) {
    CHECK(entry.path().filename().string().front() != '.');  // nothing of the other is left
  }
  INFO("the number of processes is not part of what was computed");
  const CommandResult again = must_kdgat(kShortRanks + "--root two -n", scratch.path());
  for (const char* step : {"\nautoencoder  kept", "\nclassifier   kept", "\nevaluate     kept"}) {
    CHECK(again.out.find(step) != std::string::npos);
  }
}

TEST_CASE("a killed rank ends the run with its name, and the run goes on", "[cli][ranks]") {
  const ScratchFolder scratch;
  const std::string line =
      "run --preset smoke data.synth.seconds=10 autoencoder.max_epochs=1000000 "
      "autoencoder.patience=1000000 --until autoencoder checkpoint_seconds=0 --threads 1 --nproc 2";
  {
    Background killed(line, scratch.path());
    REQUIRE(wait_for(scratch.path(), "journal.jsonl", "\"what\":\"epoch\""));
    const fs::path step = newest_run(scratch / "runs" / "smoke") / "autoencoder";
    REQUIRE(comes_true([&] { return fs::exists(step / "checkpoint" / "state.safetensors"); }));
    const pid_t second = process_of_rank(killed.pid(), 1);
    REQUIRE(second > 0);
    ::kill(second, SIGKILL);
    CHECK(killed.wait() == 1);
    CHECK_THAT(read_text(scratch / "err"),
               Catch::Contains("rank 1 of 2: the stage's process was killed by SIGKILL"));
  }
  Background rest(line, scratch.path());
  CHECK(wait_for(scratch.path(), "log.txt", "continues from the checkpoint at epoch"));
  CHECK(rest.end(SIGUSR1) == 85);
  CHECK_THAT(read_text(scratch / "err"), Catch::Contains("continuing run"));
}

TEST_CASE("programs that are started together share the stages", "[cli][ranks]") {
  const ScratchFolder scratch;
  must_kdgat(kShortRanks + "--root one", scratch.path());
  const HeldPort port;
  const CommandResult both =
      run_shell("export WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=" + port.text() +
                    "; "
                    "RANK=1 " +
                    kdgat_word() + " " + kShortRanks +
                    "--root two & other=$!; "
                    "RANK=0 " +
                    kdgat_word() + " " + kShortRanks +
                    "--root two; first=$?; wait $other; "
                    "echo codes $first $?",
                scratch.path());
  INFO(both.err);
  CHECK(both.out.find("codes 0 0") != std::string::npos);
  check_same_losses(newest_run(scratch / "one" / "smoke"), newest_run(scratch / "two" / "smoke"));
}

TEST_CASE("what several processes cannot do is refused", "[cli][ranks]") {
  const ScratchFolder scratch;
  const auto refused = [&](const std::string& line, const std::string& text) {
    const CommandResult result = run_shell(line, scratch.path());
    INFO(result.err);
    CHECK(result.exit_code == 2);
    CHECK(result.err.find(text) != std::string::npos);
  };
  refused(kdgat_word() + " " + kShortRanks + "--nproc 2 --in-process",
          "--in-process is for one process");
  refused(kdgat_word() + " " + kShortRanks + "--nproc 0", "nproc: 0 is outside [1, 1024]");
  refused("RANK=0 WORLD_SIZE=2 " + kdgat_word() + " " + kShortRanks, "MASTER_ADDR and MASTER_PORT");
  refused("RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29400 " + kdgat_word() + " " +
              kShortRanks + "--nproc 2",
          "asks for more processes on this machine");
}
