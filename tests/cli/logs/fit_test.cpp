// kdgat fit: from logs to a detector in one command; logs without labels; the smoke preset's
// detector.
#include <catch2/catch.hpp>
#include <csignal>
#include <string>

#include "support/programs/background.h"
#include "support/programs/cli.h"

namespace {

using Catch::Contains;

const std::string kQuick = " --threads 1 trees=40 baselines=false ";

CommandResult typed(const std::string& words, const ScratchFolder& scratch) {
  return run_shell(kdgat_word() + " " + words, scratch.path());
}

/// What stands behind `before` in a text, as far as the end of the line or ` ·`.
std::string word_behind(const std::string& text, const std::string& before) {
  const std::size_t at = text.find(before);
  REQUIRE(at != std::string::npos);
  const std::size_t begin = at + before.size();
  return text.substr(begin, std::min(text.find('\n', begin), text.find(" ·", begin)) - begin);
}

}  // namespace

TEST_CASE("fit makes a detector, its report, and says what to type next", "[cli][fit]") {
  const ScratchFolder scratch;
  must_kdgat("data synth -o logs --seconds 40 --vehicles 2 --attacks dos,fuzzing", scratch.path());
  const CommandResult made = typed("fit logs -o mine" + kQuick, scratch);
  INFO(made.err);
  REQUIRE(made.exit_code == 0);
  CHECK_THAT(made.err,
             Contains("vehicle of train_01_attack_free/attack-free-vehicle1.csv: 3 logs"));
  CHECK_THAT(made.err, Contains("rows labelled as attacks, in 2 logs"));
  CHECK_THAT(made.err, Contains("labelled and ") && Contains(" injected ones (dos, fuzzing,"));
  CHECK_THAT(made.err, Contains("the smallest that the benign traffic supports"));
  CHECK_THAT(made.err, Contains("model mine/detector.json, report mine/report.html"));
  CHECK_THAT(made.out, Contains("test_01_known_vehicle_known_attack") && Contains("rule"));
  CHECK_THAT(made.out, Contains("attacks, injected: masquerade"));
  CHECK_THAT(word_behind(made.err, "left out of training the detector finds "), Contains("dos"));
  CHECK_THAT(word_behind(made.err, "is blind to "), Contains("masquerade"));
  CHECK_THAT(made.err, Contains("of benign traffic, was learned of train_01_attack_free/"));
  CHECK_THAT(read_text(scratch / "mine/report.html"), Contains("kdgat fit logs"));

  // The words it ends with work, a log in the place of LOG.
  const std::string log = "logs/test_01_known_vehicle_known_attack/dos-vehicle1.csv";
  std::string next = word_behind(made.err, "next: kdgat ");
  next.replace(next.find("LOG"), 3, log);
  CHECK_THAT(typed(next + " --fail-on attack", scratch).out, Contains(",attack,"));
  CHECK(typed(next + " --fail-on attack", scratch).exit_code == 10);

  const CommandResult again = typed("fit logs -o mine" + kQuick, scratch);
  CHECK_THAT(again.err, Contains("everything is up to date") && Contains("kdgat why LOG"));
  const CommandResult other = typed("fit logs --budget 1000/min" + kQuick, scratch);
  CHECK(other.exit_code == 0);
  CHECK_THAT(other.err, Contains("60000/h from"));
}

TEST_CASE("fit refuses what it cannot do", "[cli][fit]") {
  const ScratchFolder scratch;
  must_kdgat("data synth -o logs --seconds 20 --vehicles 1 --attacks dos", scratch.path());
  const auto hears = [&](const std::string& words, int code, const std::string& text) {
    const CommandResult said = typed(words, scratch);
    INFO(words << "\n" << said.err);
    CHECK(said.exit_code == code);
    CHECK_THAT(said.err, Contains(text));
  };
  hears("fit", 2, "kdgat fit needs logs");
  hears("fit logs --budget soon", 2, "--budget: soon is no budget of false windows");
  hears("fit logs --budget 0/h", 2, "0/h is no budget");
  hears("fit logs logs", 2, "--data is given twice");
  hears("fit nowhere", 3, "nowhere: ");
  hears("fit logs --budget 0.01/h" + kQuick, 2, "s of benign validation traffic support no fewer");
  CHECK_FALSE(fs::exists(scratch / "runs/logs/detector.json"));
  hears("fit logs --dry-run", 0, "");
}

TEST_CASE("logs without labels become models with a threshold", "[cli][fit]") {
  const ScratchFolder scratch;
  must_kdgat("data synth -o all --seconds 60 --vehicles 1 --attacks dos --format candump",
             scratch.path());
  fs::create_directories(scratch / "drives");
  fs::copy(scratch / "all/train_01_attack_free", scratch / "drives");
  const std::string log = "all/test_01_known_vehicle_known_attack/dos-vehicle1.log";

  const CommandResult made = typed("fit drives" + kQuick, scratch);
  INFO(made.err);
  REQUIRE(made.exit_code == 0);
  CHECK_THAT(made.err, Contains("no labels, all of it taken as benign"));
  CHECK_THAT(made.err, Contains("; no attack is labelled"));
  std::string next = word_behind(made.err, "next: kdgat ");
  next.replace(next.find("LOG"), 3, log);
  CHECK_THAT(must_kdgat(next, scratch.path()).out, Contains(",attack,"));

  // A graph model, too: what its errors on benign windows allow.
  const CommandResult trained = typed(
      "run --preset vgae,student --data drives --root trained max_epochs=5 --threads 1", scratch);
  INFO(trained.err);
  REQUIRE(trained.exit_code == 0);
  CHECK_THAT(trained.err, Contains("no labels: all traffic is taken as benign"));
  const std::string run = newest_run(scratch / "trained/drives").string();
  CHECK_THAT(must_kdgat("score " + log + " --run " + run, scratch.path()).out,
             Contains(",benign\n"));
}

TEST_CASE("a log without labels that looks attacked is named and not learned from", "[cli][fit]") {
  const ScratchFolder scratch;
  must_kdgat("data synth -o all --seconds 160 --vehicles 1 --attacks dos --format candump",
             scratch.path());
  fs::create_directories(scratch / "drives");
  const CommandResult cut = run_shell(
      "split -n l/4 -d --additional-suffix=.log all/train_01_attack_free/*.log drives/drive",
      scratch.path());
  REQUIRE(cut.exit_code == 0);
  const CommandResult all_benign = typed("fit drives --root benign" + kQuick, scratch);
  INFO(all_benign.err);
  REQUIRE(all_benign.exit_code == 0);
  CHECK_THAT(all_benign.err, !Contains("not learned from"));

  for (const char* kind : {"spoofing", "fuzzing"}) {
    INFO(kind);
    fs::remove_all(scratch / "made");
    must_kdgat(
        std::string("data inject drives/drive02.log -o made --format candump --attacks ") + kind,
        scratch.path());
    fs::create_directories(scratch / "mixed");
    for (const char* name : {"drive00.log", "drive01.log", "drive03.log"}) {
      fs::copy(scratch / "drives" / name, scratch / "mixed" / name,
               fs::copy_options::overwrite_existing);
    }
    fs::copy(scratch / "made" / (std::string("drive02-") + kind + ".log"),
             scratch / "mixed/drive02.log", fs::copy_options::overwrite_existing);
    const CommandResult made = typed("fit mixed" + kQuick, scratch);
    INFO(made.err);
    REQUIRE(made.exit_code == 0);
    CHECK_THAT(made.err, Contains("not learned from: drive02.log, which has no labels and looks "
                                  "attacked: of "));
    for (const char* name : {"drive00.log", "drive01.log", "drive03.log"}) {
      CHECK_THAT(made.err, !Contains(std::string("not learned from: ") + name));
    }
    CHECK_THAT(read_text(newest_run(scratch / "runs/mixed") / "detector/step.json"),
               Contains("not learned from: drive02.log"));
  }
}

TEST_CASE("logs without labels among others are named, wherever they are taken as benign",
          "[cli][fit]") {
  const ScratchFolder scratch;
  must_kdgat("data synth -o all --seconds 40 --vehicles 1 --attacks dos,fuzzing", scratch.path());
  fs::create_directories(scratch / "drives");
  fs::copy(scratch / "all/train_01_attack_free/attack-free-vehicle1.csv", scratch / "drives");
  fs::copy(scratch / "all/train_02_with_attacks/dos-vehicle1.csv", scratch / "drives");
  must_kdgat("data convert all/train_02_with_attacks/fuzzing-vehicle1.csv -o drives/fuzz.log",
             scratch.path());
  const CommandResult made = typed("fit drives -o mine --json" + kQuick, scratch);
  INFO(made.err);
  REQUIRE(made.exit_code == 0);
  const std::string named = "taken as benign: fuzz.log (no labels)";
  CHECK_THAT(made.err, Contains("warning: detector: " + named));
  CHECK_THAT(read_text(scratch / "mine/report.html"), Contains(named));
  const json warnings =
      json::parse(made.out).at("steps").at(0).at("result").at("metrics").at("warnings");
  CHECK_THAT(warnings.at(0).get<std::string>(), Contains(named));
  CHECK_THAT(warnings.at(1).get<std::string>(),
             Contains("taken as benign look like attacks") && Contains("budget"));

  const std::string adapt = "adapt mine/detector.json -o more.json --force ";
  must_kdgat("data convert drives/attack-free-vehicle1.csv -o plain.log", scratch.path());
  const CommandResult both = typed(adapt + "drives/dos-vehicle1.csv plain.log", scratch);
  CHECK(both.exit_code == 0);
  CHECK_THAT(both.err, Contains("plain.log: rows without a label are taken as benign"));
  const CommandResult alone = typed(adapt + "plain.log", scratch);
  CHECK(alone.exit_code == 0);
  CHECK_THAT(alone.err, !Contains("taken as benign"));
  // A table beside a log is read here, too.
  std::ofstream(scratch / "plain.labels.csv") << "begin,end\n0,1e12\n";
  CHECK_THAT(typed(adapt + "plain.log", scratch).err, Contains("only 0 windows of benign traffic"));
}

TEST_CASE("a fit that was killed goes on, and two at once do not harm each other", "[cli][fit]") {
  const ScratchFolder scratch;
  must_kdgat("data synth -o logs --seconds 40 --vehicles 2 --attacks dos", scratch.path());
  const std::string fit = kdgat_word() + " fit logs" + kQuick;
  // Nothing holds this work: where the machine is so quick that it has ended, it is begun again.
  CHECK(comes_true([&] {
    fs::remove_all(scratch / "runs");
    Background killed("fit logs" + kQuick, scratch.path());
    return wait_for(scratch / "runs", "journal.jsonl", "\"start\"") && killed.end(SIGKILL) == 137;
  }));
  const CommandResult both = run_shell(fit + "-o one >one.out 2>one.err & a=$!; " + fit +
                                           "-o two >two.out 2>two.err & b=$!; wait $a && wait $b",
                                       scratch.path());
  INFO(read_text(scratch / "one.err") << read_text(scratch / "two.err"));
  REQUIRE(both.exit_code == 0);
  CHECK(read_text(scratch / "one/detector.json") == read_text(scratch / "two/detector.json"));
}

TEST_CASE("the smoke preset's detector finds its attacks", "[cli][fit]") {
  const ScratchFolder scratch;
  must_kdgat("run detector --preset smoke --threads 2 baselines=false", scratch.path());
  const json metrics =
      json::parse(read_text(newest_run(scratch / "runs/smoke") / "detector/metrics.json"));
  const auto f1 = [&](const std::string& kind) {
    return metrics.at("kinds").at(kind).at("detector").at("f1").get<double>();
  };
  for (const std::string kind : {"dos", "fuzzing", "spoofing", "suspension"}) {
    INFO(kind);
    CHECK(f1(kind) >= 0.95);
  }
  CHECK(metrics.at("kinds").contains("replay"));
}
