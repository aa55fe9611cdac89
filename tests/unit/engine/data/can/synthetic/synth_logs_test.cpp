#include "engine/data/can/synthetic/synth_logs.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "engine/data/can/logs/can_log.h"
#include "engine/data/can/logs/format_log.h"
#include "engine/data/can/synthetic/synth_traffic.h"
#include "support/graphs/import_options.h"
#include "support/programs/command.h"
#include "support/programs/folder_bytes.h"

using namespace kdgat::data;
using namespace kdgat::file;
using namespace kdgat::graph;
using kdgat::test::bytes_below;
namespace fs = std::filesystem;

namespace {

const std::vector<std::string> kAttacks = SynthOptions().attacks;

SynthOptions of_seconds(double seconds) {
  SynthOptions options;
  options.seconds = seconds;
  return options;
}

int64_t attack_rows(const std::vector<CanFrame>& frames) {
  return std::count_if(frames.begin(), frames.end(),
                       [](const CanFrame& f) { return f.label == 1; });
}

/// Share of the windows of 100 rows with an attack row.
double attack_share(const std::vector<CanFrame>& frames) {
  std::size_t windows = 0, attack = 0;
  for (std::size_t begin = 0; begin + 100 <= frames.size(); begin += 100, ++windows) {
    const auto first = frames.begin() + static_cast<std::ptrdiff_t>(begin);
    attack += std::any_of(first, first + 100, [](const CanFrame& f) { return f.label == 1; });
  }
  return static_cast<double>(attack) / static_cast<double>(windows);
}

}  // namespace

TEST_CASE("the same seed writes the same bytes, another seed writes others", "[synth]") {
  const kdgat::test::ScratchFolder a, b, c;
  SynthOptions options = of_seconds(3);
  write_synthetic(a.path(), options);
  write_synthetic(b.path(), options);
  CHECK(bytes_below(a.path()) == bytes_below(b.path()));
  options.seed = 2;
  write_synthetic(c.path(), options);
  const auto first = bytes_below(a.path()), other = bytes_below(c.path());
  REQUIRE(first.size() == other.size());
  for (const auto& [name, text] : first) CHECK(other.at(name) != text);
}

TEST_CASE("the bytes of a seed never change unknowingly", "[synth]") {
  // When this fails on purpose, raise kSynthVersion and put the new lines here.
  const std::vector<CanFrame> frames = synthesize(of_seconds(2), 0, "fuzzing");
  const std::string text = format_log(frames, "can-train-and-test");
  uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  CHECK(kSynthVersion == 1);
  CHECK(hash == 0x9481D76B28DE793EULL);
}

TEST_CASE("every attack labels rows, in 10 to 20 % of the windows of a minute", "[synth]") {
  for (const std::string& attack : kAttacks) {
    for (int64_t vehicle = 0; vehicle < 3; ++vehicle) {
      INFO(attack << ", vehicle " << vehicle);
      const std::vector<CanFrame> frames = synthesize(of_seconds(60), vehicle, attack);
      CHECK(attack_share(frames) > 0.10);
      CHECK(attack_share(frames) < 0.20);
      CHECK(frames.front().label == 0);
    }
    INFO(attack << ", one second");
    const std::vector<CanFrame> shortest = synthesize(of_seconds(1), 0, attack);
    CHECK(attack_rows(shortest) > 0);
  }
  CHECK(attack_rows(synthesize(of_seconds(60), 0, "")) == 0);
}

TEST_CASE("an unknown attack or format is a usage error", "[synth]") {
  CHECK_THROWS_AS(synthesize(of_seconds(1), 0, "flooding"), kdgat::Error);
  CHECK_THROWS_AS(format_log({}, "asc"), kdgat::Error);
}

TEST_CASE("each attack does what its name says", "[synth]") {
  const auto benign_ids = [](int64_t vehicle) {
    std::set<uint32_t> ids;
    for (const Message& m : make_vehicle(1, vehicle)) ids.insert(m.id);
    return ids;
  };
  const std::set<uint32_t> known = benign_ids(0);
  std::map<std::string, std::map<uint32_t, int>> by_attack;
  for (const std::string& attack : kAttacks) {
    for (const CanFrame& f : synthesize(of_seconds(24), 0, attack)) {
      if (f.label == 1) ++by_attack[attack][f.id];
    }
  }
  CHECK(by_attack["dos"].size() == 1);
  CHECK(by_attack["dos"].count(0) == 1);
  CHECK(by_attack["fuzzing"].size() > 300);
  for (const char* one : {"spoofing", "masquerade"}) {
    INFO(one);
    REQUIRE(by_attack[one].size() == 1);
    CHECK(known.count(by_attack[one].begin()->first) == 1);
  }
  for (const auto& [id, rows] : by_attack["replay"]) CHECK(known.count(id) == 1);
  CHECK(by_attack["suspension"].size() > 1);
  const auto silent = synthesize(of_seconds(24), 0, "suspension");
  const auto whole = synthesize(of_seconds(24), 0, "");
  CHECK(static_cast<double>(silent.size()) < static_cast<double>(whole.size()));
}

TEST_CASE("traffic is believable: rates, periods, order and vehicles", "[synth]") {
  std::vector<std::set<uint32_t>> ids_of;
  for (int64_t vehicle = 0; vehicle < 3; ++vehicle) {
    INFO("vehicle " << vehicle);
    const std::vector<Message> messages = make_vehicle(1, vehicle);
    CHECK(messages.size() >= 25);
    CHECK(messages.size() <= 45);
    const std::vector<CanFrame> frames = synthesize(of_seconds(20), vehicle, "");
    CHECK(frames.size() > 20 * 280);
    CHECK(frames.size() < 20 * 380);
    std::map<uint32_t, std::vector<double>> times;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      if (i > 0) REQUIRE(frames[i].time > frames[i - 1].time);
      times[frames[i].id].push_back(frames[i].time);
    }
    std::set<uint32_t> ids;
    for (const Message& m : messages) {
      ids.insert(m.id);
      CHECK(m.id < 0x800);
      if (m.period_us == 0) continue;
      INFO("id " << m.id);
      const std::vector<double>& t = times.at(m.id);
      const double period = static_cast<double>(m.period_us) / 1e6;
      CHECK(m.period_us >= 10'000);
      CHECK(m.period_us <= 1'000'000);
      const double mean = (t.back() - t.front()) / static_cast<double>(t.size() - 1);
      CHECK(mean == Approx(period).epsilon(0.02));
      double deviation = 0;
      for (std::size_t i = 1; i < t.size(); ++i) {
        deviation = std::max(deviation, std::abs(t[i] - t[i - 1] - period));
      }
      CHECK(deviation < 0.005);  // jitter and waiting for the bus
      CHECK(deviation > 0);
    }
    ids_of.push_back(ids);
  }
  std::vector<uint32_t> shared;
  std::set_intersection(ids_of[0].begin(), ids_of[0].end(), ids_of[2].begin(), ids_of[2].end(),
                        std::back_inserter(shared));
  CHECK(shared.size() > ids_of[0].size() / 3);
  CHECK(shared.size() < ids_of[0].size());
}

TEST_CASE("payloads have counters and checksums that hold", "[synth]") {
  const std::vector<Message> messages = make_vehicle(1, 0);
  std::map<uint32_t, const Message*> by_id;
  for (const Message& m : messages) by_id[m.id] = &m;
  std::map<uint32_t, int> last;
  int counters = 0, checksums = 0;
  for (const CanFrame& f : synthesize(of_seconds(10), 0, "")) {
    const Message& m = *by_id.at(f.id);
    REQUIRE(f.length == m.length);
    if (m.counter_at >= 0) {
      const int counter = f.payload[static_cast<std::size_t>(m.counter_at)];
      if (last.count(f.id) == 1) REQUIRE(counter == (last[f.id] + 1) % 16);
      last[f.id] = counter;
      ++counters;
    }
    if (m.checksum_at >= 0) {
      Payload payload{};
      std::copy_n(f.payload.begin(), 8, payload.begin());
      set_checksum(m, payload);
      REQUIRE(std::equal(payload.begin(), payload.end(), f.payload.begin()));
      ++checksums;
    }
  }
  CHECK(counters > 100);
  CHECK(checksums > 100);
}

TEST_CASE("with ageing periods jitter more, and events are more frequent, at the end of a log",
          "[synth]") {
  constexpr int64_t kDuration = 400'000'000, kQuarter = kDuration / 4;
  struct Quarter {
    double jitter = 0;
    int64_t gaps = 0, events = 0;
  };
  const auto quarters = [](int64_t ageing) {
    std::array<Quarter, 4> out;
    for (const Message& message : make_vehicle(1, 0)) {
      int64_t last = -1;
      for (const Transmission& t : make_drive({message}, 7, kDuration, ageing)) {
        Quarter& quarter = out[static_cast<std::size_t>(t.ready_us / kQuarter)];
        if (message.period_us == 0) {
          ++quarter.events;
        } else if (last >= 0) {
          const auto gap = static_cast<double>(t.ready_us - last);
          const auto period = static_cast<double>(message.period_us);
          quarter.jitter += std::abs(gap - period) / period;
          ++quarter.gaps;
        }
        last = t.ready_us;
      }
    }
    for (Quarter& quarter : out) quarter.jitter /= static_cast<double>(quarter.gaps);
    return out;
  };
  const auto young = quarters(0), aged = quarters(300);
  CHECK(young[3].jitter == Approx(young[0].jitter).epsilon(0.05));
  CHECK(static_cast<double>(young[3].events) ==
        Approx(static_cast<double>(young[0].events)).epsilon(0.3));
  // 1 + 3 * 7/8 at the middle of the last quarter, 1 + 3 * 1/8 at that of the first.
  CHECK(aged[3].jitter / aged[0].jitter == Approx(2.64).epsilon(0.1));
  CHECK(static_cast<double>(aged[3].events) / static_cast<double>(aged[0].events) ==
        Approx(2.64).epsilon(0.3));
  CHECK(aged[0].jitter > young[0].jitter);
}

TEST_CASE("a flood of the lowest id delays the others", "[synth]") {
  std::vector<Transmission> wanted;
  for (int64_t i = 0; i < 100; ++i) wanted.push_back({0, 0x000, 8, {}, true, false});
  wanted.push_back({0, 0x100, 8, {}, false, false});
  const std::vector<CanFrame> frames = transmit(wanted, 0);
  REQUIRE(frames.size() == 101);
  CHECK(frames.back().id == 0x100);
  CHECK(frames.back().time > 0.02);
}

TEST_CASE("logs stand in the published layout, the last vehicle only in test_02", "[synth]") {
  const kdgat::test::ScratchFolder folder;
  SynthOptions options = of_seconds(2);
  options.attacks = {"dos", "masquerade"};
  options.vehicles = 2;
  write_synthetic(folder.path(), options);
  std::vector<std::string> names;
  for (const auto& [name, text] : bytes_below(folder.path())) names.push_back(name);
  CHECK(names ==
        std::vector<std::string>{"test_01_known_vehicle_known_attack/dos-vehicle1.csv",
                                 "test_01_known_vehicle_known_attack/masquerade-vehicle1.csv",
                                 "test_02_unknown_vehicle_known_attack/dos-vehicle2.csv",
                                 "test_02_unknown_vehicle_known_attack/masquerade-vehicle2.csv",
                                 "train_01_attack_free/attack-free-vehicle1.csv",
                                 "train_02_with_attacks/dos-vehicle1.csv",
                                 "train_02_with_attacks/masquerade-vehicle1.csv"});
  const auto files = bytes_below(folder.path());
  CHECK(files.at(names[0]) != files.at("train_02_with_attacks/dos-vehicle1.csv"));
}

TEST_CASE("every written form is recognised and reads back to the same frames", "[synth][import]") {
  const std::vector<CanFrame> frames = synthesize(of_seconds(2), 0, "fuzzing");
  for (const std::string format : {"can-train-and-test", "hcrl", "candump"}) {
    INFO(format);
    const std::string text = format_log(frames, format);
    CanLog log(ByteReader("synthetic", text), "auto", true);
    CHECK(log.format() == format);
    CanFrame read;
    for (const CanFrame& frame : frames) {
      REQUIRE(log.next(read));
      REQUIRE(read.time == Approx(frame.time).margin(1e-6).epsilon(0));
      REQUIRE(read.id == frame.id);
      REQUIRE(read.length == frame.length);
      REQUIRE(read.payload == frame.payload);
      REQUIRE(read.label == (format == "candump" ? -1 : frame.label));
    }
    CHECK(!log.next(read));
    CHECK(log.malformed() == 0);
  }
}

TEST_CASE("the options of CAN traffic are what they were before there were other kinds",
          "[synth]") {
  CHECK(synth_identity({}).dump() ==
        R"({"attacks":["dos","fuzzing","spoofing","replay","suspension","masquerade"],)"
        R"("format":"can-train-and-test","seconds":60.0,"seed":1,"vehicles":3})");
  SynthOptions ageing;
  ageing.ageing = 100;
  CHECK(synth_identity(ageing) != synth_identity({}));
}
