// Runs that differ in the seed alone: how they are found, and what kdgat runs says of them.
#include "pipeline/run/replicates.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <sstream>

#include "pipeline/run/step_metrics.h"
#include "pipeline/tune/replicate_runs.h"
#include "pipeline/verbs/verbs.h"
#include "support/programs/command.h"
#include "support/runs/fake_run.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr const char* kGroup = "01JDDDDDDDDDDDDDDDDDDDDDG1";
constexpr const char* kLone = "01JDEEEEEEEEEEEEEEEEEEEEL1";

std::string seed_run_id(int64_t seed) { return "01JDCCCCCCCCCCCCCCCCCCCCS" + std::to_string(seed); }

struct SeedsSaid {
  int code = -1;
  std::string out, err;
};

/// A run with a seed, an option and a figure of validation and of a test.
fs::path write_seeded(const fs::path& root, const std::string& id, int64_t seed, double lr,
                      double f1) {
  const fs::path run =
      write_run(root, "set", id, {step_state("gat", "classifier")}, {{"seed", seed}});
  write_training(run / "gat", 4, lr);
  json config = json::parse(read_text(run / "gat/config.json"));
  config["seed"] = seed;
  write_text(run / "gat/config.json", config.dump());
  StageResult result;
  result.metrics = json::object();
  for (const auto& [part, value] : {std::pair{"val", f1}, {"test_01", f1 - 0.25}}) {
    Figure figure("f1", value);
    figure.part = part;
    figure.place = figure.headline = 1;
    result.figures.push_back(figure);
  }
  write_result(run / "gat", result);
  return run;
}

/// A run of three replicates, and one run of another learning rate for each of their seeds.
struct SeededRuns {
  SeededRuns() {
    json list = json::array();
    for (const int64_t seed : {1, 2, 3}) {
      write_seeded(root.path(), seed_run_id(seed), seed, 0.01,
                   0.8 + 0.01 * static_cast<double>(seed));
      list.push_back(
          {{"seed", seed}, {"run", seed_run_id(seed)}, {"exit_code", 0}, {"seconds", 4}});
      write_seeded(root.path(), "01JDBBBBBBBBBBBBBBBBBBBBT" + std::to_string(seed), seed, 0.1,
                   0.85 + 0.01 * static_cast<double>(seed * (seed - 1)));
    }
    write_run(root.path(), "set", kGroup, {},
              {{"replicates", list}, {"headline", "F1 0.820 ± 0.010"}});
    write_seeded(root.path(), kLone, 7, 0.01, 0.5);
  }
  SeedsSaid say(std::vector<std::string> words) const {
    words.insert(words.end(), {"--root", root.path().string()});
    std::ostringstream out, err;
    const int code = run_command(verbs(), words, out, err);
    return {code, out.str(), err.str()};
  }
  ScratchFolder root;
};

const std::vector<std::string> kOthers = {
    "01JDBBBBBBBBBBBBBBBBBBBBT1", "01JDBBBBBBBBBBBBBBBBBBBBT2", "01JDBBBBBBBBBBBBBBBBBBBBT3"};

std::vector<std::string> compare_words(std::vector<std::string> more) {
  std::vector<std::string> words = {"runs", "compare", kGroup};
  words.insert(words.end(), kOthers.begin(), kOthers.end());
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

TEST_CASE("replicates share the cores", "[seeds]") {
  const auto shape = [](std::size_t seeds, int cores, int threads, bool is_cpu, int at_once) {
    const ReplicatePlan plan = plan_replicates(seeds, cores, threads, 1, is_cpu, at_once);
    return std::pair(plan.at_once, plan.threads);
  };
  CHECK(shape(5, 2, 0, true, 0) == std::pair<std::size_t, int>(2, 1));
  CHECK(shape(5, 2, 2, true, 0) == std::pair<std::size_t, int>(1, 2));
  CHECK(shape(5, 16, 0, true, 0) == std::pair<std::size_t, int>(5, 3));
  CHECK(shape(5, 16, 4, true, 0) == std::pair<std::size_t, int>(4, 4));
  CHECK(shape(1, 16, 0, true, 0) == std::pair<std::size_t, int>(1, 16));
  CHECK(shape(5, 2, 4, true, 0) == std::pair<std::size_t, int>(1, 4));
  CHECK(shape(5, 16, 0, false, 0) == std::pair<std::size_t, int>(1, 16));
  CHECK(shape(5, 16, 0, false, 2) == std::pair<std::size_t, int>(2, 8));
  CHECK(shape(3, 2, 0, true, 9) == std::pair<std::size_t, int>(3, 1));
}

TEST_CASE("runs are compared by everything but the seed", "[seeds][runs]") {
  const SeededRuns runs;
  const SeedsSaid text = runs.say(compare_words({}));
  INFO(text.out << text.err);
  REQUIRE(text.code == 0);
  CHECK_THAT(text.out, Contains("lr       gat ") && !Contains("seed     gat") &&
                           Contains("0.820 ± 0.010") && Contains("01JD…G1, n=3") &&
                           Contains("Student t"));
  const json out = json::parse(runs.say(compare_words({"--json"})).out);
  REQUIRE(out.at("groups").size() == 2);
  CHECK(out.at("groups").at(0).at("seeds") == json({1, 2, 3}));
  CHECK(out.at("groups").at(1).at("runs") == json(kOthers));
  const json& f1 = *std::find_if(out.at("figures").begin(), out.at("figures").end(),
                                 [](const json& row) { return row.at("part") == "val"; });
  CHECK(f1.at("groups").at(0).at("mean").get<double>() == Approx(0.82));
  CHECK(f1.at("groups").at(0).at("deviation").get<double>() == Approx(0.01));
  // Differences 0.04, 0.05, 0.08: mean 0.0566667, sd 0.0208167; half 4.302653 * sd / sqrt(3).
  const json& paired = f1.at("to_first").at(1);
  CHECK(paired.at("n") == 3);
  CHECK(paired.at("mean").get<double>() == Approx(0.0566666667));
  CHECK(paired.at("high").get<double>() - paired.at("mean").get<double>() ==
        Approx(4.302652729911275 * 0.020816659994661 / std::sqrt(3.0)));
  // The lone run has another seed but the same options: it joins the group.
  const json more = json::parse(runs.say({"runs", "compare", kGroup, kLone, "--json"}).out);
  CHECK(more.at("groups").at(0).at("seeds") == json({1, 2, 3, 7}));
}

TEST_CASE("a table of compared runs marks a best one by validation data alone", "[seeds][runs]") {
  const SeededRuns runs;
  const std::string latex = runs.say(compare_words({"--format", "latex"})).out;
  INFO(latex);
  CHECK_THAT(latex, Contains("\\begin{tabular}") && Contains("0.820 \\pm 0.010"));
  std::istringstream lines(latex);
  int val = 0, test = 0;
  for (std::string line; std::getline(lines, line);) {
    const bool is_bold = line.find("\\textbf") != std::string::npos;
    if (line.find("& val &") != std::string::npos) val += is_bold ? 1 : 0;
    if (line.find("test\\_01") != std::string::npos) {
      ++test;
      CHECK_FALSE(is_bold);
    }
  }
  CHECK(val == 1);
  CHECK(test == 1);
  const std::string csv = runs.say(compare_words({"--format", "csv"})).out;
  CHECK_THAT(csv, Contains("01JD…G1 mean,01JD…G1 sd,01JD…G1 n") && Contains("f1,gat,test_01,"));
  CHECK_THAT(runs.say(compare_words({"--format", "md"})).out, Contains("| F1 | gat | val |"));
  const std::string each = runs.say(compare_words({"--by-run", "--format", "md"})).out;
  CHECK_THAT(each, Contains("| 01JD…S1 | 01JD…S2 |") && !Contains("±"));
  CHECK(runs.say(compare_words({"--format", "html"})).code == 2);
}

TEST_CASE("a run of replicates is one row, is shown as one and goes as one", "[seeds][runs]") {
  const SeededRuns runs;
  const std::string list = runs.say({"runs", "list"}).out;
  INFO(list);
  CHECK_THAT(
      list, Contains("3/3 seeds  F1 0.820 ± 0.010") && !Contains("01JD…S1") && Contains("01JD…L1"));
  const std::string shown = runs.say({"runs", "show", kGroup}).out;
  INFO(shown);
  CHECK_THAT(shown,
             Contains("3 of 3 seeds done") && Contains("01JD…S2") && Contains("0.820 ± 0.010  3"));
  CHECK_THAT(runs.say({"runs", "pivot", "cols=seed", "value=gat.val.f1"}).err,
             !Contains("have no"));
  const SeedsSaid gone = runs.say({"runs", "rm", kGroup, "--yes"});
  INFO(gone.err);
  CHECK(gone.code == 0);
  CHECK_FALSE(fs::exists(runs.root / "set" / kGroup));
  CHECK_FALSE(fs::exists(runs.root / "set" / seed_run_id(1)));
  CHECK(fs::exists(runs.root / "set" / kLone));
}
