// The records of a real run, read by the programs they are made for: a real MLflow server on a
// loopback port, and TensorBoard's own reader. Skipped, saying so, where Python has neither
// (scripts/setup --peers).
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <fstream>

#include "support/programs/cli.h"
#include "support/programs/held_port.h"
#include "support/programs/python.h"
#include "support/programs/wait.h"

using Catch::Contains;

namespace {

constexpr const char* kSmoke =
    "run --preset smoke data.synth.seconds=10 autoencoder.max_epochs=5 classifier.max_epochs=2 "
    "--threads 1 ";

/// Runs a script with arguments; its last line is JSON.
json python(const std::string& python, const fs::path& folder, const std::string& script,
            const std::string& arguments) {
  std::ofstream(folder / "script.py") << script;
  const CommandResult result = run_shell(python + " script.py " + arguments, folder);
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  const std::size_t end = result.out.find_last_not_of('\n');
  const std::size_t begin = result.out.rfind('\n', end);
  return json::parse(result.out.substr(begin + 1));
}

/// `mlflow server` with a store in `folder`, until the end of the test.
class MlflowServer {
 public:
  MlflowServer(const std::string& python, const fs::path& folder, const std::string& store) {
    const std::string line = "exec env MLFLOW_ALLOW_FILE_STORE=true " + python +
                             " -m mlflow server --host 127.0.0.1 --port " + port_.text() +
                             " --workers 1 --backend-store-uri '" + store +
                             "' --artifacts-destination '" + (folder / "artifacts").string() +
                             "' > server.log 2>&1";
    pid_ = ::fork();
    if (pid_ == 0) {
      ::setpgid(0, 0);  // it has children of its own
      if (::chdir(folder.c_str()) != 0) ::_exit(126);
      ::execl("/bin/bash", "bash", "-c", line.c_str(), nullptr);
      ::_exit(127);
    }
    ::setpgid(pid_, pid_);
    // Until it is there or has ended: under a heavy load its start takes minutes.
    bool is_gone = false;
    const auto is_over = [&] {
      is_gone = ::waitpid(pid_, nullptr, WNOHANG) != 0;
      return is_gone || is_served(port_.number());
    };
    while (!comes_true(is_over)) continue;
    INFO(read_text(folder / "server.log"));
    REQUIRE_FALSE(is_gone);
  }
  MlflowServer(const MlflowServer&) = delete;
  MlflowServer& operator=(const MlflowServer&) = delete;
  ~MlflowServer() {
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  std::string uri() const { return "http://127.0.0.1:" + port_.text(); }

 private:
  HeldPort port_;
  pid_t pid_ = -1;
};

/// What a server knows, by the names of its runs.
constexpr const char* kAsk = R"(
import json, sys
from mlflow.tracking import MlflowClient
client = MlflowClient(sys.argv[1])
experiment = client.get_experiment_by_name("kd-gat-pipeline")
out = {}
for run in client.search_runs([experiment.experiment_id]):
    history = {key: [[m.step, m.value] for m in client.get_metric_history(run.info.run_id, key)]
               for key in run.data.metrics}
    out[run.info.run_name] = {
        "status": run.info.status, "params": run.data.params, "tags": run.data.tags,
        "metrics": {key: sorted(values) for key, values in history.items()},
        "artifacts": [f.path for f in client.list_artifacts(run.info.run_id)]}
print(json.dumps(out))
)";

constexpr const char* kReadEvents = R"(
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1])
events.Reload()
print(json.dumps({tag: [[e.step, e.value, e.wall_time] for e in events.Scalars(tag)]
                  for tag in events.Tags()["scalars"]}))
)";

json epochs_of(const fs::path& step) {
  json out = json::array();
  std::ifstream in(step / "journal.jsonl");
  for (std::string line; std::getline(in, line);) {
    const json event = json::parse(line);
    if (event.value("what", "") == "epoch") out.push_back(event);
  }
  return out;
}

}  // namespace

TEST_CASE("a real MLflow server shows a run, its parameters and its metrics", "[records][cli]") {
  const auto with_mlflow = python_with("mlflow");
  if (!with_mlflow) return;
  const ScratchFolder scratch;
  const MlflowServer server(*with_mlflow, scratch.path(),
                            "sqlite:///" + (scratch / "mlflow.db").string());
  const CommandResult result =
      must_kdgat(std::string(kSmoke) + "--mlflow-uri " + server.uri(), scratch.path());
  // On a busy machine the server may answer later than a run waits for it. The run says so, and
  // sync sends the rest.
  const auto is_complete = [&] {
    const CommandResult again = run_kdgat("sync", scratch.path());
    return again.out.find("everything is up to date") != std::string::npos;
  };
  if (result.err.find("warning: mlflow") == std::string::npos) CHECK(is_complete());
  CHECK(comes_true(is_complete));

  const fs::path run = newest_run(scratch / "runs/smoke");
  const json shown = python(*with_mlflow, scratch.path(), kAsk, server.uri());
  const std::string id = run.filename().string();
  REQUIRE(shown.size() == 5);  // the run, and each of its steps
  CHECK(shown.at(id).at("status") == "FINISHED");
  CHECK(shown.at(id).at("params").at("profile") == "smoke");

  const json& autoencoder = shown.at(id + "/autoencoder");
  CHECK(autoencoder.at("status") == "FINISHED");
  CHECK(autoencoder.at("tags").at("status") == "complete");
  CHECK(autoencoder.at("tags").at("stage") == "autoencoder");
  CHECK(autoencoder.at("tags").at("dataset") == "smoke");
  CHECK(autoencoder.at("tags").at("model_arch") == "vgae");
  CHECK(autoencoder.at("params").at("max_epochs") == "5");
  CHECK(autoencoder.at("params").at("seed") == "42");
  const json epochs = epochs_of(run / "autoencoder");
  REQUIRE(epochs.size() == 5);
  for (const char* key : {"train_loss", "val_loss"}) {
    const json& history = autoencoder.at("metrics").at(key);
    REQUIRE(history.size() == epochs.size());
    for (std::size_t i = 0; i < epochs.size(); ++i) {
      CHECK(history[i][0] == i + 1);
      CHECK(history[i][1] == epochs[i].at("values").at(key));
    }
  }
  CHECK(autoencoder.at("metrics").at("cpu_mem_percent").size() == 3);  // start, epoch 5, end
  CHECK(shown.at(id + "/classifier").at("metrics").at("val_acc").size() == 2);

  const json& evaluate = shown.at(id + "/evaluate");
  const json metrics = json::parse(read_text(run / "evaluate/metrics.json"));
  CHECK(evaluate.at("metrics").at("classifier_f1")[0][1] ==
        metrics.at("classifier").at("core").at("f1"));
  const std::string part = "test_01_known_vehicle_known_attack";
  CHECK(evaluate.at("metrics").at("test.classifier." + part + ".accuracy")[0][1] ==
        metrics.at("test").at("classifier").at(part).at("core").at("accuracy"));
  CHECK(evaluate.at("artifacts") == json{"metrics.json"});
}

TEST_CASE("MLflow opens the folder a run was written to", "[records][cli]") {
  const auto with_mlflow = python_with("mlflow");
  if (!with_mlflow) return;
  const ScratchFolder scratch;
  must_kdgat("run example steps=3 --mlflow-uri mlruns", scratch.path());
  const MlflowServer server(*with_mlflow, scratch.path(), (scratch / "mlruns").string());
  const std::string id = newest_run(scratch / "runs/default").filename().string();
  const json shown = python(*with_mlflow, scratch.path(), kAsk, server.uri());
  CHECK(shown.at(id).at("status") == "FINISHED");
  const json& step = shown.at(id + "/example");
  CHECK(step.at("metrics").at("count") == json{{1, 1.0}, {2, 2.0}, {3, 3.0}});
  CHECK(step.at("params").at("steps") == "3");
  CHECK(step.at("tags").at("status") == "complete");
}

TEST_CASE("TensorBoard's own reader reads the event files of a run", "[records][cli]") {
  const auto with_tensorboard = python_with("tensorboard");
  if (!with_tensorboard) return;
  const ScratchFolder scratch;
  must_kdgat(kSmoke, scratch.path());
  const fs::path step = newest_run(scratch / "runs/smoke") / "autoencoder";
  const json read = python(*with_tensorboard, scratch.path(), kReadEvents,
                           "'" + (step / "tensorboard").string() + "'");
  const json epochs = epochs_of(step);
  REQUIRE(epochs.size() == 5);
  for (const char* key : {"train_loss", "val_loss", "val_auc", "lr"}) {
    INFO(key);
    REQUIRE(read.at(key).size() == epochs.size());
    for (std::size_t i = 0; i < epochs.size(); ++i) {
      CHECK(read.at(key)[i][0] == i + 1);
      CHECK(read.at(key)[i][1] == Approx(epochs[i].at("values").at(key).get<double>()));
      CHECK(read.at(key)[i][2] == epochs[i].at("unix"));
    }
  }
  CHECK(read.at("cpu_mem_used_gb").size() == 3);
}
