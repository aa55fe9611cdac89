#include "engine/data/can/synthetic/inject.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "engine/data/can/frames/bus_slots.h"
#include "engine/data/can/logs/format_log.h"
#include "engine/data/can/synthetic/synth_logs.h"
#include "kdgat/error.h"
#include "support/can/injected.h"

using namespace kdgat::arrays;
using namespace kdgat::data;
using kdgat::test::benign_traffic;
using kdgat::test::inject_seeded;
using kdgat::test::is_inside;
using kdgat::test::refusal;

namespace {

const std::vector<std::string> kKinds = usual_attacks();
const std::vector<std::string> kAddingKinds = {
    "dos", "fuzzing", "fuzzing-known", "spoofing", "fabrication", "targeted", "replay"};

bool is_same(const CanFrame& a, const CanFrame& b) {
  return a.time == b.time && a.id == b.id && a.extended == b.extended && a.length == b.length &&
         a.payload == b.payload && a.remote == b.remote && a.fd == b.fd;
}

bool are_same(const std::vector<CanFrame>& a, const std::vector<CanFrame>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), is_same);
}

std::vector<CanFrame> labelled(const std::vector<CanFrame>& frames, int label) {
  std::vector<CanFrame> out;
  std::copy_if(frames.begin(), frames.end(), std::back_inserter(out),
               [&](const CanFrame& frame) { return frame.label == label; });
  return out;
}

}  // namespace

TEST_CASE("attacks that only add frames leave the recorded ones as they are", "[inject]") {
  const std::vector<CanFrame> benign = benign_traffic(20);
  for (const std::string& kind : kAddingKinds) {
    INFO(kind);
    const Injection made = inject_seeded(benign, kind);
    CHECK(are_same(labelled(made.frames, 0), benign));
    CHECK(made.added > 0);
    CHECK(made.changed + made.removed == 0);
    CHECK(std::ssize(labelled(made.frames, 1)) == made.added);
    CHECK(made.frames.size() == benign.size() + static_cast<std::size_t>(made.added));
    for (const CanFrame& frame : labelled(made.frames, 1)) CHECK(is_inside(made, frame.time));
  }
}

TEST_CASE("a masquerade changes payloads alone, and labels what it changed", "[inject]") {
  const std::vector<CanFrame> benign = benign_traffic(20);
  const Injection made = inject_seeded(benign, "masquerade");
  REQUIRE(made.frames.size() == benign.size());
  int64_t changed = 0;
  for (std::size_t i = 0; i < benign.size(); ++i) {
    CanFrame frame = made.frames[i];
    const bool is_changed = frame.payload != benign[i].payload;
    REQUIRE(frame.label == (is_changed ? 1 : 0));
    changed += is_changed ? 1 : 0;
    if (is_changed) CHECK(is_inside(made, frame.time));
    frame.payload = benign[i].payload;
    REQUIRE(is_same(frame, benign[i]));
  }
  CHECK(changed == made.changed);
  CHECK(made.added + made.removed == 0);
}

TEST_CASE("a forged payload that happens to be the true one is not labelled", "[inject]") {
  const std::vector<CanFrame> benign = benign_traffic(60);
  CanInjectOptions options;
  options.bytes = {0};
  options.values = "random";
  options.min_attack_seconds = options.max_attack_seconds = 50;
  int64_t changed = 0, frames = 0;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const Injection made = inject_seeded(benign, "masquerade", options, seed);
    for (std::size_t i = 0; i < benign.size(); ++i) {
      REQUIRE((made.frames[i].label == 1) == (made.frames[i].payload != benign[i].payload));
      frames += made.frames[i].id == made.attacks[0].id && is_inside(made, made.frames[i].time);
    }
    changed += made.changed;
  }
  CHECK(changed < frames);
}

TEST_CASE("a suspension takes every frame of an id, and labels the one after", "[inject]") {
  const std::vector<CanFrame> benign = benign_traffic(20);
  const Injection made = inject_seeded(benign, "suspension");
  auto left = made.frames.begin();
  bool missed = false;
  int64_t removed = 0;
  for (const CanFrame& frame : benign) {
    if (left == made.frames.end() || left->time != frame.time) {
      ++removed;
      missed = true;
      const auto attack =
          std::find_if(made.attacks.begin(), made.attacks.end(), [&](const Attack& a) {
            return a.begin <= frame.time && frame.time < a.end && a.id == frame.id;
          });
      CHECK(attack != made.attacks.end());
      continue;
    }
    REQUIRE(is_same(*left, frame));
    REQUIRE(left->label == (missed ? 1 : 0));
    missed = false;
    ++left;
  }
  CHECK(left == made.frames.end());
  CHECK(removed == made.removed);
  CHECK(made.removed > 0);
  for (const Attack& attack : made.attacks) {
    for (const CanFrame& frame : made.frames) {
      CHECK(!(frame.id == attack.id && attack.begin <= frame.time && frame.time < attack.end));
    }
  }
}

TEST_CASE("time rises from frame to frame, and the bus has time for every one", "[inject]") {
  const std::vector<CanFrame> benign = benign_traffic(20);
  for (const std::string& kind : kKinds) {
    INFO(kind);
    const CanInjectOptions options;
    const Injection made = inject_seeded(benign, kind, options);
    CHECK(made.frames.front().time >= benign.front().time);
    CHECK(made.frames.back().time <= benign.back().time);
    for (std::size_t i = 1; i < made.frames.size(); ++i) {
      const int64_t gap = microseconds(made.frames[i].time) - microseconds(made.frames[i - 1].time);
      REQUIRE(gap >= bus_time_us(made.frames[i], options.bitrate));
    }
  }
}

TEST_CASE("attacks and benign traffic alternate, each as long as asked", "[inject]") {
  const std::vector<CanFrame> benign = benign_traffic(60);
  CanInjectOptions options;
  options.lead_seconds = 5;
  options.min_attack_seconds = 1;
  options.max_attack_seconds = 1.5;
  options.min_benign_seconds = 2;
  options.max_benign_seconds = 2.5;
  for (const std::string& kind : kKinds) {
    INFO(kind);
    const Injection made = inject_seeded(benign, kind, options);
    CHECK(made.attacks.size() >= 8);
    CHECK(made.attacks.front().begin >= benign.front().time + 5);
    CHECK(made.attacks.front().begin <= benign.front().time + 5.51);
    for (std::size_t i = 0; i < made.attacks.size(); ++i) {
      const Attack& attack = made.attacks[i];
      CHECK(attack.end - attack.begin >= 1 - 1e-5);
      CHECK(attack.end - attack.begin <= 1.5 + 1e-5);
      if (i > 0) CHECK(attack.begin - made.attacks[i - 1].end >= 2 - 1e-5);
    }
  }
}

TEST_CASE("the same seed gives the same frames, another gives others", "[inject]") {
  const std::vector<CanFrame> benign = benign_traffic(20);
  for (const std::string& kind : kKinds) {
    INFO(kind);
    const auto text = [&](uint64_t seed) {
      return format_log(inject_seeded(benign, kind, {}, seed).frames, "can-train-and-test");
    };
    CHECK(text(1) == text(1));
    CHECK(text(1) != text(2));
  }
}

TEST_CASE("frames come at the rate that is asked for", "[inject]") {
  const std::vector<CanFrame> benign = benign_traffic(30);
  CanInjectOptions options;
  options.rate = 200;
  for (const std::string kind : {"dos", "fuzzing", "fuzzing-known", "spoofing"}) {
    INFO(kind);
    const Injection made = inject_seeded(benign, kind, options);
    double seconds = 0;
    for (const Attack& attack : made.attacks) seconds += attack.end - attack.begin;
    CHECK(static_cast<double>(made.added) == Approx(200 * seconds).epsilon(0.05));
  }
}

TEST_CASE("what is drawn differs from attack to attack", "[inject]") {
  const std::vector<CanFrame> benign = benign_traffic(120);
  for (const std::string& kind : kKinds) {
    INFO(kind);
    const Injection made = inject_seeded(benign, kind);
    std::set<uint32_t> ids;
    for (const Attack& attack : made.attacks) {
      if (attack.id) ids.insert(*attack.id);
    }
    if (made.attacks.front().id) CHECK(ids.size() > 5);
  }
  std::set<int> rates;
  const Injection made = inject_seeded(benign, "dos");
  for (const Attack& attack : made.attacks) {
    const auto frames = std::count_if(made.frames.begin(), made.frames.end(), [&](const auto& f) {
      return f.label == 1 && attack.begin <= f.time && f.time <= attack.end;
    });
    rates.insert(static_cast<int>(
        std::lround(static_cast<double>(frames) / (attack.end - attack.begin) / 500)));
  }
  CHECK(rates.size() > 1);
}

TEST_CASE("a fabricated frame follows a true one after the delay", "[inject]") {
  const std::vector<CanFrame> benign = benign_traffic(30);
  for (const double delay : {0.0, 0.001, 0.004}) {
    INFO(delay);
    CanInjectOptions options;
    options.delay = delay;
    const Injection made = inject_seeded(benign, "fabrication", options);
    std::map<uint32_t, double> last;
    for (const CanFrame& frame : made.frames) {
      if (frame.label == 0) last[frame.id] = frame.time;
      if (frame.label == 0) continue;
      REQUIRE(last.count(frame.id) == 1);
      const double after = frame.time - last[frame.id];
      CHECK(after > delay);
      CHECK(after < delay + 0.003);  // its own length, and that of frames it waits for
    }
  }
}

TEST_CASE("frames that come too late for their attack leave the next one its place", "[inject]") {
  const std::vector<CanFrame> benign = benign_traffic(60);
  CanInjectOptions options;
  options.min_benign_seconds = 0;
  options.max_benign_seconds = 0.01;
  for (const std::string kind : {"fabrication", "targeted"}) {
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      INFO(kind << ", seed " << seed);
      const Injection made = inject_seeded(benign, kind, options, seed);
      CHECK(made.no_room > 0);
      for (std::size_t i = 1; i < made.frames.size(); ++i) {
        const int64_t gap =
            microseconds(made.frames[i].time) - microseconds(made.frames[i - 1].time);
        REQUIRE(gap >= bus_time_us(made.frames[i], options.bitrate));
      }
    }
  }
}

TEST_CASE("id, bytes and values are those asked for", "[inject]") {
  const std::vector<CanFrame> benign = benign_traffic(30);
  Random random(3);
  const Injection some = inject(benign, "suspension", {}, random);
  const uint32_t id = *some.attacks.front().id;
  CanInjectOptions options;
  char text[16];
  std::snprintf(text, sizeof text, "%x", id);
  options.id = text;
  options.bytes = {0, 2};
  options.max_attack_seconds = 60;
  options.min_attack_seconds = 20;  // one attack
  for (const std::string values : {"constant", "random"}) {
    INFO(values);
    options.values = values;
    const Injection made = inject_seeded(benign, "masquerade", options);
    REQUIRE(made.attacks.size() == 1);
    CHECK(made.attacks.front().id == id);
    std::set<std::pair<int, int>> seen;
    for (std::size_t i = 0; i < benign.size(); ++i) {
      const CanFrame& frame = made.frames[i];
      if (frame.label == 0) continue;
      CHECK(frame.id == id);
      seen.insert({frame.payload[0], frame.payload[2]});
      CanFrame back = frame;
      back.payload[0] = benign[i].payload[0];
      back.payload[2] = benign[i].payload[2];
      CHECK(is_same(back, benign[i]));
    }
    CHECK((seen.size() == 1) == (values == "constant"));
  }
}

TEST_CASE("each kind of added frame is what its name says", "[inject]") {
  const std::vector<CanFrame> benign = benign_traffic(30);
  std::set<uint32_t> known;
  std::set<std::tuple<uint32_t, uint8_t, std::array<uint8_t, 64>>> sent;
  for (const CanFrame& f : benign) known.insert(f.id);
  const auto added = [&](const std::string& kind) {
    return labelled(inject_seeded(benign, kind).frames, 1);
  };
  for (const CanFrame& f : added("dos")) CHECK(f.id <= *known.begin());
  std::set<uint32_t> fuzzed;
  for (const CanFrame& f : added("fuzzing")) fuzzed.insert(f.id);
  CHECK(fuzzed.size() > 300);
  CHECK(*fuzzed.rbegin() < 0x800);
  for (const std::string kind : {"fuzzing-known", "spoofing", "fabrication", "targeted"}) {
    INFO(kind);
    for (const CanFrame& f : added(kind)) CHECK(known.count(f.id) == 1);
  }
  for (const CanFrame& f : inject_seeded(benign, "replay").frames) {
    const auto key = std::tuple(f.id, f.length, f.payload);
    if (f.label == 1) CHECK(sent.count(key) == 1);
    if (f.label == 0) sent.insert(key);
  }
  // Sparse, where a spoofed id is sent more often than by its owner.
  CHECK(added("targeted").size() < added("spoofing").size() / 2);
}

TEST_CASE("what the bus has no time for is left out and counted", "[inject]") {
  const std::vector<CanFrame> benign = benign_traffic(20);
  CanInjectOptions options;
  options.rate = 10000;
  const Injection made = inject_seeded(benign, "dos", options);
  CHECK(made.no_room > 0);
  CHECK(made.added > 0);
  CHECK(are_same(labelled(made.frames, 0), benign));
  for (std::size_t i = 1; i < made.frames.size(); ++i) {
    REQUIRE(made.frames[i].time > made.frames[i - 1].time);
  }
  options.bitrate = 1'000'000;
  CHECK(inject_seeded(benign, "dos", options).added > made.added);
}

TEST_CASE("captures of one log are attacked each by itself", "[inject]") {
  std::vector<CanFrame> benign = benign_traffic(10);
  const std::vector<CanFrame> other = benign_traffic(8, 1);
  const double back = other.front().time - benign.front().time + 100;
  for (CanFrame frame : other) {
    frame.time = std::round((frame.time - back) * 1e6) / 1e6;
    benign.push_back(frame);
  }
  for (const std::string& kind : kKinds) {
    INFO(kind);
    const Injection made = inject_seeded(benign, kind);
    const auto falls = [](const std::vector<CanFrame>& frames) {
      int count = 0;
      for (std::size_t i = 1; i < frames.size(); ++i) count += frames[i].time < frames[i - 1].time;
      return count;
    };
    CHECK(falls(made.frames) == 1);
    const auto begins_late = [&](const Attack& a) { return a.begin >= benign.front().time; };
    const auto late = std::count_if(made.attacks.begin(), made.attacks.end(), begins_late);
    CHECK(late > 0);
    CHECK(late < std::ssize(made.attacks));
  }
}

TEST_CASE("small steps back of a log stay where they are", "[inject]") {
  std::vector<CanFrame> benign = benign_traffic(20);
  for (std::size_t i = 500; i < benign.size(); i += 700)
    std::swap(benign[i].time, benign[i + 1].time);
  for (const std::string& kind : kAddingKinds) {
    INFO(kind);
    const Injection made = inject_seeded(benign, kind);
    CHECK(are_same(labelled(made.frames, 0), benign));
    std::set<double> times;
    for (const CanFrame& frame : made.frames) CHECK(times.insert(frame.time).second);
  }
}

TEST_CASE("rows without a label become benign, attack rows stay", "[inject]") {
  std::vector<CanFrame> benign = benign_traffic(20);
  for (CanFrame& frame : benign) frame.label = -1;
  for (const CanFrame& frame : inject_seeded(benign, "replay").frames) REQUIRE(frame.label >= 0);
  CanSynthOptions options;
  options.seconds = 20;
  const std::vector<CanFrame> attacked = synthesize(options, 0, "dos");
  const Injection made = inject_seeded(attacked, "spoofing");
  CHECK(std::ssize(labelled(made.frames, 1)) == made.added + std::ssize(labelled(attacked, 1)));
  for (const Attack& attack : made.attacks) CHECK(attack.id != 0U);
}

TEST_CASE("a bus that sleeps is not attacked, however long it does", "[inject]") {
  std::vector<CanFrame> benign = benign_traffic(20);
  for (std::size_t i = benign.size() / 2; i < benign.size(); ++i) benign[i].time += 3e8;
  const double asleep = benign[benign.size() / 2 - 1].time;
  const double awake = benign[benign.size() / 2].time;
  const Injection made = inject_seeded(benign, "fuzzing");
  CHECK(made.attacks.size() > 3);
  CHECK(made.attacks.back().begin >= awake);
  for (const Attack& attack : made.attacks) {
    CHECK((attack.begin < asleep || attack.begin >= awake));
  }
}

TEST_CASE("29-bit ids are fuzzed with 29-bit ids", "[inject]") {
  std::vector<CanFrame> benign = benign_traffic(10);
  for (CanFrame& frame : benign) {
    frame.id |= 0x18FE0000;
    frame.extended = true;
  }
  for (const CanFrame& frame : labelled(inject_seeded(benign, "fuzzing").frames, 1)) {
    CHECK(frame.extended);
  }
}

TEST_CASE("what cannot be attacked is refused with its reason", "[inject]") {
  using kdgat::ExitCode;
  const std::vector<CanFrame> benign = benign_traffic(10);
  const auto contains = [](const std::string& text) { return Catch::Contains(text); };
  CHECK_THAT(refusal(benign, "flooding", ExitCode::kUsage), contains("unknown attack flooding"));
  CHECK_THAT(refusal({}, "dos", ExitCode::kData), contains("no rows"));

  std::vector<CanFrame> timeless = benign;
  for (CanFrame& frame : timeless) frame.time = std::numeric_limits<double>::quiet_NaN();
  std::vector<CanFrame> odd = benign;
  odd.back().time = 1e200;
  std::vector<CanFrame> single = benign;
  std::erase_if(single, [&](const CanFrame& f) { return f.id != benign.front().id; });
  std::vector<CanFrame> brief(benign.begin(), benign.begin() + 400);
  for (const std::string& kind : kKinds) {
    INFO(kind);
    CHECK_THAT(refusal(timeless, kind, ExitCode::kData), contains("row 1 has no time"));
    CHECK_THAT(refusal(odd, kind, ExitCode::kData), contains("no time of a recording"));
    CHECK_THAT(refusal(single, kind, ExitCode::kData), contains("one id only"));
    CHECK_THAT(refusal(brief, kind, ExitCode::kData), contains("too short"));
  }

  std::vector<CanFrame> irregular = benign;  // no id often enough
  for (std::size_t i = 0; i < irregular.size(); ++i) irregular[i].id = static_cast<uint32_t>(i / 5);
  CHECK_THAT(refusal(irregular, "spoofing", ExitCode::kData), contains("none is sent regularly"));
  CHECK(inject_seeded(irregular, "dos").added > 0);
  CanInjectOptions options;
  options.id = "7ff";
  CHECK_THAT(refusal(benign, "suspension", ExitCode::kData, options), contains("7ff"));

  const auto wrong = [&](auto change) {
    CanInjectOptions bad;
    change(bad);
    return refusal(benign, "dos", ExitCode::kUsage, bad);
  };
  CHECK_THAT(wrong([](auto& o) { o.min_attack_seconds = 5; }), contains("max_attack_seconds"));
  CHECK_THAT(wrong([](auto& o) { o.min_benign_seconds = 5; }), contains("max_benign_seconds"));
  CHECK_THAT(wrong([](auto& o) { o.id = "1G0"; }), contains("id: 1G0"));
  CHECK_THAT(wrong([](auto& o) { o.bytes = {64}; }), contains("bytes: 64"));
  CHECK_THAT(wrong([](auto& o) { o.delay = -0.5; }), contains("delay"));
  CHECK_THAT(wrong([](auto& o) { o.attacks.clear(); }), contains("attacks"));
}
