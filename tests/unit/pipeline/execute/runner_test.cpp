#include "pipeline/execute/runner.h"

#include <catch2/catch.hpp>
#include <csignal>

#include "kdgat/atomic_file.h"
#include "pipeline/system/signals.h"
#include "support/runs/fake_plan.h"
#include "support/runs/probe_plugin.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// A plan carried out with stages that are only pretended.
struct World {
  explicit World(const std::vector<StepSpec>& steps, const std::vector<PastStep>& past = {})
      : plan(make_plan(fake_profile(steps), catalog, "3f9c", past, {})),
        run(Run::create(root.path(), "test", plan)) {
    reset_signal_flags();
    data.folder = "data/3f9c";
    data.facts = {{"graphs", 10}};
  }
  ~World() { reset_signal_flags(); }

  int go(const Execute& execute) {
    return run_plan({plan, catalog, "cpu", 2, 42, data, memory}, run, status, execute);
  }
  /// Each step answers with the code noted for it, or is done.
  int go() {
    return go([this](const StageCall& call, const StepFolder&, const auto& on_event) {
      const std::string step = call.request.at("step");
      requests[step] = call.request;
      on_event({{"event", "progress"}, {"unit", "epoch"}, {"done", 1}, {"total", 2}}, 5);
      if (signal_in == step) std::raise(SIGINT);
      StepOutcome outcome;
      outcome.answer.code = codes.count(step) != 0 ? codes.at(step) : 0;
      if (outcome.answer.code != 0) outcome.answer.diagnostics.push_back({"", "because", ""});
      if (outcome.answer.code == 0)
        outcome.answer.result = {{"facts", {{"width", 4}}}, {"metrics", {{"val_loss", 0.5}}}};
      return outcome;
    });
  }
  std::string state(const std::string& step) const {
    const json document = json::parse(read_text(run.folder() / "run.json"));
    for (const json& s : document.at("steps")) {
      if (s.at("step") == step) return s.at("status");
    }
    return "";
  }

  PluginCatalog catalog = fake_catalog();
  ScratchFolder root;
  Plan plan;
  Run run;
  FakeStatus status;
  PreparedData data;
  MemoryRequest memory{};
  std::map<std::string, int> codes;
  std::map<std::string, json> requests;
  std::string signal_in;
};

const std::vector<StepSpec> kSteps = {fake_step("a", "trainer"), fake_step("b", "trainer"),
                                      fake_step("r", "refiner", {"a"}),
                                      fake_step("score", "scorer", {"b"})};

/// One call of the probe plugin in a process of its own.
struct Probe {
  Probe() { reset_signal_flags(); }
  ~Probe() { reset_signal_flags(); }

  StepOutcome run(const std::string& mode, const std::function<void(const json&)>& on_event = {},
                  const std::string& allocator = "",
                  const std::optional<std::string>& of_step = std::nullopt) {
    StageCall call{"run", describe_as(library, "probe"),
                   json{{"step", "p"}, {"options", {{"mode", mode}}}}, of_step};
    StepFolder folder(scratch / "step", json::object());
    folder.write("request.json", call.to_json());
    ProcessSettings settings;
    settings.executable = kdgat_binary();
    settings.machine = machine;
    settings.allocator = allocator;
    return execute_in_child(settings)(call, folder, [&](const json& event, uint64_t) {
      events.push_back(event);
      if (on_event) on_event(event);
    });
  }

  ScratchFolder scratch;
  fs::path library = compile_plugin(scratch.path());
  Machine machine;
  std::vector<json> events;
};

}  // namespace

TEST_CASE("runner does every step and records it", "[runner]") {
  World world(kSteps);
  CHECK(world.go() == 0);
  for (const char* step : {"a", "b", "r", "score"}) CHECK(world.state(step) == "done");
  CHECK(find_past_steps(world.root.path(), world.plan).size() == 4);
  const fs::path folder = world.run.step_folder("a");
  for (const char* file :
       {"config.json", "journal.jsonl", "metrics.json", "memory.json", "log.txt", "step.json"}) {
    CHECK(fs::exists(folder / file));
  }
  CHECK(json::parse(read_text(folder / "config.json")).at("options").at("lr") == 0.1);
  const json document = json::parse(read_text(world.run.folder() / "run.json"));
  CHECK(document.at("exit_code") == 0);
  CHECK(document.at("headline") == "loss 0.5000  score, val");
}

TEST_CASE("runner hands the folders and facts of earlier steps on", "[runner]") {
  World world(kSteps);
  world.go();
  const json& request = world.requests.at("r");
  CHECK(request.at("inputs").at("teacher")[0].at("name") == "a");
  CHECK(request.at("inputs").at("teacher")[0].at("path") == world.run.step_folder("a").string());
  CHECK(request.at("inputs").at("teacher")[0].at("facts").at("width") == 4);
  const json& graphs = world.requests.at("a").at("inputs").at("graphs")[0];
  CHECK(graphs.at("path") == fs::absolute("data/3f9c").string());
  CHECK(graphs.at("facts").at("graphs") == 10);
  CHECK(request.at("threads") == 2);
  CHECK(request.at("run_dir") == world.run.step_folder("r").string());
}

TEST_CASE("runner takes kept steps from where they are", "[runner]") {
  const Plan before = make_plan(fake_profile(kSteps), fake_catalog(), "3f9c", {}, {});
  std::vector<PastStep> past = past_of(before);
  past.resize(1);
  World world(kSteps, past);
  CHECK(world.go() == 0);
  CHECK(world.status.outcome("a") == "kept");
  CHECK(world.requests.count("a") == 0);
  CHECK(world.requests.at("r").at("inputs").at("teacher")[0].at("path") ==
        fs::absolute("runs/a").string());
  CHECK(world.state("a") == "kept");
}

TEST_CASE("a failure skips what needs it, others go on, the first one's code stays", "[runner]") {
  World world(kSteps);
  world.codes = {{"a", 3}, {"score", 5}};
  CHECK(world.go() == 3);
  CHECK(world.state("a") == "failed");
  CHECK(world.state("r") == "skipped");
  CHECK(world.state("b") == "done");
  CHECK(world.state("score") == "failed");
  CHECK_THAT(world.status.messages.at(0), Contains("error: a: because") && Contains("log.txt"));
  CHECK(json::parse(read_text(world.run.folder() / "run.json")).at("exit_code") == 3);
}

TEST_CASE("a stage that was interrupted ends the run with that code", "[runner]") {
  World world(kSteps);
  world.codes = {{"b", 85}};
  CHECK(world.go() == 85);
  CHECK(world.state("b") == "interrupted");
  CHECK(world.state("r") == "pending");
  CHECK(world.status.outcome("b") == "checkpointed");
}

TEST_CASE("a signal stops the run after the step it came in, if anything is left", "[runner]") {
  install_signal_flags();
  World world(kSteps);
  world.signal_in = "b";
  CHECK(world.go() == 130);
  CHECK(world.state("b") == "done");
  CHECK(world.state("r") == "pending");

  World last(kSteps);
  last.signal_in = "score";
  CHECK(last.go() == 0);
}

TEST_CASE("a stage that throws past the seam of its process fails its step alone", "[runner]") {
  World world(kSteps);
  const int code =
      world.go([](const StageCall& call, const StepFolder&, const auto&) -> StepOutcome {
        if (call.request.at("step") == "b")
          throw Error(ExitCode::kData, "cannot write x: No space left");
        return {};
      });
  CHECK(code == 3);
  CHECK(world.state("a") == "done");
  CHECK(world.state("score") == "skipped");
}

TEST_CASE("a stage in a process of its own answers and is measured", "[runner]") {
  Probe probe;
  const StepOutcome outcome = probe.run("good");
  CHECK(outcome.answer.code == 0);
  CHECK(outcome.answer.result.at("facts").at("count") == 1);
  CHECK(outcome.peak_resident_bytes > 1'000'000);
}

TEST_CASE("what a stage's process says before it dies is in the message", "[runner]") {
  Probe probe;
  const StepOutcome outcome = probe.run("abort");
  CHECK(outcome.answer.code == 1);
  CHECK_THAT(outcome.answer.diagnostics.at(0).message,
             Contains("killed by SIGABRT") && Contains("probe: about to abort"));
}

TEST_CASE("a stage killed while the kernel counts a kill for memory ends in 82", "[runner]") {
  Probe probe;
  CHECK(probe.run("kill").answer.code == 1);
  CHECK_THAT(probe.run("kill").answer.diagnostics.at(0).message, Contains("killed by SIGKILL"));

  const fs::path group = probe.scratch / "sys/fs/cgroup/job";
  fs::create_directories(group);
  fs::create_directories(probe.scratch / "proc/self");
  write_file(probe.scratch / "proc/self/cgroup", "0::/job\n");
  write_file(group / "memory.events", "low 0\noom_kill 0\n");
  probe.machine = Machine(probe.scratch.path());
  ::setenv("PROBE_OOM_FILE", (group / "memory.events").c_str(), 1);
  const StepOutcome outcome = probe.run("kill");
  ::unsetenv("PROBE_OOM_FILE");
  CHECK(outcome.answer.code == 82);
  CHECK_THAT(outcome.answer.diagnostics.at(0).message, Contains("out of host memory"));

  // Without a count, a peak at the limit says the same.
  write_file(group / "memory.max", "1000000\n");
  CHECK(probe.run("kill").answer.code == 82);
}

TEST_CASE("a stage that dies of an allocation that failed, or ends in 82 mutely, ends in 82",
          "[runner]") {
  Probe probe;
  for (const char* mode : {"bad_alloc", "exit_82"}) {
    const StepOutcome outcome = probe.run(mode);
    INFO(mode);
    CHECK(outcome.answer.code == 82);
    CHECK_THAT(outcome.answer.diagnostics.at(0).message, Contains("out of host memory"));
  }
}

TEST_CASE("each way of a stage to fail keeps its code and words", "[runner]") {
  Probe probe;
  const StepOutcome data = probe.run("fail");
  CHECK(data.answer.code == 3);
  CHECK(data.answer.diagnostics.at(0).text() == "a.csv:3: bad row");
  CHECK(probe.run("memory").answer.code == 82);
  CHECK(probe.run("invalid").answer.code == 2);
  const StepOutcome odd = probe.run("status");
  CHECK(odd.answer.code == 1);
  CHECK_THAT(odd.answer.diagnostics.at(0).message, Contains("status 77"));
  const StepOutcome quiet = probe.run("exit");
  CHECK(quiet.answer.code == 1);
  CHECK_THAT(quiet.answer.diagnostics.at(0).message, Contains("status 0 and without an answer"));
  fs::remove(probe.library);
  probe.library = probe.scratch / "kdgat_probe.so";
  CHECK(probe.run("good").answer.code == 4);
}

TEST_CASE("a stage that talks nonsense, and much of it, does no harm", "[runner]") {
  Probe probe;
  const StepOutcome outcome = probe.run("babble");
  CHECK(outcome.answer.code == 0);
  CHECK(probe.events.size() == 5006);
  CHECK_THAT(probe.events.at(0).at("message").get<std::string>(),
             Contains("not a JSON object with an"));
}

TEST_CASE("a signal reaches the stage, which leaves with its code", "[runner]") {
  install_signal_flags();
  for (const auto& [signal, code] : {std::pair{SIGINT, 130}, {SIGTERM, 143}, {SIGUSR1, 85}}) {
    Probe probe;
    std::raise(signal);
    const StepOutcome outcome = probe.run("cancel");
    CHECK(outcome.answer.code == code);
    CHECK(outcome.answer.diagnostics.at(0).message == "checkpoint at step 4");
  }
}

TEST_CASE("a second SIGINT kills a stage that does not listen", "[runner]") {
  install_signal_flags();
  Probe probe;
  const StepOutcome outcome = probe.run("hang", [](const json&) {
    std::raise(SIGINT);
    std::raise(SIGINT);
  });
  CHECK(outcome.answer.code == 130);
}

TEST_CASE("a C++ stage that throws becomes an answer", "[runner]") {
  Probe probe;
  const fs::path library = compile_plugin(probe.scratch.path(), "throws", "", "throws.cpp");
  const auto call = [&](const std::string& entry, bool deep) {
    return call_stage(
        {entry, describe_as(library, "throws"), {{"step", "t"}, {"options", {{"deep", deep}}}}},
        [](const json&) {}, [] { return 0; });
  };
  CHECK(call("run", false).code == 1);
  CHECK(call("run", false).diagnostics.at(0).message == "the sky is green");
  CHECK(call("run", true).diagnostics.at(0).message == "unknown exception");
  CHECK(call("plan", false).code == 82);
  CHECK(call("validate", false).code == 0);
}

TEST_CASE("a request says what memory a stage may use", "[runner]") {
  World world({fake_step("a", "trainer")});
  world.memory = {4096, 2048, "card", 1 << 20, 1 << 10, true};
  world.data.folder.clear();
  world.go();
  CHECK(world.requests.at("a").at("memory") == json{{"limit", 4096},
                                                    {"available", 2048},
                                                    {"device", "card"},
                                                    {"total", 1 << 20},
                                                    {"context", 1 << 10},
                                                    {"measure", true},
                                                    {"own", false}});
  CHECK(world.requests.at("a").at("inputs").at("graphs")[0].at("path").is_null());
}

TEST_CASE("a report of an earlier attempt that ran out of memory is not named again", "[runner]") {
  World world({fake_step("a", "trainer")});
  fs::create_directories(world.run.step_folder("a"));
  write_file(world.run.step_folder("a") / "oom-report.md", "old");
  world.codes["a"] = 82;
  CHECK(world.go() == 82);
  REQUIRE(world.status.messages.size() == 1);
  CHECK_THAT(world.status.messages[0], Contains("because") && !Contains("oom-report"));
}

TEST_CASE("the plan of a stage that failed is that which it announced", "[runner]") {
  StepOutcome outcome;
  outcome.anonymous.add(0, 5);
  const json announced = {{"predicted", 7}};
  CHECK(memory_record(outcome, announced).at("planned") == announced);
  CHECK(memory_record(outcome, {}).at("planned").is_null());
  outcome.answer.result["memory"] = {{"planned", {{"predicted", 8}}},
                                     {"actual", {{"peak_tensor_bytes", 9}}}};
  const json record = memory_record(outcome, announced);
  CHECK(record.at("planned").at("predicted") == 8);
  CHECK(record.at("actual") ==
        json{{"peak_tensor_bytes", 9}, {"peak_resident_bytes", 0}, {"peak_anonymous_bytes", 5}});
  CHECK(record.at("timeline").at("bytes") == json{5});
}

TEST_CASE("a stage's process finds the allocator's settings unless the user's are there",
          "[runner]") {
  const auto seen = [](const std::string& allocator,
                       const std::optional<std::string>& of_step = std::nullopt) {
    const StepOutcome outcome = Probe().run("allocator", {}, allocator, of_step);
    return outcome.answer.result.at("facts").at("allocator");
  };
  ::unsetenv("PYTORCH_CUDA_ALLOC_CONF");
  ::unsetenv("PYTORCH_ALLOC_CONF");
  const std::string settings = "expandable_segments:True";
  CHECK(seen(settings) == json{settings, settings});
  CHECK(seen("") == json{"", ""});
  CHECK(seen(settings, "backend:native") == json{"backend:native", "backend:native"});
  CHECK(seen(settings, "") == json{"", ""});
  ::setenv("PYTORCH_ALLOC_CONF", "backend:native", 1);
  CHECK(seen(settings) == json{"", "backend:native"});
  ::unsetenv("PYTORCH_ALLOC_CONF");
  ::setenv("PYTORCH_CUDA_ALLOC_CONF", "backend:native", 1);
  CHECK(seen(settings) == json{"backend:native", ""});
  ::unsetenv("PYTORCH_CUDA_ALLOC_CONF");
}
