// kdgat score with a detector, kdgat why and kdgat adapt: the windows of raw logs with the scores
// that the run gave them, alarms and reasons, and vehicles that are learned afterwards.
#include <signal.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "support/can/detector_run.h"
#include "support/can/scored_lines.h"
#include "support/programs/background.h"
#include "support/programs/cli.h"
#include "support/programs/held_pipe.h"

namespace {

/// Once for all tests of this file.
const DetectorRun& detector_run() {
  static const DetectorRun one;
  return one;
}

}  // namespace

TEST_CASE("a detector's scores of a log are those that its run gave", "[score][detector][cli]") {
  const DetectorRun& t = detector_run();
  const std::vector<Row> judged = table_of(read_text(t.run / "detector" / "windows.csv"));
  for (const std::string& by :
       {t.run.string(), (t.run / "detector").string(), t.model().string()}) {
    INFO(by);
    const CommandResult result = t.score("logs --run '" + by + "'");
    const std::vector<Row> lines = table_of(result.out);
    std::map<std::pair<std::string, std::string>, const Row*> by_place;
    for (const Row& line : lines) by_place[{line.at("file"), line.at("row")}] = &line;
    REQUIRE(judged.size() > 100);
    for (const Row& row : judged) {
      const auto found = by_place.find({row.at("log"), row.at("first_row")});
      REQUIRE(found != by_place.end());
      const Row& line = *found->second;
      CHECK(std::stod(line.at("score")) == Approx(std::stod(row.at("score"))).margin(1e-4));
      CHECK(line.at("decision") == (row.at("flagged") == "1" ? "attack" : "benign"));
      CHECK(std::stod(line.at("time")) == Approx(std::stod(row.at("begin"))).margin(1e-5));
    }
    std::set<std::string> tests;
    for (const Row& row : judged) tests.insert(row.at("log"));
    const auto of_tests = std::count_if(lines.begin(), lines.end(), [&](const Row& line) {
      return tests.contains(line.at("file")) && line.at("decision") != "calibration";
    });
    CHECK(of_tests == std::ssize(judged));
    CHECK(count_decisions(lines, "calibration") >= 2 * 20);
    CHECK_THAT(result.err, Catch::Contains("dos-vehicle3.csv: a vehicle never seen"));
    CHECK_THAT(result.err, Catch::Contains("fuzzing-vehicle1.csv: judged as the vehicle of"));
  }
}

TEST_CASE("score --frames lists the injected frames of flagged windows", "[score][detector][cli]") {
  const DetectorRun& t = detector_run();
  const std::string log = "logs/test_01_known_vehicle_known_attack/fuzzing-vehicle1.csv";
  const std::string model = " --model " + t.model().string();
  const std::vector<Row> truth = table_of(read_text(t.scratch / log));
  const std::vector<Row> lines = table_of(t.score(log + " --frames" + model).out);
  std::set<std::size_t> named;
  for (const Row& line : lines) {
    std::istringstream rows(line.at("frames"));
    for (std::size_t row = 0; rows >> row;) {
      CHECK(line.at("decision") == "attack");
      CHECK(row / 100 == std::stoul(line.at("row")) / 100);
      named.insert(row);
    }
  }
  std::size_t injected = 0, found = 0;
  for (std::size_t row = 0; row < truth.size(); ++row) {
    if (truth[row].at("attack") != "1") continue;
    ++injected;
    found += named.contains(row) ? 1 : 0;
  }
  CHECK(injected > 50);
  CHECK(2 * static_cast<double>(found) > 0.9 * static_cast<double>(injected + named.size()));

  std::set<std::size_t> as_json;
  std::istringstream events(t.score(log + " --frames --json" + model).out);
  for (std::string line; std::getline(events, line);) {
    for (const auto& frame : nlohmann::json::parse(line).value("frames", nlohmann::json::array())) {
      const auto row = frame.at("row").get<std::size_t>();
      as_json.insert(row);
      CHECK(frame.at("time").get<double>() ==
            Approx(std::stod(truth.at(row).at("timestamp"))).margin(1e-5));
      CHECK(std::stoul(frame.at("id").get<std::string>(), nullptr, 16) ==
            std::stoul(truth.at(row).at("arbitration_id"), nullptr, 16));
      CHECK(frame.at("score") > 0);
    }
  }
  CHECK(as_json == named);
  CHECK_FALSE(table_of(t.score(log + model).out).front().contains("frames"));
  CHECK(t.kdgat("why " + log + " --frames" + model).exit_code == 2);  // it would not say them
}

TEST_CASE("score --fail-on attack changes the exit code alone", "[score][detector][cli]") {
  const DetectorRun& t = detector_run();
  const CommandResult plain = t.score(kKnownLog + t.named());
  const CommandResult judged = t.kdgat("score --fail-on attack " + (kKnownLog + t.named()));
  CHECK(judged.exit_code == 10);
  CHECK(judged.out == plain.out);
  CHECK_THAT(judged.err, Catch::Matches("(.|\n)*error: attack found: [0-9]+ of [0-9]+ windows "
                                        "flagged\n"));
  // With -o the file is whole, with --json every line is there.
  const CommandResult to_file =
      t.kdgat("score -q --fail-on attack -o failed.csv " + (kKnownLog + t.named()));
  CHECK(to_file.exit_code == 10);
  CHECK(read_text(t.scratch / "failed.csv") == plain.out);
  const CommandResult lines = t.kdgat("score --json --fail-on attack " + (kKnownLog + t.named()));
  CHECK(lines.exit_code == 10);
  CHECK(lines.out == t.score(kKnownLog + t.named() + "--json").out);
  // Benign logs raise nothing.
  const CommandResult benign =
      t.kdgat("score --fail-on attack logs/train_01_attack_free" + t.named());
  CHECK(benign.exit_code == 0);
  CHECK(count_decisions(table_of(benign.out), "attack") == 0);
  // A reader that stops early: what was scored until then counts.
  const CommandResult head =
      run_shell("set -o pipefail; " + kdgat_word() + " score --fail-on attack " +
                    (kKnownLog + t.named()) + " | head -1 > /dev/null",
                t.scratch.path());
  CHECK((head.exit_code == 0 || head.exit_code == 10));
  const CommandResult wrong = t.kdgat("score --fail-on benign " + (kKnownLog + t.named()));
  CHECK(wrong.exit_code == 2);
  CHECK_THAT(wrong.err, Catch::Contains("--fail-on: \"benign\" is nothing to fail on"));
}

TEST_CASE("alarms are lines of JSON, or a sentence at the end", "[score][detector][cli]") {
  const DetectorRun& t = detector_run();
  const CommandResult plain = t.score(kKnownLog + t.named());
  const std::vector<Row> rows = table_of(plain.out);
  CHECK(count_decisions(rows, "attack") > 5);
  CHECK_THAT(plain.err, Catch::Matches("(.|\n)*[0-9]+ alarms?: [0-9.]+ to [0-9.]+ s(.|\n)*"));

  const std::vector<json> lines = json_lines(t.score(kKnownLog + t.named() + "--json").out);
  std::vector<json> windows, alarms;
  for (const json& line : lines) (line.contains("event") ? alarms : windows).push_back(line);
  REQUIRE(windows.size() == rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(windows[i].at("decision") == rows[i].at("decision"));
    CHECK(windows[i].size() == (rows[i].at("decision") == "attack" ? 8 : 7));
  }
  REQUIRE(alarms.size() >= 2);
  CHECK(alarms.size() % 2 == 0);
  int64_t flagged = 0;
  for (std::size_t i = 0; i < alarms.size(); i += 2) {
    const json &opened = alarms[i], &closed = alarms[i + 1];
    CHECK(opened.at("event") == "alarm");
    CHECK(opened.at("open") == true);
    CHECK(closed.at("open") == false);
    CHECK(opened.at("alarm") == i / 2);
    CHECK(closed.at("alarm") == i / 2);
    CHECK(opened.at("begin") == closed.at("begin"));
    CHECK(closed.at("end") >= opened.at("end"));
    CHECK(opened.at("first_window") == closed.at("first_window"));
    CHECK(closed.at("peak").get<double>() > 0);
    flagged += closed.at("windows").get<int64_t>();
  }
  CHECK(flagged == count_decisions(rows, "attack"));
  // An alarm stands behind the window that opened it.
  const auto first = std::find_if(lines.begin(), lines.end(),
                                  [](const json& line) { return line.contains("event"); });
  REQUIRE(first != lines.begin());
  CHECK((first - 1)->at("decision") == "attack");
  CHECK((first - 1)->at("window") == first->at("first_window"));
}

TEST_CASE("flagged windows come with the ids that made them, in words", "[score][detector][cli]") {
  const DetectorRun& t = detector_run();
  const std::string csv = t.score(kKnownLog + t.named()).out;
  CHECK(csv.starts_with("time,window,row,ids,score,decision,reason_1,reason_2,reason_3\n"));
  const std::vector<Row> rows = table_of(csv);
  const std::vector<json> lines = json_lines(t.score(kKnownLog + t.named() + "--json").out);
  std::vector<json> windows;
  std::copy_if(lines.begin(), lines.end(), std::back_inserter(windows),
               [](const json& line) { return line.contains("window"); });
  REQUIRE(windows.size() == rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool is_flagged = rows[i].at("decision") == "attack";
    const std::string& first = rows[i].at("reason_1");
    CHECK(first.empty() == !is_flagged);
    if (!is_flagged) continue;
    CHECK_THAT(first, Catch::Matches("[0-9A-F]{3}.*: .+"));
    CHECK(windows[i].at("reasons").at(0) == first);
    CHECK(windows[i].at("reasons").size() <= 3);
  }
  // Random ids make the attack.
  CHECK(csv.find("not in the profile of this vehicle") != std::string::npos);
  const std::vector<Row> plain = table_of(t.score(kKnownLog + t.named() + "--reasons=false").out);
  REQUIRE(plain.size() == rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK_FALSE(plain[i].contains("reason_1"));
    CHECK(plain[i].at("score") == rows[i].at("score"));
  }
}

TEST_CASE("why explains alarms at their highest windows, in parts that add up", "[why][cli]") {
  const DetectorRun& t = detector_run();
  const auto why = [&](const std::string& words) {
    return must_kdgat("why " + words, t.scratch.path()).out;
  };
  const std::vector<Row> rows = table_of(t.score(kKnownLog + t.named()).out);
  const std::vector<json> alarms = json_lines(why(kKnownLog + t.named() + "--json"));
  REQUIRE_FALSE(alarms.empty());
  double before = 1e9;
  int64_t flagged = 0;
  for (const json& one : alarms) {
    const Row& row = rows.at(one.at("window").get<std::size_t>());
    CHECK(one.at("score").get<double>() == Approx(std::stod(row.at("score"))).margin(1e-4));
    CHECK(one.at("decision") == "attack");
    double sum = one.at("everything_else");
    for (const json& reason : one.at("reasons")) sum += reason.at("contribution").get<double>();
    CHECK(sum == Approx(one.at("score").get<double>()).margin(1e-4));
    const json& first = one.at("reasons").at(0);
    CHECK(row.at("reason_1").find(first.at("words").get<std::string>()) != std::string::npos);
    CHECK(row.at("reason_1").starts_with(first.at("ids").at(0).at("id").get<std::string>()));
    CHECK(one.at("score").get<double>() <= before);
    before = one.at("score");
    flagged += one.at("alarm").at("windows").get<int64_t>();
    // The same by its numbers, and by the time of its first row.
    const std::string number = one.at("alarm").at("number").dump();
    CHECK(json_lines(why(kKnownLog + t.named() + "--json --event " + number)) ==
          std::vector<json>{one});
    json without_alarm = one;
    without_alarm["alarm"] = nullptr;
    const std::vector<json> same = {without_alarm};
    CHECK(json_lines(why(kKnownLog + t.named() + "--json --window " + row.at("window"))) == same);
    CHECK(json_lines(why(kKnownLog + t.named() + "--json --time " + row.at("time"))) == same);
  }
  CHECK(flagged == count_decisions(rows, "attack"));

  const std::string text = why(kKnownLog + t.named());
  for (const char* part :
       {", flagged above 0", "\nalarm 0: ", "this is its highest", "compared with the vehicle of ",
        "part", "of", "what it did", "everything else", "the score", "not in the profile"}) {
    INFO(part << " in\n" << text);
    CHECK(text.find(part) != std::string::npos);
  }
  const std::string top = why(kKnownLog + t.named() + "--top 1 --window " +
                              alarms.front().at("window").dump() + " --json");
  CHECK(json::parse(top).at("reasons").size() == 1);
  const CommandResult piped = run_shell(
      "cat " + std::string(kKnownLog) + " | " + kdgat_word() + " why - --json" + t.named(),
      t.scratch.path());
  CHECK(json_lines(piped.out).size() == alarms.size());
}

TEST_CASE("why explains windows that were not flagged, or were learned from", "[why][cli]") {
  const DetectorRun& t = detector_run();
  const auto why = [&](const std::string& words) { return t.kdgat("why " + words); };
  const CommandResult benign = why(kKnownLog + t.named() + "--window 1");
  CHECK(benign.exit_code == 0);
  CHECK_THAT(benign.out, Catch::Contains("not flagged: the threshold is 0"));
  const CommandResult learned = why(kStrangeLog + t.named() + "--window 3");
  CHECK(learned.exit_code == 0);
  CHECK_THAT(learned.out, Catch::Contains("learned from as what is usual on the vehicle") &&
                              Catch::Contains("a vehicle never seen"));
  // Of a folder all alarms of all logs; a high threshold leaves none.
  const CommandResult folder = why("logs" + t.named() + "--json");
  CHECK(folder.exit_code == 0);
  std::set<std::string> files;
  for (const json& one : json_lines(folder.out)) files.insert(one.at("file"));
  CHECK(files.size() > 1);
  // Of many alarms the highest ones.
  fs::create_directories(t.scratch / "many");
  for (int i = 0; i < 12; ++i) {
    fs::copy_file(t.scratch / kKnownLog, t.scratch / "many" / (std::to_string(i) + ".csv"));
  }
  const CommandResult many = why("many" + t.named() + "--json");
  CHECK(json_lines(many.out).size() == 10);
  CHECK_THAT(many.err, Catch::Contains("the 10 highest of ") &&
                           Catch::Contains(" alarms are explained; any other by its number"));
  const CommandResult none = t.kdgat("why " + (kKnownLog + t.named()) + "--threshold 1000");
  CHECK(none.exit_code == 0);
  CHECK(none.out.empty());
  CHECK_THAT(none.err, Catch::Contains("no alarm, so nothing to explain"));
}

TEST_CASE("a detector's threshold moves, and its vehicle may be named", "[score][detector][cli]") {
  const DetectorRun& t = detector_run();
  const auto attacks = [&](const std::string& more) {
    return count_decisions(
        table_of(t.kdgat("score " + std::string(kKnownLog) + t.named() + more).out), "attack");
  };
  CHECK(attacks("--threshold 1000") == 0);
  CHECK(attacks("--threshold=-1000") > 60);
  CHECK(attacks("--threshold 1") <= attacks("--threshold=-1"));
  const json model = json::parse(read_text(t.model()));
  const std::string other = model.at("vehicles").at(1).at("name");
  const CommandResult named =
      t.kdgat("score " + std::string(kStrangeLog) + t.named() + "--vehicle '" + other + "'");
  CHECK_THAT(named.err, Catch::Contains("judged as the vehicle of " + other));
  // It is not that vehicle: all of its ids are unknown.
  const std::vector<Row> rows = table_of(named.out);
  CHECK(count_decisions(rows, "attack") == static_cast<int64_t>(rows.size()));
}

TEST_CASE("a live log's windows come while it is listened to", "[score][detector][cli]") {
  const DetectorRun& t = detector_run();
  const std::vector<Row> rows = table_of(t.score(kKnownLog + t.named()).out);
  HeldPipe live(t.scratch / "live");
  Background scorer("score live" + t.named(), t.scratch.path());
  live.write(read_text(t.scratch / kKnownLog));
  const auto lines = [&] {
    const std::string out = read_text(t.scratch / "out");
    return static_cast<std::size_t>(std::count(out.begin(), out.end(), '\n'));
  };
  // The head, and all rows but the last, which waits for the one behind it.
  REQUIRE(comes_true([&] { return lines() == rows.size(); }));
  CHECK(scorer.end(SIGINT) == 130);
  CHECK(lines() == rows.size());
  CHECK_THAT(read_text(t.scratch / "err"), Catch::Contains("alarm at "));
  const CommandResult piped =
      run_shell("cat " + std::string(kKnownLog) + " | " + kdgat_word() + " score -" + t.named(),
                t.scratch.path());
  CHECK(table_of(piped.out) == rows);
}

TEST_CASE("an adapted detector knows the vehicle", "[adapt][cli]") {
  const DetectorRun& t = detector_run();
  // Its rows labelled as attacks are left out.
  const std::string drive = "logs/test_02_unknown_vehicle_known_attack/fuzzing-vehicle3.csv";
  const std::string words = "adapt '" + t.run.string() + "' '" + drive + "' -o mine.json";
  const CommandResult said = must_kdgat(words + " --name van --json", t.scratch.path());
  const json what = json::parse(said.out);
  CHECK(what.at("vehicle") == "van");
  CHECK(what.at("replaced").is_null());
  CHECK(what.at("vehicles") == 3);
  CHECK_THAT(said.err, Catch::Contains("mine.json: van added from"));
  const CommandResult before = t.score(kStrangeLog + t.named());
  const CommandResult after = t.score(std::string(kStrangeLog) + " --run mine.json");
  CHECK(count_decisions(table_of(before.out), "calibration") >= 20);
  CHECK(count_decisions(table_of(after.out), "calibration") == 0);
  CHECK(count_decisions(table_of(after.out), "attack") > 5);
  CHECK_THAT(after.err, Catch::Contains("judged as the vehicle of van"));

  // What is there stays, unless it may be replaced.
  const std::string bytes = read_text(t.scratch / "mine.json");
  const CommandResult again = t.kdgat(words + " --name truck");
  CHECK(again.exit_code == 2);
  CHECK_THAT(again.err, Catch::Contains("--force replaces it"));
  CHECK(read_text(t.scratch / "mine.json") == bytes);
  CHECK(t.kdgat(words + " --name truck --force").exit_code == 0);
  CHECK(read_text(t.scratch / "mine.json") != bytes);
}

TEST_CASE("what a detector cannot score is refused with a hint and a code",
          "[score][detector][cli]") {
  const DetectorRun& t = detector_run();
  const std::string whole = read_text(t.model());
  std::ofstream(t.scratch / "cut.json") << whole.substr(0, whole.size() / 2);
  std::ofstream(t.scratch / "brace.json") << "{";
  std::ofstream(t.scratch / "other.json") << "{\"format\": \"other\"}\n";
  std::ofstream(t.scratch / "list.json") << "[1, 2]\n";
  std::ofstream(t.scratch / "empty.csv");
  const std::string text = read_text(t.scratch / kStrangeLog);
  const auto head = [&](std::size_t lines) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < lines; ++i) at = text.find('\n', at) + 1;
    return text.substr(0, at);
  };
  std::ofstream(t.scratch / "short.csv") << head(1001);
  std::ofstream(t.scratch / "shorter.csv") << head(51);
  const std::string log = kKnownLog;
  struct Case {
    std::string words;
    int code;
    std::string says;
  };
  const std::string first = json::parse(whole).at("vehicles").at(0).at("name");
  for (const Case& c :
       {Case{"score " + log + " --run cut.json", 3, "cut.json"},
        {"score " + log + " --run brace.json", 3, "brace.json"},
        {"score " + log + " --run other.json", 3, "other.json: not a detector"},
        {"score " + log + " --run list.json", 3, "list.json"},
        {"score " + log + " --run " + log, 3, "fuzzing-vehicle1.csv"},
        {"score empty.csv" + t.named(), 3, "the file is empty"},
        {"score short.csv" + t.named(), 3,
         "short.csv: a vehicle never seen, and only 10 windows of its own traffic"},
        {"score shorter.csv" + t.named() + "--vehicle '" + first + "'", 3,
         "a window of this model needs 100 rows, the log has 50"},
        {"score " + log + t.named() + "--false-alarms 0.01", 2, "budget of false windows an hour"},
        {"score " + log + t.named() + "--device cuda", 2, "--device"},
        {"score " + log + t.named() + "--vehicle none", 2, "there are: "},
        {"score " + log + t.named() + "--calibrate 1000000", 2, "1000000 frames"},
        {"why --model '" + t.model().string() + "'", 2, "needs a log"},
        {"why " + log + t.named() + "--window 100000", 2, "has no window 100000"},
        {"why " + log + t.named() + "--window -1", 2, "--window: -1 is no number from 0 on"},
        {"why " + log + t.named() + "--event 1000", 2, "it has one, alarm 0"},
        {"why " + log + t.named() + "--time 1e9", 2, "has no window at 1000000000.000 s"},
        {"why " + log + t.named() + "--time soon", 2, "is no time in seconds"},
        {"why " + log + t.named() + "--time 3 --window 4", 2, "give one of them"},
        {"why logs" + t.named() + "--window 4", 2, "name one of the logs"},
        {"why " + log + t.named() + "--top 0", 2, "top: 0 is outside [1, 20]"},
        {"why " + log + t.named() + "--false-alarms 0.1", 2, "unknown flag"},
        {"score " + log + t.named() + "--explain alarms", 2, "unknown flag"},
        {"why " + log + " --model cut.json", 3, "cut.json"},
        {"why absent.csv" + t.named(), 3, "absent.csv"},
        {"adapt", 2, "needs a detector"},
        {"adapt '" + t.model().string() + "'", 2, "needs a log"},
        {"adapt '" + t.model().string() + "' " + log, 2, "needs -o FILE"},
        {"adapt none " + log + " -o new.json", 3, "--root"},
        {"adapt cut.json " + log + " -o new.json", 3, "cut.json"},
        {"adapt '" + t.model().string() + "' absent.csv -o new.json", 3, "absent.csv"},
        {"adapt '" + t.model().string() + "' short.csv -o new.json", 3, "only 10 windows"},
        {"adapt '" + t.model().string() + "' " + log + " -o new.json --window 5", 2,
         "did you mean --windows"}}) {
    const CommandResult result = t.kdgat(c.words);
    INFO(c.words << "\n" << result.err);
    CHECK(result.exit_code == c.code);
    CHECK(result.err.find(c.says) != std::string::npos);
    CHECK(result.out.empty());
    CHECK_FALSE(fs::exists(t.scratch / "new.json"));
  }
}

TEST_CASE("the help of adapt lists all that it takes", "[adapt][cli]") {
  const ScratchFolder scratch;
  const CommandResult said = must_kdgat("adapt --help", scratch.path());
  for (const char* flag : {"--output", "--force", "--json", "--root", "--model", "--windows",
                           "--name", "--format", "--strict"}) {
    INFO(flag);
    CHECK(said.out.find(std::string(flag) + " ") != std::string::npos);
  }
  const std::string score = must_kdgat("score --help", scratch.path()).out;
  const std::string why = must_kdgat("why --help", scratch.path()).out;
  CHECK(score.find("--vehicle ") != std::string::npos);
  CHECK(score.find("--explain ") == std::string::npos);
  for (const char* flag : {"--model", "--window", "--time", "--event", "--top", "--json"}) {
    CHECK(why.find(std::string(flag) + " ") != std::string::npos);
  }
  CHECK(why.find("--explain ") == std::string::npos);
}
