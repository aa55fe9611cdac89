// The detector that comes with the program: score, watch, why and adapt without a trained model.
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/can/scored_lines.h"
#include "support/programs/cli.h"

using namespace kdgat::test;
using nlohmann::json;

namespace {

const std::string kAttacked = "logs/test_02_unknown_vehicle_known_attack/fuzzing-vehicle3.csv";
const std::string kBenign = "logs/train_01_attack_free/attack-free-vehicle1.csv";

/// Logs of vehicles that are not among those that it learned from; other frames, too.
const ScratchFolder& logs() {
  static const ScratchFolder scratch;
  static const bool is_made = [] {
    must_kdgat("data synth -o logs --seconds 80 --vehicles 3 --seed 71 --attacks dos,fuzzing",
               scratch.path());
    return true;
  }();
  static_cast<void>(is_made);
  return scratch;
}

std::vector<json> alarms_of(const std::string& lines) {
  std::vector<json> out;
  for (const json& line : json_lines(lines)) {
    if (line.value("event", "") == "alarm") out.push_back(line);
  }
  return out;
}

}  // namespace

TEST_CASE("a log is scored, watched and explained without a trained model", "[shipped][cli]") {
  const ScratchFolder& t = logs();
  const CommandResult scored = run_kdgat("score " + kAttacked + " --fail-on attack", t.path());
  CHECK(scored.exit_code == 10);
  CHECK_THAT(scored.err, Catch::Contains("the detector that comes with kdgat scores") &&
                             Catch::Contains("a vehicle never seen"));
  const std::vector<Row> rows = table_of(scored.out);
  const auto attacks = count_decisions(rows, "attack");
  CHECK(attacks > 10);
  CHECK(attacks < std::ssize(rows) / 2);
  CHECK(must_kdgat("score " + kAttacked + " --model cars", t.path()).out == scored.out);

  const CommandResult benign = must_kdgat("score " + kBenign, t.path());
  CHECK(count_decisions(table_of(benign.out), "attack") <= 1);

  const std::vector<json> told = alarms_of(must_kdgat("score --json " + kAttacked, t.path()).out);
  CHECK(told.size() == 6);  // three attacks, each an alarm that opens and ends
  CHECK(alarms_of(must_kdgat("watch --speed max --replay " + kAttacked, t.path()).out) == told);
  const CommandResult why = must_kdgat("why " + kAttacked + " --event 1", t.path());
  CHECK_THAT(why.out, Catch::Contains("not in the profile of this vehicle"));
}

TEST_CASE("the detector that comes with kdgat learns a vehicle and can be exported",
          "[shipped][cli]") {
  const ScratchFolder& t = logs();
  must_kdgat("adapt cars " + kBenign + " -o mine.json --name mine", t.path());
  const CommandResult scored =
      must_kdgat("score logs/test_01_known_vehicle_known_attack --model mine.json", t.path());
  CHECK_THAT(scored.err, Catch::Contains("judged as the vehicle of mine"));
  CHECK(count_decisions(table_of(scored.out), "attack") > 10);
  must_kdgat("export mine.json --format c -o ecu", t.path());
}

TEST_CASE("the detector that comes with kdgat is small and names what it learned from",
          "[shipped]") {
  const std::filesystem::path file = "profiles/detectors/cars.json";
  CHECK(std::filesystem::file_size(file) <= 300'000);
  CHECK(json::parse(read_text(file)).at("vehicles").empty());
  const std::string card = read_text("profiles/detectors/cars.md");
  for (const char* named : {"ReCAN", "MIT", "data synth", "scripts/reproduce shipped"}) {
    CHECK_THAT(card, Catch::Contains(named));
  }
}
