// The smoke profile, made small, through a real SLURM (tests/slurm/cluster starts it).
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>

#include "engine/file/safetensors.h"
#include "kdgat/atomic_file.h"
#include "support/programs/command.h"
#include "support/runs/runs.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// Small synthetic traffic; every job on one core.
const std::string kSmall =
    "--preset smoke data.synth.seconds=20 data.synth.vehicles=2 threads=1 --profile site.yaml ";

std::string shell(const std::string& line) { return run_shell(line, fs::current_path()).out; }

/// Does what nobody wants to wait for: SLURM starts a requeued job some two minutes later.
void start_requeued_jobs() {
  shell(
      "for job in $(squeue --noheader --array --states=PENDING --format='%i %r' |"
      " awk '$2 == \"BeginTime\" {print $1}'); do"
      " scontrol update jobid=$job StartTime=now TimeLimit=20; done");
}

/// Asks again until the answer is yes. The bound is for a cluster that hangs, not a speed: on a busy
/// machine a job takes minutes.
bool wait_until(const std::function<bool()>& is_so) {
  constexpr int kTries = 3600;
  constexpr auto kPause = std::chrono::milliseconds(500);
  for (int i = 0; i < kTries; ++i) {
    if (is_so()) return true;
    start_requeued_jobs();
    std::this_thread::sleep_for(kPause);
  }
  return false;
}

json run_json(const fs::path& run) { return json::parse(read_text(run / "run.json")); }

struct Folder {
  Folder() { write_file(scratch / "site.yaml", "cpus_per_task: 1\ntime: 10min\nrequeues: 50\n"); }

  json kdgat(const std::string& words, int code = 0) const {
    const CommandResult result = run_kdgat(words + " --json", scratch.path());
    INFO(words << "\n" << result.out << result.err);
    REQUIRE(result.exit_code == code);
    return json::parse(result.out);
  }
  /// Folders of the runs that were submitted, one a seed.
  std::vector<fs::path> submit(const std::string& words) const {
    const json answer = kdgat("submit " + kSmall + words);
    std::vector<fs::path> runs;
    for (const json& run : answer.at("runs")) {
      runs.emplace_back(run.at("folder").get<std::string>());
    }
    return runs;
  }
  json jobs(const fs::path& run) const { return kdgat("jobs " + run.string()).at("jobs"); }
  /// The run has its last word, and the job that said it has left the cluster: its output is whole.
  bool is_over(const fs::path& run) const {
    if (!run_json(run).contains("exit_code")) return false;
    const json all = jobs(run);
    return std::none_of(all.begin(), all.end(), [](const json& job) {
      const std::string state = job.at("state");
      return state == "RUNNING" || state == "COMPLETING";
    });
  }
  json job(const fs::path& run, const std::string& step) const {
    for (const json& job : jobs(run)) {
      if (job.at("step") == step) return job;
    }
    FAIL("no job of " << step << " in " << run);
    return {};
  }
  ScratchFolder scratch;
};

bool has_ended(const fs::path& run) { return run_json(run).contains("exit_code"); }

std::vector<json> journal(const fs::path& step) {
  std::vector<json> events;
  std::ifstream in(step / "journal.jsonl");
  for (std::string line; std::getline(in, line);) events.push_back(json::parse(line));
  return events;
}

double time_of(const fs::path& step, const std::string& event) {
  double time = 0;
  for (const json& e : journal(step)) {
    if (e.at("event") == event) time = e.at("unix");
  }
  return time;
}

std::string said_by(const fs::path& run) {
  std::string text;
  for (const auto& entry : fs::directory_iterator(run / "slurm")) {
    if (entry.path().extension() == ".out") text += read_text(entry.path());
  }
  return text;
}

void check_same_tensors(const fs::path& a, const fs::path& b) {
  const auto one = file::SafetensorsFile::open(a), other = file::SafetensorsFile::open(b);
  REQUIRE(one.tensors().size() == other.tensors().size());
  REQUIRE_FALSE(one.tensors().empty());
  for (const auto& [name, x] : one.tensors()) {
    const file::TensorView& y = other.tensor(name);
    INFO(name);
    REQUIRE(x.bytes == y.bytes);
    CHECK(std::memcmp(x.data, y.data, x.bytes) == 0);
  }
}

}  // namespace

TEST_CASE("SLURM runs the steps of a submission in order, in one run", "[slurm]") {
  const Folder folder;
  const fs::path run = folder.submit("max_epochs=2").front();
  REQUIRE(wait_until([&] { return folder.is_over(run); }));
  INFO(said_by(run));
  CHECK(run_json(run).at("exit_code") == 0);
  CHECK(time_of(run / "evaluate", "start") >= time_of(run / "autoencoder", "end"));
  CHECK(time_of(run / "evaluate", "start") >= time_of(run / "classifier", "end"));
  const json jobs = folder.jobs(run);
  REQUIRE(jobs.size() == 4);
  for (const json& job : jobs) {
    CHECK(job.at("state") == "done");
    CHECK(job.at("from") == "scontrol");  // there is no accounting here
    CHECK(job.at("memory_used") > 0);
    CHECK(job.at("memory_used") < job.at("memory_asked"));
  }
  CHECK_THAT(said_by(run), Contains("accuracy"));  // the table evaluate ends with
  const CommandResult again = run_kdgat(
      "run " + kSmall.substr(0, kSmall.find("--profile")) + "max_epochs=2", folder.scratch.path());
  CHECK_THAT(again.err, Contains("everything is up to date"));
}

TEST_CASE("SLURM starts no job that needs a step which is not as required", "[slurm][require]") {
  const Folder folder;
  const fs::path run =
      folder
          .submit(
              "max_epochs=2 --require 'classifier.val_loss<0' --require 'autoencoder.val_loss<9'")
          .front();
  const auto is_over = [&](const char* step) {
    const json job = folder.job(run, step);
    return job.at("state") == "done" || job.at("failure") != "";
  };
  REQUIRE(wait_until([&] { return is_over("evaluate") && is_over("detector"); }));
  INFO(said_by(run));
  CHECK(folder.job(run, "autoencoder").at("state") == "done");
  CHECK(folder.job(run, "classifier").at("failure") == "not as required");
  CHECK(folder.job(run, "evaluate").at("failure") == "needs a failed step");
  CHECK(folder.job(run, "detector").at("state") == "done");  // needs no classifier
  CHECK_THAT(said_by(run), Contains("classifier.val_loss") && Contains("required < 0"));
  CHECK(time_of(run / "evaluate", "start") == 0);
}

TEST_CASE("SLURM runs an array of seeds, a run each", "[slurm]") {
  const Folder folder;
  const std::vector<fs::path> runs = folder.submit("max_epochs=2 --array seeds=1..2");
  REQUIRE(runs.size() == 2);
  REQUIRE(wait_until([&] { return folder.is_over(runs[0]) && folder.is_over(runs[1]); }));
  for (const fs::path& run : runs) {
    INFO(said_by(run));
    CHECK(run_json(run).at("exit_code") == 0);
    for (const char* step : {"autoencoder", "classifier"}) {
      CHECK(time_of(run / "evaluate", "start") >= time_of(run / step, "end"));
    }
  }
  CHECK(folder.jobs(runs[0]).size() == 8);
  CHECK(read_text(runs[0] / "classifier/model.safetensors") !=
        read_text(runs[1] / "classifier/model.safetensors"));
}

TEST_CASE("a job that meets its time limit continues and ends as if undisturbed", "[slurm]") {
  const Folder folder;
  // How long an epoch takes here, for a training that outlasts the limit on any machine.
  const std::string plain =
      "run classifier " + kSmall.substr(0, kSmall.find("--profile")) + "patience=100000 ";
  folder.kdgat(plain + "max_epochs=40 --root probe");
  const std::vector<json> events =
      journal(newest_run(folder.scratch / "probe/smoke") / "classifier");
  std::vector<double> epochs;
  for (const json& e : events) {
    if (e.value("what", "") == "epoch") epochs.push_back(e.at("unix"));
  }
  REQUIRE(epochs.size() > 2);
  const double each = (epochs.back() - epochs.front()) / static_cast<double>(epochs.size() - 1);
  constexpr double kSeconds = 45;
  const std::string words =
      "max_epochs=" + std::to_string(static_cast<int64_t>(kSeconds / std::max(each, 1e-3))) + " ";

  const fs::path run =
      folder.submit("classifier patience=100000 " + words + "--slurm time=1min --slurm signal=55")
          .front();
  // The undisturbed one, meanwhile.
  folder.kdgat(plain + words + "--root undisturbed");
  const bool is_over = wait_until([&] { return has_ended(run); });
  INFO(said_by(run));
  REQUIRE(is_over);
  CHECK(run_json(run).at("exit_code") == 0);
  CHECK_THAT(said_by(run), Contains("is queued again"));
  CHECK(folder.job(run, "classifier").at("restarts") >= 1);
  std::vector<int> ends;
  for (const json& e : journal(run / "classifier")) {
    if (e.at("event") == "end") ends.push_back(e.at("code"));
  }
  REQUIRE(ends.size() >= 2);
  CHECK(ends.front() == 85);
  CHECK(ends.back() == 0);
  check_same_tensors(
      run / "classifier/model.safetensors",
      newest_run(folder.scratch / "undisturbed/smoke") / "classifier/model.safetensors");
}

TEST_CASE("a job over its memory is told from others and submitted again with more", "[slurm]") {
  const Folder folder;
  // One that SLURM kills while a line of the site profile has too much, one that is too small for
  // kdgat itself. With too little memory it waits to be killed.
  write_file(folder.scratch / "hog.yaml",
             "preset: site.yaml\nbefore:\n"
             "  - python3 -c 'import os, time; held = bytearray(200 << 20); "
             "time.sleep(3600 if int(os.environ[\"SLURM_MEM_PER_NODE\"]) < 256 else 0)'\n");
  const std::string small = "classifier max_epochs=2 --slurm max_mem=4GiB --slurm ";
  const fs::path killed = folder.submit(small + "mem=160MiB --profile hog.yaml").front();
  const fs::path refused = folder.submit(small + "mem=60MiB --force").front();
  for (const fs::path& run : {killed, refused}) {
    const auto state = [&] { return folder.job(run, "classifier"); };
    const auto is_over = [&] {
      const std::string now = state().at("state");
      return now != "PENDING" && now != "RUNNING" && now != "COMPLETING";
    };
    REQUIRE(wait_until(is_over));
    INFO(said_by(run));
    const uint64_t asked = state().at("memory_asked");
    CHECK(state().at("failure") == "host out of memory");
    CHECK(state().at("remedy") == "more memory");
    if (run == killed) CHECK_THAT(said_by(run), Contains("exceeded memory limit"));
    CHECK(folder.kdgat("jobs " + run.string() + " --retry").at("submitted").size() == 1);
    CHECK(state().at("memory_asked") >= 2 * asked);
    REQUIRE(wait_until(is_over));
    for (int i = 0; i < 2 && state().at("state") != "done"; ++i) {
      CHECK(state().at("failure") == "host out of memory");
      folder.kdgat("jobs " + run.string() + " --retry");
      REQUIRE(wait_until(is_over));
    }
    CHECK(state().at("state") == "done");
    CHECK(run_json(run).at("exit_code") == 0);
  }
}

TEST_CASE("cancelled jobs leave a checkpoint, and the rest of them is continued", "[slurm]") {
  const Folder folder;
  const fs::path run =
      folder.submit("max_epochs=100000 patience=100000 --until classifier autoencoder.max_epochs=1")
          .front();
  REQUIRE(wait_until([&] {
    const fs::path step = run / "classifier";
    if (!fs::exists(step / "journal.jsonl")) return false;
    const std::vector<json> events = journal(step);
    return std::any_of(events.begin(), events.end(),
                       [](const json& e) { return e.value("what", "") == "epoch"; });
  }));
  const json cancelled = folder.kdgat("cancel " + run.string()).at("cancelled");
  CHECK(std::any_of(cancelled.begin(), cancelled.end(),
                    [](const json& job) { return job.at("step") == "classifier"; }));
  REQUIRE(wait_until([&] { return folder.job(run, "classifier").at("state") == "CANCELLED"; }));
  INFO(said_by(run));
  CHECK(folder.job(run, "classifier").at("failure") == "cancelled");
  CHECK(journal(run / "classifier").back().at("code") == 143);
  CHECK(fs::exists(run / "classifier/checkpoint"));
  CHECK(folder.job(run, "classifier").at("restarts") == 0);
}
