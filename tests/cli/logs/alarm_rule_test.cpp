// A detector whose alarms are k of the last n windows, from the command line: one decision in the
// run, in kdgat score, from a pipe, in kdgat why and after kdgat adapt.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "support/can/detector_run.h"
#include "support/can/scored_lines.h"
#include "support/programs/cli.h"

namespace {

/// Once for all tests of this file.
const DetectorRun& rule_run() {
  static const DetectorRun one("alarm_windows=2 alarm_of=3");
  return one;
}

}  // namespace

TEST_CASE("k of n windows: run, score and a pipe decide the same", "[score][detector][cli]") {
  const DetectorRun& t = rule_run();
  CHECK(json::parse(read_text(t.model())).at("alarm") == json{{"windows", 2}, {"of", 3}});
  const std::vector<Row> judged = table_of(read_text(t.run / "detector" / "windows.csv"));
  for (const std::string log : {kKnownLog, kStrangeLog}) {
    INFO(log);
    const std::vector<Row> rows = table_of(t.score(log + t.named()).out);
    CHECK(count_decisions(rows, "attack") > 5);
    for (const Row& row : judged) {
      if (!log.ends_with(row.at("log"))) continue;
      const auto line = std::find_if(rows.begin(), rows.end(), [&](const Row& one) {
        return one.at("row") == row.at("first_row");
      });
      REQUIRE(line != rows.end());
      CHECK(std::stod(line->at("score")) == Approx(std::stod(row.at("score"))).margin(1e-4));
      CHECK(line->at("decision") == (row.at("flagged") == "1" ? "attack" : "benign"));
    }
    const CommandResult piped =
        run_shell("cat " + log + " | " + kdgat_word() + " score -" + t.named(), t.scratch.path());
    CHECK(table_of(piped.out) == rows);
  }
}

TEST_CASE("k of n windows: why tells a window from what flags it", "[why][cli]") {
  const DetectorRun& t = rule_run();
  const std::vector<Row> rows = table_of(t.score(kKnownLog + t.named()).out);
  const std::string why = "why " + (kKnownLog + t.named());
  // A window that is usual itself, flagged by the two ahead of it, has no reasons.
  int64_t silent = 0, first_of_two = 0;
  for (std::size_t w = 2; w + 2 < rows.size(); ++w) {
    // Near alarms: windows within are all alike.
    if (rows[w - 2].at("decision") == rows[w + 2].at("decision")) continue;
    const json one = json::parse(t.kdgat(why + "--json --window " + std::to_string(w)).out);
    const double score = one.at("score"), alone = one.at("alone");
    CHECK(score == Approx(std::stod(rows[w].at("score"))).margin(1e-4));
    CHECK((one.at("decision") == "attack") == (score > 0));
    double sum = one.at("everything_else");
    for (const json& reason : one.at("reasons")) sum += reason.at("contribution").get<double>();
    CHECK(sum == Approx(alone).margin(1e-4));
    CHECK(rows[w].at("reason_1").empty() == !(score > 0 && alone > 0));
    silent += score > 0 && alone <= 0 ? 1 : 0;
    first_of_two += score <= 0 && alone > 0 ? 1 : 0;
  }
  CHECK(silent > 0);
  CHECK(first_of_two > 0);
  // What an alarm is explained by is a window that is odd itself.
  for (const json& one : json_lines(t.kdgat(why + "--json").out)) {
    CHECK(one.at("alone") >= one.at("score"));
    CHECK(one.at("score") > 0);
    CHECK_FALSE(one.at("reasons").empty());
  }
  CHECK_THAT(t.kdgat(why).out, Catch::Matches("(.|\n)*: score -?[0-9.]+ alone; [0-9.]+ by 2 of the "
                                              "last 3 windows, flagged above 0(.|\n)*") &&
                                   Catch::Contains("the window alone"));
}

TEST_CASE("k of n windows: an adapted detector keeps its rule", "[adapt][cli]") {
  const DetectorRun& t = rule_run();
  must_kdgat("adapt '" + t.model().string() + "' '" + kStrangeLog + "' -o mine.json --name van",
             t.scratch.path());
  const json was = json::parse(read_text(t.model()));
  const json is = json::parse(read_text(t.scratch / "mine.json"));
  CHECK(is.at("alarm") == was.at("alarm"));
  CHECK(is.at("version") == was.at("version"));
  CHECK(is.at("thresholds") == was.at("thresholds"));
}

TEST_CASE("k of n windows: more than there are ends with 2", "[cli]") {
  const DetectorRun& t = rule_run();
  for (const char* words : {"run --preset detector --data logs alarm_windows=3 alarm_of=2",
                            "run --preset detector --data logs alarm_windows=2"}) {
    const CommandResult said = t.kdgat(words);
    INFO(said.err);
    CHECK(said.exit_code == 2);
    CHECK_THAT(said.err, Catch::Contains("windows can never be flagged"));
  }
  const CommandResult none =
      t.kdgat("run --preset detector --data logs alarm_windows=0 alarm_of=0");
  CHECK(none.exit_code == 2);
}
