// The commands that the program suggests at its end work as they are printed.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "support/programs/cli.h"

namespace {

constexpr const char* kLog = "logs/test_01_known_vehicle_known_attack/dos-vehicle1.csv";

CommandResult typed(const std::string& words, const fs::path& folder) {
  return run_shell(kdgat_word() + " " + words, folder);
}

/// The words behind the last "next: kdgat " of a text, command by command.
std::vector<std::string> next_of(const std::string& text) {
  const std::string mark = "next: ", between = " · ", program = "kdgat ";
  std::vector<std::string> out;
  std::size_t at = text.rfind(mark);
  if (at == std::string::npos) return out;
  at += mark.size();
  const std::size_t end = std::min(text.find('\n', at), text.size());
  while (at < end) {
    const std::size_t stop = std::min(text.find(between, at), end);
    const std::string command = text.substr(at, stop - at);
    REQUIRE(command.rfind(program, 0) == 0);
    out.push_back(command.substr(program.size()));
    at = stop + between.size();
  }
  return out;
}

/// Types what `text` ends with, `input` in the place of the word in capitals.
void follow(const std::string& text, const std::string& word, const std::string& input,
            const fs::path& folder, std::size_t commands) {
  const std::vector<std::string> next = next_of(text);
  INFO(text);
  CHECK(next.size() == commands);
  for (std::string command : next) {
    if (const std::size_t at = command.find(" " + word + " "); at != std::string::npos) {
      command.replace(at + 1, word.size(), input);
    }
    const CommandResult result = typed(command, folder);
    INFO("kdgat " << command << "\n" << result.err);
    CHECK(result.exit_code == 0);
  }
}

struct Case {
  std::string words, word, input;
  std::size_t commands;
};

}  // namespace

TEST_CASE("what a run suggests at its end works, in each domain", "[cli][next]") {
  const ScratchFolder scratch;
  const auto must = [&](const std::string& words) { return must_kdgat(words, scratch.path()); };
  must("data synth -o logs --seconds 20 --vehicles 1 --attacks dos");
  must("data synth --kind graphs -o own --graphs 60 --nodes 12 --classes 3");
  must("data synth --kind graphs -o pairs --graphs 60 --nodes 12 --classes 2");
  const std::string quick = " --threads 1 max_epochs=1 ";
  std::vector<Case> cases = {
      {"run --preset graphs --data own" + quick, "GRAPHS", "own", 2},
      {"run --preset graphs --data own --root 'other runs'" + quick, "GRAPHS", "own", 2},
      {"run --preset graphs_fusion --data pairs fusion_episodes=2" + quick, "GRAPHS", "pairs", 2},
      {"run --preset gat,student --data logs" + quick, "LOG", kLog, 2},
      {"run --preset distill --data logs" + quick, "LOG", kLog, 2},
      {"run --preset detector --data logs trees=20 baselines=false take_supported=true --threads 1",
       "LOG", kLog, 2},
      {"run --preset graphs --data own --seeds 1..2 --until classifier" + quick, "RUN", "", 2}};
  if (has_stage("equivariant")) {
    must("data synth --kind molecules -o pockets --graphs 12 --nodes 60 --classes 3");
    cases.push_back(
        {"run --preset pocket --data pockets --threads 1 num_epochs=1", "MOLECULES", "pockets", 2});
  }
  if (has_stage("gtssl")) {
    cases.push_back(
        {"run --preset trees data.synth.graphs=30 data.synth.nodes=20 "
         "gtssl.max_epochs=1 finetune.max_epochs=1 --threads 1",
         "LOG", kLog, 1});
  }
  for (const Case& one : cases) {
    const CommandResult made = typed(one.words, scratch.path());
    INFO(one.words << "\n" << made.err);
    REQUIRE(made.exit_code == 0);
    follow(made.err, one.word, one.input, scratch.path(), one.commands);
  }
  // runs show suggests the same.
  const std::string run = newest_run(scratch / "runs/pairs").string();
  follow(must("runs show " + run).out, "GRAPHS", "pairs", scratch.path(), 2);
}

TEST_CASE("what other verbs suggest at their end works", "[cli][next]") {
  const ScratchFolder scratch;
  must_kdgat("data synth -o logs --seconds 20 --vehicles 1 --attacks dos", scratch.path());
  const auto ends_well = [&](const std::string& words, std::size_t commands) {
    const CommandResult made = typed(words, scratch.path());
    INFO(words << "\n" << made.err);
    REQUIRE(made.exit_code == 0);
    follow(made.err, "LOG", kLog, scratch.path(), commands);
  };
  const std::string quick = " --threads 1 trees=20 baselines=false";
  ends_well("fit logs" + quick, 3);
  fs::remove(scratch / "mine.json");
  ends_well("fit logs -o 'my model'" + quick, 3);
  const std::string tune =
      "tune classifier --preset smoke --data logs max_epochs=1 'lr=[0.001,0.01]' --threads 1";
  ends_well(tune, 2);
  ends_well(tune + " --root 'other runs'", 2);
  ends_well("config init 'my profile.yaml'", 1);
}
