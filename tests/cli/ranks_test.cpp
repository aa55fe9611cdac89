// Several processes that train together, as a user starts them: on one machine by --nproc, or each
// by itself with its place in the environment.
#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "support/cli.h"

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
  const CommandResult again = must_kdgat(kShortRanks + "--root two --explain -n", scratch.path());
  for (const char* step : {"\nautoencoder  kept", "\nclassifier   kept", "\nevaluate     kept"}) {
    CHECK(again.out.find(step) != std::string::npos);
  }
}

TEST_CASE("a killed rank ends the run with its name, and the run goes on", "[cli][ranks]") {
  const ScratchFolder scratch;
  const std::string line =
      "run --preset smoke data.synth.seconds=10 autoencoder.max_epochs=400 "
      "autoencoder.patience=400 --until autoencoder checkpoint_seconds=0 --threads 1 --nproc 2 ";
  // The second process of the stage is killed once it has made some steps.
  const CommandResult killed = run_shell(
      kdgat_word() + " " + line +
          "& host=$!; for i in $(seq 600); do "
          "[ -e runs/smoke/*/autoencoder/checkpoint/state.safetensors ] && break; sleep 0.1; done; "
          "sleep 0.5; kill -KILL $(pgrep -P $host -f stage-child | tail -1); wait $host",
      scratch.path());
  INFO(killed.err);
  CHECK(killed.exit_code == 1);
  CHECK(killed.err.find("rank 1 of 2: the stage's process was killed by SIGKILL") !=
        std::string::npos);
  const CommandResult rest =
      run_shell("timeout --preserve-status -s USR1 4 " + kdgat_word() + " " + line, scratch.path());
  INFO(rest.err);
  CHECK(rest.exit_code == 85);
  CHECK(rest.err.find("continuing run") != std::string::npos);
  const fs::path step = newest_run(scratch / "runs" / "smoke") / "autoencoder";
  CHECK(read_text(step / "log.txt").find("continues from the checkpoint at epoch") !=
        std::string::npos);
}

TEST_CASE("programs that are started together share the stages", "[cli][ranks]") {
  const ScratchFolder scratch;
  must_kdgat(kShortRanks + "--root one", scratch.path());
  const CommandResult both = run_shell(
      "export WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$((20000 + $$ % 10000)); "
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
