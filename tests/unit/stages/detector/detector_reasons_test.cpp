// Reasons: parts of a score that add up to it, the id that was attacked ahead of all others, and
// what is said of it.
#include "support/catch_torch.h"
// Catch first: see catch_torch.h.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <span>

#include "engine/arrays/random.h"
#include "engine/data/can/synthetic/inject.h"
#include "engine/decision/detector/blame.h"
#include "engine/decision/detector/reasons.h"
#include "engine/decision/detector/window_scorer.h"
#include "support/can/can_drive.h"
#include "support/can/can_traffic.h"
#include "support/can/watched_drives.h"

using namespace kdgat;
using namespace kdgat::data;
using namespace kdgat::decision;
using Catch::Contains;
using kdgat::test::drive;
using kdgat::test::Frames;
using kdgat::test::watching_model;

namespace {

const data::VehicleProfile& profile_of_car() { return watching_model().vehicles.front().profile; }
const Decision& decision_of_car() { return watching_model().decision(0); }

/// Calls `use` for each window of a log of the first vehicle.
void each_window(const Frames& log, const std::function<void(const data::RelativeWindows&)>& use) {
  data::RelativeWindows windows(profile_of_car(), watching_model().window);
  for (const data::CanFrame& frame : log) {
    if (windows.add(frame)) use(windows);
  }
  while (windows.finish()) use(windows);
}

struct Told {
  JudgedWindow window;
  Reasons reasons;
};

/// Reasons of the flagged windows, or of those that `wanted` takes.
std::vector<Told> told_of(
    const Frames& log, std::size_t most = 5,
    const std::function<bool(const JudgedWindow&)>& wanted =
        [](const JudgedWindow& window) { return window.score > 0; },
    const data::DbcNames* names = nullptr) {
  std::vector<Told> out;
  WindowScorer* self = nullptr;
  WindowScorer watch(watching_model(), "a.log", 300, [&](const JudgedWindow& window) {
    if (wanted(window)) out.push_back({window, self->reasons(most)});
  });
  self = &watch;
  if (names != nullptr) watch.name_by(*names);
  watch.take(watching_model().vehicles.front());
  for (const data::CanFrame& frame : log) watch.add(frame, false);
  watch.finish();
  return out;
}

/// Of those with the highest score.
Told highest(const Frames& log, std::size_t most = 5) {
  const std::vector<Told> all = told_of(log, most);
  REQUIRE_FALSE(all.empty());
  return *std::max_element(all.begin(), all.end(), [](const Told& a, const Told& b) {
    return a.window.score < b.window.score;
  });
}

data::Injection injected(const Frames& log, const std::string& kind, uint64_t seed,
                         const std::string& id = "") {
  data::CanInjectOptions options;
  options.id = id;
  arrays::Random random(seed);
  return data::inject(log, kind, options, random);
}

/// The most frequent id, which is regular.
const data::IdProfile& fastest_id() {
  const auto& ids = profile_of_car().ids;
  const auto fast = std::max_element(
      ids.begin(), ids.end(),
      [](const data::IdProfile& a, const data::IdProfile& b) { return a.frames < b.frames; });
  REQUIRE(fast->regular());
  return *fast;
}

/// The score of a window without an id in the traffic itself, from `ahead` windows before it on: it
/// keeps its rows, and they are its size. That of a quiet window where too few are left.
double score_without(const Frames& log, std::size_t first, uint32_t left_out, std::size_t ahead) {
  const auto size = static_cast<std::size_t>(watching_model().window);
  const std::size_t from = first > ahead * size ? first - ahead * size : 0;
  Frames stays;
  std::size_t before = 0, inside = 0;
  for (std::size_t i = from; i < std::min(log.size(), first + 2 * size); ++i) {
    if (log[i].key() == left_out) continue;
    stays.push_back(log[i]);
    before += i < first ? 1 : 0;
    inside += i >= first && i < first + size ? 1 : 0;
  }
  if (inside < 2) return -10;
  stays.erase(stays.begin(), stays.begin() + static_cast<std::ptrdiff_t>(before % inside));
  for (const data::RelativeWindow& window :
       test::windows_of(profile_of_car(), stays, static_cast<int64_t>(inside))) {
    if (window.first_row == static_cast<int64_t>(before - before % inside)) {
      return watching_model().score(window, decision_of_car());
    }
  }
  return -10;
}

}  // namespace

TEST_CASE("columns without some ids are never larger, and without any they are none", "[reasons]") {
  arrays::Random random(3);
  int64_t changed = 0;
  each_window(injected(drive(20, 7), "fuzzing-known", 1).frames, [&](const auto& windows) {
    const data::RelativeWindow whole = windows.window();
    CHECK(windows.without({}).x == whole.x);
    std::set<uint32_t> all;
    for (const data::ComparedFrame& frame : windows.frames()) all.insert(frame.key);
    for (const data::Silence& silence : windows.silences()) all.insert(silence.key);
    std::vector<uint32_t> keys(all.begin(), all.end());
    CHECK(windows.only(keys).x == whole.x);
    CHECK(windows.without(keys).x == windows.only({}).x);
    for (std::size_t i = keys.size(); i > 1; --i) std::swap(keys[i - 1], keys[random.below(i)]);
    data::RelativeWindow before = whole;
    std::vector<uint32_t> gone;
    for (const uint32_t key : keys) {
      gone.push_back(key);
      const data::RelativeWindow after = windows.without(gone);
      for (std::size_t c = 0; c < data::kRelativeColumns; ++c) CHECK(after.x[c] <= before.x[c]);
      changed += after.x != before.x ? 1 : 0;
      before = after;
    }
    std::reverse(gone.begin(), gone.end());
    CHECK(windows.without(gone).x == before.x);
  });
  CHECK(changed > 1000);
}

TEST_CASE("parts and the rest add up to the score, the largest fall is first", "[reasons]") {
  const DetectorModel& model = watching_model();
  int64_t parts_seen = 0, single = 0;
  for (const char* kind : {"spoofing", "fuzzing", "suspension", "replay", "dos"}) {
    each_window(injected(drive(30, 7), kind, 2).frames, [&](const auto& windows) {
      const Blame parts = blame_of(model, decision_of_car(), windows, 5);
      CHECK(parts.score == model.score(windows.window(), decision_of_car()));
      CHECK(parts.parts.size() <= 5);
      double sum = parts.rest;
      std::set<uint32_t> named;
      for (const BlamedIds& part : parts.parts) {
        CHECK(part.score > 0);
        CHECK_FALSE(part.keys.empty());
        CHECK((part.laws ||
               std::find(part.columns.begin(), part.columns.end(), true) != part.columns.end()));
        for (const uint32_t key : part.keys) CHECK(named.insert(key).second);
        sum += part.score;
      }
      CHECK(std::abs(sum - parts.score) < 1e-4);
      parts_seen += std::ssize(parts.parts);
      // Fewer parts are the first of more.
      const Blame two = blame_of(model, decision_of_car(), windows, 2);
      REQUIRE(two.parts.size() == std::min<std::size_t>(2, parts.parts.size()));
      for (std::size_t i = 0; i < two.parts.size(); ++i) {
        CHECK(two.parts[i].keys == parts.parts[i].keys);
      }
      // No id alone falls farther than the first part.
      if (parts.parts.empty() || parts.parts.front().keys.size() > 1) return;
      ++single;
      for (const data::ComparedFrame& frame : windows.frames()) {
        const std::vector<uint32_t> one{frame.key};
        CHECK(parts.score - model.score(windows.without(one), decision_of_car()) <=
              parts.parts.front().score);
      }
    });
  }
  CHECK(parts_seen > 300);
  CHECK(single > 200);
}

TEST_CASE("what ids are called does not change the parts", "[reasons]") {
  // The same traffic, in another order of ids.
  const data::VehicleProfile as_it_was = profile_of_car();
  data::VehicleProfile profile = as_it_was;
  std::reverse(profile.ids.begin(), profile.ids.end());
  std::map<uint32_t, uint32_t> names;
  for (std::size_t i = 0; i < profile.ids.size(); ++i) {
    profile.ids[i].id = names[profile.ids[i].id] = as_it_was.ids[i].id;
  }
  const auto renamed = [&](uint32_t id) { return names.at(id); };
  const Frames log = injected(drive(20, 7), "spoofing", 4).frames;
  data::RelativeWindows one(as_it_was, 100), other(profile, 100);
  int64_t compared = 0;
  for (data::CanFrame frame : log) {
    const bool is_new = one.add(frame);
    frame.id = renamed(frame.id);
    REQUIRE(other.add(frame) == is_new);
    if (!is_new) continue;
    const Blame a = blame_of(watching_model(), decision_of_car(), one, 5);
    const Blame b = blame_of(watching_model(), decision_of_car(), other, 5);
    REQUIRE(a.parts.size() == b.parts.size());
    for (std::size_t i = 0; i < a.parts.size(); ++i) CHECK(a.parts[i].score == b.parts[i].score);
    if (a.parts.empty()) continue;
    CHECK(b.parts.front().keys.front() == renamed(a.parts.front().keys.front()));
    ++compared;
  }
  CHECK(compared > 20);
}

TEST_CASE("the id that is attacked is named first", "[reasons]") {
  for (const char* kind : {"dos", "spoofing", "fabrication", "targeted"}) {
    int64_t windows = 0, first = 0;
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      const Frames log = injected(drive(40, 7), kind, seed).frames;
      for (const Told& one : told_of(log)) {
        std::set<uint32_t> attacked;
        for (std::size_t i = 0; i < 100; ++i) {
          const data::CanFrame& frame =
              log[static_cast<std::size_t>(one.window.relative.first_row) + i];
          if (frame.label == 1) attacked.insert(frame.key());
        }
        if (attacked.size() != 1) continue;
        ++windows;
        first += !one.reasons.keys.empty() && one.reasons.keys.front() == *attacked.begin() ? 1 : 0;
      }
    }
    INFO(kind << ": " << first << " of " << windows);
    CHECK(windows > 20);
    CHECK(100 * first >= 95 * windows);
  }
}

TEST_CASE("the id that is missing is named first, and for how long", "[reasons]") {
  int64_t windows = 0, first = 0;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    const data::Injection made = injected(drive(40, 7), "suspension", seed);
    for (const Told& one : told_of(made.frames)) {
      const auto attack =
          std::find_if(made.attacks.begin(), made.attacks.end(), [&](const data::Attack& a) {
            return a.begin <= one.window.relative.begin && one.window.relative.end <= a.end;
          });
      if (attack == made.attacks.end()) continue;
      ++windows;
      REQUIRE_FALSE(one.reasons.reasons.empty());
      if (one.reasons.keys.front() != attack->id) continue;
      ++first;
      CHECK_THAT(one.reasons.reasons.front().words,
                 Contains("silent for ") || Contains(" is usual"));
    }
  }
  INFO(first << " of " << windows);
  CHECK(windows > 20);
  CHECK(100 * first >= 95 * windows);
}

TEST_CASE("ids taken out of a window are those that would be taken out of the traffic",
          "[reasons]") {
  int64_t windows = 0, same = 0;
  for (const char* kind : {"spoofing", "fabrication", "suspension", "dos"}) {
    const Frames log = injected(drive(30, 7), kind, 5).frames;
    std::vector<Told> all = told_of(log);
    for (std::size_t i = 0; i < all.size(); i += 4) {
      const Told& one = all[i];
      if (one.reasons.reasons.empty() || one.reasons.reasons.front().ids.size() > 1) continue;
      const auto row = static_cast<std::size_t>(one.window.relative.first_row);
      std::set<uint32_t> keys;
      for (std::size_t r = row > 1400 ? row - 1400 : 0; r < std::min(log.size(), row + 200); ++r) {
        keys.insert(log[r].key());
      }
      std::map<uint32_t, double> scores;
      for (const uint32_t key : keys) scores[key] = score_without(log, row, key, 14);
      const auto least = std::min_element(scores.begin(), scores.end(),
                                          [](auto& a, auto& b) { return a.second < b.second; });
      ++windows;
      // Several may do as well.
      same += scores[one.reasons.keys.front()] < least->second + 0.5 ? 1 : 0;
    }
  }
  INFO(same << " of " << windows);
  CHECK(windows > 40);
  CHECK(100 * same >= 95 * windows);
}

TEST_CASE("of a flood of unknown ids all are one reason, but for one that is most of it",
          "[reasons]") {
  const Frames log = drive(40, 7);
  Frames fuzzed;
  for (std::size_t i = 6000; i < 7000; i += 4) {
    fuzzed.push_back(test::frame_at(log[i].time, 0x600 + static_cast<uint32_t>(i % 97)));
  }
  const Told many = highest(test::merged(log, fuzzed));
  const Reason& all = many.reasons.reasons.front();
  CHECK(all.ids.size() == kToldIds);
  CHECK(all.more > 5);
  CHECK(all.frames >= std::ssize(all.ids) + all.more);
  CHECK_FALSE(all.ids.front().is_known);
  CHECK_THAT(all.text(), Contains(" more: not in the profile of this vehicle; "));
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(profile_of_car().find(many.reasons.keys[i]) == nullptr);
  }
  const Frames flooded = test::merged(log, test::flood(log, 0x001, 20, 21, 1000));
  CHECK(highest(flooded).reasons.reasons.front().names() == "001");
  const Frames twice = test::merged(flooded, test::flood(log, 0x7A5, 20, 21, 10));
  for (const Told& one : told_of(twice)) CHECK(one.reasons.keys.front() == 0x001);
}

TEST_CASE("unknown ids are one reason where each of them counts a little, too", "[reasons]") {
  // Of a profile of few frames some unknown ones are expected: 3 in a window.
  data::VehicleProfile profile = profile_of_car();
  profile.frames = 1000;
  for (uint32_t i = 0; i < 30; ++i) {
    profile.ids.push_back({});
    profile.ids.back().id = 0x7B0 + i;
    profile.ids.back().frames = 1;
  }
  const Frames log = drive(40, 7);
  Frames fuzzed;
  for (std::size_t i = 6000; i < 7000; i += 5) {
    fuzzed.push_back(test::frame_at(log[i].time, 0x600 + static_cast<uint32_t>(i % 97)));
  }
  data::RelativeWindows windows(profile, 100);
  int64_t seen = 0;
  for (const data::CanFrame& frame : test::merged(log, fuzzed)) {
    if (!windows.add(frame)) continue;
    const Blame blame = blame_of(watching_model(), decision_of_car(), windows, 5);
    std::set<uint32_t> unknown;
    for (const data::ComparedFrame& one : windows.frames()) {
      if (one.kind() == data::ComparedFrame::Kind::kUnknown) unknown.insert(one.key);
    }
    if (unknown.size() < 12 || blame.parts.empty()) continue;
    ++seen;
    const auto has_them =
        std::find_if(blame.parts.begin(), blame.parts.end(),
                     [&](const BlamedIds& part) { return unknown.contains(part.keys.front()); });
    REQUIRE(has_them != blame.parts.end());
    CHECK(std::set<uint32_t>(has_them->keys.begin(), has_them->keys.end()) == unknown);
  }
  CHECK(seen > 5);
}

TEST_CASE("ids that are odd enough each are taken together", "[reasons]") {
  // Each of them is silent.
  std::vector<uint32_t> fast;
  for (const data::IdProfile& one : profile_of_car().ids) {
    if (one.regular() && one.period < 0.03) fast.push_back(one.key());
  }
  REQUIRE(fast.size() >= 2);
  fast.resize(2);
  const Frames log = drive(40, 7);
  const Told one = highest(test::silenced(
      test::unlabelled(log), 20, 30, [&](uint32_t id) { return id == fast[0] || id == fast[1]; }));
  const Reason& first = one.reasons.reasons.front();
  CHECK(std::set<uint32_t>(one.reasons.keys.begin(), one.reasons.keys.begin() + 2) ==
        std::set<uint32_t>(fast.begin(), fast.end()));
  CHECK(one.reasons.score - first.score <= one.reasons.score);
}

TEST_CASE("reasons say in words and numbers what an id did", "[reasons]") {
  const data::IdProfile& fast = fastest_id();
  const Frames log = drive(40, 7);
  const auto reason = [&](const Frames& frames) {
    const Told one = highest(frames);
    REQUIRE_FALSE(one.reasons.reasons.empty());
    REQUIRE(one.reasons.keys.front() == fast.key());
    const Reason& first = one.reasons.reasons.front();
    CHECK(first.text().find(',') == std::string::npos);
    CHECK(first.text().find(id_text(fast.key()) + ": ") == 0);
    return first;
  };
  /// With forged frames of the id between rows 6,000 and 7,000.
  const auto forged = [&](const std::function<void(data::CanFrame&)>& change) {
    Frames out;
    for (std::size_t i = 6000; i < 7000; ++i) {
      if (log[i].key() != fast.key()) continue;
      for (const double share : {0.2, 0.4, 0.6}) {
        out.push_back(log[i]);
        out.back().time += share * fast.period;
        change(out.back());
      }
    }
    return test::merged(log, out);
  };
  SECTION("more frames, too near") {
    const Reason said = reason(forged([](data::CanFrame&) {}));
    CHECK_THAT(said.words, Contains(" frames where ") && Contains("gap of "));
    const IdFacts& facts = said.ids.front();
    REQUIRE(facts.usual_frames);
    REQUIRE(facts.shortest_gap);
    CHECK(static_cast<double>(facts.frames) > 2.5 * *facts.usual_frames);
    CHECK(*facts.shortest_gap < 0.4 * *facts.usual_gap);
    CHECK(*facts.usual_gap == Approx(1000 * fast.period));
  }
  SECTION("silence") {
    const Reason said = reason(
        test::silenced(test::unlabelled(log), 20, 30, [&](uint32_t id) { return id == fast.id; }));
    CHECK_THAT(said.words, Contains("silent for ") && Contains(" ms where a frame every "));
    REQUIRE(said.ids.front().silent);
    CHECK(*said.ids.front().silent > 3 * *said.ids.front().usual_gap);
  }
  SECTION("a wrong length") {
    const Reason said = reason(forged([&](data::CanFrame& frame) {
      frame.length = frame.length == 8 ? 5 : 8;
      std::fill(frame.payload.begin() + frame.length, frame.payload.end(), uint8_t{0});
    }));
    CHECK_THAT(said.words, Contains(" bytes long where ") && Contains(" is usual"));
    CHECK_FALSE(said.ids.front().wrong_lengths.empty());
  }
  SECTION("payloads") {
    uint8_t turn = 0;
    const Reason said = reason(forged([&](data::CanFrame& frame) {
      turn = static_cast<uint8_t>(turn ^ 0xFF);
      std::fill(frame.payload.begin(), frame.payload.begin() + frame.length, turn);
    }));
    CHECK_THAT(said.words, Contains("byte"));
    const IdFacts& facts = said.ids.front();
    CHECK(facts.constant_moved.size() + facts.jumped.size() > 0);
  }
}

TEST_CASE("names of a DBC stand beside ids and bytes, and change no number", "[reasons]") {
  const data::IdProfile& fast = fastest_id();
  const Frames log = drive(40, 7);
  Frames forged;
  for (std::size_t i = 6000; i < 7000; ++i) {
    if (log[i].key() != fast.key()) continue;
    forged.push_back(log[i]);
    forged.back().time += 0.4 * fast.period;
    for (uint8_t& byte : std::span(forged.back().payload).first(forged.back().length)) byte ^= 0xFF;
  }
  const Frames attacked = test::merged(log, forged);
  std::string file = "BO_ " + std::to_string(fast.id) + " EngineData: 8 X\n";
  for (int byte = 0; byte < 8; ++byte) {
    file += " SG_ Byte" + std::to_string(byte) + " : " + std::to_string(8 * byte) +
            "|8@1+ (1,0) [0|255] \"\" X\n";
  }
  const data::DbcNames names(file::LineReader("car.dbc", file));
  const auto flagged = [](const JudgedWindow& window) { return window.score > 0; };
  const std::vector<Told> plain = told_of(attacked, 5, flagged);
  const std::vector<Told> named = told_of(attacked, 5, flagged, &names);
  REQUIRE(named.size() == plain.size());
  int64_t with_name = 0, with_bytes = 0;
  for (std::size_t i = 0; i < named.size(); ++i) {
    const Reasons &ours = named[i].reasons, &theirs = plain[i].reasons;
    REQUIRE(named[i].window.score == plain[i].window.score);
    REQUIRE(ours.score == theirs.score);
    REQUIRE(ours.keys == theirs.keys);
    for (std::size_t r = 0; r < ours.reasons.size(); ++r) {
      nlohmann::json with = ours.reasons[r].json(), without = theirs.reasons[r].json();
      CHECK(ours.reasons[r].text().find(',') == std::string::npos);
      for (nlohmann::json& id : with["ids"]) {
        if (id.at("id") != id_text(fast.key())) {
          CHECK_FALSE(id.contains("name"));
          continue;
        }
        ++with_name;
        CHECK(id.at("name") == "EngineData");
        CHECK_THAT(ours.reasons[r].text(), Contains(id_text(fast.key()) + " (EngineData)"));
        for (const nlohmann::json& byte : id.at("constant_bytes_changed")) {
          const std::string number = byte.dump();
          CHECK(id.at("signals").at(number) == nlohmann::json({"Byte" + number}));
          CHECK_THAT(ours.reasons[r].words, Contains(" (Byte"));
          ++with_bytes;
        }
        id.erase("name");
        id.erase("signals");
      }
      with.erase("words");
      without.erase("words");
      CHECK(with == without);
    }
  }
  CHECK(with_name > 3);
  CHECK(with_bytes > 0);
}

TEST_CASE("a benign window's reasons are few, and a quiet one is all rest", "[reasons]") {
  const std::vector<Told> all =
      told_of(drive(30, 7), 5, [](const JudgedWindow& window) { return window.score <= 0; });
  REQUIRE(all.size() > 50);
  int64_t none = 0;
  for (const Told& one : all) {
    none += one.reasons.reasons.empty() ? 1 : 0;
    double sum = one.reasons.rest;
    for (const Reason& reason : one.reasons.reasons) sum += reason.score;
    CHECK(sum == Approx(static_cast<double>(one.window.score)).margin(1e-4));
  }
  CHECK(none > 0);
}
