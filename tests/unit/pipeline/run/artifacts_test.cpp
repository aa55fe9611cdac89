#include "pipeline/run/artifacts.h"

#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <fstream>

#include "kdgat/atomic_file.h"
#include "pipeline/run/run_lock.h"
#include "pipeline/system/signals.h"
#include "support/programs/bytes_read.h"
#include "support/programs/command.h"
#include "support/runs/fake_plan.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

const Profile kProfile = fake_profile({fake_step("a", "trainer"), fake_step("b", "trainer")});

Plan plan_of_steps(const std::vector<PastStep>& past = {}) {
  return make_plan(kProfile, fake_catalog(), "3f9c", past, {});
}

/// Does a step as a runner would.
void do_step(Run& run, const PlannedStep& step) {
  StepFolder folder(run.step_folder(step.spec.name), {{"step", step.spec.name}});
  write_file(folder.path() / "model.safetensors", "weights");
  folder.journal({{"event", "end"}});
  folder.finish(step, "hash of trainer", {{"facts", {{"width", 4}}}, {"summary", "fine"}});
  run.record_step(step.spec.name, "done");
}

json read(const fs::path& path) { return json::parse(read_text(path)); }

/// As far as the clock of the machine tells milliseconds apart.
void wait_for_next_millisecond() {
  const auto now = [] {
    return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  };
  for (const auto before = now(); now() <= before;) continue;
}

/// Where nobody is waited for.
void nobody(const std::string& text) { FAIL("nobody is to be waited for: " << text); }

/// The exit code of `work` in a process of its own.
template <class Work>
int in_process(Work work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

TEST_CASE("the next run clears what killed ones left and nobody holds", "[artifacts]") {
  const ScratchFolder root;
  std::string busy;
  const Plan plan = plan_of_steps();
  fs::path killed, alive;
  // Two runs that did not come to an end: of one the process is gone, the other is worked on.
  {
    Run run = Run::create(root.path(), "test", plan);
    killed = run.folder();
  }
  Run working = Run::create(root.path(), "test", plan);
  alive = working.folder();
  for (const fs::path& run : {killed, alive}) {
    write_file(run / "run.json.tmp.1.0", "{");
    fs::create_directories(run / "a");
    write_file(run / "a/model.safetensors.tmp.1.0", "half");
    write_file(run / "a/notes", "stay");
  }
  fs::create_directories(root / ".removing/01OLD");
  const Profile other = fake_profile({fake_step("c", "trainer")});
  const Plan next = make_plan(other, fake_catalog(), "3f9c", {}, {});
  CHECK_FALSE(Run::resume(root.path(), next, busy, nobody));
  Run::create(root.path(), "test", next);
  CHECK_FALSE(fs::exists(killed / "run.json.tmp.1.0"));
  CHECK_FALSE(fs::exists(killed / "a/model.safetensors.tmp.1.0"));
  CHECK(fs::exists(killed / "a/notes"));
  CHECK(fs::exists(alive / "a/model.safetensors.tmp.1.0"));
  CHECK_FALSE(fs::exists(root / ".removing"));
}

TEST_CASE("what was killed after the end of a run is cleared by the next of the same plan",
          "[artifacts]") {
  const ScratchFolder root;
  std::string busy;
  const Plan plan = plan_of_steps();
  fs::path ended;
  {
    Run run = Run::create(root.path(), "test", plan);
    ended = run.folder();
    run.finish(0);
  }
  write_file(ended / "run.json.tmp.1.0", "{");
  {
    // The process that writes its records may still be at work.
    const OwnedFd records = lock_file(ended / kRecordsLock, LOCK_EX);
    CHECK_FALSE(Run::resume(root.path(), plan, busy, nobody));
    CHECK(fs::exists(ended / "run.json.tmp.1.0"));
  }
  CHECK_FALSE(Run::resume(root.path(), plan, busy, nobody));
  CHECK_FALSE(fs::exists(ended / "run.json.tmp.1.0"));
}

TEST_CASE("a finished step is found again with what it left", "[artifacts]") {
  const ScratchFolder root;
  const Plan plan = plan_of_steps();
  Run run = Run::create(root.path(), "test", plan);
  do_step(run, plan.steps[0]);
  const std::vector<PastStep> past = find_past_steps(root.path(), plan);
  REQUIRE(past.size() == 1);
  CHECK(past[0].run == run.id());
  CHECK(past[0].step == "a");
  CHECK(past[0].fingerprint == plan.steps[0].fingerprint);
  CHECK(past[0].facts.at("width") == 4);
  CHECK(past[0].missing.empty());
  CHECK(read_result(past[0].folder).at("summary") == "fine");
  CHECK(plan_of_steps(past).steps[0].action == Action::kKeep);
}

TEST_CASE("of many runs the newest that fits is found, and the newest of its name", "[artifacts]") {
  const ScratchFolder root;
  const Plan plan = plan_of_steps();
  std::vector<std::string> ids;
  for (int i = 0; i < 6; ++i) {
    Run run = Run::create(root.path(), "test", plan);
    ids.push_back(run.id());
    PlannedStep step = plan.steps[0];
    // The newest two had other options, the one before lost its model since.
    if (i >= 4) step.fingerprint = "another";
    do_step(run, step);
    if (i == 3) fs::remove(run.step_folder("a") / "model.safetensors");
    wait_for_next_millisecond();  // by which ids are ordered
  }
  const std::vector<PastStep> found = find_past_steps(root.path(), plan);
  REQUIRE(found.size() == 2);
  CHECK(found[0].run == ids[5]);
  CHECK(found[0].fingerprint == "another");
  CHECK(found[1].run == ids[2]);
  CHECK(found[1].fingerprint == plan.steps[0].fingerprint);
  CHECK(found[1].missing.empty());
}

TEST_CASE("runs that a plan does not need are not read, however many there are", "[artifacts]") {
  const ScratchFolder root;
  const Plan plan = plan_of_steps();
  Plan other = plan;
  for (PlannedStep& step : other.steps) step.fingerprint = "another";
  uint64_t run_files = 0, step_files = 0;
  for (int i = 0; i < 100; ++i) {
    Run run = Run::create(root.path(), "test", other);
    for (const PlannedStep& step : other.steps) {
      do_step(run, step);
      step_files += fs::file_size(run.step_folder(step.spec.name) / "step.json");
    }
    run_files += fs::file_size(run.folder() / "run.json");
  }
  std::vector<PastStep> found;
  // The newest of each name, and the text of every run.json; of what all steps left next to
  // nothing.
  CHECK(bytes_read_by([&] { found = find_past_steps(root.path(), plan); }) <
        run_files + step_files / 10);
  CHECK(found.size() == 2);
  // Where the newest run has every step, the others are not looked at.
  CHECK(bytes_read_by([&] { found = find_past_steps(root.path(), other); }) < run_files / 10);
  CHECK(found.size() == 2);
}

TEST_CASE("a step that lost or changed a file says which", "[artifacts]") {
  const ScratchFolder root;
  const Plan plan = plan_of_steps();
  Run run = Run::create(root.path(), "test", plan);
  do_step(run, plan.steps[0]);
  const fs::path model = run.step_folder("a") / "model.safetensors";
  write_file(model, "short");
  CHECK(find_past_steps(root.path(), plan)[0].missing == model.string());
  fs::remove(model);
  CHECK(find_past_steps(root.path(), plan)[0].missing == model.string());
  CHECK(plan_of_steps(find_past_steps(root.path(), plan)).steps[0].action == Action::kRun);
}

TEST_CASE("a step without its done marker is not found, whatever else it left", "[artifacts]") {
  const ScratchFolder root;
  const Plan plan = plan_of_steps();
  Run run = Run::create(root.path(), "test", plan);
  StepFolder folder(run.step_folder("a"), json::object());
  write_file(folder.path() / "model.safetensors", "weights");
  CHECK(find_past_steps(root.path(), plan).empty());
  // Half a marker, or one of somebody else, is none.
  write_file(folder.path() / "step.json", "{\"step\": \"a\", ");
  CHECK(find_past_steps(root.path(), plan).empty());
  write_file(folder.path() / "step.json", "{\"step\": 7}");
  CHECK(find_past_steps(root.path(), plan).empty());
}

TEST_CASE("taking up a step removes its marker and torn files but no checkpoint", "[artifacts]") {
  const ScratchFolder root;
  const fs::path path = root / "a";
  fs::create_directories(path / "checkpoint");
  write_file(path / "checkpoint/epoch.safetensors", "state");
  std::ofstream(path / "model.safetensors.tmp.123.0") << "half";
  std::ofstream(path / "checkpoint/epoch.safetensors.tmp.9.1") << "half";
  std::ofstream(path / "step.json") << "{}";
  std::ofstream(path / "journal.jsonl") << "{\"event\":\"start\"}\n{\"event\":\"ep";
  StepFolder folder(path, {{"seed", 1}});
  folder.journal({{"event", "start"}});
  CHECK(!fs::exists(path / "step.json"));
  CHECK(!fs::exists(path / "model.safetensors.tmp.123.0"));
  CHECK(!fs::exists(path / "checkpoint/epoch.safetensors.tmp.9.1"));
  CHECK(read_text(path / "checkpoint/epoch.safetensors") == "state");
  CHECK_THAT(read_text(path / "journal.jsonl"),
             Catch::StartsWith("{\"event\":\"start\"}\n{\"event\":\"ep\n{\"event\":\"start\""));
}

TEST_CASE("an unfinished run of the same plan is continued, a finished one is not", "[artifacts]") {
  const ScratchFolder root;
  const Plan plan = plan_of_steps();
  std::string busy, id;
  CHECK(!Run::resume(root.path(), plan, busy, nobody));
  {
    Run run = Run::create(root.path(), "test", plan);
    id = run.id();
    do_step(run, plan.steps[0]);
  }
  Plan other = plan;
  other.fingerprint = "another";
  CHECK(!Run::resume(root.path(), other, busy, nobody));
  {
    auto run = Run::resume(root.path(), plan, busy, nobody);
    REQUIRE(run);
    CHECK(run->id() == id);
    run->record_plan(plan_of_steps(find_past_steps(root.path(), plan)));
    CHECK(run->document().at("steps")[0].at("status") == "done");
    CHECK(run->document().at("steps")[1].at("status") == "pending");
    run->finish(130);
  }
  {
    auto run = Run::resume(root.path(), plan, busy, nobody);
    REQUIRE(run);
    CHECK(!read(run->folder() / "run.json").contains("exit_code"));
    run->finish(0);
  }
  CHECK(!Run::resume(root.path(), plan, busy, nobody));
  CHECK(busy.empty());
}

TEST_CASE("a run that somebody works on is passed over and named", "[artifacts]") {
  const ScratchFolder root;
  const Plan plan = plan_of_steps();
  const Run run = Run::create(root.path(), "test", plan);
  std::string busy;
  CHECK(!Run::resume(root.path(), plan, busy, nobody));
  CHECK(busy == run.id());
}

TEST_CASE("a run whose owner died is waited for until its stage has left", "[artifacts]") {
  const ScratchFolder root;
  const Plan plan = plan_of_steps();
  // The owner leaves the lock to a stage, which lives until it is told who waits for it.
  std::array<int, 2> gate{};
  REQUIRE(::pipe(gate.data()) == 0);
  const int owner = in_process([&] {
    Run run = Run::create(root.path(), "test", plan);
    run.record_step("b", "running");
    if (::fork() == 0) {
      ::close(gate[1]);
      char byte = 0;
      ::_exit(::read(gate[0], &byte, 1) < 0 ? 1 : 0);
    }
    return 0;
  });
  REQUIRE(owner == 0);
  std::string busy, waited;
  const auto run = Run::resume(root.path(), plan, busy, [&](const std::string& text) {
    waited += text;
    ::close(gate[1]);
  });
  ::close(gate[0]);
  REQUIRE(run);
  CHECK(busy.empty());
  CHECK_THAT(waited, Contains("waiting for the stage of " + (run->folder() / "b").string()) &&
                         Contains("was killed"));
}

TEST_CASE("a signal ends the wait for the stage of a dead owner", "[artifacts]") {
  const ScratchFolder root;
  const Plan plan = plan_of_steps();
  std::array<int, 2> gate{};
  REQUIRE(::pipe(gate.data()) == 0);
  REQUIRE(in_process([&] {
            const Run run = Run::create(root.path(), "test", plan);
            if (::fork() == 0) {
              ::close(gate[1]);
              char byte = 0;
              ::_exit(::read(gate[0], &byte, 1) < 0 ? 1 : 0);
            }
            return 0;
          }) == 0);
  const int code = in_process([&] {
    install_signal_flags();
    std::string busy;
    try {
      Run::resume(root.path(), plan, busy, [](const std::string&) { ::raise(SIGINT); });
    } catch (const Error& e) {
      return static_cast<int>(e.code());
    }
    return 1;
  });
  ::close(gate[0]);
  ::close(gate[1]);
  CHECK(code == 130);
}

TEST_CASE("folders without a run file and broken run files are no runs", "[artifacts]") {
  const ScratchFolder root;
  const Plan plan = plan_of_steps();
  fs::create_directories(root / "data/3f9c");
  fs::create_directories(root / "01AAAA");
  fs::create_directories(root / "01BBBB/run.json");
  fs::create_directories(root / "01CCCC/a/step.json");
  write_file(root / "01AAAA/run.json", "{\"plan\": ");
  write_file(root / "01CCCC/run.json", "{\"plan\": 7, \"steps\": 7}");
  std::string busy;
  CHECK(!Run::resume(root.path(), plan, busy, nobody));
  CHECK(find_past_steps(root.path(), plan).empty());
  CHECK(find_past_steps(root / "absent", plan).empty());
}

TEST_CASE("a place where nothing can be written is named with the reason", "[artifacts]") {
  const ScratchFolder root;
  write_file(root / "file", "");
  CHECK_THROWS_WITH(Run::create(root / "file", "test", plan_of_steps()),
                    Contains((root / "file").string()) && Contains("Not a directory"));
}

TEST_CASE("a full disk names the file and leaves nothing half-written", "[artifacts]") {
  const ScratchFolder root;
  const fs::path path = root / "a";
  const int code = in_process([&] {
    StepFolder folder(path, {{"small", 1}});
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{2000, 2000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    try {
      folder.write("metrics.json", {{"large", std::string(100'000, 'x')}});
      return 1;
    } catch (const Error& e) {
      const std::string text = e.what();
      if (e.code() != ExitCode::kData ||
          text.find("metrics.json: File too large") == std::string::npos)
        return 2;
    }
    try {
      for (int i = 0; i < 100; ++i) folder.journal({{"event", "metrics"}, {"index", i}});
      return 3;
    } catch (const Error& e) {
      const std::string text = e.what();
      return text.find("journal.jsonl: File too large") == std::string::npos ? 4 : 0;
    }
  });
  CHECK(code == 0);
  std::vector<std::string> left;
  for (const auto& entry : fs::directory_iterator(path)) left.push_back(entry.path().filename());
  std::sort(left.begin(), left.end());
  CHECK(left == std::vector<std::string>{"config.json", "journal.jsonl"});
}
