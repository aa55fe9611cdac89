// The memory presets, and runs under a limit with the real stages.
#include <catch2/catch.hpp>
#include <filesystem>

#include "support/programs/cli.h"

namespace {

/// What a profile comes to.
json shown(const std::string& words) {
  const CommandResult result = run_kdgat("config show --json " + words, fs::current_path());
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  return json::parse(result.out);
}

}  // namespace

TEST_CASE("the presets for memory set what they say, on every stage", "[memory][cli]") {
  const json hygiene = shown("--preset vgae,gat,student,hygiene");
  CHECK(hygiene.at("allocator") == "expandable_segments:True,max_split_size_mb:128");
  for (const char* stage : {"autoencoder", "classifier"}) {
    const json& options = hygiene.at("stages").at(stage);
    CHECK(options.at("cache_policy") == json{"every:5", "checkpoint", "epoch"});
    CHECK(options.at("synchronize_every") == 20);
  }
  // A larger card allows more.
  int64_t batch = 0;
  uint64_t limit = 0;
  for (const char* size : {"8", "12", "16", "24"}) {
    const json profile = shown(std::string("--preset gat,student,gpu/") + size + "gb");
    const json& classifier = profile.at("stages").at("classifier");
    CHECK(classifier.at("batch_size") > batch);
    batch = classifier.at("batch_size");
    const std::string text = profile.at("memory_limit");  // 6656MiB or 10GiB
    const uint64_t bytes = std::stoull(text) << (text.ends_with("GiB") ? 30 : 20);
    CHECK(bytes > limit);
    CHECK(bytes < std::stoull(size) << 30);
    limit = bytes;
  }
}

TEST_CASE("a limit reaches the stages, and another limit is another run", "[memory][cli]") {
  const ScratchFolder scratch;
  const std::string words =
      " --preset smoke data.synth.seconds=10 max_epochs=1 --until autoencoder";
  const CommandResult run = run_kdgat("run" + words + " --memory-limit 2GiB", scratch.path());
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  CHECK(run.err.find("limit 2.0 GiB: autoencoder") != std::string::npos);
  fs::path step;
  for (const auto& entry : fs::recursive_directory_iterator(scratch.path())) {
    if (entry.path().filename() == "memory.json") step = entry.path().parent_path();
  }
  CHECK(json::parse(read_text(step / "request.json")).at("request").at("memory").at("limit") ==
        int64_t{2} << 30);
  const json record = json::parse(read_text(step / "memory.json"));
  const std::vector<uint64_t> looks = record.at("timeline").at("bytes");
  CHECK(*std::max_element(looks.begin(), looks.end()) ==
        record.at("actual").at("peak_anonymous_bytes"));
  CHECK(looks.size() > 10);
  const auto explained = [&](const std::string& more) {
    return run_kdgat("plan" + words + " --explain" + more, scratch.path()).out;
  };
  CHECK(explained(" --memory-limit 2048MiB").find("autoencoder  kept") != std::string::npos);
  CHECK(explained(" --memory-limit 2GiB allocator=").find("autoencoder  kept") !=
        std::string::npos);
  CHECK(explained("").find("memory limit changed: 2GiB -> none") != std::string::npos);

  const CommandResult report = run_kdgat(
      "memory report " + step.parent_path().string() + " --svg memory.svg", scratch.path());
  CHECK(report.exit_code == 0);
  CHECK(read_text(scratch / "memory.svg").find("process (RssAnon)") != std::string::npos);
}

TEST_CASE("a run stays under its limit, or says which limit would do", "[memory][cli]") {
  const ScratchFolder scratch;
  const std::string words =
      "run classifier --preset gat,student data.synth.seconds=120 data.stride=10 --threads 1 "
      "max_epochs=1 batch_size=1000000 min_steps_per_epoch=1 monitor_metric=train_loss ";
  const CommandResult small = run_kdgat(words + "--memory-limit 30MiB", scratch.path());
  CHECK(small.exit_code == 5);
  INFO(small.err);
  REQUIRE(small.err.find("the smallest memory that works is ") != std::string::npos);

  const CommandResult run = run_kdgat(words + "--memory-limit 192MiB --root done", scratch.path());
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  json record;
  for (const auto& entry : fs::recursive_directory_iterator(scratch / "done")) {
    if (entry.path().filename() == "memory.json") record = json::parse(read_text(entry.path()));
  }
  CHECK(record.at("planned").at("binds") == "memory");
  CHECK(record.at("actual").at("splits") == 0);
  const auto peak = record.at("actual").at("peak_anonymous_bytes").get<double>();
  CHECK(peak <= 192 << 20);
  CHECK(peak >= 0.85 * (192 << 20));
}

TEST_CASE("below the floor of an exact batch a run names the limit that works", "[memory][cli]") {
  const std::string trees = "run --preset trees --until gtssl data.synth.graphs=40 max_epochs=1";
  const std::string windows =
      "run autoencoder --preset vgae,student data.synth.seconds=10 max_epochs=1 batch_size=64 "
      "optimize_batch_size=false";
  for (const std::string& words : {trees, windows}) {
    if (words == trees && !has_stage("gtssl")) continue;
    INFO(words);
    const ScratchFolder scratch;
    const auto run = [&](int64_t mib) {
      return run_kdgat(words + " --threads 1 --force --memory-limit " + std::to_string(mib) + "MiB",
                       scratch.path());
    };
    const CommandResult small = run(20);
    INFO(small.err);
    REQUIRE(small.exit_code == 5);
    const std::string named = "the smallest memory that works is ";
    const std::size_t at = small.err.find(named);
    REQUIRE(at != std::string::npos);
    const int64_t least = std::stoll(small.err.substr(at + named.size()));
    // The size has a margin; just below it a run may work, too, but is never out of memory.
    for (const int64_t below : {12, 10, 8, 5, 2}) {
      const CommandResult near = run(least - below);
      INFO(least - below << " MiB\n" << near.err);
      CHECK((near.exit_code == 5 || near.exit_code == 0));
    }
    const CommandResult enough = run(least);
    INFO(enough.err);
    CHECK(enough.exit_code == 0);
  }
}

TEST_CASE("a detector holds what it was planned to hold", "[memory][detector][cli]") {
  const ScratchFolder scratch;
  must_kdgat("data synth -o logs --seconds 200 --vehicles 3 --attacks dos,fuzzing", scratch.path());
  struct Case {
    const char* options;
    double most;  // planned, in what was measured
  };
  for (const Case& c : {Case{"", 1.3},
                        {"forgotten=0 baselines=false", 1.4},
                        {"window=25 trees=50 inject=[spoofing,suspension]", 1.5}}) {
    INFO(c.options);
    must_kdgat("run --preset detector --data logs --root runs --force --threads 1 " +
                   std::string(c.options),
               scratch.path());
    const fs::path run = newest_run(scratch / "runs" / "logs");
    const json record = json::parse(read_text(run / "detector" / "memory.json"));
    const double planned = record.at("planned").at("predicted");
    const double margin = record.at("planned").at("margin");
    const double context = record.at("actual").at("context_bytes");
    const double held = record.at("actual").at("peak_anonymous_bytes").get<double>() - context;
    INFO("planned " << planned << ", held " << held);
    CHECK(held <= (1 + margin) * planned);
    CHECK(planned <= c.most * held);
    const std::string report =
        must_kdgat("memory report '" + run.string() + "'", scratch.path()).out;
    CHECK_THAT(report, Catch::Contains("error %") && Catch::Contains("detector"));
  }
}

TEST_CASE("a detector that does not fit names the limit that works", "[memory][detector][cli]") {
  const ScratchFolder scratch;
  must_kdgat("data synth -o logs --seconds 60 --vehicles 2 --attacks dos", scratch.path());
  const auto run = [&](const std::string& words) {
    return run_kdgat(
        "run --preset detector --data logs --root runs --threads 1 "
        "take_supported=true trees=20 " +
            words,
        scratch.path());
  };
  const CommandResult small = run("--memory-limit 30MiB");
  INFO(small.err);
  CHECK(small.exit_code == 5);
  CHECK_THAT(small.err, Catch::Contains("windows does not fit: of ") &&
                            Catch::Contains("forgotten=0 (saves "));
  const std::string named = "the smallest memory that works is ";
  const std::size_t at = small.err.find(named);
  REQUIRE(at != std::string::npos);
  const int64_t least = std::stoll(small.err.substr(at + named.size()));
  const CommandResult enough = run("--memory-limit " + std::to_string(least) + "MiB");
  INFO(enough.err);
  REQUIRE(enough.exit_code == 0);
  const json record =
      json::parse(read_text(newest_run(scratch / "runs" / "logs") / "detector" / "memory.json"));
  CHECK(record.at("actual").at("peak_anonymous_bytes") <= least << 20);
  // Planned for a card, too, it is this machine that it needs.
  const json plan =
      json::parse(must_kdgat("plan --preset detector --data logs --root runs --gpu v100-16 --json",
                             scratch.path())
                      .out);
  CHECK(plan.at("steps").at(0).at("memory").at("device").at("name") == "cpu");
}

TEST_CASE("a plan for a card counts its kernels, and what its allocator rounds", "[memory][cli]") {
  const ScratchFolder scratch;
  const auto planned = [&](const std::string& words, const std::string& kernels) {
    const CommandResult said =
        run_shell("KDGAT_KERNELS=" + kernels + " '" + fs::absolute(kdgat_binary()).string() +
                      "' plan --estimate --json batch_size=1000000 min_steps_per_epoch=1 "
                      "--graphs 10000000 " +
                      words,
                  scratch.path());
    INFO(said.err);
    REQUIRE(said.exit_code == 0);
    return json::parse(said.out).at("memory");
  };
  for (const std::string stage : {"classifier", "autoencoder"}) {
    int64_t before = 0;
    for (const std::string card : {"rtx3070-8", "t4-16", "a100-80"}) {
      INFO(stage << " on " << card);
      const json plan = planned(stage + " --gpu " + card, "");
      CHECK(plan.at("device").at("name") == card);
      CHECK(plan.at("binds") == "memory");
      CHECK(plan.at("batch").at("graphs") > before);
      before = plan.at("batch").at("graphs");
      // A step's bytes are those of its largest phase, and some for segments that are not full.
      int64_t phase = 0;
      for (const json& one : plan.at("phases")) phase = std::max<int64_t>(phase, one.at("bytes"));
      const int64_t rounding = plan.at("table").at("step").get<int64_t>() - phase;
      CHECK(rounding > 0);
      CHECK(rounding < phase / 5);
      CHECK(plan.at("table").at("step") <= plan.at("available"));
      // In plain operations each graph takes more.
      const json plain = planned(stage + " --gpu " + card, "plain");
      CHECK(plain.at("batch").at("graphs") < before);
    }
  }
}
