// kdgat score with a fusion that was given a detector: the detector's windows, each by the higher
// of what the two say.
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "support/can/scored_lines.h"
#include "support/runs/runs.h"

using namespace kdgat::test;
namespace fs = std::filesystem;

namespace {

constexpr const char* kProfile = R"(preset: [student]
data: {features: v3}
options:
  autoencoder: {batch_size: 64, max_epochs: 1}
  classifier: {lr: 0.003, batch_size: 64, max_epochs: 2}
  detector: {false_alarms: 0, trees: 40, baselines: false, own_seconds: 12}
stages:
  autoencoder:
  classifier:
  detector:
  fusion: {needs: [autoencoder, classifier, detector], method: weighted}
  evaluate:
)";
constexpr const char* kKnown = "logs/test_01_known_vehicle_known_attack/fuzzing-vehicle1.csv";
constexpr const char* kNew = "logs/test_02_unknown_vehicle_known_attack/dos-vehicle3.csv";

struct JoinedRun {
  ScratchFolder scratch;
  fs::path run;

  JoinedRun() {
    must_kdgat("data synth -o logs --seconds 40 --vehicles 3 --attacks dos,fuzzing",
               scratch.path());
    std::ofstream(scratch / "joined.yaml") << kProfile;
    must_kdgat("run joined.yaml --data logs --root runs --threads 1 dataset=joined",
               scratch.path());
    run = newest_run(scratch / "runs" / "joined");
  }
  CommandResult kdgat(const std::string& words) const { return run_kdgat(words, scratch.path()); }
  std::vector<Row> score(const std::string& words) const {
    return table_of(must_kdgat("score " + words, scratch.path()).out);
  }
};

const JoinedRun& joined_run() {
  static const JoinedRun one;
  return one;
}

}  // namespace

TEST_CASE("windows score what the detector or the fusion says, whichever is more",
          "[score][fusion][cli]") {
  const JoinedRun& t = joined_run();
  const std::string fusion = (t.run / "fusion").string();
  fs::create_directory(t.scratch / "alone");  // the same networks without their channel
  for (const char* file :
       {"model.safetensors", "autoencoder.safetensors", "classifier.safetensors"}) {
    fs::copy_file(t.run / "fusion" / file, t.scratch / "alone" / file);
  }
  std::size_t spoken = 0;
  for (const std::string log : {kKnown, kNew}) {
    INFO(log);
    const std::vector<Row> both = t.score(log + " --run '" + fusion + "'");
    const std::vector<Row> detector =
        t.score(log + " --run '" + (t.run / "detector").string() + "'");
    const std::vector<Row> network =
        t.score(log + " --run '" + (t.scratch / "alone" / "model.safetensors").string() + "'");
    std::map<std::string, double> raw;  // of weighted the score itself, by first row
    for (const Row& row : network) raw[row.at("row")] = std::stod(row.at("score"));
    REQUIRE(both.size() == detector.size());
    REQUIRE(both.size() > 60);
    std::map<double, double> by_raw;  // of windows that the channel decides
    for (std::size_t i = 0; i < both.size(); ++i) {
      const Row &one = both[i], &other = detector[i];
      CHECK(one.at("row") == other.at("row"));
      CHECK(one.at("time") == other.at("time"));
      const double score = std::stod(one.at("score")), alone = std::stod(other.at("score"));
      CHECK(score >= alone);
      if (other.at("decision") == "calibration") {
        CHECK(one.at("decision") == "calibration");
        CHECK(score == alone);
        continue;
      }
      CHECK(one.at("decision") == (score > 0 ? "attack" : "benign"));
      if (other.at("decision") == "attack") CHECK(one.at("reason_1") == other.at("reason_1"));
      if (score > 0 && alone <= 0) {
        CHECK(one.at("reason_1") == "what the fusion's networks say of it");
      }
      if (score > alone) by_raw[raw.at(one.at("row"))] = score;
    }
    spoken += by_raw.size();
    double before = -1e9;
    for (const auto& [of, score] : by_raw) {
      CHECK(score >= before);  // and rises with what the networks say
      before = score;
    }
    // However many windows are read together.
    const std::vector<Row> single = t.score(log + " --batch 1 --run '" + fusion + "'");
    for (std::size_t i = 0; i < both.size(); ++i) {
      CHECK(std::stod(single[i].at("score")) ==
            Approx(std::stod(both[i].at("score"))).epsilon(1e-4).margin(1e-4));
    }
  }
  CHECK(spoken > 3);  // of windows that the channel decides
}

TEST_CASE("a fusion with a detector explains, alarms and refuses as a detector does",
          "[score][fusion][cli]") {
  const JoinedRun& t = joined_run();
  const std::string by = " --run '" + (t.run / "fusion").string() + "' ";
  const CommandResult told =
      t.kdgat("score " + std::string(kNew) + by + "--fail-on attack -o o.csv");
  CHECK(told.exit_code == 10);
  CHECK_THAT(told.err, Catch::Contains("a vehicle never seen") && Catch::Contains(" alarm"));
  const CommandResult share = t.kdgat("score " + std::string(kNew) + by + "--false-alarms 0.01");
  CHECK(share.exit_code == 2);
  CHECK_THAT(share.err, Catch::Contains("a budget of false windows an hour"));

  fs::copy(t.run / "fusion", t.scratch / "damaged");
  std::ofstream(t.scratch / "damaged" / "channel_detector.json", std::ios::app) << " ";
  const CommandResult damaged =
      t.kdgat("score " + std::string(kNew) + " --run damaged/model.safetensors");
  CHECK(damaged.exit_code == 3);
  CHECK_THAT(damaged.err, Catch::Contains("channel_detector.json: not the file that the fusion"));
  // Too short for a window: as a detector says it.
  std::ofstream(t.scratch / "short.csv") << read_text(t.scratch / kKnown).substr(0, 2000);
  CHECK(t.kdgat("score short.csv" + by).exit_code == 3);
  CHECK(t.kdgat("score -" + by + " < /dev/null").exit_code == 3);
}

TEST_CASE("evaluate has a fusion with its detector in its tables", "[fusion][cli]") {
  const JoinedRun& t = joined_run();
  const auto metrics = nlohmann::json::parse(read_text(t.run / "evaluate" / "metrics.json"));
  for (const auto& [part, methods] : metrics.at("baselines").at("parts").items()) {
    INFO(part);
    CHECK(methods.contains("fusion"));
    CHECK(methods.contains("fusion with its detector"));
    CHECK(methods.contains("detector"));
    // As many windows as score flags, on the car never seen, too.
    const auto& both = methods.at("fusion with its detector");
    const std::vector<Row> rows =
        t.score("logs/" + part + " --run '" + (t.run / "fusion").string() + "'");
    CHECK(count_decisions(rows, "attack") == both.at("false_windows").get<int64_t>() +
                                                 both.at("attacks").get<int64_t>() -
                                                 both.at("missed_windows").get<int64_t>());
  }
  const std::string report =
      must_kdgat("report '" + t.run.string() + "' -o -", t.scratch.path()).out;
  CHECK_THAT(report, Catch::Contains("fusion with its detector"));
}
