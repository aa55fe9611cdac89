// `kdgat plan` and `kdgat memory` as a person types them, with the probe in the place of a stage
// that trains.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "kdgat/atomic_file.h"
#include "support/runs/probe_plugin.h"
#include "support/runs/runs.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

struct Verbs {
  Verbs() { make_plugin(scratch / "plugins"); }
  CommandResult say(const std::string& words) const {
    return run_kdgat(words + " --plugin-dir plugins", scratch.path());
  }
  ScratchFolder scratch;
};

}  // namespace

TEST_CASE("kdgat plan shows what each stage plans for the device that is asked for", "[memory]") {
  const Verbs kdgat;
  const CommandResult here = kdgat.say("plan probe mode=planned");
  INFO(here.err);
  CHECK(here.exit_code == 0);
  CHECK_THAT(here.out, Contains("parameters                  400 KiB") &&
                           Contains("graphs a batch                1,200") &&
                           Contains("MemoryBudget(total=0MB)") && Contains("measured"));
  const auto card = [&](const std::string& words) {
    const CommandResult result = kdgat.say("plan probe mode=planned --json " + words);
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    return json::parse(result.out);
  };
  const json named = card("--gpu T4-16 --static --memory-limit 2GiB");
  CHECK(named.at("memory").at("device") == "t4-16");
  CHECK(named.at("memory").at("measure") == false);
  const json plan = named.at("steps")[0].at("memory");
  CHECK(plan.at("mode") == "static");
  CHECK(plan.at("device").at("total") == named.at("memory").at("total"));
  CHECK(plan.at("table").at("context") == 500 << 20);
  CHECK(plan.at("available") == int64_t{2} << 30);
  CHECK(card("--device 16GiB").at("memory").at("total") == int64_t{16} << 30);
  CHECK(card("--device cpu").at("memory").at("total") == 0);
  // It has made no run.
  CHECK(runs_in(kdgat.scratch.path()).empty());
}

TEST_CASE("kdgat plan ends with the code of what does not fit and shows the rest", "[memory]") {
  const Verbs kdgat;
  write_file(kdgat.scratch / "p.yaml",
             "stages:\n  small: {stage: probe, mode: planned}\n  large: {stage: probe, mode: "
             "too_large}\n  after: {stage: probe, mode: planned, needs: large}\n");
  const CommandResult result = kdgat.say("plan p.yaml");
  CHECK(result.exit_code == 5);
  CHECK_THAT(result.err, Contains("large: one graph does not fit") &&
                             Contains("hint: the smallest memory that works is 3MiB"));
  CHECK_THAT(result.out, Contains("small  MemoryBudget") && !Contains("after"));
  const json out = json::parse(kdgat.say("plan p.yaml --json").out);
  CHECK(out.at("exit_code") == 5);
  CHECK(out.at("steps").size() == 2);
  CHECK(out.at("steps")[1].at("exit_code") == 5);
}

TEST_CASE("kdgat plan refuses sizes and cards that cannot be", "[memory]") {
  const Verbs kdgat;
  for (const auto& [words, text] :
       {std::pair{"--gpu v100-61", "did you mean v100-16?"},
        {"--device 16XB", "--device: \"16XB\" has an unknown unit"},
        {"--device 16", "16 is less than the 500 MiB that CUDA itself takes"},
        {"--gpu t4-16 --device 8GiB", "a plan is made for one card, not for t4-16 and 8GiB"},
        {"--memory-limit lots", "memory_limit: \"lots\" is not a size"}}) {
    const CommandResult result = kdgat.say(std::string("plan probe ") + words);
    CHECK(result.exit_code == 2);
    CHECK_THAT(result.err, Contains(text));
  }
}

TEST_CASE("kdgat plan --estimate prints a stage's budget without data", "[memory]") {
  const Verbs kdgat;
  const CommandResult line = kdgat.say("plan probe --estimate mode=planned --device 16GiB");
  INFO(line.err);
  CHECK(line.exit_code == 0);
  CHECK(line.out == "MemoryBudget(total=16384MB)\n");
  const json out =
      json::parse(kdgat.say("plan probe mode=planned --graphs 1000 --nodes 30.5 --json").out);
  CHECK(out.at("graphs").at("nodes").at("sum") == 30'500);
  CHECK(out.at("graphs").at("parts") == json{{"train", 800}, {"val", 200}});
  CHECK(out.at("memory").at("mode") == "static");
  for (const auto& [words, text] :
       {std::pair{"plan --estimate", "needs a stage"},
        {"plan probe --estimate", "the stage probe plans no memory"},
        {"plan probe --graphs none", "is not a number of at least 1"},
        {"plan probe --estimate num_users=0", "num_users: 0 is not a number of at least 1"},
        {"plan probe --estimate --explain", "ask for one of them"},
        {"plan probe --explain --gpu t4-16", "leave out --explain or -n for the plan"},
        {"plan probe --explain --device 8GiB", "leave out --explain or -n for the plan"},
        {"plan prob --estimate", "unknown stage prob"},
        {"memory report", "needs a run"}}) {
    const CommandResult result = kdgat.say(words);
    CHECK(result.exit_code == 2);
    CHECK_THAT(result.err, Contains(text));
  }
  CHECK(kdgat.say("plan probe --estimate mode=too_large").exit_code == 5);
  CHECK(runs_in(kdgat.scratch.path()).empty());
}

TEST_CASE("words that kdgat plan has taken over are answered with the line to type", "[memory]") {
  const Verbs kdgat;
  for (const auto& [old, line] :
       {std::pair{"memory estimate --stage probe mode=planned --device 16GiB",
                  "kdgat memory estimate is now kdgat plan probe mode=planned --device 16GiB "
                  "--estimate --plugin-dir plugins"},
        {"memory estimate --stage=probe --json -v",
         "is now kdgat plan probe --estimate -v --json --plugin-dir plugins"},
        {"run probe --explain 'mode=a b'",
         "kdgat run --explain is now kdgat plan probe --explain 'mode=a b' --plugin-dir plugins"},
        {"tune probe --explain", "is now kdgat tune probe --dry-run --plugin-dir plugins"}}) {
    const CommandResult result = kdgat.say(old);
    CHECK(result.exit_code == 2);
    CHECK(result.out.empty());
    CHECK_THAT(result.err, Contains(line));
  }
}

TEST_CASE("kdgat plan --explain is a dry run of kdgat run", "[memory][run]") {
  const Verbs kdgat;
  for (const std::string more : {"", " --json", " -v", " --seeds 1..2"}) {
    const std::string words = " probe mode=planned" + more;
    const CommandResult plan = kdgat.say("plan" + words + " --explain");
    const CommandResult run = kdgat.say("run" + words + " --dry-run");
    INFO(more << "\n" << plan.err);
    CHECK(plan.exit_code == 0);
    CHECK_FALSE(plan.out.empty());
    CHECK(plan.out == run.out);
    CHECK(plan.err == run.err);
  }
  const CommandResult events = kdgat.say("plan probe --explain --progress jsonl");
  CHECK_THAT(events.err, Contains("\"steps\":[\"plan\",\"probe\"]"));
  CHECK_FALSE(fs::exists(kdgat.scratch / "runs"));
}

TEST_CASE("kdgat memory report reads what a run left and draws it", "[memory]") {
  const Verbs kdgat;
  REQUIRE(kdgat.say("run probe mode=planned --memory-limit 1GiB").exit_code == 0);
  const fs::path run = runs_in(kdgat.scratch.path()).at(0);
  const json record = json::parse(read_text(run / "probe/memory.json"));
  CHECK(record.at("planned").at("predicted") == 2097152);
  CHECK(record.at("actual").at("peak_tensor_bytes") == 2000000);
  CHECK(record.at("actual").at("peak_resident_bytes") > 0);
  CHECK(record.at("actual").at("peak_anonymous_bytes") > 0);
  CHECK(!record.at("timeline").at("bytes").empty());
  CHECK(json::parse(read_text(run / "probe/config.json")).at("memory").at("limit") == 1 << 30);

  const std::string id = run.filename().string();
  const CommandResult report = kdgat.say("memory report " + id + " --svg memory.svg");
  INFO(report.err);
  CHECK(report.exit_code == 0);
  CHECK_THAT(report.out, Contains("probe      2.0       1.9     +4.9"));
  const std::string svg = read_text(kdgat.scratch / "memory.svg");
  CHECK_THAT(svg, Contains("memory of run " + id) && Contains("</svg>"));
  const json steps = json::parse(kdgat.say("memory report " + run.string() + " --json").out);
  CHECK(steps.at("steps")[0].at("error_percent").get<double>() == Approx(4.8576));
  CHECK(kdgat.say("memory report plugins").exit_code == 3);
  CHECK(kdgat.say("memory report 01NONE").exit_code == 3);
}
