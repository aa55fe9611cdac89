// Named cases of traffic: how many windows are wrong where the case has no name, and where it has.
#include "support/catch_torch.h"
// Catch first: see catch_torch.h.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "detector/detector.h"
#include "engine/compare/judging.h"
#include "engine/data/can/synthetic/inject.h"
#include "engine/decision/detector/detector_model.h"
#include "support/can/can_drive.h"
#include "support/can/can_traffic.h"
#include "support/can/detector_logs.h"
#include "support/runs/stage_data.h"

using namespace kdgat;
using namespace kdgat::compare;
using namespace kdgat::data;
using namespace kdgat::decision;
using namespace kdgat::detector;
using data::profile_of;
using data::VehicleProfile;
using kdgat::test::drive;
using kdgat::test::Frames;

namespace {

/// A detector that has learned from two vehicles, none of them the one that the cases are about.
const DetectorModel& learned() {
  static const DetectorModel one = [] {
    test::DetectorLogs logs;
    for (const int64_t vehicle : {1, 2}) {
      const std::string name = "car" + std::to_string(vehicle);
      logs.write("train_01/" + name + "-a.csv", drive(90, 0, "", vehicle));
      logs.write("train_01/" + name + "-b.csv", drive(90, 1, "", vehicle));
    }
    logs.import();
    DetectorOptions options;
    options.trees = 100;
    test::FakeHost fake;
    const Request request = logs.request("run");
    Detector::run(options, request, fake.host);
    return DetectorModel::read(request.run_dir / kDetectorFile);
  }();
  return one;
}

/// Of the windows of a log.
struct Wrong {
  int benign = 0, falsely = 0, attacks = 0, found = 0;
};

Wrong judged(const VehicleProfile& profile, const Frames& log) {
  Wrong out;
  for (const data::RelativeWindow& window : test::windows_of(profile, log)) {
    const bool flagged = learned().score(window, learned().decision(0)) > 0;
    ++(window.attack ? out.attacks : out.benign);
    if (flagged) ++(window.attack ? out.found : out.falsely);
  }
  return out;
}

Frames attacked(const Frames& log, const std::string& kind, data::CanInjectOptions how = {}) {
  arrays::Random random(7);
  return data::inject(log, kind, how, random).frames;
}

}  // namespace

TEST_CASE("the cases are judged by a detector that has few false windows", "[detector][cases]") {
  const VehicleProfile profile = profile_of(drive(90, 0));
  const Wrong benign = judged(profile, drive(60, 1));
  CHECK(benign.falsely <= 2);
  const Wrong flooded = judged(profile, drive(60, 1, "dos"));
  CHECK(flooded.found > 0.95 * flooded.attacks);
}

TEST_CASE("case: two buses in one log", "[detector][cases]") {
  const auto both = [](int64_t day) {
    const Frames first = drive(90, day);
    return test::merged(first, test::on_channel(drive(90, day + 20, "", 3), 1, first));
  };
  const Frames usual = both(0), log = both(1);
  SECTION("benign traffic of both is usual") {
    const Wrong said = judged(profile_of(usual), log);
    CHECK(said.falsely <= 3);
  }
  SECTION("an id of one bus that shows up on the other is unknown there") {
    Frames crossed;
    const VehicleProfile profile = profile_of(usual);
    int left = 0;
    for (std::size_t i = 0; i < log.size(); ++i) {
      crossed.push_back(log[i]);
      data::CanFrame copy = log[i];
      copy.channel ^= 1;
      copy.time += 1e-6;
      copy.label = 1;
      if (i % 25 != 0 || profile.find(copy.key()) != nullptr) continue;
      crossed.push_back(copy);
      ++left;
    }
    REQUIRE(left > 100);
    int windows = 0, found = 0, falsely = 0;
    const auto told = test::windows_of(profile, crossed);
    for (std::size_t w = 0; w < told.size(); ++w) {
      const bool is_unknown = test::at(told[w], data::Relative::kUnknown) > 0;
      windows += told[w].attack ? 1 : 0;
      (told[w].attack ? found : falsely) += is_unknown ? 1 : 0;
    }
    CHECK(windows > 100);
    CHECK(found == windows);
    CHECK(falsely == 0);
  }
  SECTION("an attack on one bus is found") {
    const Wrong said = judged(profile_of(usual), attacked(log, "spoofing"));
    CHECK(said.found > 0.9 * said.attacks);
  }
}

TEST_CASE("case: payloads of CAN FD, up to 64 bytes", "[detector][cases]") {
  constexpr uint8_t kLengths[] = {12, 16, 20, 24, 32, 48, 64};
  // Every message is as long as one of FD; behind the eighth byte are counters and what rests.
  const auto fd = [&](Frames log) {
    std::map<uint32_t, uint8_t> counters;
    for (data::CanFrame& frame : log) {
      frame.length = kLengths[frame.id % std::size(kLengths)];
      frame.fd = true;
      std::fill_n(frame.payload.begin() + 8, 3, counters[frame.id]++);
    }
    return log;
  };
  const auto cut = [](Frames log) {
    for (data::CanFrame& frame : log) {
      frame.length = std::min<uint8_t>(frame.length, 8);
      std::fill(frame.payload.begin() + 8, frame.payload.end(), uint8_t{0});
    }
    return log;
  };
  // Windows with a payload newer than any of a benign drive's.
  const auto judged_by_payload = [](const Frames& usual, const Frames& benign, const Frames& log) {
    const VehicleProfile profile = profile_of(usual);
    float most = 0;
    for (const auto& window : test::windows_of(profile, benign)) {
      most = std::max(most, test::at(window, data::Relative::kNew));
    }
    Wrong out;
    for (const auto& window : test::windows_of(profile, log)) {
      ++(window.attack ? out.attacks : out.benign);
      if (test::at(window, data::Relative::kNew) <= most) continue;
      ++(window.attack ? out.found : out.falsely);
    }
    return out;
  };
  data::CanInjectOptions how;
  how.bytes = {8, 9, 10, 11};
  how.values = "random";
  const Frames usual = fd(drive(90, 0)), benign = fd(drive(60, 2));
  const Frames log = attacked(fd(drive(60, 1)), "masquerade", how);
  CHECK(std::any_of(log.begin(), log.end(), [](const auto& f) { return f.length == 64; }));
  const Wrong before = judged_by_payload(cut(usual), cut(benign), cut(log));
  const Wrong after = judged_by_payload(usual, benign, log);
  INFO(before.found << " and " << after.found << " found of " << after.attacks << ", "
                    << after.falsely << " false");
  CHECK(before.found < 0.1 * before.attacks);
  CHECK(after.found > 0.8 * after.attacks);
  CHECK(after.falsely <= 3);
}

TEST_CASE("case: two cars of one maker share all ids but one", "[detector][cases]") {
  Frames sister = drive(60, 3, "", 1);
  const uint32_t only_there = sister[10].id;
  for (data::CanFrame& frame : sister) {
    if (frame.id == only_there) frame.id = 0x6FE;
  }
  test::DetectorLogs logs;
  logs.write("train_01/any.csv", drive(60, 4, "", 1));
  logs.write("test_01/same.csv", drive(60, 3, "", 1));
  logs.write("test_01/sister.csv", sister);
  logs.import();
  const graph::GraphStore store = graph::GraphStore::open(logs.store());
  for (const StoredLog& log : stored_logs(store)) {
    if (log.trains()) continue;
    const bool is_sister = log.name() == "test_01/sister.csv";
    INFO(log.name());
    const std::vector<uint32_t> ids = log.benign_ids(log.rows());
    CHECK(std::any_of(learned().vehicles.begin(), learned().vehicles.end(),
                      [&](const Vehicle& one) { return overlap(ids, one.ids()) > kSameVehicle; }));
    const JudgedLog judged = judge(log, learned());
    CHECK(judged.profile.empty() == is_sister);
    const std::vector<float>& scores = judged.find(compare::kDetector)->scores;
    CHECK(std::count_if(scores.begin(), scores.end(), [](float score) { return score > 0; }) <= 2);
  }
}

TEST_CASE("case: a workshop tester is plugged in", "[detector][cases]") {
  const Frames usual = drive(90, 0), quiet = drive(60, 1);
  const Frames log = test::merged(quiet, test::tester(quiet, 10, 50));
  const Wrong said = judged(profile_of(usual), log);
  CHECK(said.falsely <= 2);
  SECTION("a profile that has seen one knows no times of it") {
    const Frames seen = test::merged(usual, test::tester(usual, 0, 90, 0));
    const Wrong again = judged(profile_of(seen), log);
    CHECK(again.falsely <= 2);
  }
  SECTION("a flood of requests is an attack all the same") {
    const Frames flooded = test::merged(quiet, test::flood(quiet, 0x7DF, 20, 25, 1000));
    const Wrong found = judged(profile_of(usual), flooded);
    CHECK(found.found > 0.95 * found.attacks);
  }
  SECTION("with 29 bits") {
    Frames wide = log;
    for (data::CanFrame& frame : wide) {
      if (!data::is_diagnostic(frame.id)) continue;
      frame.extended = true;
      frame.id = frame.id == 0x7DF  ? 0x18DB33F1
                 : frame.id < 0x7E8 ? 0x18DA00F1 | (frame.id & 7) << 8
                                    : 0x18DAF100 | (frame.id & 7);
    }
    const Wrong again = judged(profile_of(usual), wide);
    CHECK(again.falsely <= 2);
  }
}

TEST_CASE("case: ignition and sleep", "[detector][cases]") {
  const Frames usual = drive(90, 0), log = drive(60, 1);
  SECTION("the bus falls silent for some seconds, again and again") {
    Frames asleep = log;
    for (const double begin : {50.0, 40.0, 30.0, 20.0, 10.0}) {
      asleep = test::delayed(asleep, begin, 1.5 + begin / 50);
    }
    const Wrong said = judged(profile_of(usual), asleep);
    CHECK(said.falsely <= 2);
  }
  SECTION("most ids stop and start together") {
    const auto stops = [](uint32_t id) { return id % 5 != 0; };
    Frames off = log;
    for (const double begin : {10.0, 25.0, 40.0}) {
      off = test::unlabelled(test::silenced(off, begin, begin + 7, stops));
    }
    const Wrong said = judged(profile_of(usual), off);
    CHECK(said.falsely <= 3);
  }
  SECTION("a profile that was learned across such a pause still knows how long an id is silent") {
    Frames paused = usual;
    for (const double begin : {70.0, 50.0, 30.0}) paused = test::delayed(paused, begin, 20);
    const Wrong said = judged(profile_of(paused), drive(60, 1, "suspension"));
    const Wrong wanted = judged(profile_of(usual), drive(60, 1, "suspension"));
    CHECK(said.found > 0.9 * wanted.found);
    CHECK(wanted.found > 0);
  }
  SECTION("one id that is suspended while the others go on is found as before") {
    const Wrong said = judged(profile_of(usual), drive(60, 1, "suspension"));
    CHECK(said.found > 0.5 * said.attacks);
  }
}

TEST_CASE("case: priorities and claimed addresses of J1939", "[detector][cases]") {
  constexpr uint8_t kUnit = 0x31, kElsewhere = 0x80, kName = 7;
  const Frames plain = drive(90, 0);
  const auto ids = test::j1939_ids(plain);
  Frames usual = test::with_ids(plain, ids);
  for (uint8_t unit : {0x00, 0x03, 0x0B}) {
    usual.insert(usual.begin(), test::claim(usual, 0, unit, static_cast<uint8_t>(unit + 50)));
  }
  usual.insert(usual.begin(), test::claim(usual, 0, kUnit, kName));
  const Frames log = test::with_ids(drive(60, 1), ids);
  CHECK(judged(profile_of(usual), log).falsely <= 2);
  SECTION("another priority") {
    Frames urgent = log;
    for (std::size_t i = 0; i < urgent.size(); ++i) {
      if (i % 40 == 0) urgent[i].id = (urgent[i].id & 0x03FFFFFF) | 3U << 26;
    }
    const Wrong said = judged(profile_of(usual), urgent);
    CHECK(said.falsely <= 2);
  }
  const auto moved = [&](const Frames& of, bool claims, uint8_t name) {
    Frames out;
    bool told = false;
    const double start = of.front().time;
    for (data::CanFrame frame : of) {
      const bool is_after = frame.time - start > 20;
      if (is_after && claims && !told) {
        out.push_back(test::claim(of, frame.time - start, kElsewhere, name));
        told = true;
      }
      if (is_after && (frame.id & 0xFF) == kUnit) {
        frame.id = (frame.id & ~0xFFU) | kElsewhere;
        frame.label = static_cast<int8_t>(claims ? 0 : 1);
      }
      out.push_back(frame);
    }
    return out;
  };
  SECTION("the unit claims another address") {
    const Wrong said = judged(profile_of(usual), moved(log, true, kName));
    CHECK(said.falsely <= 2);
  }
  SECTION("and is compared with what it sent before") {
    Frames forged = moved(log, true, kName);
    for (std::size_t i = 0; i < forged.size(); ++i) {
      if ((forged[i].id & 0xFF) != kElsewhere || i % 8 != 0) continue;
      forged[i].length = 3;  // a length that it never had
      forged[i].label = 1;
    }
    const VehicleProfile profile = profile_of(usual);
    float wrong = 0;
    for (const auto& window : test::windows_of(profile, forged)) {
      wrong = std::max(wrong, test::at(window, data::Relative::kLength));
    }
    CHECK(wrong > 0);
  }
  SECTION("an address that nobody claimed is unknown") {
    const Wrong said = judged(profile_of(usual), moved(log, false, 0));
    CHECK(said.found > 0.9 * said.attacks);
  }
  SECTION("a unit that nobody knows claims one: not unknown, as long as it does not flood") {
    // Ten frames a second of messages that the others send, too.
    Frames more = test::flood(log, 0x18FEF100U | kElsewhere, 5, 55, 10);
    more = test::unlabelled(more);
    Frames joined = test::merged(log, more);
    joined.insert(joined.begin() + 10, test::claim(log, 0.01, kElsewhere, 99));
    const Wrong said = judged(profile_of(usual), joined);
    CHECK(said.falsely <= 2);
    Frames flooded = test::merged(log, test::flood(log, 0x18FF0000U | kElsewhere, 20, 25, 1000));
    flooded.insert(flooded.begin() + 10, test::claim(log, 0.01, kElsewhere, 99));
    const Wrong found = judged(profile_of(usual), flooded);
    CHECK(found.found > 0.95 * found.attacks);
  }
}

TEST_CASE("case: 5 of 100 frames that a profile is learned from are an attacker's",
          "[detector][cases]") {
  const Frames clean = drive(90, 0);
  const auto with = [&](bool random_ids) {
    arrays::Random random(3);
    Frames added;
    for (const data::CanFrame& frame : clean) {
      if (random.below(20) != 0) continue;
      data::CanFrame& one = added.emplace_back(clean[random.below(clean.size())]);
      if (random_ids) {
        one.id = static_cast<uint32_t>(random.below(0x800));
        one.length = 8;
      }
      for (std::size_t i = 0; i < one.length; ++i) {
        one.payload[i] = static_cast<uint8_t>(random.below(256));
      }
      one.time = frame.time + 1e-4;
    }
    return test::merged(clean, added);
  };
  const VehicleProfile spotless = profile_of(clean);
  SECTION("forged payloads of known ids, and forged frames later") {
    // Single frames that change two bytes need the sharpest profile.
    const std::pair<const char*, double> kKinds[] = {
        {"targeted", 0.8}, {"fabrication", 0.9}, {"spoofing", 0.9}};
    for (const auto& [kind, least] : kKinds) {
      INFO(kind);
      const Frames log = attacked(drive(60, 1), kind);
      const Wrong said = judged(profile_of(with(false)), log);
      const Wrong wanted = judged(spotless, log);
      UNSCOPED_INFO("clean: " << wanted.found);
      CHECK(said.found >= least * wanted.found);
      CHECK(said.falsely <= wanted.falsely + 2);
    }
  }
  SECTION("random ids, and such later") {
    data::CanInjectOptions how;
    how.rate = 20;
    const Frames log = attacked(drive(60, 1), "fuzzing", how);
    const Wrong said = judged(profile_of(with(true)), log);
    const Wrong wanted = judged(spotless, log);
    UNSCOPED_INFO("clean: " << wanted.found);
    CHECK(said.found >= 0.95 * wanted.found);
    CHECK(said.falsely <= wanted.falsely + 2);
  }
}

TEST_CASE("case: clocks that jump forward or are put back", "[detector][cases]") {
  const Frames usual = drive(90, 0), log = drive(60, 1);
  SECTION("forward by an hour") {
    const Wrong said = judged(profile_of(usual), test::delayed(log, 30, 3600));
    CHECK(said.falsely <= 2);
    for (const auto& window : test::windows_of(profile_of(usual), test::delayed(log, 30, 3600))) {
      const double listened = window.seconds;  // of the log's own clock
      CHECK(listened < 3);
    }
  }
  SECTION("back by most of a second, which no reader takes as another capture") {
    const Wrong said = judged(profile_of(usual), test::delayed(log, 30, -0.9));
    CHECK(said.falsely <= 2);
  }
  SECTION("one frame from the far future") {
    Frames odd = log;
    odd[odd.size() / 2].time += 1e6;
    const Wrong said = judged(profile_of(usual), odd);
    CHECK(said.falsely <= 2);
  }
  SECTION("a profile learned while the clock was put back is as good") {
    const VehicleProfile clean = profile_of(usual),
                         jumped =
                             profile_of(test::delayed(test::delayed(usual, 60, -0.9), 30, 5000));
    REQUIRE(clean.ids.size() == jumped.ids.size());
    for (std::size_t i = 0; i < clean.ids.size(); ++i) {
      if (!clean.ids[i].regular()) continue;
      CHECK(jumped.ids[i].period == Approx(clean.ids[i].period).epsilon(0.02));
      CHECK(jumped.ids[i].silence < 2 * clean.ids[i].silence);
    }
    CHECK(jumped.seconds == Approx(clean.seconds).margin(2));
  }
}
