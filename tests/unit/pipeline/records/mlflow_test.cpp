// What reaches MLflow, once and whole, from a server that is there, one that is not, and a folder.
#include "pipeline/records/mlflow.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>

#include "pipeline/records/http.h"
#include "pipeline/records/mlflow_sync.h"
#include "pipeline/records/recorder.h"
#include "pipeline/run/artifacts.h"
#include "support/graphs/variable.h"
#include "support/programs/bytes_read.h"
#include "support/programs/command.h"
#include "support/programs/held_port.h"
#include "support/programs/no_locks.h"
#include "support/programs/wait.h"
#include "support/runs/fake_mlflow.h"
#include "support/runs/recorded_run.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

// Ends a request that would wait for ever; no answer is this late, on a busy machine neither.
constexpr double kSeconds = 300;

/// Records of a run that go to this address and nowhere else.
RunRecords records_to(const fs::path& run, const std::string& uri, double seconds = kSeconds) {
  return RunRecords(run, {false, false, uri, "kd-gat-pipeline", true}, seconds);
}

std::string joined(const std::vector<Diagnostic>& list) {
  std::string out;
  for (const Diagnostic& one : list) out += one.text();
  return out;
}

}  // namespace

TEST_CASE("a run comes to a server with its steps, parameters, numbers and tags", "[records]") {
  const ScratchFolder scratch;
  FakeMlflow server;
  const fs::path run = begin_run(scratch.path());
  end_run(run);
  const auto outcome = records_to(run, server.url()).update(true);
  INFO(joined(outcome.problems));
  CHECK(outcome.problems.empty());
  CHECK(outcome.sent == 17);  // 4 epochs of 4 numbers, and one of the result

  const FakeMlflow::Run all = server.run("01RUN");
  CHECK(all.status == "FINISHED");
  CHECK(all.tags.at("status") == "complete");
  CHECK(all.params.at("profile") == "smoke");
  const FakeMlflow::Run step = server.run("01RUN/classifier");
  CHECK(step.status == "FINISHED");
  CHECK(step.end == 1'700'000'005'250);
  CHECK(step.sent.size() == 17);
  CHECK(step.sent.contains({"train_loss", 0.125, 1'700'000'003'250, 3}));
  CHECK(step.sent.contains({"val_acc", 0.5, 1'700'000'001'250, 1}));
  CHECK(step.sent.contains({"result.val_auc", 0.75, 1'700'000'005'250, 0}));
  CHECK(step.params == std::map<std::string, std::string>{{"lr", "0.003"},
                                                          {"use_kd", "True"},
                                                          {"hidden", "[24,12]"},
                                                          {"seed", "42"},
                                                          {"stage", "classifier"},
                                                          {"step", "classifier"},
                                                          {"device", "cpu"},
                                                          {"dataset", "cars"}});
  const std::map<std::string, std::string> tags = {{"stage", "classifier"},
                                                   {"dataset", "cars"},
                                                   {"model_size", "student"},
                                                   {"model_arch", "gat"},
                                                   {"use_kd", "True"},
                                                   {"teacher_run_id", "01OLD/classifier teacher"},
                                                   {"start_time", "2023-11-14T22:13:20Z"},
                                                   {"end_time", "2023-11-14T22:13:25Z"},
                                                   {"status", "complete"}};
  for (const auto& [key, value] : tags) {
    INFO(key);
    CHECK(step.tags.at(key) == value);
  }
  CHECK_FALSE(step.tags.contains("error_msg"));
  CHECK(step.tags.at("mlflow.parentRunId") == "run1");
  CHECK(json::parse(step.artifacts.at("metrics.json")).at("val_auc") == 0.75);
}

TEST_CASE("a failed step comes with its error", "[records]") {
  const ScratchFolder scratch;
  FakeMlflow server;
  const fs::path run = begin_run(scratch.path());
  end_run(run, 82, "out of host memory");
  CHECK(records_to(run, server.url()).update(true).problems.empty());
  const FakeMlflow::Run step = server.run("01RUN/classifier");
  CHECK(step.status == "FAILED");
  CHECK(step.tags.at("status") == "failed");
  CHECK(step.tags.at("error_msg") == "out of host memory");
  CHECK(step.artifacts.empty());
  CHECK(server.run("01RUN").status == "FAILED");
}

TEST_CASE("what was sent is not sent again", "[records]") {
  const ScratchFolder scratch;
  FakeMlflow server;
  const fs::path run = begin_run(scratch.path());
  CHECK(records_to(run, server.url()).update(true).sent == 8);
  const int asked = server.requests;
  CHECK(records_to(run, server.url()).update(true).sent == 0);
  CHECK(server.run("01RUN/classifier").status == "KILLED");  // nobody works on the run
  CHECK(server.run("01RUN/classifier").tags.at("error_msg") == "its process was killed");
  CHECK(server.requests == asked);

  // Continued, to its end.
  append_text(run / "classifier/journal.jsonl",
              journal_line({{"event", "start"}, {"run", "01RUN"}}, 3));
  end_run(run);
  CHECK(records_to(run, server.url()).update(true).sent == 9);
  const FakeMlflow::Run step = server.run("01RUN/classifier");
  CHECK(step.sent.size() == 17);
  CHECK(step.status == "FINISHED");
  CHECK(step.tags.at("start_time") == "2023-11-14T22:13:23Z");
  CHECK(server.runs() == 2);
  const int at_end = server.requests;
  CHECK(records_to(run, server.url()).update(true).sent == 0);
  CHECK(server.requests == at_end);
}

TEST_CASE("a step is closed for its process only once nobody works on the run", "[records]") {
  const ScratchFolder scratch;
  FakeMlflow server;
  const fs::path run = begin_run(scratch.path());
  {
    const OwnedFd lock = open_file(run / "lock", O_RDWR | O_CREAT);
    REQUIRE(::flock(lock.get(), LOCK_EX | LOCK_NB) == 0);
    CHECK(records_to(run, server.url()).update(true).problems.empty());
    CHECK(server.run("01RUN/classifier").status == "RUNNING");
  }
  CHECK(records_to(run, server.url()).update(true).problems.empty());
  CHECK(server.run("01RUN/classifier").status == "KILLED");
}

TEST_CASE("where the file system refuses locks a lost run is closed, too", "[records]") {
  const ScratchFolder scratch;
  FakeMlflow server;
  const fs::path run = begin_run(scratch.path());
  append_text(run / "lock", "here 1\n");
  const auto outcome = without_locks([&] { return records_to(run, server.url()).update(true); });
  INFO(joined(outcome.problems));
  CHECK(outcome.problems.empty());
  CHECK(outcome.sent == 8);
  CHECK(server.run("01RUN/classifier").status == "KILLED");
  CHECK(server.run("01RUN/classifier").tags.at("error_msg") == "its process was killed");
}

TEST_CASE("whenever a server fails, later tries complete the run and send no number twice",
          "[records]") {
  int failures = 0;
  for (int good = 0; good < 40; ++good) {
    INFO("good for " << good << " requests");
    const ScratchFolder scratch;
    FakeMlflow server;
    const fs::path run = begin_run(scratch.path());
    end_run(run);
    server.good_for = good;
    const auto failed = records_to(run, server.url()).update(true);
    server.good_for = -1;
    server.mood = FakeMlflow::Mood::kGood;
    if (failed.problems.empty()) break;
    ++failures;
    CHECK_THAT(joined(failed.problems), Contains("answers 500"));
    CHECK(failed.problems.size() == 1);
    CHECK(records_to(run, server.url()).update(true).problems.empty());
    CHECK(server.run("01RUN/classifier").sent.size() == 17);
    CHECK(server.run("01RUN/classifier").status == "FINISHED");
    CHECK(server.run("01RUN").status == "FINISHED");
    CHECK(server.runs() == 2);
  }
  CHECK(failures > 10);
}

TEST_CASE("a process that dies before it remembers what it sent makes no second run", "[records]") {
  const ScratchFolder scratch;
  FakeMlflow server;
  const fs::path run = begin_run(scratch.path());
  end_run(run);
  CHECK(records_to(run, server.url()).update(true).problems.empty());
  fs::remove(run / "mlflow.json");
  CHECK(records_to(run, server.url()).update(true).problems.empty());
  CHECK(server.runs() == 2);
  CHECK(server.run("01RUN/classifier").keys().count("train_loss") == 8);  // a server keeps one each
}

TEST_CASE("runs removed at the server are sent anew", "[records]") {
  const ScratchFolder scratch;
  FakeMlflow server;
  const fs::path run = begin_run(scratch.path());
  CHECK(records_to(run, server.url()).update(true).sent == 8);
  server.forget_runs();
  end_run(run);
  CHECK(records_to(run, server.url()).update(true).sent == 17);
  CHECK(server.run("01RUN/classifier").sent.size() == 17);
}

TEST_CASE("a parameter that changed keeps no number from being sent", "[records]") {
  const ScratchFolder scratch;
  FakeMlflow server;
  const fs::path run = begin_run(scratch.path());
  CHECK(records_to(run, server.url()).update(true).problems.empty());
  fs::remove(run / "mlflow.json");
  write_json(run / "classifier/config.json", {{"options", {{"lr", 0.5}}}});
  end_run(run);
  CHECK(records_to(run, server.url()).update(true).problems.empty());
  CHECK(server.run("01RUN/classifier").params.at("lr") == "0.003");
  CHECK(server.run("01RUN/classifier").status == "FINISHED");
}

TEST_CASE("a server that refuses, hangs or talks nonsense is one problem, in time", "[records]") {
  const ScratchFolder scratch;
  const fs::path run = begin_run(scratch.path());
  FakeMlflow server;
  const auto problem = [&](const std::string& uri, double seconds) {
    const auto outcome = records_to(run, uri, seconds).update(true);
    CHECK(outcome.sent == 0);
    REQUIRE(outcome.problems.size() == 1);
    return outcome.problems.front().text();
  };
  const HeldPort nobody;
  CHECK_THAT(problem("http://127.0.0.1:" + nobody.text(), kSeconds), Contains("no connection"));
  CHECK_THAT(problem("http://no-such-host.invalid", 5), Contains("mlflow: http://no-such"));
  CHECK_THAT(problem("https://127.0.0.1:" + std::to_string(server.port()), 0.5),
             Contains("mlflow: https://127"));
  server.mood = FakeMlflow::Mood::kGarbage;
  CHECK_THAT(problem(server.url(), kSeconds), Contains("no JSON object"));
  server.mood = FakeMlflow::Mood::kTruncated;
  CHECK_THAT(problem(server.url(), kSeconds), Contains("no JSON object"));
  server.mood = FakeMlflow::Mood::kHang;
  CHECK_THAT(problem(server.url(), 0.2), Contains("mlflow: http://127"));
}

TEST_CASE("two processes never write the same records at once", "[records]") {
  const ScratchFolder scratch;
  FakeMlflow server;
  const fs::path run = begin_run(scratch.path());
  server.mood = FakeMlflow::Mood::kHang;
  std::thread slow([&] { records_to(run, server.url()).update(true); });
  while (server.requests == 0) std::this_thread::yield();
  const int asked = server.requests;
  CHECK(records_to(run, server.url()).update(false).problems.empty());  // left to the other
  CHECK(server.requests == asked);
  server.mood = FakeMlflow::Mood::kGood;
  slow.join();
  CHECK(records_to(run, server.url()).update(true).problems.empty());
  CHECK(server.run("01RUN/classifier").keys().count("train_loss") == 2);
}

TEST_CASE("a server that does not answer is asked ever less often", "[records]") {
  const ScratchFolder scratch;
  FakeMlflow server;
  const fs::path run = begin_run(scratch.path());
  server.mood = FakeMlflow::Mood::kError;
  RunRecords records = records_to(run, server.url());
  CHECK(records.update(false).problems.size() == 1);
  // The pause doubles each time, so in the end it is longer than this machine takes for a line.
  CHECK(comes_true([&] {
    const int asked = server.requests;
    CHECK(records.update(false).problems.size() == 1);
    return server.requests == asked;
  }));
  server.mood = FakeMlflow::Mood::kGood;
  CHECK(records.update(true).sent == 8);
}

TEST_CASE("who asks is told to the server and written nowhere", "[records]") {
  const ScratchFolder scratch;
  FakeMlflow server;
  const fs::path run = begin_run(scratch.path());
  const std::string host = server.url().substr(std::string("http://").size());
  CHECK(records_to(run, "http://ann:s%20cret@" + host).update(true).problems.empty());
  CHECK(server.last_authorization() == "Basic YW5uOnMgY3JldA==");
  CHECK_THAT(read_text(run / "mlflow.json"), Contains("\"" + server.url() + "\""));
  CHECK(read_text(run / "mlflow.json").find("cret") == std::string::npos);
  const RecordTargets targets{true, true, "http://ann:secret@" + host, "e"};
  CHECK(targets.public_json().dump().find("secret") == std::string::npos);
  end_run(run);
  {
    const Variable token("MLFLOW_TRACKING_TOKEN", "abc");
    CHECK(records_to(run, server.url()).update(true).problems.empty());
  }
  CHECK(server.last_authorization() == "Bearer abc");
}

TEST_CASE("credentials of the environment go only where the user sends a run", "[records]") {
  const ScratchFolder scratch;
  FakeMlflow server;
  const std::string kdgat = "'" + fs::absolute(kdgat_binary()).string() + "' ";
  const std::string token = "MLFLOW_TRACKING_TOKEN=s3cret ";
  append_text(scratch / "p.yaml",
              "mlflow_uri: " + server.url() + "\nstages: {example: {steps: 2}}\n");
  const auto run = [&](const std::string& words) {
    const CommandResult said = run_shell(words, scratch.path());
    INFO(words << "\n" << said.err);
    CHECK(said.exit_code == 0);
    return said.err;
  };
  // A profile may have come with a data set.
  CHECK_THAT(run(token + kdgat + "run p.yaml"),
             Contains("note: MLFLOW_TRACKING_TOKEN is not sent to " + server.url()) &&
                 Contains("--mlflow-uri"));
  CHECK(server.requests > 0);
  CHECK(server.last_authorization().empty());
  // Nor is the run.json of a run believed, but in the jobs of a run that the user submitted.
  const fs::path made = begin_run(scratch / "other");
  json document = json::parse(read_text(made / "run.json"));
  document["records"] = RecordTargets{false, false, server.url(), "e", true}.public_json();
  write_json(made / "run.json", document);
  CHECK_FALSE(targets_of_run(made, "").sends_credentials);
  CHECK(targets_of_run(made, "", true).sends_credentials);
  CHECK(targets_of_run(made, server.url()).sends_credentials);
  // Who names the address means it: on the command line, in the environment, or the same server.
  for (const std::string& words :
       {kdgat + "run p.yaml steps=3 --mlflow-uri " + server.url(),
        "KDGAT_MLFLOW_URI=" + server.url() + " " + kdgat + "run p.yaml steps=4",
        "MLFLOW_TRACKING_URI=" + server.url() + "/ " + kdgat + "run p.yaml steps=5",
        "MLFLOW_TRACKING_URI=" + server.url() + " " + kdgat + "run example steps=6"}) {
    const std::string said = run(token + words);
    CHECK(said.find("is not sent") == std::string::npos);
    CHECK(server.last_authorization() == "Bearer s3cret");
  }
  // The command that is shown when a server does not answer sends the same.
  const Variable held("MLFLOW_TRACKING_TOKEN", "s3cret");
  RecordTargets targets{false, false, server.url(), "e", true};
  CHECK(sync_line("runs/a", targets) == "kdgat sync runs/a --to " + server.url());
  targets.sends_credentials = false;
  CHECK(sync_line("runs/a", targets) == "kdgat sync runs/a");
}

TEST_CASE("hundreds of parameters and thousands of numbers are sent in parts", "[records]") {
  const ScratchFolder scratch;
  FakeMlflow server;
  const fs::path run = begin_run(scratch.path());
  json options;
  for (int i = 0; i < 250; ++i) options["option_" + std::to_string(i)] = i;
  write_json(run / "classifier/config.json", {{"options", options}});
  std::string journal;
  for (int i = 3; i <= 1000; ++i) journal += journal_line(epoch_event(i, 1), 3);
  append_text(run / "classifier/journal.jsonl", journal);
  const auto outcome = records_to(run, server.url()).update(true);
  INFO(joined(outcome.problems));
  CHECK(outcome.sent == 4000);
  CHECK(server.run("01RUN/classifier").sent.size() == 4000);
  CHECK(server.run("01RUN/classifier").params.size() == 251);
}

TEST_CASE("a folder gets the layout of MLflow's file store, nothing twice", "[records]") {
  const ScratchFolder scratch;
  const fs::path store = scratch / "mlruns";
  const fs::path run = begin_run(scratch / "runs");
  CHECK(records_to(run, store).update(true).sent == 8);
  end_run(run);
  CHECK(records_to(run, "file://" + store.string()).update(true).sent == 17);  // another address
  CHECK(records_to(run, store).update(true).sent == 9);
  CHECK(records_to(run, store).update(true).sent == 0);

  std::map<std::string, fs::path> runs;
  for (const auto& entry : fs::recursive_directory_iterator(store)) {
    if (entry.path().filename() == "mlflow.runName") {
      runs[read_text(entry.path())] = entry.path().parent_path().parent_path();
    }
  }
  REQUIRE(runs.size() == 2);
  const fs::path step = runs.at("01RUN/classifier");
  CHECK(read_text(step / "metrics/train_loss") ==
        "1700000001250 0.5 1\n1700000002250 0.25 2\n"
        "1700000003250 0.125 3\n1700000004250 0.0625 4\n");
  CHECK(read_text(step / "params/use_kd") == "True");
  CHECK(read_text(step / "tags/status") == "complete");
  CHECK_THAT(read_text(step / "meta.yaml"), Contains("status: 3") && Contains("end_time: 17"));
  CHECK_THAT(read_text(step.parent_path() / "meta.yaml"), Contains("name: kd-gat-pipeline"));
  CHECK(fs::exists(store / "0/meta.yaml"));
  CHECK(json::parse(read_text(step / "artifacts/metrics.json")).at("val_auc") == 0.75);
}

TEST_CASE("thousands of numbers go to a folder without its files being read again", "[records]") {
  const ScratchFolder scratch;
  const fs::path store = scratch / "mlruns";
  const auto files = mlflow_files(store);
  const std::string experiment = files->experiment("e");
  const MlflowRun there{experiment, files->create_run(experiment, "r", 1, {})};
  const fs::path file = store / experiment / there.id / "metrics/loss";
  constexpr int kBatches = 50, kInBatch = 200;
  const auto batch = [](int number) {
    std::vector<MlflowMetric> out;
    for (int i = 0; i < kInBatch; ++i) {
      const int step = number * kInBatch + i;
      out.push_back({"loss", 1.0 / (1 + step), 1'700'000'000'000 + step / 3, step});
    }
    return out;
  };
  const auto lines = [&] {
    const std::string text = read_text(file);
    return std::count(text.begin(), text.end(), '\n');
  };
  const uint64_t read = bytes_read_by([&] {
    for (int i = 0; i < kBatches; ++i) files->log(there, batch(i), {}, {});
  });
  CHECK(lines() == kBatches * kInBatch);
  CHECK(read < fs::file_size(file));
  // What comes again is there once: the last, an early one, and both to a process that knows
  // nothing.
  files->log(there, batch(kBatches - 1), {}, {});
  files->log(there, batch(3), {}, {});
  mlflow_files(store)->log(there, batch(7), {}, {});
  CHECK(lines() == kBatches * kInBatch);
  // Another process wrote to the file in the meantime.
  mlflow_files(store)->log(there, batch(kBatches), {}, {});
  files->log(there, batch(kBatches), {}, {});
  CHECK(lines() == (kBatches + 1) * kInBatch);
  // A clock that was set back, and a number that comes twice in one batch.
  const MlflowMetric late{"loss", 2, 1'600'000'000'000, 9}, newer{"loss", 3, 1'800'000'000'000, 10};
  files->log(there, {late, newer, late, newer}, {}, {});
  CHECK(lines() == (kBatches + 1) * kInBatch + 2);
}

TEST_CASE("a number cut off in a folder's file is written whole", "[records]") {
  const ScratchFolder scratch;
  const fs::path run = begin_run(scratch / "runs");
  const fs::path store = scratch / "mlruns";
  CHECK(records_to(run, store).update(true).sent == 8);
  fs::path losses;
  for (const auto& entry : fs::recursive_directory_iterator(store)) {
    if (entry.path().filename() == "train_loss") losses = entry.path();
  }
  const std::string whole = read_text(losses);
  fs::resize_file(losses, whole.size() - 5);
  fs::remove(run / "mlflow.json");
  CHECK(records_to(run, store).update(true).sent == 8);
  CHECK(read_text(losses) == whole);
}

TEST_CASE("an address says which kind of store it is", "[records]") {
  CHECK(mlflow_kind("http://localhost:5000") == MlflowKind::kServer);
  CHECK(mlflow_kind("https://a/b") == MlflowKind::kServer);
  for (const char* folder : {"mlruns", "./a:b", "/a/b", "file:///a", "file:a"}) {
    CHECK(mlflow_kind(folder) == MlflowKind::kFolder);
  }
  CHECK(mlflow_folder("file:///a/b") == "/a/b");
  CHECK(mlflow_folder("file:a") == "a");
  CHECK_THROWS_WITH(mlflow_kind("sqlite:///mlflow.db"), Contains("cannot be written to"));
  CHECK_THROWS_WITH(mlflow_kind("databricks://u:p@x"),
                    Contains("databricks://x cannot be written to"));
  CHECK(mlflow_name("a,b\xff/c d.e-f:g") == "a_b_/c d.e-f:g");
}
