// `kdgat runs` and `kdgat report` as a person types them, on runs made by hand.
#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>

#include "pipeline/records/records.h"
#include "pipeline/run/artifacts.h"
#include "pipeline/run/step_metrics.h"
#include "pipeline/system/temporary.h"
#include "pipeline/verbs/verbs.h"
#include "support/programs/command.h"
#include "support/runs/fake_run.h"
#include "support/runs/report_page.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;
using Catch::StartsWith;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr const char* kFirst = "01JDAAAAAAAAAAAAAAAAAAAAK7";
constexpr const char* kSecond = "01JDBBBBBBBBBBBBBBBBBBBBM2";

struct Said {
  int code = -1;
  std::string out, err;
};

/// Two runs, of which the second kept a step of the first.
struct Runs {
  Runs() {
    first = write_run(root.path(), "set", kFirst,
                      {step_state("gat", "classifier"), step_state("evaluate", "evaluate")});
    write_training(first / "gat", 6);
    write_evaluation(first / "evaluate", "gat");
    second = write_run(root.path(), "set", kSecond,
                       {{{"step", "gat"},
                         {"stage", "classifier"},
                         {"status", "kept"},
                         {"run", kFirst},
                         {"reason", "same options"},
                         {"folder", (first / "gat").string()}},
                        step_state("evaluate", "evaluate", "failed", {{"error", "no\x1b graphs"}})},
                       {{"exit_code", 3}, {"started", "2026-03-02T10:00:00Z"}});
  }
  Said say(std::vector<std::string> words) const {
    words.insert(words.end(), {"--root", root.path().string()});
    std::ostringstream out, err;
    const int code = run_command(verbs(), words, out, err);
    return {code, out.str(), err.str()};
  }
  ScratchFolder root;
  fs::path first, second;
};

}  // namespace

TEST_CASE("kdgat runs list has a line a run, newest first", "[runs]") {
  const Runs runs;
  const Said said = runs.say({"runs", "list"});
  CHECK(said.code == 0);
  const std::size_t newer = said.out.find("01JD…M2"), older = said.out.find("01JD…K7");
  CHECK(newer < older);
  CHECK_THAT(said.out, Contains("failed  1/2") && Contains("done    2/2") &&
                           Contains("F1 0.838  AUC 0.991  gat, val"));
  const json out = json::parse(runs.say({"runs", "list", "--json"}).out).at("runs");
  CHECK(out.at(0).at("id") == kSecond);
  CHECK(out.at(1).at("steps").at(0).at("seconds") == 4.0);
  CHECK(out.at(1).at("bytes") > 1000);
  CHECK_THAT(runs.say({"runs", "list", "--dataset", "none"}).err, Contains("no runs in"));
}

TEST_CASE("kdgat runs list shows the figures that a run recorded at its end", "[runs]") {
  const Runs runs;
  write_run(runs.root.path(), "set", kFirst, {step_state("gat", "classifier")},
            {{"headline", "gain 0.125  gat, val"}});
  CHECK_THAT(runs.say({"runs", "list"}).out, Contains("gain 0.125  gat, val"));
}

TEST_CASE("kdgat runs show tells steps, figures, memory and how to go on", "[runs]") {
  const Runs runs;
  const Said said = runs.say({"runs", "show", kSecond});
  INFO(said.out);
  CHECK(said.code == 0);
  CHECK_THAT(said.out, Contains("failed, 1 of 2 steps done, 1 of them kept, 1 failed") &&
                           Contains("no? graphs") && Contains("same options") &&
                           Contains("kdgat run --preset smoke continues it") && Contains("3.0") &&
                           Contains("metrics.json"));
  CHECK_THAT(runs.say({"runs", "show", "01JDA"}).out, Contains("next: kdgat report"));
  const json out = json::parse(runs.say({"runs", "show", "01JD…K7", "--json"}).out);
  CHECK(out.at("memory").at(0).at("step") == "gat");
  CHECK(runs.say({"runs", "show"}).code == 2);
}

TEST_CASE("a run that is not there names the nearest", "[runs]") {
  const Runs runs;
  for (const char* verb : {"show", "rm"}) {
    const Said said = runs.say({"runs", verb, "01JDBX"});
    CHECK(said.code == 3);
    CHECK_THAT(said.err,
               Contains("no run or folder is called 01JDBX") && Contains("did you mean 01JD…M2?"));
  }
  CHECK_THAT(runs.say({"report", "01JD"}).err, Contains("2 runs in") && Contains("give more"));
  CHECK(runs.say({"report", "01JD...M2"}).code == 0);
  CHECK_THAT(runs.say({"runs", "shwo"}).err, Contains("did you mean show?"));
}

TEST_CASE("kdgat runs compare shows options and figures side by side", "[runs]") {
  const Runs runs;
  const fs::path third = write_run(runs.root.path(), "set", "01JDCCCCCCCCCCCCCCCCCCCCP3",
                                   {step_state("gat", "classifier")});
  write_training(third / "gat", 6, 0.002);
  const Said said = runs.say({"runs", "compare", kFirst, third.string()});
  INFO(said.out);
  CHECK(said.code == 0);
  CHECK_THAT(said.out, Contains("lr       gat           0.01    0.002") &&
                           Contains("F1         gat   val        0.838") &&
                           Contains("6 figures are the same"));
  CHECK_THAT(runs.say({"runs", "compare", kFirst, third.string(), "-v"}).out, Contains("12,470"));
  const json out = json::parse(runs.say({"runs", "compare", kFirst, "01JDC", "--json"}).out);
  CHECK(out.at("differences").size() == 2);  // evaluate is missing there
  CHECK(out.at("figures").at(0).at("values").size() == 2);
  CHECK(runs.say({"runs", "compare", kFirst}).code == 2);
}

TEST_CASE("a figure that only its stage knows comes to records, list, compare and report",
          "[runs]") {
  const Runs runs;
  const auto judged = [](double value) {
    Figure figure("gain_of_it", value);
    figure.model = "gat";
    figure.part = "val";
    figure.label = "gain <of> it";
    figure.better = Better::kLess;
    figure.place = figure.headline = 1;
    figure.is_tile = figure.is_decision = true;
    StageResult result;
    result.metrics = {{"gat", {{"core", {{"threshold", 0.5}}}}}};
    result.figures = {figure};
    return result;
  };
  const fs::path other =
      write_run(runs.root.path(), "set", "01JDCCCCCCCCCCCCCCCCCCCCP3",
                {step_state("gat", "classifier"), step_state("evaluate", "evaluate")});
  write_result(runs.first / "evaluate", judged(0.625));
  write_result(other / "evaluate", judged(0.375));

  const std::vector<Point> points = result_points(figures_of(judged(0.625)), 1);
  REQUIRE(points.size() == 1);
  CHECK(points.front().key == "gat_gain_of_it");
  CHECK(points.front().value == 0.625);
  CHECK_THAT(runs.say({"runs", "list"}).out, Contains("gain <of> it 0.625  gat, val"));
  CHECK_THAT(runs.say({"runs", "compare", kFirst, other.string()}).out,
             Contains("gain <of> it  gat   val     0.625  0.375 *"));
  const std::string one = runs.say({"report", kFirst, "-o", "-"}).out;
  CHECK_THAT(one, Contains("<b>0.625</b><span>gain &lt;of&gt; it, gat, val</span>") &&
                      Contains("gain &lt;of&gt; it</th>"));
  // Less of it is better.
  CHECK_THAT(runs.say({"report", kFirst, other.string(), "-o", "-"}).out,
             Contains(">0.625</td><td class=\"n\"><b>0.375</b></td>"));
}

TEST_CASE("kdgat runs rm removes what nobody needs, all or nothing", "[runs]") {
  const Runs runs;
  const Said needed = runs.say({"runs", "rm", kFirst});
  CHECK(needed.code == 2);
  CHECK_THAT(needed.err, Contains("other runs kept steps of run 01JD…K7: gat of run 01JD…M2"));
  CHECK_THAT(runs.say({"runs", "rm", kFirst, kSecond, "--dry-run"}).out,
             Contains("would remove " + runs.first.string()));
  CHECK(fs::exists(runs.first / "run.json"));

  const ScratchFolder elsewhere;
  const fs::path outside = write_run(elsewhere.path(), "set", kFirst, {});
  const Said refused = runs.say({"runs", "rm", outside.string(), kSecond});
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, Contains("is not below"));
  CHECK(fs::exists(outside / "run.json"));
  CHECK(fs::exists(runs.second / "run.json"));

  const json out = json::parse(runs.say({"runs", "rm", kFirst, "--force", "--json"}).out);
  CHECK(out.at("runs").at(0).at("id") == kFirst);
  CHECK_FALSE(fs::exists(runs.first));
  // What rested on it is shown without what is gone.
  CHECK(runs.say({"runs", "show", kSecond}).code == 0);
  CHECK(runs.say({"report", kSecond}).code == 0);
  CHECK(runs.say({"runs", "rm", kSecond}).code == 0);
  CHECK(fs::is_empty(runs.root / "set"));
}

TEST_CASE("kdgat runs rm removes nothing by a slip", "[runs]") {
  const Runs runs;
  for (const char* name : {"", "0", "01JDB", "…", "01…"}) {
    INFO(name);
    const Said said = runs.say({"runs", "rm", name, "--yes", "--force"});
    CHECK(said.code == 2);
    CHECK_THAT(said.err, Contains("too short for an id"));
  }
  for (const char* verb : {"show", "rm"}) CHECK(runs.say({"runs", verb, ""}).code == 2);
  CHECK(runs.say({"report", ""}).code == 2);
  // A part of an id: asked about, and here nobody can answer.
  const Said asked = runs.say({"runs", "rm", "01JDBB"});
  CHECK(asked.code == 2);
  CHECK_THAT(asked.err, Contains("would remove " + runs.second.string()) && Contains("--yes"));
  CHECK(runs.say({"runs", "rm", "01JD…M2"}).code == 2);
  CHECK(runs.say({"runs", "rm", "01JDBB", "--json"}).code == 2);
  CHECK(runs.say({"runs", "rm", "01JDBB", "--dry-run"}).code == 0);
  write_run(runs.root.path(), "set", "01JDBBCCCCCCCCCCCCCCCCCCP3", {});
  const Said several = runs.say({"runs", "rm", "01JDBB", "--yes"});
  CHECK(several.code == 2);
  CHECK_THAT(several.err, Contains("2 runs in"));
  CHECK(fs::exists(runs.second / "run.json"));

  CHECK(runs.say({"runs", "rm", "01JDBBBB", "--yes"}).code == 0);
  CHECK_FALSE(fs::exists(runs.second));
  // Its folder, however it is typed, is the whole of it.
  CHECK(runs.say({"runs", "rm", runs.first.string() + "/"}).code == 0);
  CHECK_FALSE(fs::exists(runs.first));
}

TEST_CASE("kdgat runs rm asks a terminal", "[runs]") {
  const Runs runs;
  const auto answered = [&](const std::string& answer) {
    write_text(runs.root / "answer", answer + "\n");
    return run_shell(
        "timeout 600 python3 -c 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)' '" +
            fs::absolute(kdgat_binary()).string() + "' runs rm 01JDBB --root . < answer",
        runs.root.path());
  };
  const CommandResult no = answered("n");
  INFO(no.out << no.err);
  CHECK_THAT(no.out, Contains("remove") && Contains("? [y/N]") && Contains("nothing was removed"));
  CHECK(fs::exists(runs.second / "run.json"));
  const CommandResult yes = answered("y");
  INFO(yes.out << yes.err);
  CHECK_FALSE(fs::exists(runs.second));
}

TEST_CASE("what killed removals and imports left goes with the next removal", "[runs]") {
  const Runs runs;
  const fs::path left = runs.root / "set/.removing" / kFirst;
  const fs::path held = runs.root / "set/.removing/01JDCCCCCCCCCCCCCCCCCCCCP3";
  write_text(left / "run.json", "{}");
  write_text(held / "run.json", "{}");
  write_text(runs.root / "set/data/0123/logs.abcDEF/a.csv", "1,2\n");
  write_text(runs.root / "set/data/0123/graphs.safetensors", "whole");
  const OwnedFd lock = lock_folder(held);  // another process is at it
  CHECK(runs.say({"runs", "rm", kSecond, "--dry-run"}).code == 0);
  CHECK(fs::exists(left));
  CHECK(runs.say({"runs", "rm", kSecond}).code == 0);
  CHECK_FALSE(fs::exists(left));
  CHECK(fs::exists(held / "run.json"));
  CHECK_FALSE(fs::exists(runs.root / "set/data/0123/logs.abcDEF"));
  CHECK(fs::exists(runs.root / "set/data/0123/graphs.safetensors"));
}

TEST_CASE("kdgat report writes one file and prints its name", "[report]") {
  const Runs runs;
  const Said said = runs.say({"report", kFirst});
  CHECK(said.code == 0);
  CHECK(said.out == (runs.first / "report.html").string() + "\n");
  CHECK_THAT(read_text(runs.first / "report.html"), Contains("</html>"));
  CHECK_THAT(runs.say({"report", kFirst, "-o", "-"}).out, Contains("<!DOCTYPE html>"));
  const fs::path two = runs.root / "two.html";
  const json out =
      json::parse(runs.say({"report", kFirst, kSecond, "-o", two.string(), "--json"}).out);
  CHECK(out.at("file") == two.string());
  CHECK(out.at("bytes") == fs::file_size(two));
  CHECK(out.at("runs").size() == 2);
  CHECK_THAT(runs.say({"report"}).err, Contains("kdgat report needs a run"));
  CHECK(runs.say({"report", kFirst, "-o", "/nowhere/at/all.html"}).code == 3);
}

TEST_CASE("kdgat report --log writes the scores of one log as a picture", "[report]") {
  const Runs runs;
  json pictures = pictures_of_logs(2, 50);
  json& logs = pictures["parts"]["test_01"]["logs"];
  logs[0]["name"] = "test_01/dos.csv";
  logs[1]["name"] = "test_01/fuzzing.csv";
  const auto write = [&] { write_text(runs.first / "evaluate/pictures.json", pictures.dump()); };
  write();
  const fs::path file = runs.root / "dos.svg";
  const Said said = runs.say({"report", kFirst, "--log", "dos.csv", "-o", file.string()});
  CHECK(said.out == file.string() + "\n");
  CHECK_THAT(said.err, Contains("picture of test_01/dos.csv written"));
  const std::string svg = read_text(file);
  CHECK_THAT(svg, StartsWith("<svg xmlns=") && Contains(">test_01/dos.csv</text>") &&
                      Contains(">attack</text>") && Contains(">alarm</text>") &&
                      Contains("prefers-color-scheme:dark"));
  CHECK(runs.say({"report", kFirst, "--log", "test_01/dos.csv", "-o", "-"}).out == svg);
  CHECK(runs.say({"report", kFirst, "--log", "dos.csv"}).out ==
        (runs.first / "dos.csv.svg").string() + "\n");

  const Said none = runs.say({"report", kFirst, "--log", "os.csv"});
  CHECK(none.code == 2);
  CHECK_THAT(none.err, Contains("draws no log os.csv (--log)") &&
                           Contains("it draws test_01/dos.csv, test_01/fuzzing.csv"));
  CHECK_THAT(runs.say({"report", kFirst, kSecond, "--log", "dos.csv"}).err,
             Contains("--log takes one run, got 2"));
  CHECK_THAT(runs.say({"report", kSecond, "--log", "dos.csv"}).err,
             Contains("only runs that scored CAN logs"));

  logs[1]["name"] = "test_02/dos.csv";
  write();
  CHECK_THAT(runs.say({"report", kFirst, "--log", "dos.csv"}).err,
             Contains("several folders have a log dos.csv (--log)") &&
                 Contains("write one of test_01/dos.csv, test_02/dos.csv"));
  CHECK(runs.say({"report", kFirst, "--log", "test_01/dos.csv", "-o", "-"}).out == svg);
}

TEST_CASE("kdgat runs note names a run, and its name stands where its id may", "[runs]") {
  const Runs runs;
  const Said said = runs.say({"runs", "note", kFirst, "as", "published", "--name", "base line",
                              "--tag", "paper", "--tag", "gat"});
  INFO(said.err);
  CHECK(said.code == 0);
  CHECK_THAT(said.out, Contains("base line, tags paper, gat") && Contains("as published"));
  CHECK_THAT(runs.say({"runs", "show", "base line"}).out,
             Contains("base line") && Contains("paper, gat") && Contains("as published"));
  const json shown = json::parse(runs.say({"runs", "show", "base line", "--json"}).out);
  CHECK(shown.at("id") == kFirst);
  CHECK(shown.at("notes").at(0).at("text") == "as published");
  CHECK_THAT(runs.say({"runs", "list", "--tag", "paper"}).out,
             Contains("base line") && !Contains("M2"));
  CHECK_THAT(runs.say({"runs", "list", "--tag", "none"}).err,
             Contains("no such runs in") && Contains("among 2"));
  CHECK(runs.say({"runs", "note", "base line", "--name", "other", "--untag", "gat"}).code == 0);
  CHECK(runs.say({"runs", "show", "base line"}).code == 3);
  CHECK(runs.say({"runs", "note", kFirst, "--tag", "a/b"}).code == 2);
  CHECK(runs.say({"runs", "note"}).code == 2);
}

TEST_CASE("kdgat runs show tells with what a run was made", "[runs]") {
  const Runs runs;
  write_run(runs.root.path(), "set", kFirst, {},
            {{"machine", {{"cpu", "Fast 9000"}, {"gpu", "H100"}}},
             {"versions", {{"libtorch", "libtorch 2.13.0"}}},
             {"git",
              {{"commit", std::string(40, 'c')},
               {"branch", "topic"},
               {"dirty", true},
               {"folder", "/src"}}}});
  CHECK_THAT(runs.say({"runs", "show", kFirst}).out,
             Contains("bench, cpu, H100, 2 threads of Fast 9000") &&
                 Contains("kdgat 0.1.0, libtorch 2.13.0") &&
                 Contains("commit cccccccccccc with changes of topic in /src"));
}

TEST_CASE("kdgat runs pivot and export make tables of runs", "[runs]") {
  const Runs runs;
  const fs::path third = write_run(runs.root.path(), "set", "01JDCCCCCCCCCCCCCCCCCCCCP3",
                                   {step_state("gat", "classifier")});
  write_training(third / "gat", 6, 0.002);
  const fs::path another = write_run(runs.root.path(), "set", "01JD00000000000000000000A5",
                                     {step_state("gat", "classifier")});
  write_training(another / "gat", 6);
  const auto pivot = [&](const std::string& format) {
    return runs
        .say({"runs", "pivot", "rows=gat.lr", "cols=profile", "value=gat.val_loss", "--format",
              format})
        .out;
  };
  CHECK_THAT(pivot("text"), Contains("0.0425 (n=2)"));  // of three runs, one of which kept the step
  CHECK(pivot("csv") == "gat.lr,smoke,smoke n\n0.002,0.0425,1\n0.01,0.0425,2\n");
  CHECK_THAT(pivot("md"), Contains("| 0.002 | 0.0425 |"));
  CHECK_THAT(pivot("latex"), Contains("\\begin{tabular}{lr}"));
  const json cells =
      json::parse(runs.say({"runs", "pivot", "rows=gat.lr", "value=gat.val_loss", "--json"}).out)
          .at("cells");
  CHECK(cells.at(1).at("n") == 2);
  CHECK(cells.at(1).at("row").at("gat.lr") == "0.01");
  CHECK(runs.say({"runs", "pivot", "rows=gat.lr"}).code == 2);
  CHECK(runs.say({"runs", "pivot", "rows=lt", "value=gat.val_loss"}).code == 2);

  const std::string csv = runs.say({"runs", "export", "--where", "gat.lr=0.002"}).out;
  CHECK(csv.substr(0, 4) == "run,");
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 2);
  const std::string lines = runs.say({"runs", "export", "--format", "jsonl"}).out;
  CHECK(std::count(lines.begin(), lines.end(), '\n') == 4);
  const json newest = json::parse(lines.substr(0, lines.find('\n')));
  CHECK(newest.at("options") == json{{"gat.lr", 0.002}});
  CHECK(newest.at("figures").at("gat.val_loss") == 0.0425);
}
