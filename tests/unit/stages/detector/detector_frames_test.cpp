// Which frames of a flagged window were injected.
#include "support/catch_torch.h"
// Catch first: see catch_torch.h.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "detector/frame_sample.h"
#include "detector/training.h"
#include "engine/compare/judging.h"
#include "engine/compare/summary.h"
#include "engine/data/can/windows/frame_columns.h"
#include "engine/decision/detector/window_scorer.h"
#include "support/can/can_drive.h"
#include "support/can/can_logs.h"

using namespace kdgat;
using namespace kdgat::data;
using namespace kdgat::detector;
using Catch::Contains;
using kdgat::test::drive;

namespace {

using Frames = std::vector<CanFrame>;

VehicleProfile profile_of(const Frames& log) {
  ProfileBuilder builder;
  for (const CanFrame& frame : log) builder.add(frame);
  return builder.profile();
}

template <class Take>
void each_window(const VehicleProfile& profile, const Frames& log, const Take& take) {
  RelativeWindows windows(profile, 100);
  for (const CanFrame& frame : log) {
    if (windows.add(frame)) take(windows);
  }
  while (windows.finish()) take(windows);
}

std::size_t column(const std::string& name) {
  const std::vector<std::string> names = frame_column_names();
  const auto found = std::find(names.begin(), names.end(), name);
  REQUIRE(found != names.end());
  return static_cast<std::size_t>(found - names.begin());
}

decision::DetectorModel trained(const test::ScratchFolder& folder) {
  const test::LogStore store(test::NamedLogs{{"train_01/a.csv", drive(60, 0)},
                                             {"train_01/b.csv", drive(60, 1, "spoofing")}});
  DetectorOptions options;
  options.inject = {"fuzzing", "spoofing"};
  options.trees = 20;
  options.false_alarms = 0;
  const std::vector<StoredLog> logs = store.logs();
  decision::DetectorModel out =
      train_detector(logs, options, 1, 1, {[](const auto&, double) {}, [](const auto&) {}}).model;
  out.write(folder / "detector.json");
  return out;
}

}  // namespace

TEST_CASE("numbers of a frame are of it, of its neighbours and of its id", "[frames]") {
  const VehicleProfile profile = profile_of(drive(60, 0));
  const std::size_t columns = frame_column_names().size();
  REQUIRE(frame_column_order().size() == columns);
  const std::size_t off = column("off"), before = column("before_off"),
                    behind = column("behind_off"), share = column("id_frames");
  each_window(profile, drive(20, 1, "spoofing"), [&](const RelativeWindows& windows) {
    const auto frames = windows.frames();
    const std::vector<float> x = windows.frame_columns();
    REQUIRE(x.size() == frames.size() * columns);
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const auto is_same = [&](std::size_t j) { return frames[j].key == frames[i].key; };
      std::size_t count = 0, last = frames.size(), next = frames.size();
      for (std::size_t j = 0; j < frames.size(); ++j) {
        if (!is_same(j)) continue;
        ++count;
        if (j < i) last = j;
        if (j > i && next == frames.size()) next = j;
      }
      const float* of = &x[i * columns];
      CHECK(of[off] == frames[i].off);
      CHECK(of[share] == Approx(static_cast<double>(count) / 100));
      if (last < frames.size()) {
        CHECK(of[before] == frames[last].off);
      } else {
        CHECK(std::isnan(of[before]));
      }
      if (next < frames.size()) {
        CHECK(of[behind] == frames[next].off);
      } else {
        CHECK(std::isnan(of[behind]));
      }
    }
  });
}

TEST_CASE("frames are learned from windows whose labels tell them apart", "[frames]") {
  const VehicleProfile profile = profile_of(drive(60, 0));
  FrameSample sample(1000, 100), few(100'000, 100);
  CHECK_FALSE(sample.fit(1, 1));
  int64_t attacked = 0;
  const auto add = [&](const RelativeWindows& windows) {
    sample.add(windows);
    few.add(windows);
    attacked += windows.window().attack ? 1 : 0;
  };
  each_window(profile, drive(40, 1, "spoofing"), add);
  REQUIRE(attacked > 10);
  CHECK(sample.frames() > 20 * attacked);
  CHECK(sample.frames() < 100 * attacked);
  CHECK(few.frames() > 0);
  CHECK(few.frames() <= 100);  // of every fiftieth window
  CHECK(sample.fit(1, 1));
  Frames all = drive(40, 1, "spoofing");
  for (CanFrame& frame : all) frame.label = 1;
  const int64_t held = sample.frames();
  each_window(profile, all, add);
  CHECK(sample.frames() == held);  // attacked from end to end
  for (CanFrame& frame : all) frame.label = -1;
  each_window(profile, all, add);
  CHECK(sample.frames() == held);
}

TEST_CASE("a detector names injected frames, counts them, and keeps that in its file", "[frames]") {
  const test::ScratchFolder folder;
  const decision::DetectorModel model = trained(folder);
  REQUIRE(model.frames);
  const decision::DetectorModel again = decision::DetectorModel::read(folder / "detector.json");
  const Frames log = drive(40, 2, "spoofing");
  std::set<int64_t> named;
  int64_t injected = 0, wrong = 0, own_rows = 0;
  const auto scorer_of = [&](const decision::DetectorModel& of, auto take) {
    std::optional<decision::WindowScorer> scorer;
    scorer.emplace(of, "log.csv", 0,
                   [&](const decision::JudgedWindow& window) { take(*scorer, window); });
    for (const CanFrame& frame : log) scorer->add(frame, false);
    scorer->finish();
  };
  scorer_of(model, [&](const decision::WindowScorer& scorer, const decision::JudgedWindow& window) {
    if (window.is_own) own_rows += window.relative.frames;
    if (window.is_own || window.score <= 0) return;
    for (const decision::InjectedFrame& one : scorer.injected()) {
      const CanFrame& frame = log[static_cast<std::size_t>(one.row)];
      CHECK(frame.key() == one.key);
      CHECK(one.score > 0);
      named.insert(one.row);
      wrong += frame.label == 1 ? 0 : 1;
    }
  });
  for (std::size_t row = static_cast<std::size_t>(own_rows); row < log.size(); ++row) {
    injected += log[row].label == 1 ? 1 : 0;
  }
  const auto found = std::ssize(named) - wrong;
  CHECK(injected > 100);
  CHECK(2.0 * static_cast<double>(found) >
        0.9 * static_cast<double>(std::ssize(named) + injected));  // F1

  std::set<int64_t> by_file;
  scorer_of(again, [&](const decision::WindowScorer& scorer, const decision::JudgedWindow& window) {
    if (window.is_own || window.score <= 0) return;
    for (const decision::InjectedFrame& one : scorer.injected()) by_file.insert(one.row);
  });
  CHECK(by_file == named);

  const test::LogStore store(test::NamedLogs{{"test_01/log.csv", log}});
  const compare::JudgedLog judged = compare::judge(store.logs().front(), model);
  const nlohmann::json figures =
      compare::summarise({&judged}, compare::kDetector, false).at("frames");
  const int64_t beyond = static_cast<int64_t>(log.size()) % 100;  // no window has them
  CHECK(figures.at("found") == found);
  CHECK(figures.at("false") == wrong);
  CHECK(figures.at("missed").get<int64_t>() <= injected - found);
  CHECK(figures.at("missed").get<int64_t>() >= injected - found - beyond);
}

TEST_CASE("frames of other columns are refused", "[frames]") {
  const test::ScratchFolder folder;
  nlohmann::json json = trained(folder).frames->json();
  json["columns"].push_back("more");
  try {
    decision::FrameTrees::from_json(json, "detector.json");
    FAIL();
  } catch (const Error& error) {
    CHECK_THAT(error.what(), Contains("\"frames\" is of other columns"));
  }
}
