// Alarms by k of the last n windows: the filter of scores, the thresholds that are chosen for it,
// and that training, judging, live scoring and files mean the same by it.
#include "support/catch_torch.h"
// Catch first: see catch_torch.h.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <tuple>
#include <vector>

#include "detector/cross_fit.h"
#include "detector/detector_options.h"
#include "detector/left_out.h"
#include "engine/arrays/random.h"
#include "engine/compare/judging.h"
#include "engine/decision/detector/alarms.h"
#include "engine/decision/detector/rank_filter.h"
#include "engine/decision/detector/window_scorer.h"
#include "engine/decision/stream/log_scorer.h"
#include "engine/portable/tails.h"
#include "kdgat/options.h"
#include "support/can/can_drive.h"
#include "support/can/can_traffic.h"
#include "support/can/low_floors.h"
#include "support/can/watched_drives.h"
#include "support/programs/command.h"
#include "support/runs/made_learning.h"

using namespace kdgat;
using namespace kdgat::compare;
using namespace kdgat::data;
using namespace kdgat::decision;
using namespace kdgat::detector;
using Catch::Contains;
using kdgat::test::drive;
using kdgat::test::Frames;
using kdgat::test::read_text;
using kdgat::test::ScratchFolder;
using kdgat::test::watched_logs;
using kdgat::test::watching_model;
using nlohmann::json;

namespace {

/// What the filter is to give, by sorting: the k-th largest of the last n.
std::vector<double> filtered(const std::vector<double>& scores, const KOfN& rule, double before) {
  std::vector<double> out;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    std::vector<double> last;
    for (int64_t back = 0; back < rule.n; ++back) {
      const int64_t at = static_cast<int64_t>(i) - back;
      last.push_back(at < 0 ? before : scores[static_cast<std::size_t>(at)]);
    }
    std::sort(last.rbegin(), last.rend());
    out.push_back(last[static_cast<std::size_t>(rule.k - 1)]);
  }
  return out;
}

std::vector<double> by_filter(const std::vector<double>& scores, const KOfN& rule, double before) {
  RankFilter filter(rule, before);
  std::vector<double> out;
  for (const double score : scores) out.push_back(filter.add(score));
  return out;
}

/// The model of all tests by another rule. Its thresholds are not chosen for it: what is compared
/// here are two ways to the same scores.
DetectorModel model_with(const KOfN& rule) {
  DetectorModel out = watching_model();
  out.alarm_rule = rule;
  return out;
}

/// Scores of windows by a rule, from each part of each window alone.
std::vector<float> expected_scores(const DetectorModel& model, const Decision& decision,
                                   const std::vector<data::RelativeWindow>& windows) {
  std::vector<double> known, tails;
  for (const data::RelativeWindow& window : windows) {
    const PartScores alone = model.scores_of(window, decision);
    known.push_back(alone.classifier);
    tails.push_back(alone.tails);
  }
  const PartScores usual = model.scores_of({}, decision);
  known = filtered(known, model.alarm_rule, usual.classifier);
  tails = filtered(tails, model.alarm_rule, usual.tails);
  std::vector<float> out;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    out.push_back(
        static_cast<float>(DetectorModel::score(PartScores{known[i], tails[i]}, decision)));
  }
  return out;
}

std::vector<JudgedWindow> streamed(const DetectorModel& model, const Frames& log,
                                   int64_t own_windows = 300) {
  std::vector<JudgedWindow> out;
  WindowScorer watch(model, "a.log", own_windows,
                     [&](const JudgedWindow& window) { out.push_back(window); });
  for (const data::CanFrame& frame : log) watch.add(frame, false);
  watch.finish();
  return out;
}

}  // namespace

TEST_CASE("a filtered score is the k-th largest of the last n", "[detector]") {
  arrays::Random random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> scores;
    for (int i = 0; i < 60; ++i) {
      // Few values: many are equal.
      scores.push_back(round % 2 == 0 ? random.uniform() : static_cast<double>(random.below(4)));
    }
    const auto n = static_cast<int64_t>(1 + random.below(round < 100 ? 5 : 70));
    const auto k = static_cast<int64_t>(1 + random.below(static_cast<uint64_t>(n)));
    INFO(k << " of " << n);
    const std::vector<double> out = by_filter(scores, {k, n}, -1);
    CHECK(out == filtered(scores, {k, n}, -1));
    // Above a threshold exactly where k of the last n windows are.
    for (const double threshold : {-0.5, 0.2, 0.5, 0.9, 1.5, 2.5}) {
      for (int64_t i = 0; i < std::ssize(scores); ++i) {
        const auto end = scores.begin() + i + 1;
        const auto above = std::count_if(end - std::min(n, i + 1), end,
                                         [&](double score) { return score > threshold; });
        CHECK((out[static_cast<std::size_t>(i)] > threshold) == (above >= k));
      }
    }
    CHECK(by_filter(scores, {1, 1}, -1) == scores);
  }
}

TEST_CASE("a budget is kept on benign windows that are counted by k of n", "[detector]") {
  arrays::Random random(8);
  int64_t some = 0, used = 0;
  for (const KOfN& rule : {KOfN{1, 1}, KOfN{2, 2}, KOfN{2, 3}, KOfN{3, 5}, KOfN{10, 40}}) {
    for (int round = 0; round < 20; ++round) {
      // Quiet traffic, single odd windows, and bursts of some.
      std::vector<double> scores;
      while (scores.size() < 4000) {
        const auto quiet = 1 + random.below(300), odd = 1 + random.below(random.below(8) + 1);
        for (uint64_t i = 0; i < quiet; ++i) scores.push_back(-8 + random.uniform());
        const double height = 8 * random.uniform() - 6;
        for (uint64_t i = 0; i < odd; ++i) scores.push_back(height + random.uniform());
      }
      Stretch counted;
      for (const double score : by_filter(scores, rule, -8)) {
        counted.scores.push_back(static_cast<float>(score));
      }
      counted.seconds = 400;
      const Flagged allowed{static_cast<int64_t>(random.below(12)), 20 * random.uniform()};
      const double threshold = threshold_for({&counted, 1}, allowed);
      AlarmStream alarms(threshold);
      RankFilter live(rule, -8);
      int64_t opened = 0, flagged = 0, number = 0;
      for (const double score : scores) {
        const auto now = static_cast<float>(live.add(score));
        flagged += now > threshold ? 1 : 0;
        const auto time = 0.1 * static_cast<double>(number);
        opened += alarms.add(number++, now, time, time) == AlarmStream::Change::kOpened ? 1 : 0;
      }
      INFO(rule.k << " of " << rule.n << ", " << allowed.windows << " windows and "
                  << allowed.under_alarm << " s allowed");
      CHECK(opened <= flagged);
      CHECK(flagged <= allowed.windows);
      const Flagged kept = flagged_in({&counted, 1}, threshold);
      CHECK(kept.windows == flagged);
      CHECK(kept.under_alarm <= allowed.under_alarm);
      // The budget is used: a lower threshold would flag too much, or for too long.
      const Flagged lower = flagged_in({&counted, 1}, std::nextafter(threshold, -9.0));
      CHECK((lower.windows > allowed.windows || lower.under_alarm > allowed.under_alarm));
      used += flagged > 0 && flagged == allowed.windows ? 1 : 0;
      some += flagged > 0 ? 1 : 0;
    }
  }
  CHECK(some > 50);
  CHECK(used > 10);
}

TEST_CASE("an id that goes on missing counts once for a budget, and always for an attacked log",
          "[detector]") {
  Learning all = test::made_learning(300);
  std::vector<float>& values = all.held.front().values;
  for (std::size_t window = 2; window < 9; ++window) {
    float* row = &values[window * data::kRelativeColumns];
    row[static_cast<std::size_t>(data::Relative::kUnknown)] = 2.5F;
    row[static_cast<std::size_t>(data::Relative::kSilence)] = 5;
  }
  trees::BoostedTreesOptions how;
  how.trees = 20;
  const CrossFit fit =
      cross_fit(all, std::vector<uint8_t>(300, 0), {}, test::low_floors(), how, 0, [](double) {});
  const Listened& listened = fit.by_own.at(0);
  CHECK(flagged_in(listened.classifier, 0).windows == 1);
  CHECK(flagged_in(listened.tails, KDGAT_MOST_RARE).windows == 1);
  CHECK(listened.classifier.front().scores.at(2) > 0);
  CHECK(fit.by_log.at(0).flagged == 7);
  CHECK(fit.by_log.at(0).windows == 30);
}

TEST_CASE("thresholds are chosen by scores that are counted by k of n", "[detector]") {
  Learning all = test::made_learning(300);
  arrays::Random random(5);
  for (Held& held : all.held) {
    for (std::size_t i = 0; i < held.values.size(); i += data::kRelativeColumns) {
      held.values[i] = static_cast<float>(3 * random.uniform());
    }
  }
  trees::BoostedTreesOptions how;
  how.trees = 20;
  const std::vector<uint8_t> none(300, 0);
  const KOfN rule{2, 3};
  const CrossFit single = cross_fit(all, none, {}, test::low_floors(), how, 0, [](double) {});
  const CrossFit counted = cross_fit(all, none, rule, test::low_floors(), how, 0, [](double) {});
  CHECK(counted.rows == single.rows);
  const auto both = {&Listened::classifier, &Listened::tails};
  for (const auto part : both) {
    const std::vector<Stretch>& alone = single.by_own.at(0).*part;
    const std::vector<Stretch>& by_rule = counted.by_own.at(0).*part;
    REQUIRE(by_rule.size() == 3);
    for (std::size_t s = 0; s < 3; ++s) {
      const std::vector<double> scores(alone[s].scores.begin(), alone[s].scores.end());
      const std::vector<double> expected = filtered(scores, rule, -100);
      // The first ones stand behind windows that nobody saw.
      for (std::size_t i = 1; i < scores.size(); ++i) {
        CHECK(by_rule[s].scores[i] == static_cast<float>(expected[i]));
      }
      CHECK(by_rule[s].scores[0] <= alone[s].scores[0]);
      CHECK(by_rule[s].scores != alone[s].scores);
    }
  }
}

TEST_CASE("windows left out of training are flagged by k of n", "[detector]") {
  Learning all;
  CrossFit fit;
  // Two stretches; above the threshold are windows 2, 4 and 7, and 8, the first of the second.
  for (int i = 0; i < 12; ++i) {
    all.rows.values.insert(all.rows.values.end(), data::kRelativeColumns, 20.0F);
    all.rows.labels.push_back(1);
    all.rows.own.push_back(0);
    all.rows.forgetful.push_back(0);
    all.rows.kinds.push_back(-1);
    all.rows.rule.push_back(0);
    all.rows.begins.push_back(i == 0 || i == 8 ? 1 : 0);
    fit.rows.push_back(i == 2 || i == 4 || i == 7 || i == 8 ? 5.0F : -5.0F);
    fit.tails.push_back(0);
  }
  DetectorModel model = watching_model();
  model.decisions = {{0, {{}, 0, 3}}};
  const auto flagged = [&](const KOfN& rule) {
    model.alarm_rule = rule;
    return left_out_figures(all, fit, model, 0).labelled.detector;
  };
  CHECK(flagged({1, 1}) == 4);
  CHECK(flagged({2, 2}) == 0);  // 7 and 8 do not follow one another
  CHECK(flagged({2, 3}) == 1);
  CHECK(flagged({2, 4}) == 3);
}

TEST_CASE("a log is judged by k of n as its windows alone say", "[watch]") {
  const Frames attacked = drive(40, 7, "spoofing");
  for (const KOfN& rule : {KOfN{1, 1}, KOfN{2, 3}, KOfN{4, 9}}) {
    INFO(rule.k << " of " << rule.n);
    const DetectorModel model = model_with(rule);
    const std::vector<data::RelativeWindow> windows =
        test::windows_of(model.vehicles.front().profile, attacked);
    const std::vector<float> expected = expected_scores(model, model.decision(0), windows);
    const std::vector<JudgedWindow> out = streamed(model, attacked);
    REQUIRE(out.size() == expected.size());
    for (std::size_t w = 0; w < expected.size(); ++w) {
      CHECK(out[w].score == expected[w]);
      CHECK(out[w].alone == static_cast<float>(model.score(windows[w], model.decision(0))));
    }
  }
}

TEST_CASE("windows that were learned from count for no alarm", "[watch]") {
  const DetectorModel model = model_with({2, 3});
  const Frames log = drive(60, 8, "", 2);
  const data::VehicleProfile profile = data::profile_of(std::span(log).first(120 * 100));
  std::vector<data::RelativeWindow> windows = test::windows_of(profile, log);
  const std::vector<JudgedWindow> out = streamed(model, log, 120);
  REQUIRE(out.size() == windows.size());
  windows.erase(windows.begin(), windows.begin() + 120);
  const std::vector<float> expected = expected_scores(model, model.decision(120), windows);
  for (std::size_t w = 0; w < expected.size(); ++w) CHECK(out[120 + w].score == expected[w]);
  for (std::size_t w = 0; w < 120; ++w) CHECK(out[w].score == out[w].alone);
}

TEST_CASE("by k of n, too, a store's logs get the scores of the stream", "[watch]") {
  const DetectorModel model = model_with({2, 3});
  int64_t differ = 0;
  for (const StoredLog& log : watched_logs().tests()) {
    INFO(log.name());
    const JudgedLog judged = judge(log, model);
    const std::vector<float>& scores = judged.find(kDetector)->scores;
    Frames frames;
    for (int64_t row = 0; row < log.rows(); ++row) frames.push_back(log.frame(row));
    const std::vector<JudgedWindow> out = streamed(model, frames, 0);
    REQUIRE(out.size() == scores.size() + static_cast<std::size_t>(judged.own));
    AlarmStream alarms(0);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const JudgedWindow& window = out[i + static_cast<std::size_t>(judged.own)];
      CHECK(window.score == scores[i]);
      differ += (window.score > 0) != (window.alone > 0) ? 1 : 0;
      // What opens an alarm is odd itself, so there is something to say of it.
      const auto change = alarms.add(window.number, window.score, window.time, window.relative.end);
      if (change == AlarmStream::Change::kOpened) {
        CHECK(window.alone >= window.score);
      }
    }
  }
  CHECK(differ > 0);
}

TEST_CASE("without labels some odd windows end what a profile is learned from", "[watch]") {
  const auto own = [](const KOfN& rule, std::size_t odd_windows) {
    Frames log = drive(120, 8, "", 2);
    for (data::CanFrame& frame : log) frame.label = -1;
    for (std::size_t i = 15'000; i < 15'000 + 100 * odd_windows; i += 5) {
      log[i].id = 0x7A0 + static_cast<uint32_t>(i % 7);
    }
    const DetectorModel model = model_with(rule);
    const std::vector<JudgedWindow> out = streamed(model, log);
    return std::count_if(out.begin(), out.end(), [](const JudgedWindow& w) { return w.is_own; });
  };
  for (const KOfN& rule : {KOfN{1, 1}, KOfN{3, 5}}) {
    CHECK(own(rule, 1) == 300);
    // All of the odd ones are left out, not only the one that settled it.
    CHECK(own(rule, 10) < 151);
    CHECK(own(rule, 10) >= 148);
  }
}

TEST_CASE("a detector's file keeps its alarm rule and its floors", "[detector]") {
  const ScratchFolder scratch;
  const DetectorModel model = model_with({2, 3});
  model.write(scratch / "two.json");
  const DetectorModel again = DetectorModel::read(scratch / "two.json");
  CHECK(again.alarm_rule == KOfN{2, 3});
  again.write(scratch / "again.json");
  CHECK(read_text(scratch / "again.json") == read_text(scratch / "two.json"));
  watching_model().write(scratch / "one.json");
  CHECK(DetectorModel::read(scratch / "one.json").alarm_rule.is_single());
  json two = json::parse(read_text(scratch / "two.json"));
  CHECK(two.at("evidence") == Floors().json());
  two.erase("hash");
  const auto refused = [&](const std::function<void(json&)>& change) {
    json bad = two;
    change(bad);
    std::ofstream(scratch / "bad.json") << bad.dump();
    CHECK_THROWS_WITH(DetectorModel::read(scratch / "bad.json"), Contains("bad.json"));
  };
  refused([](json& j) { j["alarm"]["windows"] = 4; });
  refused([](json& j) { j["alarm"]["windows"] = 0; });
  refused([](json& j) { j["alarm"] = {{"windows", 2}, {"of", 1'000'000'000}}; });
  refused([](json& j) { j["alarm"]["of"] = "three"; });
  refused([](json& j) { j.erase("alarm"); });
  refused([](json& j) { j["version"] = 5; });
  refused([](json& j) { j["version"] = 7; });
  refused([](json& j) { j.erase("evidence"); });
  refused([](json& j) { j["evidence"] = json::object(); });
  refused([](json& j) { j["evidence"] = 2; });
  refused([](json& j) { j["evidence"]["colour"] = 2; });
  refused([](json& j) { j["evidence"]["silence"] = 0; });
  refused([](json& j) { j["evidence"]["silence"] = "two"; });
}

TEST_CASE("more windows than there are to look at are refused", "[detector]") {
  CHECK(load_options<DetectorOptions>({{"alarm_windows", 2}, {"alarm_of", 3}}).alarm_rule() ==
        KOfN{2, 3});
  try {
    load_options<DetectorOptions>({{"alarm_windows", 3}, {"alarm_of", 2}});
    FAIL_CHECK("taken");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::kUsage);
    CHECK_THAT(error.diagnostics().front().text(),
               Contains("3 of the last 2 windows can never be flagged") && Contains("alarm_of=3"));
  }
}

TEST_CASE("that a detector may not fit is said once of a log, and not of a short attack",
          "[watch]") {
  const DetectorModel model = model_with({1, 1});
  const auto warnings = [&](double until) {
    // Known by its own first windows; behind 30 s each tenth frame has an id that no car has.
    Frames log = drive(150, 8, "", 2);
    for (std::size_t i = 0; i < log.size(); i += 10) {
      const double time = log[i].time - log.front().time;
      if (time > 30 && time < until) log[i].id = 0x7A0;
    }
    std::vector<std::string> out;
    JudgeSink sink{nullptr, [](const AlarmEvent&) {},
                   [&](const std::string& level, const std::string& text) {
                     if (level == "warning" && text.find("for a minute") != std::string::npos) {
                       out.push_back(text);
                     }
                   },
                   [] { return ExitCode::kOk; }};
    const data::DbcNames names;
    LogScorer scorer(model, {}, "a.log", "", sink, nullptr, names);
    for (const data::CanFrame& frame : log) scorer.add(frame, false);
    scorer.finish();
    CHECK(scorer.flagged() > 40);
    CHECK(scorer.fits() == (until < 120));
    return out;
  };
  CHECK(warnings(65).empty());
  const std::vector<std::string> said = warnings(150);
  REQUIRE(said.size() == 1);
  CHECK_THAT(said.front(), Contains("a.log: ") && Contains("5 %") && Contains("kdgat adapt"));
}
