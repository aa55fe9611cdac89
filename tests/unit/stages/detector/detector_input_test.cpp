// Input that a detector cannot learn all of: what it says, and what it does all the same.
#include "support/catch_torch.h"
// Catch first: see catch_torch.h.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "detector/detector.h"
#include "engine/arrays/random.h"
#include "engine/compare/judging.h"
#include "engine/decision/detector/detector_model.h"
#include "support/can/can_drive.h"
#include "support/can/can_traffic.h"
#include "support/can/detector_logs.h"
#include "support/can/small_detector.h"
#include "support/runs/stage_data.h"

using namespace kdgat;
using namespace kdgat::compare;
using namespace kdgat::data;
using namespace kdgat::decision;
using namespace kdgat::detector;
using Catch::Contains;
using kdgat::test::DetectorLogs;
using kdgat::test::drive;
using kdgat::test::Frames;
using nlohmann::json;

namespace {

/// Runs the stage; what it warned of is left in `log`.
StageResult detect(const DetectorLogs& logs, std::string& log, double own_seconds = 15) {
  test::FakeHost fake;
  DetectorOptions options = test::small_detector(60);
  options.own_seconds = own_seconds;
  StageResult out = Detector::run(options, logs.request("run"), fake.host);
  log = fake.log;
  return out;
}

double f1(const StageResult& result, const std::string& part) {
  return result.metrics.at("parts").at(part).at("detector").at("f1");
}

/// Rows of the form `road`, which has no times.
std::string road_text(const Frames& log) {
  std::string out;
  for (const data::CanFrame& frame : log) {
    out += std::to_string(frame.id);
    for (std::size_t i = 0; i < 8; ++i) out += "," + std::to_string(frame.payload[i]);
    out += frame.label == 1 ? ",1.0\n" : ",0.0\n";
  }
  return out;
}

}  // namespace

TEST_CASE("training logs too short for a profile are refused, with what is needed",
          "[detector][input]") {
  DetectorLogs logs;
  logs.write("train_01/a.csv", drive(5, 0));
  logs.import();
  std::string log;
  CHECK_THROWS_WITH(detect(logs, log), Contains("too short to learn from"));
}

TEST_CASE("a log of a new vehicle that is too short for a profile is left out, and named",
          "[detector][input]") {
  DetectorLogs logs;
  logs.write("train_01/a.csv", drive(90, 0));
  logs.write("train_01/b.csv", drive(90, 1));
  logs.write("test_01/short.csv", drive(3, 5, "", 4));
  logs.write("test_01/long.csv", drive(60, 5, "dos", 0));
  logs.import();
  std::string log;
  const StageResult result = detect(logs, log);
  CHECK_THAT(log, Contains("test_01/short.csv: a vehicle never seen, and only"));
  CHECK(f1(result, "test_01") > 0.9);
}

TEST_CASE("logs with one id are refused for training, and told in tests", "[detector][input]") {
  const auto single = [](int64_t day) {
    Frames out;
    const uint32_t only = drive(5, 0).front().id;
    for (const data::CanFrame& frame : drive(200, day)) {
      if (frame.id == only) out.push_back(frame);
    }
    return out;
  };
  SECTION("training") {
    DetectorLogs logs;
    logs.write("train_01/single.csv", single(0));
    logs.import();
    std::string log;
    CHECK_THROWS_WITH(detect(logs, log), Contains("train_01/single.csv: one id only"));
  }
  SECTION("a test") {
    DetectorLogs logs;
    logs.write("train_01/a.csv", drive(90, 0));
    logs.write("train_01/b.csv", drive(90, 1));
    Frames repeated;
    for (int64_t day = 0; day < 30 && repeated.size() < 4000; ++day) {
      for (data::CanFrame frame : single(day)) {
        frame.time = 0.1 * static_cast<double>(repeated.size());
        repeated.push_back(frame);
      }
    }
    logs.write("test_01/single.csv", repeated);
    logs.import();
    std::string log;
    const StageResult result = detect(logs, log);
    CHECK_THAT(log, Contains("test_01/single.csv: one id only"));
    CHECK(result.metrics.at("parts").at("test_01").at("detector").at("false_windows") == 0);
    // Nothing is left of it behind so long a beginning.
    const StageResult none = detect(logs, log, 3600);
    CHECK_THAT(log, Contains("test_01/single.csv: no window is left to judge"));
    CHECK(none.metrics.at("parts").empty());
  }
}

TEST_CASE("logs without times are learned from and judged by what needs none",
          "[detector][input]") {
  DetectorLogs logs;
  logs.write_text_of("train_01/a.csv", road_text(drive(90, 0)));
  logs.write_text_of("train_01/b.csv", road_text(drive(90, 1)));
  logs.write_text_of("test_01/fuzzing.csv", road_text(drive(60, 5, "fuzzing")));
  logs.write_text_of("test_02/fuzzing.csv", road_text(drive(60, 6, "fuzzing", 3)));
  logs.import();
  std::string log;
  const StageResult result = detect(logs, log);
  CHECK_THAT(log, Contains("train_01/a.csv: no times: ids, lengths and payloads are looked at"));
  CHECK_THAT(log, Contains("test_01/fuzzing.csv: no times"));
  CHECK(f1(result, "test_01") > 0.9);
  CHECK(f1(result, "test_02") > 0.9);
  // No number of seconds is made up.
  CHECK(result.metrics.at("parts").at("test_01").at("detector").at("time_to_alarm").is_null());
}

TEST_CASE("a log without times is judged by a detector that learned with them",
          "[detector][input]") {
  DetectorLogs logs;
  logs.write("train_01/a.csv", drive(90, 0));
  logs.write("train_01/b.csv", drive(90, 1));
  logs.write_text_of("test_01/fuzzing.csv", road_text(drive(60, 5, "fuzzing")));
  logs.write_text_of("test_02/benign.csv", road_text(drive(60, 6)));
  logs.import();
  std::string log;
  const StageResult result = detect(logs, log);
  CHECK_THAT(log, Contains("test_01/fuzzing.csv: no times"));
  CHECK(f1(result, "test_01") > 0.9);
  const json& benign = result.metrics.at("parts").at("test_02").at("detector");
  CHECK(benign.at("false_windows") <= 2);
}

TEST_CASE("a truck is known again under other priorities and with a tester plugged in",
          "[detector][input]") {
  const auto ids = test::j1939_ids(drive(20, 0));
  DetectorLogs logs;
  logs.write("train_01/a.csv", test::with_ids(drive(90, 0), ids));
  logs.write("train_01/b.csv", test::with_ids(drive(90, 1), ids));
  Frames urgent = test::with_ids(drive(60, 5, "dos"), ids);
  for (data::CanFrame& frame : urgent) {
    if (frame.label != 1) frame.id = (frame.id & 0x03FFFFFF) | 2U << 26;
  }
  logs.write("test_01/dos.csv", test::merged(urgent, test::tester(urgent, 0, 20)));
  logs.import();
  std::string log;
  const StageResult result = detect(logs, log);
  CHECK(f1(result, "test_01") > 0.9);
  const graph::GraphStore store = graph::GraphStore::open(logs.store());
  const DetectorModel model = DetectorModel::read(logs.request("run").run_dir / kDetectorFile);
  for (const StoredLog& one : stored_logs(store)) {
    if (!one.trains()) CHECK(judge(one, model).own == 0);
  }
}

TEST_CASE("jumps of a log's clock are told", "[detector][input]") {
  DetectorLogs logs;
  logs.write("train_01/a.csv", drive(90, 0));
  logs.write("train_01/b.csv", test::delayed(drive(90, 1), 40, 7200));
  logs.write("test_01/dos.csv", test::delayed(drive(60, 5, "dos"), 2, 100'000));
  logs.import();
  std::string log;
  const StageResult result = detect(logs, log);
  CHECK_THAT(log, Contains("train_01/b.csv: 1 jump of the clock by over an hour"));
  CHECK_THAT(log, Contains("test_01/dos.csv: 1 jump of the clock by over an hour, the largest by "
                           "1000"));
  CHECK(f1(result, "test_01") > 0.9);
  // Nobody listened in the hours that were jumped over.
  const DetectorModel model = DetectorModel::read(logs.request("run").run_dir / kDetectorFile);
  CHECK(model.decision(0).budget.hours < 0.1);
  CHECK(result.metrics.at("parts").at("test_01").at("detector").at("benign_hours") < 0.1);
}

TEST_CASE("more ids than a profile holds are told, and the rest is learned", "[detector][input]") {
  const auto crowded = [](int64_t day) {
    Frames out = drive(60, day);
    const Frames like = out;
    // Nine thousand ids of 29 bits, twice each.
    const double begin = like.front().time;
    for (int i = 0; i < 18'000; ++i) {
      data::CanFrame frame;
      frame.id = 0x10000U + static_cast<uint32_t>(i % 9000);
      frame.extended = true;
      frame.label = 0;
      frame.length = 8;
      frame.time = begin + 60.0 * i / 18'000;
      out.push_back(frame);
    }
    return test::merged({}, out);
  };
  DetectorLogs logs;
  logs.write("train_01/a.csv", crowded(0));
  logs.write("train_01/b.csv", crowded(1));
  logs.import();
  std::string log;
  test::FakeHost fake;
  DetectorOptions options = test::small_detector(60);
  options.inject = {"dos", "spoofing"};
  Detector::run(options, logs.request("run"), fake.host);
  CHECK_THAT(fake.log, Contains("train_01/a.csv: more than 8,192 benign ids"));
  const DetectorModel model = DetectorModel::read(logs.request("run").run_dir / kDetectorFile);
  REQUIRE(model.vehicles.size() == 1);
  CHECK(model.vehicles[0].profile.ids.size() == 8192);
  CHECK(model.vehicles[0].profile.dropped > 0);
}

TEST_CASE("some attack frames in a vehicle's own beginning cost little", "[detector][input]") {
  constexpr int64_t kOwn = 200;
  // Nobody labelled them: 5 of 100 frames of the beginning are those of an attacker.
  const auto beginning = [](const Frames& log, bool forges) {
    arrays::Random random(3);
    Frames out;
    for (const data::CanFrame& frame : log) {
      out.push_back(frame);
      if (random.below(20) != 0) continue;
      data::CanFrame added = forges ? log[random.below(log.size())] : data::CanFrame();
      if (!forges) {
        added.id = static_cast<uint32_t>(random.below(0x800));
        added.length = 8;
      }
      for (std::size_t i = 0; i < added.length; ++i) {
        added.payload[i] = static_cast<uint8_t>(random.below(256));
      }
      added.time = frame.time + 1e-4;
      added.label = 0;
      out.push_back(added);
    }
    return out;
  };
  DetectorLogs logs;
  double own_seconds = 0;
  for (const int64_t vehicle : {0, 1}) {
    const std::string name = "train_01/car" + std::to_string(vehicle);
    logs.write(name + "-a.csv", drive(90, 0, "", vehicle));
    logs.write(name + "-b.csv", drive(90, 1, "", vehicle));
  }
  for (const char* attack : {"dos", "fuzzing", "spoofing"}) {
    const Frames first = drive(70, 3, "", 2);
    const Frames later = drive(60, 8, attack, 2);
    const std::string name = std::string("/") + attack + ".csv";
    const auto whole = [&](Frames begin) {
      begin.resize(kOwn * 100);  // all of it is learned from, and counts nowhere
      own_seconds = std::max(own_seconds, begin.back().time - begin.front().time);
      const double shift = begin.back().time + 0.001 - later.front().time;
      const Frames shifted = test::delayed(later, 0, shift);
      begin.insert(begin.end(), shifted.begin(), shifted.end());
      return begin;
    };
    logs.write("test_01_clean" + name, whole(first));
    logs.write("test_02_fuzzed" + name, whole(beginning(first, false)));
    logs.write("test_03_forged" + name, whole(beginning(first, true)));
  }
  logs.import();
  test::FakeHost fake;
  DetectorOptions options = test::small_detector(60);
  options.own_seconds = own_seconds;
  const StageResult result = Detector::run(options, logs.request("run"), fake.host);
  const double clean = f1(result, "test_01_clean");
  INFO("clean " << clean << ", random frames " << f1(result, "test_02_fuzzed")
                << ", forged frames of known ids " << f1(result, "test_03_forged"));
  CHECK(clean > 0.9);
  CHECK(f1(result, "test_02_fuzzed") > clean - 0.02);
  CHECK(f1(result, "test_03_forged") > clean - 0.02);
}
