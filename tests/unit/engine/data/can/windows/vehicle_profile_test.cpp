#include "engine/data/can/windows/vehicle_profile.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/arrays/random.h"
#include "kdgat/error.h"
#include "support/can/can_drive.h"
#include "support/can/can_traffic.h"

namespace kdgat::data {
namespace {

using Catch::Contains;
using nlohmann::json;
using test::drive;

CanFrame frame(double time, uint32_t id, std::initializer_list<int> bytes) {
  CanFrame out;
  out.time = time;
  out.id = id;
  out.label = 0;
  for (const int byte : bytes) out.payload[out.length++] = static_cast<uint8_t>(byte);
  return out;
}

TEST_CASE("a byte's move is the shorter way round", "[profile]") {
  CHECK(ByteMoves::bin(7, 7) == 0);
  CHECK(ByteMoves::bin(0x00, 0xFF) == 1);
  CHECK(ByteMoves::bin(0xFF, 0x00) == 1);
  CHECK(ByteMoves::bin(10, 12) == 2);
  CHECK(ByteMoves::bin(0, 0x80) == 8);
  CHECK(ByteMoves::bin(0x7F, 0x80) == 1);
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      const int way = std::min((a - b) & 255, (b - a) & 255);
      const int bin = way == 0 ? 0 : static_cast<int>(std::log2(way)) + 1;
      REQUIRE(ByteMoves::bin(static_cast<uint8_t>(a), static_cast<uint8_t>(b)) == bin);
    }
  }
}

TEST_CASE("the surprise of a move is the share of moves at least as large", "[profile]") {
  ByteMoves byte;
  byte.set_counts({700, 200, 100, 0, 0, 0, 0, 0, 0});
  byte.settle();
  CHECK(byte.surprise(0) == 0);
  CHECK(byte.surprise(1) == Approx(-std::log2(300.5 / 1001)));
  CHECK(byte.surprise(2) == Approx(-std::log2(100.5 / 1001)));
  CHECK(byte.surprise(3) == Approx(-std::log2(100.5 / 1001) + 1));
  CHECK(byte.surprise(8) == Approx(-std::log2(100.5 / 1001) + 6));
  ByteMoves still;
  still.set_counts({1000, 0, 0, 0, 0, 0, 0, 0, 0});
  still.settle();
  CHECK(still.surprise(1) == Approx(-std::log2(0.5 / 1001)));
  for (int bin = 1; bin < ByteMoves::kBins; ++bin) {
    CHECK(still.surprise(bin) >= still.surprise(bin - 1));
  }
}

TEST_CASE("a sample keeps quantiles in bounded memory", "[profile]") {
  Sample sample;
  CHECK(sample.quantile(0.5) == 0);
  arrays::Random random(3);
  for (int i = 0; i < 200'000; ++i) sample.add(static_cast<float>(random.uniform()));
  CHECK(sample.seen() == 200'000);
  for (const double share : {0.01, 0.5, 0.99}) {
    CHECK(sample.quantile(share) == Approx(share).margin(0.03));
  }
}

TEST_CASE("times of sending are followed through jitter, injected frames and a new beginning",
          "[profile]") {
  SendingTimes times;
  times.start(0.1, 0.05F);
  float distance = 0;
  CHECK(times.add(5, distance) == 0);
  arrays::Random random(9);
  // Jitter of 2 % and a period that is half a percent off: never lost.
  double due = 5;
  for (int i = 1; i < 500; ++i) {
    due += 0.1005;
    CHECK(times.add(due + 0.002 * (random.uniform() - 0.5), distance) == 0);
    // Injected at any other time: told apart, and nothing moves.
    if (i % 3 == 0) CHECK(times.add(due + 0.02 + 0.06 * random.uniform(), distance) > 0.3);
  }
  CHECK(times.add(due + 0.001, distance) == 1);  // a second frame when one was due
  // The sender starts again at other times: some frames are off, then it is followed.
  double later = due + 1.04;
  int off = 0;
  for (int i = 0; i < 20; ++i, later += 0.1) off += times.add(later, distance) > 0 ? 1 : 0;
  CHECK(off >= 3);
  CHECK(off <= 6);
}

TEST_CASE("a profile knows periods, lengths and how far bytes move", "[profile]") {
  ProfileBuilder builder;
  arrays::Random random(1);
  int count = 0;
  for (int i = 0; i < 3000; ++i) {
    const double at = 0.01 * i;
    builder.add(frame(at + 0.0002 * random.uniform(), 0x100, {count++ & 255, 0x42}));
    if (i % 10 == 0) builder.add(frame(at + 0.003, 0x200, {i % 20 == 0 ? 1 : 2}));
    if (i == 1500) builder.add(frame(at + 0.004, 0x300, {}));
  }
  const VehicleProfile profile = builder.profile();
  REQUIRE(profile.ids.size() == 3);
  CHECK(profile.seconds == Approx(30).margin(0.05));
  const IdProfile* fast = profile.find(0x100);
  REQUIRE(fast != nullptr);
  CHECK(fast->frames == 3000);
  CHECK(fast->period == Approx(0.01).epsilon(0.01));
  CHECK(fast->early > 0.97);
  CHECK(fast->late < 1.03);
  CHECK(fast->jitter < 0.03);
  CHECK(fast->regular());
  CHECK(fast->lengths.test(2));
  CHECK(fast->lengths.count() == 1);
  const uint8_t from[] = {7, 0x42}, counted[] = {8, 0x42}, changed[] = {8, 0x43};
  CHECK(test::surprise(*fast, from, counted, 2) < 0.1);
  CHECK(test::surprise(*fast, from, changed, 2) > 10);
  CHECK_FALSE(test::rare_change(*fast, from, counted, 2));
  CHECK(test::rare_change(*fast, from, changed, 2));
  CHECK(profile.find(0x200)->period == Approx(0.1).epsilon(0.01));
  CHECK(profile.find(0x300)->period == 0);
  CHECK_FALSE(profile.find(0x300)->regular());
  CHECK(profile.find(0x301) == nullptr);
}

TEST_CASE("no gap and no move reaches from one log into the next, nor a step back in time",
          "[profile]") {
  ProfileBuilder builder;
  for (int log = 0; log < 3; ++log) {
    builder.restart();
    for (int i = 0; i < 100; ++i) builder.add(frame(1000 * log + 0.1 * i, 1, {log}));
  }
  const VehicleProfile profile = builder.profile();
  CHECK(profile.ids.at(0).silence == Approx(1).epsilon(0.01));
  CHECK(profile.ids.at(0).bytes.at(0).counts()[0] == 3 * 99);
  ProfileBuilder back;
  for (int i = 0; i < 100; ++i) back.add(frame(0.1 * i - (i == 50 ? 0.3 : 0), 1, {0}));
  CHECK(back.profile().ids.at(0).period == Approx(0.1).epsilon(0.01));
}

TEST_CASE("some attack frames in calibration traffic hardly move a profile", "[profile]") {
  const std::vector<CanFrame> clean = drive(60, 0);
  // One frame in twenty is injected: a forged copy at a random time after the true one.
  std::vector<CanFrame> dirty;
  arrays::Random random(4);
  for (const CanFrame& one : clean) {
    dirty.push_back(one);
    if (random.below(20) == 0) {
      CanFrame forged = one;
      forged.time += 0.004 * random.uniform();
      for (std::size_t b = 0; b < forged.length; ++b) {
        forged.payload[b] = static_cast<uint8_t>(random.below(256));
      }
      dirty.push_back(forged);
    }
  }
  std::stable_sort(dirty.begin(), dirty.end(),
                   [](const CanFrame& a, const CanFrame& b) { return a.time < b.time; });
  const VehicleProfile a = profile_of(clean), b = profile_of(dirty);
  REQUIRE(a.ids.size() == b.ids.size());
  CHECK(a.outliers < 20);
  CHECK(b.outliers > 0.6 * static_cast<double>(dirty.size() - clean.size()));
  int regular = 0, sound = 0;
  for (std::size_t i = 0; i < a.ids.size(); ++i) {
    if (!a.ids[i].regular() || a.ids[i].frames < 500) continue;
    INFO(a.ids[i].id);
    CHECK(b.ids[i].period == Approx(a.ids[i].period).epsilon(0.05));
    ++regular;
    sound += b.ids[i].early > 0.9 && b.ids[i].jitter < 0.1 ? 1 : 0;
  }
  INFO(regular << " ids, " << sound << " of them sound");
  CHECK(regular >= 8);
  // Of an id whose payload is random anyway nothing stands out.
  CHECK(sound >= regular - 1);
}

TEST_CASE("ids that came once or twice are no ids of a vehicle where most did", "[profile]") {
  std::vector<CanFrame> log = drive(60, 0);
  const VehicleProfile clean = profile_of(log);
  arrays::Random random(6);
  for (std::size_t i = 0; i < log.size(); i += 20) {
    if (random.below(2) == 0) log[i].id = static_cast<uint32_t>(random.below(0x800));
  }
  const VehicleProfile profile = profile_of(log);
  CHECK(profile.ids.size() < clean.ids.size() + 5);
  CHECK(profile.outliers > 200);
  for (const IdProfile& one : clean.ids) CHECK(profile.find(one.id) != nullptr);
  // A few rare ids stay.
  std::vector<CanFrame> rare = drive(60, 0);
  for (uint32_t i = 0; i < 5; ++i) rare[1000 * (i + 1)].id = 0x700 + i;
  CHECK(profile_of(rare).find(0x702) != nullptr);
}

TEST_CASE("attack rows teach nothing", "[profile]") {
  const std::vector<CanFrame> log = drive(30, 0, "fuzzing");
  std::vector<CanFrame> benign;
  std::copy_if(log.begin(), log.end(), std::back_inserter(benign),
               [](const CanFrame& f) { return f.label != 1; });
  const VehicleProfile attacked = profile_of(log), usual = profile_of(benign);
  CHECK(attacked.frames == usual.frames);
  REQUIRE(attacked.ids.size() == usual.ids.size());
  for (std::size_t i = 0; i < usual.ids.size(); ++i) {
    CHECK(attacked.ids[i].key() == usual.ids[i].key());
    CHECK(attacked.ids[i].frames == usual.ids[i].frames);
    CHECK(attacked.ids[i].lengths == usual.ids[i].lengths);
  }
}

TEST_CASE("a profile is written and read again, kilobytes long", "[profile]") {
  const VehicleProfile profile = profile_of(drive(60, 0));
  const std::string text = profile.json().dump();
  CHECK(text.size() < 40'000);
  const VehicleProfile again = VehicleProfile::from_json(json::parse(text), "p.json");
  CHECK(again.json().dump() == text);
  for (const IdProfile& one : profile.ids) {
    const IdProfile* other = again.find(one.id);
    REQUIRE(other != nullptr);
    for (std::size_t i = 0; i < one.bytes.size(); ++i) {
      for (int bin = 0; bin < ByteMoves::kBins; ++bin) {
        CHECK(one.bytes[i].surprise(bin) == other->bytes[i].surprise(bin));
      }
    }
  }
}

TEST_CASE("what is no profile is refused with the reason", "[profile]") {
  const json sound = profile_of(drive(20, 0)).json();
  const auto refuses = [&](const std::function<void(json&)>& change, const std::string& why) {
    json bad = sound;
    change(bad);
    INFO(why);
    try {
      VehicleProfile::from_json(bad, "p.json");
      FAIL_CHECK("taken");
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::kData);
      CHECK_THAT(error.diagnostics().front().message, Contains("p.json") && Contains(why));
    }
  };
  refuses([](json& j) { j = json::array(); }, "\"frames\"");
  refuses([](json& j) { j.erase("ids"); }, "\"ids\"");
  refuses([](json& j) { j["ids"][1]["id"] = j["ids"][0]["id"]; }, "ascend");
  refuses([](json& j) { j["ids"][0]["id"] = -1; }, "\"id\"");
  refuses([](json& j) { j["ids"][0]["id"] = int64_t{1} << 30; }, "\"id\"");
  refuses([](json& j) { j["ids"][0]["period"] = "0.1"; }, "\"period\"");
  refuses([](json& j) { j["ids"][0]["period"] = -0.1; }, "\"period\"");
  refuses([](json& j) { j["ids"][0]["jitter"] = 2; }, "\"jitter\"");
  refuses([](json& j) { j["ids"][0]["change"] = 0; }, "\"change\"");
  refuses([](json& j) { j["ids"][0]["lengths"] = {65}; }, "\"lengths\"");
  refuses([](json& j) { j["ids"][0]["moves"] = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}}; }, "\"moves\"");
  refuses([](json& j) { j["ids"][0]["moves"] = {{-1}}; }, "\"moves\"");
  refuses([](json& j) { j["ids"][0]["moves"] = json(65, json(1, 0)); }, "\"moves\"");
}

}  // namespace
TEST_CASE("nothing is learned across frames of an attack", "[profile]") {
  const std::vector<CanFrame> usual = test::drive(60, 1);
  const uint32_t id = usual.front().id;
  std::vector<CanFrame> attacked;  // the id falls silent; frames of others have the label
  for (CanFrame frame : usual) {
    const double since = frame.time - usual.front().time;
    const bool is_attack = since > 20 && since < 25;
    if (is_attack && frame.id == id) continue;
    frame.label = is_attack ? 1 : 0;
    attacked.push_back(frame);
  }
  const VehicleProfile before = profile_of(usual), after = profile_of(attacked);
  CHECK(after.find(id)->silence == Approx(before.find(id)->silence).epsilon(.2));
  for (CanFrame& frame : attacked) frame.label = 0;
  CHECK(profile_of(attacked).find(id)->silence > 10 * before.find(id)->silence);
}

}  // namespace kdgat::data
