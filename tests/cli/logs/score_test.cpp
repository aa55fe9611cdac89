// kdgat score: the windows of raw logs, with the numbers that evaluate found for the same windows.
#include <signal.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "engine/graph/graph_store.h"
#include "support/programs/background.h"
#include "support/programs/cli.h"
#include "support/programs/held_pipe.h"

using kdgat::file::SafetensorsFile;
using kdgat::graph::GraphStore;

namespace {

struct Line {
  double time = 0;
  int64_t window = 0, row = 0, ids = 0;
  double score = 0;
  std::string decision, file;
};

std::vector<Line> lines_of(const std::string& csv) {
  std::istringstream in(csv);
  std::string text;
  REQUIRE(std::getline(in, text));
  CHECK(text.rfind("time,window,row,ids,score,decision", 0) == 0);
  std::vector<Line> out;
  while (std::getline(in, text)) {
    std::istringstream fields(text);
    std::vector<std::string> field;
    for (std::string one; std::getline(fields, one, ',');) field.push_back(one);
    REQUIRE(field.size() >= 6);
    out.push_back({std::stod(field[0]), std::stoll(field[1]), std::stoll(field[2]),
                   std::stoll(field[3]), std::stod(field[4]), field[5],
                   field.size() > 6 ? field[6] : ""});
  }
  return out;
}

/// Two models trained for a moment on synthetic logs, once for all tests of this file.
struct TrainedToScore {
  ScratchFolder scratch;
  fs::path run, data;
  std::string kdgat = kdgat_word();

  TrainedToScore() {
    std::ofstream(scratch / "two.yaml") << "preset: [vgae, gat, student]\nstages:\n  evaluate:\n";
    must_kdgat("data synth -o logs --seconds 20 --vehicles 2 --attacks dos,fuzzing",
               scratch.path());
    must_kdgat("run two.yaml --data logs --root runs --threads 1 max_epochs=2", scratch.path());
    for (const auto& entry : fs::recursive_directory_iterator(scratch / "runs")) {
      if (entry.path().filename() == "graphs.safetensors") data = entry.path().parent_path();
    }
    REQUIRE_FALSE(data.empty());
    run = newest_run(scratch / "runs" / "logs");
  }
  CommandResult score(const std::string& words) const {
    return run_kdgat("score " + words, scratch.path());
  }
};

const TrainedToScore& trained() {
  static const TrainedToScore one;
  return one;
}

}  // namespace

TEST_CASE("scores of a log are those evaluate gives its windows", "[score][cli]") {
  const TrainedToScore& t = trained();
  const GraphStore store = GraphStore::open(t.data / "graphs.safetensors");
  const SafetensorsFile said =
      SafetensorsFile::open(t.run / "evaluate" / "predictions.safetensors");
  int64_t compared = 0;
  for (const std::string step : {"autoencoder", "classifier"}) {
    for (std::size_t s = 0; s < store.sources().size(); ++s) {
      const kdgat::graph::Source& source = store.sources()[s];
      if (source.role != "test") continue;
      const CommandResult result =
          t.score("logs/" + source.path + " --run '" + t.run.string() + "' --model " + step);
      INFO(step << " " << source.path << "\n" << result.err);
      REQUIRE(result.exit_code == 0);
      const std::vector<Line> lines = lines_of(result.out);
      REQUIRE(static_cast<int64_t>(lines.size()) == source.graphs);
      const std::string name = step + "/test/" + source.scenario;
      const auto all = static_cast<int64_t>(said.tensor(name + "/graph").shape[0]);
      const auto graph = said.require<int64_t>(name + "/graph", {all});
      const auto score = said.require<float>(name + "/score", {all});
      const auto prediction = said.require<int64_t>(name + "/prediction", {all});
      for (std::size_t i = 0; i < graph.size(); ++i) {
        const auto g = static_cast<std::size_t>(graph[i]);
        if (store.source_of()[g] != static_cast<int32_t>(s)) continue;
        const Line& line = lines.at(g - static_cast<std::size_t>(source.first_graph));
        CHECK(line.row == store.row_begin()[g]);
        CHECK(line.ids == store.node_ptr()[g + 1] - store.node_ptr()[g]);
        CHECK(line.score == Approx(score[i]).margin(1e-6));
        // The autoencoder's threshold is the training's own; only the classifier's is fixed.
        if (step == "classifier" && std::abs(line.score - 0.5) > 1e-6) {
          CHECK(line.decision == (prediction[i] == 1 ? "attack" : "benign"));
        }
        ++compared;
      }
    }
  }
  CHECK(compared > 100);
}

TEST_CASE("reasons of a model that is no detector are refused", "[score][why][cli]") {
  const TrainedToScore& t = trained();
  const CommandResult refused =
      run_kdgat("why logs/test_01_known_vehicle_known_attack/dos-vehicle1.csv --model '" +
                    (t.run / "classifier").string() + "'",
                t.scratch.path());
  CHECK(refused.exit_code == 2);
  CHECK(refused.out.empty());
  CHECK_THAT(refused.err, Catch::Contains("reasons are told by a detector alone") &&
                              Catch::Contains("kdgat run --preset detector"));
  const CommandResult frames = run_kdgat(
      "score logs/test_01_known_vehicle_known_attack/dos-vehicle1.csv --frames --model '" +
          (t.run / "classifier").string() + "'",
      t.scratch.path());
  CHECK(frames.exit_code == 2);
  CHECK_THAT(frames.err, Catch::Contains("a detector alone says which frames it means"));
}

TEST_CASE("a log may be piped, packed or a folder, and lines may be JSON or a file",
          "[score][cli]") {
  const TrainedToScore& t = trained();
  const std::string model = " --run '" + (t.run / "classifier").string() + "'";
  const std::string log = "logs/test_01_known_vehicle_known_attack/dos-vehicle1.csv";
  REQUIRE(fs::exists(t.scratch / log));
  const CommandResult plain = t.score(log + model);
  INFO(plain.err);
  REQUIRE(plain.exit_code == 0);
  const std::vector<Line> lines = lines_of(plain.out);
  REQUIRE(lines.size() > 10);

  const auto shell = [&](const std::string& line) {
    const CommandResult result = run_shell(line, t.scratch.path());
    INFO(result.err);
    CHECK(result.exit_code == 0);
    return lines_of(result.out);
  };
  const auto same = [&](const std::vector<Line>& other) {
    REQUIRE(other.size() == lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      CHECK(other[i].time == lines[i].time);
      CHECK(other[i].row == lines[i].row);
      CHECK(other[i].score == Approx(lines[i].score).margin(1e-6));
    }
  };
  same(shell("cat " + log + " | " + t.kdgat + " score -" + model));
  same(shell("gzip -c " + log + " | " + t.kdgat + " score -" + model));
  same(shell(t.kdgat + " score <(cat " + log + ")" + model));

  const CommandResult jsonl = t.score(log + model + " --json -o lines.jsonl");
  CHECK(jsonl.exit_code == 0);
  CHECK(jsonl.out.empty());
  std::istringstream in(read_text(t.scratch / "lines.jsonl"));
  std::size_t count = 0;
  for (std::string text; std::getline(in, text); ++count) {
    const json line = json::parse(text);
    CHECK(line.at("window") == lines.at(count).window);
    CHECK(line.at("decision") == lines.at(count).decision);
    CHECK(line.at("time").get<double>() == Approx(lines.at(count).time).epsilon(1e-12));
  }
  CHECK(count == lines.size());

  const CommandResult folder = t.score("logs/test_01_known_vehicle_known_attack" + model);
  INFO(folder.err);
  REQUIRE(folder.exit_code == 0);
  std::vector<Line> of_log = lines_of(folder.out);
  CHECK(of_log.size() > lines.size());
  std::erase_if(of_log,
                [](const Line& l) { return l.file.find("dos-vehicle1") == std::string::npos; });
  same(of_log);
}

TEST_CASE("thresholds are given, or found on the first windows", "[score][cli]") {
  const TrainedToScore& t = trained();
  const std::string words = "logs/test_01_known_vehicle_known_attack/dos-vehicle1.csv --run '" +
                            (t.run / "autoencoder").string() + "' ";
  const auto decisions = [&](const std::string& more) {
    const CommandResult result = t.score(words + more);
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    std::vector<std::string> out;
    for (const Line& line : lines_of(result.out)) out.push_back(line.decision);
    return out;
  };
  const auto count = [](const std::vector<std::string>& all, const std::string& what) {
    return std::count(all.begin(), all.end(), what);
  };
  const std::vector<std::string> none = decisions("--threshold 1e9");
  CHECK(count(none, "benign") == static_cast<std::ptrdiff_t>(none.size()));
  CHECK(count(decisions("--threshold=-1"), "attack") == static_cast<std::ptrdiff_t>(none.size()));
  const std::vector<std::string> calibrated = decisions("--calibrate 20");
  CHECK(count(calibrated, "calibration") == 20);
  CHECK(calibrated[19] == "calibration");
  CHECK(calibrated[20] != "calibration");
  const CommandResult short_log = t.score(words + "--calibrate 100000");
  CHECK(short_log.exit_code == 0);
  CHECK(short_log.err.find("nothing was decided") != std::string::npos);
}

TEST_CASE("what cannot be scored is refused with a hint and a code", "[score][cli]") {
  const TrainedToScore& t = trained();
  const std::string run = " --run '" + t.run.string() + "'";
  std::ofstream(t.scratch / "empty.csv");
  std::ofstream(t.scratch / "one.csv") << "timestamp,arbitration_id,data_field\n1.0,1A0,00\n";
  std::ofstream(t.scratch / "bad.csv") << "timestamp,arbitration_id,data_field\n"
                                          "1.0,1A0,00\n1.1,1G0,00\n1.2,1A1,00\n1.3,1A1,00\n";
  const std::string log = "logs/test_01_known_vehicle_known_attack/dos-vehicle1.csv";
  struct Case {
    std::string words;
    int code;
    std::string says;
  };
  for (const Case& c : {Case{"", 2, "needs a log"},
                        {log + run + " --treshold 1", 2, "did you mean --threshold"},
                        {log + run + " --calibrate 5", 2, "too few"},
                        {log + run + " --calibrate 50 --threshold 1", 2, "one of them"},
                        {log + run + " --model none", 2, "autoencoder, classifier"},
                        {log + " --run none", 3, "--root"},
                        {log + " --run " + log, 3, ""},
                        {"none.csv" + run, 3, "none.csv"},
                        {"empty.csv" + run, 3, "the file is empty"},
                        {"one.csv" + run, 3, "a window needs two rows"},
                        {"bad.csv --strict true" + run, 3, "bad.csv:3"},
                        {log + " --format candump" + run, 3, "no row could be read"}}) {
    const CommandResult result = t.score(c.words);
    INFO(c.words << "\n" << result.err);
    CHECK(result.exit_code == c.code);
    CHECK(result.err.find(c.says) != std::string::npos);
    CHECK(result.out.empty());
  }
  // What the reader found is reported where the scoring then fails.
  std::ofstream(t.scratch / "short.csv") << "timestamp,arbitration_id,data_field\n1.0,1A0,00\n"
                                            "1.1,1G0,00\n";
  const CommandResult failed = t.score("short.csv" + run);
  CHECK(failed.exit_code == 3);
  CHECK(failed.err.find("short.csv:3") != std::string::npos);
  const CommandResult bad = t.score("bad.csv" + run);
  CHECK(bad.exit_code == 0);  // one short window, as an import would make
  CHECK(lines_of(bad.out).size() == 1);
  CHECK(bad.err.find("bad.csv:3") != std::string::npos);
}

TEST_CASE("a reader that leaves and a Ctrl-C end it quietly", "[score][cli]") {
  const TrainedToScore& t = trained();
  const std::string score = t.kdgat + " score ", model = " --run '" + t.run.string() + "'";
  const std::string log = "logs/test_01_known_vehicle_known_attack/dos-vehicle1.csv";
  // The shell itself keeps the pipe open, and rows come without end until the reader has left.
  const CommandResult head =
      run_shell("mkfifo held; exec 3<>held; { cat " + log + "; while tail -n +2 " + log +
                    "; do :; done; } >&3 2> /dev/null & " + score + "- <&3" + model +
                    " | head -3; echo \"${PIPESTATUS[0]}\"; kill $! 2> /dev/null",
                t.scratch.path());
  CHECK(std::count(head.out.begin(), head.out.end(), '\n') == 4);
  CHECK(head.out.substr(head.out.size() - 2) == "0\n");
  CHECK(head.err.empty());

  // The lines of a live log are there before it ends.
  HeldPipe live(t.scratch / "live");
  Background scorer("score live" + model, t.scratch.path());
  live.write(read_text(t.scratch / log));
  REQUIRE(comes_true([&] {
    const std::string out = read_text(t.scratch / "out");
    return std::count(out.begin(), out.end(), '\n') > 10;
  }));
  CHECK(scorer.end(SIGINT) == 130);
  CHECK_THAT(read_text(t.scratch / "err"), Catch::Contains("interrupted"));
  CHECK_FALSE(fs::exists(t.scratch / "none"));
}

TEST_CASE("the help of score lists all that it takes", "[score][cli]") {
  const ScratchFolder scratch;
  for (const char* words : {"score --help", "help score", "score -h"}) {
    const CommandResult said = must_kdgat(words, scratch.path());
    for (const char* flag :
         {"--run", "--model", "--output", "--json", "--root", "--device", "--threads",
          "--threshold", "--calibrate", "--false-alarms", "--format", "--strict", "--batch"}) {
      INFO(words << " " << flag);
      CHECK(said.out.find(std::string(flag) + " ") != std::string::npos);
    }
  }
}
