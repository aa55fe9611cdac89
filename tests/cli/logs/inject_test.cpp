// `kdgat data inject` as a person meets it: files, messages and exit codes.
#include <catch2/catch.hpp>
#include <fstream>
#include <string>

#include "support/programs/cli.h"

namespace {

const std::string kBenignLog = "logs/train_01_attack_free/attack-free-vehicle1.csv";

bool tells(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void put_file(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// Ten seconds of one vehicle in logs/, without and with a flood.
void make_benign_log(const ScratchFolder& scratch) {
  const CommandResult made =
      run_kdgat("data synth -o logs --seconds 10 --vehicles 1 --attacks dos", scratch.path());
  INFO(made.err);
  REQUIRE(made.exit_code == 0);
}

/// The rows of a CSV with this label in its last column.
std::string rows_labelled(const std::string& text, char label) {
  std::string out;
  for (std::size_t at = text.find('\n') + 1; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    if (text[end - 1] == label) out += text.substr(at, end + 1 - at);
    at = end + 1;
  }
  return out;
}

}  // namespace

TEST_CASE("attacks are injected into a log, imported and found in its windows", "[cli][inject]") {
  const ScratchFolder scratch;
  make_benign_log(scratch);
  const CommandResult made =
      run_kdgat("data inject " + kBenignLog + " -o out --json", scratch.path());
  INFO(made.err);
  REQUIRE(made.exit_code == 0);
  const json result = json::parse(made.out);
  REQUIRE(result.at("files").size() == 9);
  for (const json& file : result.at("files")) {
    const std::string attack = file.at("attack");
    INFO(attack);
    CHECK(file.at("file") == "attack-free-vehicle1-" + attack + ".csv");
    CHECK(file.at("attacks") > 0);
    const std::string path = "out/" + file.at("file").get<std::string>();
    const CommandResult import =
        run_kdgat("data import " + path + " -o data-" + attack + " --json", scratch.path());
    INFO(import.err);
    REQUIRE(import.exit_code == 0);
    const json imported = json::parse(import.out);
    CHECK(imported.at("attack") > 0);
    CHECK(imported.at("attack") < imported.at("graphs"));
    CHECK(imported.at("rows") == file.at("rows"));
    CHECK(imported.at("warnings").empty());
    if (file.at("changed") == 0 && file.at("removed") == 0) {
      CHECK(rows_labelled(read_text(scratch.path() / path), '0') ==
            rows_labelled(read_text(scratch.path() / kBenignLog), '0'));
    }
  }
}

TEST_CASE("the same seed injects the same bytes, from a file, a pipe or gzip", "[cli][inject]") {
  const ScratchFolder scratch;
  make_benign_log(scratch);
  const std::string words = " --attacks masquerade,fuzzing --format hcrl";
  CHECK(
      run_shell("cp " + kBenignLog + " stdin.csv && mkdir z && gzip -c stdin.csv > z/stdin.csv.gz",
                scratch.path())
          .exit_code == 0);
  CHECK(run_kdgat("data inject stdin.csv -o a" + words, scratch.path()).exit_code == 0);
  CHECK(run_kdgat("data inject z/stdin.csv.gz -o b" + words, scratch.path()).exit_code == 0);
  CHECK(run_kdgat("data inject - -o c" + words + " < stdin.csv", scratch.path()).exit_code == 0);
  CHECK(run_kdgat("data inject stdin.csv -o d --seed 2" + words, scratch.path()).exit_code == 0);
  CHECK(names_in(scratch / "a") ==
        std::set<std::string>{"stdin-fuzzing.csv", "stdin-masquerade.csv"});
  CHECK(run_shell("diff -r a b && diff -r a c", scratch.path()).exit_code == 0);
  CHECK(read_text(scratch / "a/stdin-fuzzing.csv") != read_text(scratch / "d/stdin-fuzzing.csv"));
}

TEST_CASE("a folder and several logs become one file for each log and attack", "[cli][inject]") {
  const ScratchFolder scratch;
  make_benign_log(scratch);
  REQUIRE(run_shell("mkdir -p set/train_01 set/test_01 && cp " + kBenignLog +
                        " set/train_01/a.csv && cp " + kBenignLog + " set/test_01/b.csv && cp " +
                        kBenignLog + " c.csv",
                    scratch.path())
              .exit_code == 0);
  const CommandResult made =
      run_kdgat("data inject set c.csv -o out --attacks replay", scratch.path());
  INFO(made.err);
  REQUIRE(made.exit_code == 0);
  CHECK(tells(made.out, "out/train_01/a-replay.csv"));
  CHECK(names_in(scratch / "out") == std::set<std::string>{"c-replay.csv", "test_01", "train_01"});
  CHECK(fs::exists(scratch / "out/test_01/b-replay.csv"));
  // Each log has attacks of its own.
  CHECK(read_text(scratch / "out/train_01/a-replay.csv") !=
        read_text(scratch / "out/c-replay.csv"));
}

TEST_CASE("what inject refuses it names, and writes nothing", "[cli][inject]") {
  const ScratchFolder scratch;
  make_benign_log(scratch);
  const auto check = [&](const std::string& words, int code, const std::string& message) {
    const CommandResult result = run_kdgat("data inject " + words, scratch.path());
    INFO(words << "\n" << result.err);
    CHECK(result.exit_code == code);
    CHECK(tells(result.err, message));
    CHECK(!fs::exists(scratch / "out"));
  };
  check(kBenignLog + " -o out --attacks flooding", 2, "attacks: ");
  check(kBenignLog, 2, "needs -o DIR");
  check("-o out", 2, "needs a path");
  check(kBenignLog + " -o out --rat 5", 2, "did you mean --rate?");
  check(kBenignLog + " -o out --attacks dos,dos", 2, "named twice");
  check(kBenignLog + " -o out min_attack_seconds=9", 2, "max_attack_seconds");
  check("missing.csv -o out", 3, "missing.csv: no such file");

  const std::string attacked = "logs/train_02_with_attacks/dos-vehicle1.csv";
  check(attacked + " -o out", 3, attacked + ": ");
  check(attacked + " -o out", 3, "keep_attacks=true");
  // Labels of a table next to the log count as those of a column.
  REQUIRE(run_kdgat("data convert " + kBenignLog + " -o plain.log", scratch.path()).exit_code == 0);
  std::ofstream(scratch / "plain.labels.csv") << "begin,end\n1672531201,1672531202\n";
  check("plain.log -o out", 3, "labelled as attacks");
  check(kBenignLog + " " + attacked + " -o out", 3, "labelled as attacks");
  check(kBenignLog + " ./" + kBenignLog + " -o out", 2, "would both become");
  check(kBenignLog + " -o out lead_seconds=60", 3, kBenignLog + ": the log is too short");
  check(kBenignLog + " -o out --attacks dos,spoofing id=7FF", 3, kBenignLog + ": id 7FF");

  std::string timeless, single, fd;
  for (int i = 0; i < 3000; ++i) {
    timeless += std::to_string(100 + i % 7) + ",1,2,3,4,5,6,7,8,0.0\n";
    const std::string time = "(" + std::to_string(100 + i / 100) + "." +
                             std::to_string(1000 + i % 100 * 10).substr(1) + "00) can0 ";
    single += time + "1A0#0011\n";
    fd += time + "1A" + std::to_string(i % 7) + "##1" + std::string(32, '5') + "\n";
  }
  put_file(scratch / "road.csv", timeless);
  put_file(scratch / "single.log", single);
  put_file(scratch / "fd.log", fd);
  check("road.csv -o out", 3, "road.csv: row 1 has no time");
  check("single.log -o out", 3, "single.log: the log has one id only, 1A0");
  check("fd.log -o out --format hcrl", 3, "fd.log: row 1 has 16 bytes");

  REQUIRE(
      run_shell("cp " + kBenignLog + " a.csv && cp a.csv a-dos.csv", scratch.path()).exit_code ==
      0);
  check("a.csv a-dos.csv -o . --attacks dos", 2, "would replace the input a-dos.csv");
  CHECK(read_text(scratch / "a.csv") == read_text(scratch / "a-dos.csv"));
}

TEST_CASE("attack rows of a log are kept where that is asked for", "[cli][inject]") {
  const ScratchFolder scratch;
  make_benign_log(scratch);
  const std::string attacked = "logs/train_02_with_attacks/dos-vehicle1.csv";
  const CommandResult made =
      run_kdgat("data inject " + attacked + " -o out --attacks targeted keep_attacks=true --json",
                scratch.path());
  INFO(made.err);
  REQUIRE(made.exit_code == 0);
  const json file = json::parse(made.out).at("files").at(0);
  CHECK(file.at("attack_rows") > file.at("added"));
}

TEST_CASE("candump is written with a warning, as it carries no labels", "[cli][inject]") {
  const ScratchFolder scratch;
  make_benign_log(scratch);
  const std::string words = " -o out --attacks dos --format candump";
  CHECK(run_kdgat("data inject " + kBenignLog + words + " -n", scratch.path()).exit_code == 0);
  CHECK(!fs::exists(scratch / "out"));
  const CommandResult made = run_kdgat("data inject " + kBenignLog + words, scratch.path());
  CHECK(made.exit_code == 0);
  CHECK(tells(made.err, "candump carries no labels"));
  CHECK(names_in(scratch / "out") == std::set<std::string>{"attack-free-vehicle1-dos.log"});
}
