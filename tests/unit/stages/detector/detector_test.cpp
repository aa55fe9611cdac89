// The detector: alarms and budgets, the rule, its file, and what it learns of made-up traffic.
#include "support/catch_torch.h"
// Catch first: see catch_torch.h.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>

#include "detector/detector.h"
#include "detector/learning.h"
#include "engine/compare/judging.h"
#include "engine/compare/rule.h"
#include "engine/decision/detector/alarms.h"
#include "engine/decision/detector/detector_model.h"
#include "support/can/can_drive.h"
#include "support/can/can_logs.h"
#include "support/can/small_detector.h"
#include "support/runs/request_on.h"
#include "support/runs/stage_data.h"

using namespace kdgat;
using namespace kdgat::compare;
using namespace kdgat::data;
using namespace kdgat::decision;
using namespace kdgat::detector;
using Catch::Contains;
using kdgat::test::drive;
using nlohmann::json;

namespace fs = std::filesystem;

namespace {

/// Two vehicles, two drives each, and tests of one of them and of a third.
const test::LogStore& drives() {
  static const test::LogStore one({{"train_01/car0-a.csv", drive(90, 0, "", 0)},
                                   {"train_01/car0-b.csv", drive(90, 1, "", 0)},
                                   {"train_01/car1-a.csv", drive(90, 0, "", 1)},
                                   {"train_01/car1-b.csv", drive(90, 1, "", 1)},
                                   {"test_01_known/spoofing.csv", drive(40, 7, "spoofing", 0)},
                                   {"test_02_unknown/dos.csv", drive(60, 8, "dos", 2)}});
  return one;
}

/// On drives().
Request request_in(const fs::path& run, int64_t seed = 42) {
  return test::request_on(drives().data(), run, "detector", seed);
}

DetectorOptions quick() {
  DetectorOptions options;
  options.trees = 60;
  return options;
}

}  // namespace

TEST_CASE("a flagged window keeps its log under alarm for two seconds more", "[detector]") {
  // Windows of half a second.
  Stretch log{std::vector<float>(100, -5), 50};
  const auto held = [&](double threshold) { return flagged_in({&log, 1}, threshold).under_alarm; };
  CHECK(held(0) == 0);
  log.scores[10] = 1;
  CHECK(held(0) == Approx(2.5));
  CHECK(held(1) == 0);
  // What overlaps counts once: here one second and a half more.
  log.scores[13] = 1;
  CHECK(held(0) == Approx(4));
  log.scores[14] = 1;
  CHECK(held(0) == Approx(4.5));
  log.scores[50] = 1;
  CHECK(held(0) == Approx(7));
  // Nothing is under alarm behind the end of a log.
  log.scores[99] = 1;
  CHECK(held(0) == Approx(7.5));
  CHECK(flagged_in({&log, 1}, 0).windows == 5);
  const std::vector<Stretch> twice = {log, log};
  CHECK(flagged_in(twice, 0).under_alarm == Approx(15));
  CHECK(flagged_in(twice, 0).windows == 10);
  // A lower threshold never has fewer windows, or less time.
  arrays::Random random(5);
  for (float& score : log.scores) score = static_cast<float>(8 * random.uniform());
  Flagged before;
  for (double threshold = 8; threshold > -1; threshold -= 0.05) {
    const Flagged now = flagged_in({&log, 1}, threshold);
    CHECK(now.windows >= before.windows);
    CHECK(now.under_alarm >= before.under_alarm);
    before = now;
  }
}

TEST_CASE("a threshold keeps to its budget and says what benign traffic supports", "[detector]") {
  Stretch quiet{std::vector<float>(1000, -5), 50};
  Stretch odd = quiet;
  odd.scores[100] = 3;
  odd.scores[300] = 2;
  odd.scores[500] = 1;
  const std::vector<Stretch> both = {quiet, odd};  // 100 s
  constexpr double kLong = 100;
  CHECK(budget_of(both, 72, false).allowed.windows == 2);
  CHECK(threshold_for(both, {2, kLong}) == 1);
  CHECK(threshold_for(both, {1, kLong}) == 2);
  CHECK(threshold_for(both, {0, kLong}) == 3);
  CHECK(threshold_for(both, {4, kLong}) == -5);
  // A twentieth of the time, and one window at least: each of these takes 2.05 s.
  CHECK(budget_of(both, 72, false).allowed.under_alarm == Approx(5));
  CHECK(allowed_in({&odd, 1}, 144).under_alarm == Approx(2.5));
  Stretch brief{std::vector<float>(400, -5), 20};
  CHECK(allowed_in({&brief, 1}, 360).under_alarm == Approx(2.05));
  // Wherever it is, one window fits: its time is a sum that was rounded.
  for (std::size_t w = 0; w < 350; ++w) {
    Stretch one = brief;
    one.scores[w] = 4;
    CHECK(threshold_for({&one, 1}, allowed_in({&one, 1}, 360)) == -5);
  }
  CHECK(threshold_for(both, {2, 4.2}) == 1);
  CHECK(threshold_for(both, {2, 4}) == 2);
  CHECK(threshold_for(both, {2, 2}) == 3);
  Stretch hour{std::vector<float>(100, -5), 3600};
  CHECK(budget_of({&hour, 1}, 72, false).allowed.under_alarm == Approx(180));
  CHECK_THROWS_WITH(budget_of(both, 35, false),
                    Contains("100 s of benign validation traffic support no fewer than 36"));
  CHECK(budget_of(both, 1, true).per_hour == Approx(36));
  CHECK(budget_of(both, 1, true).allowed.windows == 1);
  CHECK_THROWS_WITH(budget_of({}, 100, false), Contains("no benign traffic"));
}

TEST_CASE("intervals of counts are those of tables", "[detector]") {
  CHECK(poisson_interval(0).low == 0);
  CHECK(poisson_interval(0).high == Approx(3.6889).epsilon(1e-4));
  CHECK(poisson_interval(1).low == Approx(0.02532).epsilon(1e-3));
  CHECK(poisson_interval(1).high == Approx(5.5716).epsilon(1e-4));
  CHECK(poisson_interval(10).low == Approx(4.7954).epsilon(1e-4));
  CHECK(poisson_interval(10).high == Approx(18.3904).epsilon(1e-4));
}

TEST_CASE("the rule looks at unknown ids and at gaps below half a period", "[detector]") {
  const std::vector<data::CanFrame> log = drive(20, 0);
  const data::VehicleProfile profile = data::profile_of(log);
  const auto odd = [&](const std::vector<data::CanFrame>& frames) {
    RuleWindows rule(profile, 100);
    std::vector<float> out;
    for (const data::CanFrame& frame : frames) {
      if (rule.add(frame)) out.push_back(rule.odd());
    }
    return out;
  };
  std::vector<data::CanFrame> changed = log;
  changed[550].id = 0x7FF;
  CHECK(odd(changed)[5] == 2);
  changed = log;
  CHECK(odd(log)[5] < RuleWindows::kThreshold);
  // The frame after a regular one of 10 to 60 ms, sent again at a third of its period.
  std::size_t place = 550;
  while (profile.find(log[place].id)->period > 0.06 || profile.find(log[place].id)->early < 0.9) {
    ++place;
  }
  data::CanFrame again = log[place];
  again.time += profile.find(again.id)->period / 3;
  std::size_t to = place;
  while (log[to].time < again.time) ++to;
  changed.insert(changed.begin() + static_cast<int64_t>(to), again);
  CHECK(odd(changed)[to / 100] > RuleWindows::kThreshold);
  CHECK(odd(log).size() == log.size() / 100);
}

TEST_CASE("logs of one vehicle are known by their ids", "[detector]") {
  const std::vector<StoredLog> training = drives().training();
  REQUIRE(training.size() == 4);
  const auto groups = group_by_vehicle(training);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].size() == 2);
  CHECK(groups[1].size() == 2);
  CHECK(overlap(std::vector<uint32_t>{1, 2, 3}, std::vector<uint32_t>{2, 3, 4, 5}) == Approx(0.4));
  CHECK(overlap({}, {}) == 0);
}

TEST_CASE("a profile forgets that bytes move, of so many ids", "[detector]") {
  const data::VehicleProfile profile = data::profile_of(drive(30, 0));
  arrays::Random random(1);
  const auto moving = [](const data::VehicleProfile& of) {
    int64_t out = 0;
    for (const data::IdProfile& id : of.ids) {
      for (const data::ByteMoves& byte : id.bytes) out += byte.counts()[0] < byte.total() ? 1 : 0;
    }
    return out;
  };
  CHECK(forget_moves(profile, 0, random).json() == profile.json());
  const data::VehicleProfile half = forget_moves(profile, 1, random);
  CHECK(moving(half) < moving(profile));
  CHECK(moving(half) > 0);
  for (std::size_t i = 0; i < profile.ids.size(); ++i) {
    for (std::size_t b = 0; b < profile.ids[i].bytes.size(); ++b) {
      CHECK(half.ids[i].bytes[b].total() == profile.ids[i].bytes[b].total());
    }
  }
}

TEST_CASE("a detector learns of two vehicles, and judges one of them and a third", "[detector]") {
  const fs::path run = drives().folder() / "run";
  test::FakeHost fake;
  Host& host = fake.host;
  const StageResult result = Detector::run(quick(), request_in(run), host);
  const json& parts = result.metrics.at("parts");
  REQUIRE(parts.contains("test_01_known"));
  REQUIRE(parts.contains("test_02_unknown"));
  for (const auto& [part, methods] : parts.items()) {
    INFO(part);
    CHECK(methods.at("detector").at("f1") > 0.9);
    CHECK(methods.at("detector").at("auc") > 0.97);
    for (const char* method : {kRule, kOwnRule, kAlwaysAttack, kPublishedRule, kForest}) {
      INFO(method);
      CHECK(methods.contains(method));
    }
    CHECK(methods.at(kAlwaysAttack).at("n_samples") == methods.at("detector").at("n_samples"));
    CHECK(methods.at("detector").at("events_found") == methods.at("detector").at("events"));
  }
  CHECK(result.metrics.at("parameters") < 150'000);
  CHECK(fs::file_size(run / kDetectorFile) < 1'000'000);

  SECTION("its own windows count nowhere") {
    const DetectorModel model = DetectorModel::read(run / kDetectorFile);
    for (const StoredLog& log : drives().tests()) {
      const JudgedLog judged = judge(log, model);
      const auto all = static_cast<std::size_t>(log.rows() / 100);
      CHECK(judged.labels.size() + static_cast<std::size_t>(judged.own) == all);
      CHECK((judged.own > 0) == (log.part() == "test_02_unknown"));
      CHECK(judged.find(kDetector)->scores.size() == judged.labels.size());
    }
  }
  SECTION("the file read again scores the same bits; a damaged one is refused") {
    const DetectorModel model = DetectorModel::read(run / kDetectorFile);
    model.write(run / "again.json");
    CHECK(test::read_text(run / "again.json") == test::read_text(run / kDetectorFile));
    const json sound = json::parse(test::read_text(run / kDetectorFile));
    const auto refused = [&](const std::function<void(json&)>& change) {
      json bad = sound;
      bad.erase("hash");  // it is looked at before all else
      change(bad);
      std::ofstream(run / "bad.json") << bad.dump();
      CHECK_THROWS_WITH(DetectorModel::read(run / "bad.json"), Contains("bad.json"));
    };
    refused([](json& j) { j["format"] = "other"; });
    refused([](json& j) { j["columns"] = {"a"}; });
    refused([](json& j) { j["window"] = 0; });
    refused([](json& j) { j["window"] = true; });
    refused([](json& j) { j["window"] = 100.5; });
    refused([](json& j) { j["thresholds"]["0"]["tails"] = -1; });
    refused([](json& j) { j["thresholds"]["0"]["benign_alarms"] = 1e300; });
    refused([](json& j) { j["tails"] = json::array(); });
    refused([](json& j) { j["another"] = 1; });
    refused([](json& j) { j["thresholds"]["0"]["tails"] = nullptr; });
    refused([](json& j) { j["thresholds"] = json::object(); });
    refused([](json& j) { j["thresholds"]["many"] = j["thresholds"]["0"]; });
    refused([](json& j) { j["tails"][0]["column"] = 99; });
    refused([](json& j) { j["tails"][0]["excess"] = 0; });
    refused([](json& j) { j["vehicles"][0]["profile"]["ids"][0]["id"] = -1; });
    refused([](json& j) { j = 3; });
    CHECK_THROWS_WITH(DetectorModel::read(run / "none.json"), Contains("none.json: no such file"));
  }
  SECTION("a changed byte of the file is noticed, wherever it is") {
    const std::string sound = test::read_text(run / kDetectorFile);
    const json content = json::parse(sound);
    const auto is_read = [&](const std::string& text) {
      std::ofstream(run / "bad.json") << text;
      try {
        DetectorModel::read(run / "bad.json");
        return true;
      } catch (const Error& error) {
        CHECK(error.code() == ExitCode::kData);
        CHECK_THAT(error.what(), Contains("bad.json"));
        return false;
      }
    };
    CHECK(is_read(sound));
    CHECK(is_read(content.dump(1)));  // laid out in another way it is the same
    for (std::size_t i = 0; i < sound.size(); i += 1 + sound.size() / 200) {
      std::string bad = sound;
      bad[i] = static_cast<char>(bad[i] ^ 4);
      if (json::parse(bad, nullptr, false) == content) continue;
      INFO(i << " " << sound.substr(i, 20));
      CHECK_FALSE(is_read(bad));
    }
    for (const char* member : {"version", "window", "hash"}) {
      std::string twice = sound;
      twice.insert(1, "\"" + std::string(member) + "\":2,");
      CHECK_FALSE(is_read(twice));
    }
  }
  SECTION("a file of an earlier version has no hash: it is read with a warning") {
    json earlier = json::parse(test::read_text(run / kDetectorFile));
    earlier.erase("hash");
    std::ofstream(run / "earlier.json") << earlier.dump();
    std::vector<std::string> warnings;
    const auto warn = [&](const std::string& warning) { warnings.push_back(warning); };
    DetectorModel::read(run / kDetectorFile, warn);
    CHECK(warnings.empty());
    DetectorModel::read(run / "earlier.json", warn).write(run / "sealed.json");
    REQUIRE(warnings.size() == 1);
    CHECK_THAT(warnings[0], Contains("earlier.json has no hash"));
    CHECK(test::read_text(run / "sealed.json") == test::read_text(run / kDetectorFile));
  }
  SECTION("the same seed gives the same file") {
    Request again = request_in(drives().folder() / "second");
    again.threads = 2;
    Detector::run(quick(), again, host);
    CHECK(test::read_text(drives().folder() / "second" / kDetectorFile) ==
          test::read_text(run / kDetectorFile));
  }
}

TEST_CASE("baselines may be left out, and copies of logs are named", "[detector]") {
  const std::vector<data::CanFrame> test_drive = drive(40, 7, "spoofing");
  const test::LogStore copied({{"train_01/a.csv", drive(60, 0)},
                               {"train_01/b.csv", drive(60, 1)},
                               {"test_01/spoofing.csv", test_drive},
                               {"test_02/other-name.csv", test_drive}});
  const Request request = test::request_on(copied.data(), copied.folder() / "run", "detector");
  const DetectorOptions options = test::small_detector(60);
  test::FakeHost fake;
  const json metrics = Detector::run(options, request, fake.host).metrics;
  CHECK(!metrics.at("parts").at("test_01").contains(kAlwaysAttack));
  CHECK(metrics.at("parts").at("test_01").contains(kRule));
  CHECK(metrics.at("parts").at("test_01") == metrics.at("parts").at("test_02"));
  CHECK(metrics.at("same_content") ==
        json::array({json::array({"test_01/spoofing.csv", "test_02/other-name.csv"})}));
  CHECK_THAT(fake.log,
             Contains("test_02/other-name.csv holds the same frames and labels as test_01/"));
}

TEST_CASE("steps back in time are taken out where that is asked for", "[detector]") {
  // Every fiftieth frame has a time 20 ms too early.
  std::vector<data::CanFrame> stepping = drive(40, 7, "spoofing");
  for (std::size_t i = 50; i < stepping.size(); i += 50) stepping[i].time -= 0.02;
  const test::LogStore data({{"train_01/a.csv", drive(60, 0)},
                             {"train_01/b.csv", drive(60, 1)},
                             {"test_01/spoofing.csv", stepping}});
  const Request request = test::request_on(data.data(), data.folder() / "run", "detector");
  DetectorOptions options = quick();
  options.take_supported = true;
  test::FakeHost fake;
  const auto false_windows = [&](const char* method) {
    const json metrics = Detector::run(options, request, fake.host).metrics;
    return metrics.at("parts").at("test_01").at(method).at("false_windows").get<int64_t>();
  };
  const int64_t as_recorded = false_windows(kRule);
  options.monotonic = true;
  CHECK(false_windows(kRule) < as_recorded);
}

TEST_CASE("benign logs are enough to learn from", "[detector]") {
  DetectorOptions options = quick();
  options.use_labels = false;
  options.inject = {"spoofing", "fabrication"};
  test::FakeHost fake;
  Host& host = fake.host;
  const StageResult result = Detector::run(options, request_in(drives().folder() / "benign"), host);
  CHECK(result.metrics.at("parts").at("test_01_known").at("detector").at("f1") > 0.9);
}

TEST_CASE("a budget that the benign traffic cannot support ends with 2", "[detector]") {
  DetectorOptions options = quick();
  options.false_alarms = 0.01;
  test::FakeHost fake;
  Host& host = fake.host;
  try {
    Detector::run(options, request_in(drives().folder() / "strict"), host);
    FAIL_CHECK("taken");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::kUsage);
    CHECK_THAT(error.diagnostics().front().message, Contains("support no fewer than"));
  }
  options.take_supported = true;
  CHECK_NOTHROW(Detector::run(options, request_in(drives().folder() / "strict"), host));
}
