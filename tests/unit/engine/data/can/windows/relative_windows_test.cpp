#include "engine/data/can/windows/relative_windows.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <initializer_list>
#include <map>
#include <utility>

#include "engine/arrays/random.h"
#include "engine/data/can/frames/protocol_ids.h"
#include "support/can/can_drive.h"
#include "support/can/can_traffic.h"

namespace kdgat::data {
namespace {

/// Of powers of ten, as the column of unknown ids has them: ever larger, below 20.
double rarity_column(double rare) { return rare > 0 ? rare / (1 + rare / 20) : 0; }

using test::at;
using test::bus_of;
using test::drive;
using test::windows_of;
using Columns = std::array<float, kRelativeColumns>;

/// Seconds: another pause of an id that pauses may be three times as long.
double longest_of(const IdProfile& usual) {
  const double longest = usual.period * std::max(usual.late, usual.silence);
  return usual.silence > 5 * usual.late ? 3 * longest : longest;
}

/// The plain form: the whole log in memory, id by id, as the header says it.
std::vector<Columns> reference(const VehicleProfile& profile, const std::vector<CanFrame>& log,
                               std::size_t size) {
  struct Values {
    bool known = false, excused = false, wrong_length = false, surplus = false;
    float early = 0, crowd = 0, off = 0, silence = 0, fresh = 0, back = 0, tight = 0;
  };
  const std::size_t windows = log.size() / size;
  std::vector<Values> values(log.size());
  std::vector<double> time(log.size());
  for (std::size_t i = 0; i < log.size(); ++i) {
    time[i] = i == 0 ? log[i].time : std::max(time[i - 1], log[i].time);
  }
  std::map<uint32_t, std::vector<std::size_t>> rows;
  for (std::size_t i = 0; i < log.size(); ++i) {
    values[i].excused = is_diagnostic(log[i].id);
    rows[log[i].id].push_back(i);
  }
  std::vector<float> silence(windows, 0);
  for (const auto& [id, list] : rows) {
    const IdProfile* usual = profile.find(id);
    if (usual == nullptr) continue;
    const auto n = static_cast<int>(list.size());
    const auto row = [&](int k) { return list[static_cast<std::size_t>(k)]; };
    const auto seen = [&](int from, int k) {  // whether frame k is known when `from` is complete
      return k >= 0 && k < n && row(k) / size <= row(from) / size + 1;
    };
    const auto change = [&](int a, int b) {
      const std::size_t common = std::min(log[row(a)].length, log[row(b)].length);
      return std::min(20.0F, test::surprise(*usual, log[row(std::min(a, b))].payload.data(),
                                            log[row(std::max(a, b))].payload.data(), common) /
                                 usual->change);
    };
    const auto changed = [&](int k) {
      if (k < 1 || k >= n) return false;
      const std::size_t common = std::min(log[row(k)].length, log[row(k - 1)].length);
      return test::rare_change(*usual, log[row(k - 1)].payload.data(), log[row(k)].payload.data(),
                               common);
    };
    const auto early = [&](int at) {
      constexpr float kSlack = 0.05F;  // of a period
      if (at < 2 || at >= n || !(usual->period > 0)) return 0.0F;
      const auto gap = static_cast<float>((time[row(at)] - time[row(at - 1)]) / usual->period);
      return std::clamp(usual->early - kSlack - gap, 0.0F, 1.0F);
    };
    const auto moved_back = [&](int k) {
      for (int j = 2; j <= std::min(4, k); ++j) {
        const CanFrame &now = log[row(k)], &last = log[row(k - 1)], &then = log[row(k - j)];
        const std::size_t length = std::min({now.length, last.length, then.length});
        for (std::size_t b = 0; b < std::min(length, usual->bytes.size()); ++b) {
          const bool is_rare = usual->bytes[b].surprise(1) > 3;
          const uint8_t value = now.payload[b];
          if (is_rare && value != last.payload[b] && value == then.payload[b]) return true;
        }
      }
      return false;
    };
    const auto explained = [&](int from, int k) {
      const int before = changed(k - 1) + changed(k - 2) + changed(k - 3);
      const bool is_recent = changed(k - 1) || changed(k - 2);
      const bool is_few = changed(k) ? before <= 1 : is_recent && before <= 2 && early(k - 1) > 0;
      for (int j = 0; j <= 3; ++j) {
        if (seen(from, k + j) && moved_back(k + j)) return false;
      }
      return is_few;
    };
    SendingTimes times;
    const float tolerance = std::clamp(1.5F * usual->jitter, 0.02F, 0.25F);
    const float trust = 1 - std::min(1.0F, 2 * usual->jitter);
    if (usual->period > 0) times.start(usual->period, tolerance);
    const double usual_silence = longest_of(*usual);
    float bucket = 0;
    for (int k = 0; k < n; ++k) {
      Values& v = values[row(k)];
      v.known = true;
      v.wrong_length = !usual->lengths.test(log[row(k)].length);
      if (usual->period > 0) {
        float distance = 0;
        const float off = times.add(time[row(k)], distance);
        v.off = off >= 1 ? trust : std::clamp(off - 2 * tolerance, 0.0F, 1.0F) * trust;
        v.early = explained(k, k) ? 0 : early(k);
        v.crowd = v.early;
        if (seen(k, k + 1) && !explained(k, k + 1)) v.crowd = std::max(v.crowd, early(k + 1));
        if (k > 0) {
          const auto gap = static_cast<float>((time[row(k)] - time[row(k - 1)]) / usual->period);
          bucket = std::max(0.0F, bucket - 2 * gap);
          v.surplus = bucket > 3;
          if (!v.surplus) ++bucket;
          const double silent = (time[row(k)] - time[row(k - 1)]) / usual_silence;
          const bool is_often = usual->frames >= IdProfile::kManyFrames;
          if (is_often && usual->is_missed(profile.seconds))
            v.silence = std::clamp(static_cast<float>(silent), 0.0F, 20.0F);
          const auto gaps = static_cast<float>(usual->frames);
          const float shortest = usual->early * gaps / (gaps + 10);
          if (k > 1 && shortest > 0 && !explained(k, k)) v.tight = std::min(20.0F, shortest / gap);
        }
      }
      std::vector<float> changes;
      for (int j = 1; j <= 4; ++j) {
        if (k - j >= 0) changes.push_back(change(k - j, k));
        if (seen(k, k + j)) changes.push_back(change(k, k + j));
      }
      if (changes.size() >= 2) v.fresh = *std::min_element(changes.begin(), changes.end());
      if (k >= 1 && seen(k, k + 1)) {
        v.back =
            std::max(0.0F, std::min(change(k - 1, k), change(k, k + 1)) - change(k - 1, k + 1));
      }
    }
    if (!usual->is_missed(profile.seconds)) continue;
    for (std::size_t w = 0; w < windows; ++w) {
      const auto after = std::upper_bound(list.begin(), list.end(), (w + 1) * size - 1);
      if (after == list.begin()) continue;
      const double since = time[(w + 1) * size - 1] - time[*(after - 1)];
      const double silent = since / usual_silence;
      silence[w] = std::max(silence[w], std::min(20.0F, static_cast<float>(silent)));
    }
  }
  const auto once = static_cast<double>(std::count_if(
      profile.ids.begin(), profile.ids.end(), [](const IdProfile& id) { return id.frames == 1; }));
  std::vector<Columns> out(windows);
  for (std::size_t w = 0; w < windows; ++w) {
    const auto share = [&](auto is) {
      float sum = 0;
      for (std::size_t i = w * size; i < (w + 1) * size; ++i) sum += is(values[i]) ? 1 : 0;
      return sum / static_cast<float>(size);
    };
    const auto largest = [&](auto of, std::size_t rank = 0) {
      std::vector<float> all;
      for (std::size_t i = w * size; i < (w + 1) * size; ++i) all.push_back(of(values[i]));
      std::sort(all.begin(), all.end(), std::greater<>());
      return all[rank];
    };
    const auto crowd_off = [](const Values& v) { return std::min(v.crowd, v.off); };
    const float excused = share([](const Values& v) { return v.excused; });
    const double unknown =
        std::round((share([](const Values& v) { return !v.known && !v.excused; }) +
                    (excused > kMostExcused ? excused : 0)) *
                   static_cast<float>(size));
    // The first term of a Poisson tail, with the mean that Good and Turing expect.
    const double mean =
        (once + 0.5) / static_cast<double>(profile.frames) * static_cast<double>(size);
    const double rare = unknown * -std::log10(mean) + std::lgamma(unknown + 1) / std::log(10.0);
    out[w] = {unknown > 0.5 ? static_cast<float>(rarity_column(rare)) : 0,
              share([](const Values& v) { return v.wrong_length; }),
              largest([](const Values& v) { return v.crowd; }),
              share([](const Values& v) { return v.surplus; }),
              largest(crowd_off),
              largest(crowd_off, 1),
              share([](const Values& v) { return v.off > 0.1F; }),
              largest([](const Values& v) { return std::min(v.crowd, v.back); }),
              largest([](const Values& v) { return std::min(v.crowd, v.fresh); }),
              largest([](const Values& v) { return std::min(v.off, v.fresh); }),
              largest([](const Values& v) { return std::min(v.off, v.back); }),
              largest([](const Values& v) { return v.fresh; }),
              largest([](const Values& v) { return v.back; }),
              std::max(silence[w], largest([](const Values& v) { return v.silence; })),
              largest([](const Values& v) { return v.tight; })};
  }
  return out;
}

TEST_CASE("windows as they stream are those of the plain form", "[relative]") {
  const VehicleProfile profile = profile_of(drive(30, 0));
  for (const char* attack :
       {"", "dos", "fuzzing", "spoofing", "replay", "suspension", "masquerade"}) {
    INFO("attack: " << attack);
    const std::vector<CanFrame> log = drive(40, 1, attack);
    for (const std::size_t size : {std::size_t{100}, std::size_t{17}}) {
      const std::vector<RelativeWindow> found =
          windows_of(profile, log, static_cast<int64_t>(size));
      const std::vector<Columns> wanted = reference(profile, log, size);
      REQUIRE(found.size() == wanted.size());
      for (std::size_t w = 0; w < found.size(); ++w) {
        for (std::size_t c = 0; c < kRelativeColumns; ++c) {
          INFO("window " << w << ", " << relative_names()[c]);
          REQUIRE(found[w].x[c] == Approx(wanted[w][c]).margin(1e-5));
        }
        bool attacked = false;
        for (std::size_t i = w * size; i < (w + 1) * size; ++i) attacked |= log[i].label == 1;
        CHECK(found[w].attack == attacked);
        CHECK(found[w].first_row == static_cast<int64_t>(w * size));
        CHECK(found[w].end == log[(w + 1) * size - 1].time);
      }
    }
  }
}

TEST_CASE("a flood of an unknown id is rarer than a few frames of another", "[relative]") {
  std::vector<CanFrame> log = drive(20, 0);
  const VehicleProfile profile = profile_of(log);
  double last = 0;
  for (const std::size_t frames : {1, 2, 5, 7, 20, 60, 100}) {
    std::vector<CanFrame> attacked = log;
    for (std::size_t i = 1000; i < 1000 + frames; ++i) attacked[i].id = 0x7F0;
    const double now = at(windows_of(profile, attacked)[10], Relative::kUnknown);
    INFO(frames);
    CHECK(now > last);
    CHECK(now < 20);
    last = now;
  }
}

TEST_CASE("an unknown id, a wrong length and an injected frame stand out", "[relative]") {
  std::vector<CanFrame> log = drive(20, 0);
  const VehicleProfile profile = profile_of(log);
  const std::size_t place = 1050;
  const RelativeWindow before = windows_of(profile, log)[10];
  CHECK(at(before, Relative::kUnknown) == 0);
  CHECK(at(before, Relative::kLength) == 0);
  CHECK(at(before, Relative::kCrowd) < 0.2);
  SECTION("unknown") {
    log[place].id = 0x7FF;
    const double mean = 0.5 / static_cast<double>(profile.frames) * 100;
    CHECK(at(windows_of(profile, log)[10], Relative::kUnknown) ==
          Approx(rarity_column(-std::log10(mean))));
  }
  SECTION("unknown, 29 bits") {
    log[place].id = 0x18FF1234;
    const double mean = 0.5 / static_cast<double>(profile.frames) * 100;
    CHECK(at(windows_of(profile, log)[10], Relative::kUnknown) ==
          Approx(rarity_column(-std::log10(mean))));
  }
  SECTION("of a tester: only where there are many") {
    for (std::size_t i = 1000; i < 1050; ++i) log[i].id = 0x7E0;
    CHECK(at(windows_of(profile, log)[10], Relative::kUnknown) == 0);
    log[1060].id = 0x7DF;
    CHECK(at(windows_of(profile, log)[10], Relative::kUnknown) > 10);
  }
  SECTION("length") {
    log[place].length = 3;
    CHECK(at(windows_of(profile, log)[10], Relative::kLength) == Approx(0.01));
  }
  SECTION("the same payload half a period after the true frame") {
    std::size_t fast = place;
    while (profile.find(log[fast].id)->period > 0.06 || profile.find(log[fast].id)->early < 0.9) {
      ++fast;
    }
    CanFrame forged = log[fast];
    forged.time += profile.find(forged.id)->period / 2;
    std::size_t to = fast;
    while (log[to].time < forged.time) ++to;
    log.insert(log.begin() + static_cast<int64_t>(to), forged);
    const RelativeWindow window = windows_of(profile, log)[to / 100];
    CHECK(at(window, Relative::kCrowd) > 0.3);
    CHECK(at(window, Relative::kCrowdOff) > 0.2);
  }
}

TEST_CASE("a benign drive of the same vehicle is usual, another vehicle is not", "[relative]") {
  const VehicleProfile profile = profile_of(drive(60, 0));
  double same = 0, other = 0;
  for (const RelativeWindow& window : windows_of(profile, drive(30, 5))) {
    same = std::max<double>(same, at(window, Relative::kUnknown));
  }
  for (const RelativeWindow& window : windows_of(profile, drive(30, 5, "", 1))) {
    other = std::max<double>(other, at(window, Relative::kUnknown));
  }
  CHECK(same == 0);
  CHECK(other > 0.2);
}

TEST_CASE("steps back in time say nothing", "[relative]") {
  std::vector<CanFrame> log = drive(20, 1), monotonic;
  const VehicleProfile profile = profile_of(drive(20, 0));
  arrays::Random random(2);
  for (CanFrame& frame : log) {
    if (random.below(30) == 0) frame.time -= 0.005;
  }
  monotonic = log;
  for (std::size_t i = 1; i < monotonic.size(); ++i) {
    monotonic[i].time = std::max(monotonic[i].time, monotonic[i - 1].time);
  }
  const auto a = windows_of(profile, log), b = windows_of(profile, monotonic);
  REQUIRE(a.size() == b.size());
  for (std::size_t w = 0; w < a.size(); ++w) CHECK(a[w].x == b[w].x);
}

TEST_CASE("bytes that rested begin to move together: that surprises once", "[relative]") {
  // In the drive, from 5 s on the first `moving` bytes of id 2 grow by 20 from frame to frame.
  const std::vector<CanFrame> usual = bus_of({{1, .01}, {2, .02}}, 60);
  const VehicleProfile profile = profile_of(usual);
  const auto most_new = [&](std::size_t moving) {
    std::vector<CanFrame> log = bus_of({{1, .01}, {2, .02}}, 10);
    uint8_t value = 0;
    for (CanFrame& frame : log) {
      if (frame.id != 2 || frame.time < 5) continue;
      value = static_cast<uint8_t>(value + 20);
      std::fill_n(frame.payload.begin(), moving, value);
    }
    float most = 0;
    for (const RelativeWindow& window : windows_of(profile, log)) {
      most = std::max(most, at(window, Relative::kNew));
    }
    return most;
  };
  const IdProfile& id = profile.ids[1];
  REQUIRE(id.id == 2);
  std::size_t rest = 0;
  while (id.bytes[rest].counts()[0] == id.bytes[rest].total()) ++rest;
  REQUIRE(rest >= 3);
  CHECK(most_new(0) < 1);
  CHECK(most_new(1) > 1);
  CHECK(most_new(1) < 2);
  CHECK(most_new(rest) == most_new(1));
}

TEST_CASE("a log without times has the columns that need none, and no NaN", "[relative]") {
  std::vector<CanFrame> log = drive(20, 1, "fuzzing");
  for (CanFrame& frame : log) frame.time = std::numeric_limits<double>::quiet_NaN();
  const VehicleProfile profile = profile_of(drive(20, 0));
  float unknown = 0;
  for (const RelativeWindow& window : windows_of(profile, log)) {
    for (const float value : window.x) REQUIRE(std::isfinite(value));
    for (const Relative column : {Relative::kCrowd, Relative::kOffShare, Relative::kSilence}) {
      CHECK(at(window, column) == 0);
    }
    unknown = std::max(unknown, at(window, Relative::kUnknown));
  }
  CHECK(unknown > 0);
}

TEST_CASE("values stay within bounds whatever comes", "[relative]") {
  const VehicleProfile profile = profile_of(drive(20, 0));
  arrays::Random random(8);
  std::vector<CanFrame> log;
  double time = 0;
  for (int i = 0; i < 20'000; ++i) {
    CanFrame frame;
    time += std::pow(10, 6 * random.uniform() - 5) * (random.below(50) == 0 ? -1 : 1);
    frame.time = random.below(100) == 0 ? std::numeric_limits<double>::quiet_NaN() : time;
    frame.id = random.below(2) == 0 ? profile.ids[random.below(profile.ids.size())].id
                                    : static_cast<uint32_t>(random.below(1 << 29));
    frame.length = static_cast<uint8_t>(random.below(65));
    for (int b = 0; b < frame.length; ++b) {
      frame.payload[static_cast<std::size_t>(b)] = static_cast<uint8_t>(random.below(256));
    }
    log.push_back(frame);
  }
  for (const RelativeWindow& window : windows_of(profile, log)) {
    for (const float value : window.x) REQUIRE((value >= 0 && value <= 20));
  }
}

TEST_CASE("after a restart no frame is compared with those before", "[relative]") {
  const std::vector<CanFrame> log = drive(20, 1);
  const VehicleProfile profile = profile_of(drive(20, 0));
  RelativeWindows windows(profile, 100);
  std::vector<RelativeWindow> both;
  const auto read = [&] {
    windows.restart();
    for (std::size_t i = 0; i < 2000; ++i) {
      if (windows.add(log[i])) both.push_back(windows.window());
    }
  };
  read();
  read();
  while (windows.finish()) both.push_back(windows.window());
  REQUIRE(both.size() == 40);
  for (std::size_t w = 0; w < 19; ++w) CHECK(both[w].x == both[w + 20].x);
}

}  // namespace
}  // namespace kdgat::data
