// Figures of methods on judged windows, by hand; suspects, copies and monotonic times of small
// logs.
#include "support/catch_torch.h"
// Catch first: see catch_torch.h.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/compare/comparison.h"
#include "engine/compare/judged_log.h"
#include "engine/compare/summary.h"
#include "support/can/can_logs.h"
#include "support/can/judged_logs.h"

using namespace kdgat;
using namespace kdgat::compare;
using namespace kdgat::data;
using namespace kdgat::decision;
using Catch::Contains;
using kdgat::test::frame_at;
using kdgat::test::judged_log;
using kdgat::test::kSecondsOfWindow;
using kdgat::test::LogStore;
using nlohmann::json;

namespace {

json figures_of(const std::vector<const JudgedLog*>& logs, bool without_suspects = false) {
  return summarise(logs, "model", without_suspects);
}

/// A log of windows of ten frames of two ids, 10 ms apart.
std::vector<data::CanFrame> two_ids(int64_t frames) {
  std::vector<data::CanFrame> out;
  for (int64_t i = 0; i < frames; ++i) {
    out.push_back(frame_at(static_cast<double>(i) * 0.01, i % 2 == 0 ? 0x100 : 0x200,
                           static_cast<uint8_t>(i)));
  }
  return out;
}

}  // namespace

TEST_CASE("figures of windows are those that a hand counts", "[detector]") {
  // One attack of two windows, of which the second is found; a shadow and one other are false.
  const JudgedLog log = judged_log("part/a", {0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0},
                                   {0, .6F, 0, .4F, .9F, .7F, 0, 0, 0, 0, .1F, .2F});
  const json m = figures_of({&log});
  CHECK(m.at("n_samples") == 12);
  CHECK(m.at("attacks") == 2);
  CHECK(m.at("prevalence") == Approx(2.0 / 12));
  CHECK(m.at("f1") == Approx(2.0 / (2 + 1 + 2)));  // tp 1, fn 1, fp 2
  CHECK(m.at("mcc") == Approx((1.0 * 8 - 2 * 1) / std::sqrt(3.0 * 2 * 10 * 9)));
  CHECK(m.at("false_windows") == 2);
  CHECK(m.at("false_outside_shadows") == 1);
  CHECK(m.at("missed_windows") == 1);
  CHECK(m.at("benign_hours") == Approx(1));
  CHECK(m.at("false_per_hour") == Approx(2));
  CHECK(m.at("false_per_hour_low") == Approx(0.2422).epsilon(1e-3));
  CHECK(m.at("false_per_hour_high") == Approx(7.2247).epsilon(1e-3));
  // Ranks of the attacks: above all ten benign windows, and above eight of them.
  CHECK(m.at("auc") == Approx((10 + 8) / 20.0));
  CHECK(m.at("pr_auc") == Approx(0.5 * 1 + 0.5 * 2 / 4));
  // One false window an hour is that at .7; ten are all.
  CHECK(m.at("recall_at_1_per_hour") == Approx(0.5));
  CHECK(m.at("recall_at_10_per_hour") == Approx(1));
  CHECK(m.at("events") == 1);
  CHECK(m.at("events_found") == 1);
  CHECK(m.at("events_missed") == 0);
  CHECK(m.at("time_to_alarm") == Approx(2 * kSecondsOfWindow - 10));
  CHECK(m.at("worst_time_to_alarm") == m.at("time_to_alarm"));
  CHECK(m.at("files") == 1);
  CHECK(m.at("f1_low").is_null());

  // A method that found nothing has no time to alarm.
  const JudgedLog blind = judged_log("part/b", {0, 1, 0}, {0, 0, 0});
  const json none = figures_of({&blind});
  CHECK(none.at("events_missed") == 1);
  CHECK(none.at("time_to_alarm").is_null());
  CHECK(none.at("f1") == 0);
  CHECK(none.at("recall_at_1_per_hour") == 0);
}

TEST_CASE("the bus is under alarm while a false window lasts, and two seconds more", "[detector]") {
  std::vector<float> scores(100, 0);
  for (const std::size_t w : {10, 11, 13, 50, 99}) scores[w] = 1;
  JudgedLog log = judged_log("part/a", std::vector<int64_t>(100, 0), scores);
  log.seconds.assign(100, 1);
  // From 10 to 16, from 50 to 53, and from 99 to the end.
  CHECK(figures_of({&log}).at("time_under_alarm") == Approx(0.1));
  CHECK(figures_of({&log, &log}).at("time_under_alarm") == Approx(0.1));
  // An attack that is found is no false alarm.
  log.labels.assign(100, 1);
  log.labels[0] = 0;
  CHECK(figures_of({&log}).at("time_under_alarm") == 0);
}

TEST_CASE("false windows no more than two seconds apart are one alarm", "[detector]") {
  std::vector<int64_t> labels(200, 0);
  std::vector<float> scores(200, 0);
  scores[10] = scores[14] = scores[160] = 1;
  JudgedLog log = judged_log("part/a", labels, scores);
  log.seconds.assign(200, 0.5);
  CHECK(figures_of({&log}).at("false_events") == 2);
  CHECK(figures_of({&log}).at("false_windows") == 3);
  log.seconds.assign(200, 0.9);
  CHECK(figures_of({&log}).at("false_events") == 3);
}

TEST_CASE("windows of several files count relative to their own thresholds", "[detector]") {
  const JudgedLog low = judged_log("part/a", {0, 1}, {1, 3}, 2);
  const JudgedLog high = judged_log("part/b", {0, 1}, {5, 9}, 7);
  const json m = figures_of({&low, &high});
  CHECK(m.at("f1") == 1);
  CHECK(m.at("auc") == 1);  // though the benign window of one scores above the attack of the other
  CHECK(m.at("files") == 2);
}

TEST_CASE("the spread of F1 over files is drawn by a seed, and is none with one file",
          "[detector]") {
  const JudgedLog good = judged_log("part/a", {0, 1, 1, 0}, {0, 1, 1, 0});
  const JudgedLog bad = judged_log("part/b", {0, 1, 1, 0}, {1, 0, 1, 0});  // F1 1/2
  const json both = figures_of({&good, &bad});
  CHECK(both.at("f1_low") == Approx(0.5));
  CHECK(both.at("f1_high") == Approx(1));
  CHECK(both == figures_of({&good, &bad}));
  const json same = figures_of({&bad, &bad, &bad});
  CHECK(same.at("f1_low") == same.at("f1"));
  CHECK(same.at("f1_high") == same.at("f1"));
  // Of nine good files and a bad one, few draws hold the bad one thrice.
  std::vector<const JudgedLog*> many(9, &good);
  many.push_back(&bad);
  const json wide = figures_of(many);
  CHECK(wide.at("f1_low") > 0.8);
  CHECK(wide.at("f1_low") < wide.at("f1"));
  CHECK(wide.at("f1_high") == 1);
}

TEST_CASE("verdicts that begin later are of the last windows", "[detector]") {
  JudgedLog log = judged_log("part/a", {0, 0, 1, 0}, {1, 1, 1, 0});
  log.said.push_back({"late", {1, 0}, 0.5, false});
  CHECK(log.first_of(log.said.back()) == 2);
  const json late = summarise({&log}, "late");
  CHECK(late.at("n_samples") == 2);
  CHECK(late.at("f1") == 1);
  CHECK(f1_where({&log}, "model", "model") == Approx(0.5));
  CHECK(f1_where({&log}, "model", "late") == 1);  // its false windows are not among these
  CHECK(log.find("other") == nullptr);
}

TEST_CASE("an ablated model stands beside its own and is held against nothing", "[detector]") {
  JudgedLog log = judged_log("part/DoS-a.csv", {0, 0, 1, 0}, {0, 1, 1, 0});
  log.said.push_back({"rule", {0, 1, 1, 0}, 0.5});
  log.said.push_back({"model rewired", {0, 0, 1, 0}, 0.5, true});
  const Comparison one({log}, {"model"}, {});
  CHECK(one.methods() == std::vector<std::string>{"model", "model rewired", "rule"});
  CHECK(one.shortfalls().empty());  // its F1 is the highest
  CHECK(one.metrics().at("parts").at("part").at("model rewired").at("f1") == 1);
  CHECK(one.main().rows.at(1).at(1) == "model rewired");
  CHECK_FALSE(one.is_model("model rewired"));
}

TEST_CASE("a comparison names what is better, on windows that both judged", "[detector]") {
  JudgedLog log = judged_log("part/DoS-a.csv", {0, 0, 1, 0}, {0, 1, 1, 0});
  log.said.push_back({"late", {1, 0}, 0.5, false});  // no better where it says anything
  log.said.push_back({"rule", {0, 0, 1, 0}, 0.5, false});
  const Comparison one({log}, {"model"}, {});
  REQUIRE(one.shortfalls().size() == 1);
  CHECK_THAT(one.shortfalls().front(),
             Contains("part: other methods have a higher F1 than model: rule 1.0000 against "
                      "0.6667") &&
                 !Contains("late"));
  CHECK(one.metrics().at("parts").at("part").at("rule").at("f1") == 1);
  CHECK(one.metrics().at("logs").at("part/DoS-a.csv").at("late").at("n_samples") == 2);
  CHECK(one.metrics().at("kinds").at("DoS").at("model").at("attacks") == 1);
  CHECK(one.main().rows.size() == 3);
  CHECK(one.more().rows.front().at(2) == "one file");
  CHECK(one.notes().empty());
  CHECK(!one.metrics().contains("suspects"));

  JudgedLog poor = judged_log("part/DoS-b.csv", {0, 1}, {1, 0});
  for (const char* method : {"b", "c", "d", "e", "f"}) {
    poor.said.push_back({method, {0, 1}, 0.5, false});
  }
  CHECK_THAT(Comparison({poor}, {"model"}, {}).shortfalls().front(),
             Contains("b 1.0000 against 0.0000, c ") && Contains("d 1.0000 against 0.0000 and 2"));

  // Nothing is better than the rule as a model.
  CHECK(Comparison({log}, {"rule"}, {}).shortfalls().empty());

  const Comparison copied({log}, {"rule"}, {{"train/x", "part/y"}});
  CHECK(copied.metrics().at("same_content") == json::array({json::array({"train/x", "part/y"})}));
  CHECK_THAT(copied.notes().front(), Contains("train/x") && Contains("part/y"));
}

TEST_CASE("suspects are listed, and figures are given without them", "[detector]") {
  JudgedLog log = judged_log("part/DoS-a.csv", {0, 0, 1, 0}, {0, 0, 1, 1});
  log.suspect[3] = 7;
  const Comparison with({log}, {"model"}, {});
  CHECK(with.metrics().at("suspects") ==
        json({{{"log", "part/DoS-a.csv"}, {"window", 3}, {"first_row", 300}, {"frames", 7}}}));
  CHECK(with.metrics().at("parts").at("part").at("model").at("false_windows") == 1);
  const json without = with.metrics().at("without_suspects").at("part").at("model");
  CHECK(without.at("false_windows") == 0);
  CHECK(without.at("false_events") == 0);
  CHECK(without.at("n_samples") == 3);
  REQUIRE(with.main().rows.size() == 2);
  CHECK(with.main().rows.at(1).at(1) == "model, without suspects");
  CHECK_THAT(with.notes().front(),
             Contains("wrong: 1, ") && Contains("7 frames") && Contains("part/DoS-a.csv, row 300"));
}

TEST_CASE("the kind of an attack is in the name of its file", "[detector]") {
  CHECK(attack_of("test_01/DoS-kia.csv.gz") == "DoS");
  CHECK(attack_of("test_03/rpm-accessory-1.csv") == "rpm");
  CHECK(attack_of("drive-3-fuzzing.csv") == "fuzzing");
  CHECK(attack_of("drive-3-fuzzing-known.csv") == "fuzzing-known");
  CHECK(attack_of("standstill.csv") == "standstill");
  CHECK(attack_of("standstill_2.log") == "standstill");
}

TEST_CASE("benign windows near attacks with unknown ids are suspect", "[detector]") {
  std::vector<data::CanFrame> frames = two_ids(80);
  frames[12].id = 0x300;                  // ahead of the attack: known from then on
  frames[25].label = 1;                   // window 2 is the attack
  frames[33].id = 0x300;                  // window 3
  frames[34].id = 0x400;                  // right after the attack
  frames[55].id = frames[56].id = 0x500;  // window 5, after the last attack row
  const LogStore data({{"test_01/a.csv", frames}, {"train_01/b.csv", two_ids(80)}}, 10);
  const StoredLog log = data.tests().front();
  JudgedLog out;
  out.size = 10;
  for (int64_t w = 0; w < 8; ++w) {
    out.first_row.push_back(10 * w);
    out.labels.push_back(w == 2 ? 1 : 0);
  }
  mark_windows(log, {0x100, 0x200}, out);
  CHECK(out.suspect == std::vector<int32_t>{0, 0, 0, 1, 0, 2, 0, 0});
  CHECK(out.shadow == std::vector<uint8_t>{0, 0, 0, 1, 0, 0, 0, 0});
  CHECK(out.attacked[2] == Approx(0.25));
  CHECK(std::isnan(out.attacked[1]));
  CHECK(out.begin[2] == Approx(0.2));
  CHECK(out.end[2] == Approx(0.29));
  mark_windows(log, {}, out);  // 25 rows of a vehicle never seen say too little
  CHECK(out.suspect == std::vector<int32_t>(8, 0));

  // Far from any attack there are none, whatever the ids are.
  std::vector<data::CanFrame> benign = two_ids(80);
  benign[55].id = 0x500;
  const LogStore quiet({{"test_01/a.csv", benign}, {"train_01/b.csv", two_ids(90)}}, 10);
  for (int64_t& label : out.labels) label = 0;
  mark_windows(quiet.tests().front(), {0x100}, out);
  CHECK(out.suspect == std::vector<int32_t>(8, 0));
}

TEST_CASE("logs of the same frames in two parts are found, whatever their names and times",
          "[detector]") {
  std::vector<data::CanFrame> later = two_ids(200);
  for (data::CanFrame& frame : later) frame.time += 1000;
  std::vector<data::CanFrame> relabelled = two_ids(200);
  relabelled[150].label = 1;
  const LogStore data({{"train_01/a.csv", two_ids(200)},
                       {"train_02/same-as-a.csv", two_ids(200)},
                       {"test_01/b.csv", later},
                       {"test_02/c.csv", relabelled},
                       {"test_03/d.csv", relabelled}});
  const std::vector<SameContent> found = same_content(data.logs());
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const SameContent& pair : found) pairs.emplace_back(pair.first, pair.second);
  // That two training logs are alike makes no figure wrong; that each is a test log does.
  REQUIRE(pairs.size() == 3);
  std::sort(pairs.begin(), pairs.end());
  CHECK(pairs[2] == std::pair<std::string, std::string>{"test_02/c.csv", "test_03/d.csv"});
  for (const std::size_t i : {0, 1}) {
    CHECK(pairs[i].first == "test_01/b.csv");
    CHECK_THAT(pairs[i].second, Contains("train_0"));
  }
}

TEST_CASE("times made monotonic never step back, and stay where they are already", "[detector]") {
  std::vector<data::CanFrame> frames = two_ids(100);
  frames[40].time = frames[39].time - 0.2;
  frames[41].time = frames[39].time - 0.1;
  const LogStore data({{"train_01/a.csv", frames}, {"test_01/b.csv", two_ids(120)}});
  StoredLog log = data.training().front();
  const StoredLog as_it_was = log;
  log.make_monotonic();
  for (int64_t row = 1; row < log.rows(); ++row) CHECK(log.time(row) >= log.time(row - 1));
  CHECK(log.time(40) == log.time(39));
  CHECK(log.time(41) == log.time(39));
  CHECK(log.frame(40).time == log.time(39));
  CHECK(log.time(42) == as_it_was.time(42));
  CHECK(as_it_was.time(40) < as_it_was.time(39));
}
