// Counters and checksums: learned from several drives, broken by forged payloads alone.
#include "engine/data/can/windows/payload_laws.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "engine/arrays/random.h"
#include "engine/portable/laws.h"
#include "support/can/can_traffic.h"

namespace kdgat::data {
namespace {

using test::Frames;
using test::windows_of;

constexpr uint32_t kId = 0x120, kOther = 0x300;

uint8_t crc8(const CanFrame& frame, std::size_t bytes) {
  unsigned crc = 0xFF;
  for (std::size_t i = 0; i < bytes; ++i) {
    crc ^= frame.payload[i];
    for (int bit = 0; bit < 8; ++bit) crc = (crc << 1) ^ ((crc & 0x80) != 0 ? 0x11DU : 0U);
    crc &= 0xFF;
  }
  return static_cast<uint8_t>(crc);
}

/// 100 frames a second: byte 0 has a gear (of `gears`) above a counter of four bits, bytes 1 and 2
/// a speed, byte 3 a checksum; beside it an id without either.
Frames counting_drive(uint64_t seed, int gears = 3, std::size_t frames = 4000) {
  arrays::Random random(seed);
  Frames out;
  unsigned gear = 0, speed = 1000;
  for (std::size_t i = 0; i < frames; ++i) {
    if (random.below(100) == 0) gear = static_cast<unsigned>(random.below(gears));
    speed += static_cast<unsigned>(random.below(41)) - 20;
    CanFrame frame;
    frame.time = static_cast<double>(i) * .01;
    frame.id = kId;
    frame.length = 4;
    frame.label = 0;
    frame.payload = {static_cast<uint8_t>(gear << 4 | (i & 0xF)), static_cast<uint8_t>(speed >> 8),
                     static_cast<uint8_t>(speed)};
    frame.payload[3] = crc8(frame, 3);
    out.push_back(frame);
    frame.time += .003;
    frame.id = kOther;
    frame.payload = {static_cast<uint8_t>(random.below(256)), 7, 7, 7};
    out.push_back(frame);
  }
  return out;
}

VehicleProfile learned(const std::vector<Frames>& drives) {
  ProfileBuilder builder;
  for (const Frames& one : drives) {
    builder.restart();
    for (const CanFrame& frame : one) builder.add(frame);
  }
  VehicleProfile out = builder.profile();
  LawLearner learner(out);
  for (int pass = 0; pass < LawLearner::kPasses; ++pass) {
    for (std::size_t n = 0; n < drives.size(); ++n) {
      learner.begin_drive(n);
      for (const CanFrame& frame : drives[n]) learner.add(frame);
    }
    learner.end_pass();
  }
  learner.finish(out);
  return out;
}

const VehicleProfile& vehicle() {
  static const VehicleProfile out =
      learned({counting_drive(1), counting_drive(2), counting_drive(3)});
  return out;
}

/// Windows with frames that break laws.
std::vector<int64_t> broken(const VehicleProfile& profile, const Frames& log) {
  std::vector<int64_t> out;
  for (const RelativeWindow& one : windows_of(profile, log)) {
    if (one.broken > 0) out.push_back(one.first_row / 100);
  }
  return out;
}

/// The log with every frame of kId from `begin` on, so many, changed.
template <class Change>
Frames with(Frames log, std::size_t begin, std::size_t count, Change change) {
  for (CanFrame& frame : log) {
    if (frame.id != kId) continue;
    if (begin > 0) {
      --begin;
    } else if (count > 0) {
      --count;
      change(frame);
    }
  }
  return log;
}

}  // namespace

TEST_CASE("counters and checksums are learned from several drives", "[laws]") {
  const IdProfile* id = vehicle().find(kId);
  REQUIRE(id->laws);
  CHECK(id->laws->counters == 0x0F);
  CHECK(id->laws->counter_ends == 0x01);
  CHECK(id->laws->counter_tops == 0x08);
  CHECK(id->laws->sums.size() - id->laws->slow_sums >= 8);  // a sum for each bit of the checksum
  CHECK_FALSE(vehicle().find(kOther)->laws);
}

TEST_CASE("one drive alone has no laws", "[laws]") {
  CHECK_FALSE(learned({counting_drive(1)}).find(kId)->laws);
}

TEST_CASE("what one drive breaks is no law", "[laws]") {
  const Frames other =
      with(counting_drive(2), 2000, 1000, [](CanFrame& frame) { frame.payload[3] ^= 1; });
  const VehicleProfile profile = learned({counting_drive(1), other, counting_drive(3)});
  REQUIRE(profile.find(kId)->laws);
  const PayloadLaws& laws = *profile.find(kId)->laws;
  CHECK(laws.counters == 0x0F);
  // The other seven bits of the checksum still have theirs, or the id has none.
  for (std::size_t i = laws.slow_sums; i < laws.sums.size(); ++i) {
    CHECK((laws.sums[i] & uint64_t{1} << 24) == 0);
  }
}

TEST_CASE("sums that few payloads tried are no checksum", "[laws]") {
  const auto standing = [](uint64_t seed) {
    return with(counting_drive(seed), 0, 4000, [](CanFrame& frame) {
      frame.payload[0] &= 0xF;
      frame.payload[1] = 3;
      frame.payload[2] = 9;
      frame.payload[3] = crc8(frame, 3);
    });
  };
  const VehicleProfile profile = learned({standing(1), standing(2)});
  REQUIRE(profile.find(kId)->laws);
  CHECK(profile.find(kId)->laws->counters == 0x0F);
  CHECK_FALSE(profile.find(kId)->laws->has_checks());
  CHECK(broken(profile, counting_drive(5)).empty());  // the car drives now
}

TEST_CASE("benign drives break no law", "[laws]") {
  for (uint64_t seed = 10; seed < 20; ++seed)
    CHECK(broken(vehicle(), counting_drive(seed)).empty());
}

TEST_CASE("a gear never seen breaks no law", "[laws]") {
  CHECK(broken(vehicle(), counting_drive(7, 12)).empty());
}

TEST_CASE("a lost frame breaks no law", "[laws]") {
  Frames log = counting_drive(8);
  for (std::size_t at = 200; at < log.size(); at += 301) {
    log.erase(log.begin() + static_cast<std::ptrdiff_t>(at));
  }
  CHECK(broken(vehicle(), log).empty());
}

TEST_CASE("a counter that is held is found", "[laws]") {
  const Frames log = with(counting_drive(9), 1000, 300, [](CanFrame& frame) {
    frame.payload[0] = static_cast<uint8_t>((frame.payload[0] & 0xF0) | 5);
    frame.payload[3] = crc8(frame, 3);
  });
  const std::vector<int64_t> found = broken(vehicle(), log);
  // 50 frames of the id in a window: those from the 1,000th to the 1,299th.
  CHECK(found.front() == 20);
  CHECK(found.size() >= 6);
  CHECK(found.back() <= 26);
}

TEST_CASE("a payload with a checksum of another one is found", "[laws]") {
  const Frames log =
      with(counting_drive(9), 1000, 300, [](CanFrame& frame) { frame.payload[1] ^= 0x02; });
  const std::vector<int64_t> found = broken(vehicle(), log);
  CHECK(found.size() >= 6);
  CHECK(found.size() <= 7);
}

TEST_CASE("a drive that begins with a break has no laws of that id", "[laws]") {
  const Frames log =
      with(counting_drive(9), 0, 4000, [](CanFrame& frame) { frame.payload[3] ^= 0xFF; });
  CHECK(broken(vehicle(), log).empty());
}

TEST_CASE("windows without the frames of an id break none of its laws", "[laws]") {
  RelativeWindows windows(vehicle(), 100);
  bool is_seen = false;
  for (const CanFrame& frame :
       with(counting_drive(9), 1000, 300, [](CanFrame& one) { one.payload[2] ^= 0x10; })) {
    if (!windows.add(frame) || windows.window().broken == 0) continue;
    is_seen = true;
    CHECK(windows.without(std::vector<uint32_t>{kId}).broken == 0);
    CHECK(windows.without(std::vector<uint32_t>{kOther}).broken == windows.window().broken);
    CHECK(windows.only(std::vector<uint32_t>{kId}).broken == windows.window().broken);
  }
  CHECK(is_seen);
}

TEST_CASE("laws come back from JSON", "[laws]") {
  const nlohmann::json json = vehicle().json();
  const VehicleProfile read = VehicleProfile::from_json(json, "profile.json");
  CHECK(read.json() == json);
  nlohmann::json wrong = json;
  nlohmann::json& laws = wrong["ids"][0]["laws"];
  laws["bytes"] = 5;
  CHECK_THROWS_AS(VehicleProfile::from_json(wrong, "profile.json"), Error);
  laws["bytes"] = 4;
  laws["checks"].push_back("no number");
  CHECK_THROWS_AS(VehicleProfile::from_json(wrong, "profile.json"), Error);
}

TEST_CASE("counters are stepped as field by field", "[laws]") {
  arrays::Random random(3);
  for (int round = 0; round < 2000; ++round) {
    kdgat_lawful of{};
    std::vector<std::pair<int, int>> fields;  // shift and width
    for (int bit = 0; bit < 64;) {
      const int width = 2 + static_cast<int>(random.below(7));
      if (bit % 8 + width > 8 || random.below(2) == 0) {
        ++bit;
        continue;
      }
      fields.emplace_back(bit, width);
      of.counters |= ((uint64_t{1} << width) - 1) << bit;
      of.counter_ends |= uint64_t{1} << bit;
      of.counter_tops |= uint64_t{1} << (bit + width - 1);
      bit += width;
    }
    const uint64_t before = random.next();
    uint64_t now = random.next() & ~of.counters;
    for (const auto& [shift, width] : fields) {
      const uint64_t mask = (uint64_t{1} << width) - 1;
      now |= (((before >> shift & mask) + 1) & mask) << shift;
    }
    CHECK(kdgat_counts(&of, now, before) == 1);
    if (of.counters == 0) continue;
    const auto& [shift, width] = fields[random.below(fields.size())];
    CHECK(kdgat_counts(&of, now ^ uint64_t{1} << (shift + width - 1), before) == 0);
    CHECK(kdgat_counts(&of, now ^ uint64_t{1} << shift, before) == 0);
  }
}

}  // namespace kdgat::data
