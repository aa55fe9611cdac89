// Floors: what a window needs, besides a high score, to be flagged.
#include "support/catch_torch.h"
// Catch first: see catch_torch.h.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "engine/decision/detector/detector_model.h"
#include "engine/decision/detector/window_scorer.h"
#include "support/can/can_drive.h"
#include "support/can/can_traffic.h"
#include "support/can/watched_drives.h"

using namespace kdgat;
using namespace kdgat::data;
using namespace kdgat::decision;
using kdgat::test::drive;
using kdgat::test::Frames;
using kdgat::test::watching_model;

namespace {

/// Trees that take every window for an attack.
DetectorModel alarmed_model() {
  DetectorModel out = watching_model();
  nlohmann::json trees = out.classifier.json();
  trees["base"] = 1000;
  out.classifier = trees::BoostedTrees::from_json(trees);
  return out;
}

std::vector<JudgedWindow> scored(const DetectorModel& model, const Frames& log) {
  std::vector<JudgedWindow> out;
  WindowScorer scorer(model, "a.log", 300,
                      [&](const JudgedWindow& window) { out.push_back(window); });
  scorer.take(model.vehicles.front());
  for (const data::CanFrame& frame : log) scorer.add(frame, false);
  scorer.finish();
  return out;
}

}  // namespace

TEST_CASE("no score flags a window without evidence", "[detector]") {
  const DetectorModel model = alarmed_model();
  int64_t flagged = 0, calm = 0;
  for (const char* attack : {"", "dos", "fuzzing", "spoofing"}) {
    for (const JudgedWindow& window : scored(model, drive(30, 7, attack))) {
      const bool has_evidence = model.floors.are_reached(window.relative.x);
      CHECK((window.score > 0) == has_evidence);
      CHECK((window.score == 0) == !has_evidence);
      ++(has_evidence ? flagged : calm);
    }
  }
  CHECK(flagged > 30);
  CHECK(calm > 100);
}

TEST_CASE("a missing id is flagged whatever the scores say", "[detector]") {
  DetectorModel calm = watching_model();
  for (auto& [own, decision] : calm.decisions) decision.classifier = decision.tails = 1e6;
  const Frames log = drive(30, 7);
  const uint32_t id = log.front().id;
  int64_t missing = 0;
  for (const JudgedWindow& window :
       scored(calm, test::silenced(log, 10, 20, [&](uint32_t of) { return of == id; }))) {
    const bool is_missing = test::at(window.relative, data::Relative::kSilence) >= KDGAT_MISSING;
    CHECK((window.score > 0) == is_missing);
    missing += is_missing ? 1 : 0;
  }
  CHECK(missing > 20);
}

TEST_CASE("a floor is reached by one column that is as large", "[detector]") {
  const Floors floors;
  REQUIRE_FALSE(floors.all().empty());
  std::vector<float> row(data::kRelativeColumns, 0);
  CHECK_FALSE(floors.are_reached(row));
  for (const kdgat_floor& one : floors.all()) {
    std::vector<float> odd = row;
    odd[one.column] = one.least;
    CHECK(floors.are_reached(odd));
    odd[one.column] = 0.999F * one.least;
    CHECK_FALSE(floors.are_reached(odd));
  }
  // All that is no evidence by itself, at its largest.
  std::vector<float> many(data::kRelativeColumns, 20);
  for (const kdgat_floor& one : floors.all()) many[one.column] = 0;
  CHECK_FALSE(floors.are_reached(many));
}
