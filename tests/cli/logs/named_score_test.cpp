// kdgat score and kdgat why with names from a DBC, and on one bus of a log or each of them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "support/can/detector_run.h"
#include "support/can/log_text.h"
#include "support/can/scored_lines.h"
#include "support/programs/cli.h"

namespace {

using Catch::Contains;

const DetectorRun& named_run() {
  static const DetectorRun one;
  return one;
}

std::vector<json> alarms_of(const std::string& lines) {
  std::vector<json> out;
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) {
    json one = json::parse(line);
    if (one.contains("ids") && one.at("ids").is_array()) out.push_back(std::move(one));
  }
  return out;
}

/// A log of two buses: that of `from`, and what it has once more.
void write_two_buses(const DetectorRun& t, const std::string& from, const std::string& to) {
  REQUIRE(t.kdgat("data convert " + from + " -o one.log").exit_code == 0);
  std::istringstream in(read_text(t.scratch / "one.log"));
  std::string text;
  for (std::string line; std::getline(in, line);) {
    std::string other = line;
    other.replace(other.find(" can0 "), 6, " can1 ");
    text += line + "\n" + other + "\n";
  }
  kdgat::test::write_text(t.scratch / to, text);
}

}  // namespace

TEST_CASE("a DBC names ids in reasons and alarms, and scores are the same",
          "[score][detector][cli]") {
  const DetectorRun& t = named_run();
  const std::string words = kKnownLog + t.named();
  const CommandResult plain = t.score(words);
  const std::vector<json> alarms = alarms_of(t.score(words + "--json").out);
  REQUIRE_FALSE(alarms.empty());
  const auto ids = alarms.front().at("ids").get<std::vector<std::string>>();
  CHECK_FALSE(alarms.front().contains("names"));
  kdgat::test::write_text(
      t.scratch / "car.dbc",
      "CM_ \"a comment\";\nBO_ " + std::to_string(std::stoul(ids.front(), nullptr, 16)) +
          " EngineData: 8 Engine\n SG_ EngineSpeed : 0|64@1+ (1,0) [0|0] \"\" X\n");
  const CommandResult named = t.score(words + "--dbc car.dbc");
  const std::vector<Row> before = table_of(plain.out), after = table_of(named.out);
  REQUIRE(before.size() == after.size());
  int64_t told = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    for (const char* column : {"time", "row", "ids", "score", "decision"}) {
      REQUIRE(before[i].at(column) == after[i].at(column));
    }
    told += after[i].at("reason_1").find(ids.front() + " (EngineData)") != std::string::npos;
  }
  CHECK(told > 0);
  CHECK_THAT(named.err, Contains(ids.front() + " EngineData"));
  CHECK_THAT(named.err, Contains("1 line of other keywords"));
  const std::vector<json> others = alarms_of(t.score(words + "--dbc car.dbc --json").out);
  REQUIRE(others.size() == alarms.size());
  CHECK(others.front().at("ids") == alarms.front().at("ids"));
  CHECK(others.front().at("names").at(0) == "EngineData");
  CHECK(others.front().at("names").size() == ids.size());
  const CommandResult why = t.kdgat("why " + words + "--dbc car.dbc");
  CHECK_THAT(why.out, Contains("(EngineData)"));
  const CommandResult bad = t.kdgat("score " + words + "--dbc " + std::string(kKnownLog));
  CHECK(bad.exit_code == 3);
  CHECK_THAT(bad.err, Contains("names no message"));
}

TEST_CASE("one bus of a log is scored as a log of that bus alone, and each by itself",
          "[score][detector][cli]") {
  const DetectorRun& t = named_run();
  write_two_buses(t, kKnownLog, "two.log");
  const CommandResult alone = t.score("one.log" + t.named());
  for (const char* channel : {"1", "can1", "0"}) {
    INFO(channel);
    const CommandResult one = t.score("two.log --channel " + (channel + t.named()));
    CHECK(one.out == alone.out);
    CHECK_THAT(one.err, Contains("frames of other buses left out"));
  }
  const std::vector<Row> each = table_of(t.score("two.log --channel each" + t.named()).out);
  const std::vector<Row> single = table_of(alone.out);
  REQUIRE(each.size() == 2 * single.size());
  for (std::size_t i = 0; i < each.size(); ++i) {
    const Row& expected = single[i % single.size()];
    REQUIRE(each[i].at("score") == expected.at("score"));
    REQUIRE(each[i].at("file") == (i < single.size() ? "two.log#can0" : "two.log#can1"));
  }
  const CommandResult none = t.kdgat("score two.log --channel can5" + t.named());
  CHECK(none.exit_code == 3);
  CHECK_THAT(none.err, Contains("no channel can5") && Contains("0 (can0), 1 (can1)"));
  CHECK(t.kdgat("score two.log --channel 9" + t.named()).exit_code == 2);
  const CommandResult why = t.kdgat("why two.log --channel each --event 0" + t.named());
  CHECK(why.exit_code == 2);
  CHECK_THAT(why.err, Contains("--channel N"));
  write_two_buses(t, "logs/train_01_attack_free/attack-free-vehicle1.csv", "calm.log");
  CHECK(
      t.kdgat("adapt '" + t.model().string() + "' calm.log -o new.json --channel each").exit_code ==
      2);
  CHECK(
      t.kdgat("adapt '" + t.model().string() + "' calm.log -o new.json --channel can1").exit_code ==
      0);
}
