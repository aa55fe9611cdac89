// Records while `kdgat run` works, and `kdgat sync` afterwards, as a person types them: with the
// example plugin, and a tracking server in this process.
#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <nlohmann/json.hpp>
#include <set>

#include "pipeline/run/journal.h"
#include "pipeline/system/machine.h"
#include "support/programs/background.h"
#include "support/programs/command.h"
#include "support/programs/held_port.h"
#include "support/runs/fake_mlflow.h"
#include "support/runs/recorded_run.h"
#include "support/runs/runs.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    ++found;
  }
  return found;
}

/// The number of values of a series that reached the server. One that it did not confirm in time,
/// as on a busy machine, comes again; mlflow_test.cpp looks for those that come twice otherwise.
std::size_t numbers(FakeMlflow& server, const std::string& run, const std::string& key) {
  try {
    const auto sent = server.run(run).sent;
    const std::set distinct(sent.begin(), sent.end());
    return static_cast<std::size_t>(
        std::count_if(distinct.begin(), distinct.end(),
                      [&](const auto& value) { return std::get<0>(value) == key; }));
  } catch (const std::out_of_range&) {
    return 0;
  }
}

}  // namespace

TEST_CASE("a run leaves metrics.csv and an event file, which are no outputs of its steps",
          "[records]") {
  const ScratchFolder scratch;
  const CommandResult first = run_kdgat("run example steps=4", scratch.path());
  INFO(first.err);
  CHECK(first.exit_code == 0);
  const fs::path step = newest_run(scratch / "runs/default") / "example";
  CHECK_THAT(read_text(step / "metrics.csv"), Contains(",4,count,4\n"));
  CHECK_THAT(read_text(step / "metrics.csv"), Contains(",0,cpu_mem_percent,"));
  REQUIRE(fs::exists(step / "tensorboard"));
  CHECK(fs::directory_iterator(step / "tensorboard")
            ->path()
            .filename()
            .string()
            .starts_with("events.out.tfevents."));

  fs::remove_all(step / "tensorboard");
  append_text(step / "metrics.csv", "x");
  CHECK_THAT(run_kdgat("plan example steps=4 --explain", scratch.path()).out, Contains("kept"));

  const CommandResult sync = run_kdgat("sync", scratch.path());
  CHECK(sync.exit_code == 0);
  CHECK(sync.out == "everything is up to date (1 run)\n");
  CHECK(fs::exists(step / "tensorboard"));
  CHECK(read_text(step / "metrics.csv").back() == '\n');
}

TEST_CASE("records=[] leaves the journal alone", "[records]") {
  const ScratchFolder scratch;
  CHECK(run_kdgat("run example 'records=[]'", scratch.path()).exit_code == 0);
  const fs::path step = newest_run(scratch / "runs/default") / "example";
  CHECK(fs::exists(step / "journal.jsonl"));
  CHECK_FALSE(fs::exists(step / "metrics.csv"));
  CHECK_FALSE(fs::exists(step / "tensorboard"));
}

TEST_CASE("a run sends its numbers to the server of the environment while it works", "[records]") {
  const ScratchFolder scratch;
  FakeMlflow server;
  {
    Background run("run example steps=100000 seconds=0.05 --mlflow-uri " + server.url(),
                   scratch.path());
    REQUIRE(comes_true([&] { return server.runs() == 2; }));
    const std::string id = newest_run(scratch / "runs/default").filename().string() + "/example";
    REQUIRE(comes_true([&] { return numbers(server, id, "count") > 0; }));
    CHECK(server.run(id).status == "RUNNING");
    CHECK(run.end(SIGINT) == 130);
    CHECK(server.run(id).status == "KILLED");
    CHECK(server.run(id).tags.at("status") == "interrupted");
  }
  const fs::path folder = newest_run(scratch / "runs/default");
  const std::string id = folder.filename().string() + "/example";
  CHECK(numbers(server, id, "count") ==
        count(read_text(folder / "example/journal.jsonl"), "\"what\":\"step\""));
  CHECK(read_text(scratch / "err").find("warning") == std::string::npos);
}

TEST_CASE("a server that is away changes no exit code, and kdgat sync sends everything later",
          "[records]") {
  const ScratchFolder scratch;
  const HeldPort port;
  const std::string uri = "http://127.0.0.1:" + port.text();
  const CommandResult run =
      run_shell("MLFLOW_TRACKING_URI=" + uri + " '" + fs::absolute(kdgat_binary()).string() +
                    "' run example steps=4",
                scratch.path());
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK(count(run.err, "warning") == 1);
  CHECK_THAT(run.err, Contains("mlflow: " + uri +
                               ": no connection: Connection refused; later: kdgat sync runs/"));
  const CommandResult early = run_kdgat("sync", scratch.path());
  CHECK(early.exit_code == 3);
  CHECK_THAT(early.err, Contains("no connection"));
  CHECK_THAT(early.out, Contains("not complete"));

  FakeMlflow server(port.number());
  const CommandResult sync = run_kdgat("sync --json", scratch.path());
  INFO(sync.err);
  CHECK(sync.exit_code == 0);
  const std::string id = newest_run(scratch / "runs/default").filename().string();
  CHECK(json::parse(sync.out).at("sent") == server.run(id + "/example").sent.size());
  CHECK(numbers(server, id + "/example", "count") == 4);
  CHECK(server.run(id).status == "FINISHED");
  const int asked = server.requests;
  CHECK_THAT(run_kdgat("sync " + id.substr(0, 12), scratch.path()).out,
             Contains("everything is up to date"));
  CHECK(server.requests == asked);
}

TEST_CASE("a server that hangs delays the end of a run by seconds and changes nothing else",
          "[records]") {
  const ScratchFolder scratch;
  FakeMlflow server;
  server.mood = FakeMlflow::Mood::kHang;
  const CommandResult run =
      run_kdgat("run example steps=4 --mlflow-uri " + server.url(), scratch.path());
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK(count(run.err, "warning") == 1);
  CHECK_THAT(run.err, Contains("mlflow: " + server.url()));
  CHECK_THAT(read_text(newest_run(scratch / "runs/default") / "example/metrics.csv"),
             Contains("4,count,4"));
}

TEST_CASE("after kill -9 kdgat sync completes the records, and the continued run goes on with them",
          "[records]") {
  const ScratchFolder scratch;
  FakeMlflow server;
  const std::string words = "run example steps=600 --mlflow-uri " + server.url();
  {
    // Far longer than any test waits, so that it is running when it is killed; then as fast as it
    // can.
    Background run(words + " seconds=1", scratch.path());
    REQUIRE(comes_true([&] { return server.runs() == 2; }));
    run.end(SIGKILL);
  }
  const fs::path folder = newest_run(scratch / "runs/default");
  const std::string id = folder.filename().string() + "/example";
  const auto journaled = [&] {
    return count(read_text(folder / "example/journal.jsonl"), "\"what\":\"step\"");
  };
  REQUIRE(comes_true([&] { return run_kdgat("sync", scratch.path()).exit_code == 0; }));
  CHECK(numbers(server, id, "count") == journaled());
  CHECK(count(read_text(folder / "example/metrics.csv"), ",count,") == journaled());

  const CommandResult again = run_kdgat(words, scratch.path());
  INFO(again.err);
  CHECK(again.exit_code == 0);
  CHECK_THAT(again.err, Contains("continuing run"));
  CHECK(numbers(server, id, "count") == journaled());
  CHECK(server.run(id).status == "FINISHED");
  CHECK(server.runs() == 2);
}

TEST_CASE("the machine's memory is recorded at steps that never fall", "[records]") {
  const ScratchFolder scratch;
  {
    Background run("run example steps=600 seconds=1", scratch.path());
    REQUIRE(wait_for(scratch / "runs", "journal.jsonl", "what"));
    run.end(SIGKILL);
  }
  const fs::path journal = newest_run(scratch / "runs/default") / "example/journal.jsonl";
  append_text(journal, "\n" + json(memory_event(Machine(scratch.path()), 39)).dump() + "\n");
  CHECK(run_kdgat("run example steps=600", scratch.path()).exit_code == 0);
  int64_t last = 0, records = 0;
  for (const auto& line : JournalReader(journal).read()) {
    if (line.event.value("what", "") != kMachine) continue;
    const int64_t index = line.event.at("index");
    CHECK(index >= last);
    last = index;
    ++records;
  }
  CHECK(last == 39);
  CHECK(records >= 4);
}

TEST_CASE("records that cannot be written are one warning", "[records]") {
  const ScratchFolder scratch;
  FakeMlflow server;
  const fs::path run = begin_run(scratch / "runs", {{"mlflow_uri", server.url()}});
  fs::create_directories(run / "classifier/metrics.csv/in the way");
  const CommandResult sync = run_kdgat("sync", scratch.path());
  CHECK(sync.exit_code == 3);
  CHECK(count(sync.err, "error:") == 1);
  CHECK_THAT(sync.err, Contains("records: cannot rename") && Contains("metrics.csv"));
  CHECK(numbers(server, "01RUN/classifier", "train_loss") == 2);  // the others are written
}

TEST_CASE("kdgat sync sends runs elsewhere and says what is wrong with an address", "[records]") {
  const ScratchFolder scratch;
  end_run(begin_run(scratch / "runs"));
  CHECK(run_kdgat("sync --to sqlite:///mlflow.db", scratch.path()).exit_code == 2);
  CHECK(run_kdgat("run example mlflow_uri=sqlite:///mlflow.db", scratch.path()).exit_code == 2);
  CHECK(run_kdgat("sync --root nowhere", scratch.path()).exit_code == 3);
  CHECK(run_kdgat("sync 01RUN --to mlruns", scratch.path()).out ==
        "17 numbers sent; everything is up to date (1 run)\n");
  CHECK(fs::exists(scratch / "mlruns/0/meta.yaml"));
  FakeMlflow server;
  CHECK(run_kdgat("sync runs/cars/01RUN/ --to " + server.url(), scratch.path()).exit_code == 0);
  CHECK(numbers(server, "01RUN/classifier", "train_loss") == 4);
}

TEST_CASE("kdgat sync --follow ends with the run it follows", "[records]") {
  const ScratchFolder scratch;
  FakeMlflow server;
  const fs::path run = begin_run(scratch / "runs");
  Background sync("sync 01RUN --follow --to " + server.url(), scratch.path());
  REQUIRE(comes_true([&] { return numbers(server, "01RUN/classifier", "train_loss") == 2; }));
  end_run(run);
  REQUIRE(comes_true([&] { return !read_text(scratch / "out").empty(); }));
  CHECK(sync.wait() == 0);
  CHECK(server.run("01RUN").status == "FINISHED");
  CHECK_THAT(read_text(scratch / "out"), Contains("17 numbers sent"));
}
