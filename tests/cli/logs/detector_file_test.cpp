// detector.json as others leave it: damaged, edited, of an earlier version, far too large.
#include <catch2/catch.hpp>
#include <fstream>
#include <string>
#include <vector>

#include "support/can/detector_run.h"
#include "support/programs/cli.h"

using Catch::Contains;

namespace {

const DetectorRun& run_of_files() {
  static const DetectorRun one;
  return one;
}

/// Every verb that opens a detector, with `model`.
std::vector<std::string> openers(const std::string& model) {
  const std::string log = kKnownLog;
  return {"score " + log + " --run " + model, "why " + log + " --model " + model,
          "watch --speed max --replay " + log + " --model " + model,
          "adapt " + model +
              " logs/train_01_attack_free/attack-free-vehicle1.csv --force -o adapted.json",
          "export " + model + " --format onnx -o exported"};
}

void write(const fs::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

/// A valid detector's text with a list of so many bytes in it.
std::string padded(const std::string& sound, std::size_t bytes) {
  std::string list = ",\"x\":[1";
  while (list.size() < bytes) list += ",1";
  std::string out = sound;
  return out.insert(out.rfind('}'), list + "]");
}

}  // namespace

TEST_CASE("every verb refuses a detector that was changed", "[detector][cli]") {
  const DetectorRun& t = run_of_files();
  const std::string sound = read_text(t.model());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string out = sound;
    const std::size_t at = out.find(from);
    REQUIRE(at != std::string::npos);
    return out.replace(at, from.size(), to);
  };
  struct Change {
    std::string text, says;
  };
  const std::vector<Change> changes = {
      {with("\"window\":100", "\"window\":101"),
       "changed.json: its content does not match its hash"},
      {with("\"window\":100", "\"window\":100,\"window\":2"),
       "changed.json: \"window\" is given twice"},
      {with("\"hash\":", "\"hasj\":"), "changed.json: has a member \"hasj\""},
      {sound.substr(0, sound.size() / 2), "changed.json:1: not valid JSON"}};
  for (const Change& change : changes) {
    write(t.scratch / "changed.json", change.text);
    for (const std::string& words : openers("changed.json")) {
      const CommandResult result = t.kdgat(words);
      INFO(words << "\n" << result.err);
      CHECK(result.exit_code == 3);
      CHECK_THAT(result.err, Contains(change.says));
    }
  }
}

TEST_CASE("a detector of an earlier version is read with a warning", "[detector][cli]") {
  const DetectorRun& t = run_of_files();
  json earlier = json::parse(read_text(t.model()));
  earlier.erase("hash");
  write(t.scratch / "earlier.json", earlier.dump());
  for (const std::string& words : openers("earlier.json")) {
    if (words.starts_with("export")) continue;  // it also needs Python
    const CommandResult result = t.kdgat(words);
    INFO(words << "\n" << result.err);
    CHECK(result.exit_code == 0);
    CHECK_THAT(result.err, Contains("earlier.json has no hash"));
  }
  // What is written from it has one.
  const CommandResult again = t.kdgat("score " + std::string(kKnownLog) + " --run adapted.json");
  CHECK(again.exit_code == 0);
  CHECK_THAT(again.err, !Contains("has no hash"));
}

TEST_CASE("a detector that is too large is refused, and no memory ends with 82",
          "[detector][cli]") {
  const DetectorRun& t = run_of_files();
  const std::string sound = read_text(t.model());
  write(t.scratch / "large.json", padded(sound, 60'000'000));
  for (const std::string& words : openers("large.json")) {
    const CommandResult result =
        run_shell("ulimit -v 1000000; " + kdgat_word() + " " + words, t.scratch.path());
    INFO(words << "\n" << result.err);
    CHECK(result.exit_code == 3);
    CHECK_THAT(result.err, Contains("large.json: is 60.") && Contains("at most 32 MB are read"));
  }
  write(t.scratch / "allowed.json", padded(sound, 30'000'000));
  int without_memory = 0;
  for (const std::string& words : openers("allowed.json")) {
    // The others need LibTorch, which does not fit.
    if (words.starts_with("adapt") || words.starts_with("export")) continue;
    for (const int kilobytes : {200'000, 400'000}) {
      const CommandResult result =
          run_shell("ulimit -v " + std::to_string(kilobytes) + "; " + kdgat_word() + " " + words,
                    t.scratch.path());
      INFO(words << " in " << kilobytes << "\n" << result.err);
      // With enough, 3: the file has a member that no detector has. No signal in any case.
      CHECK(result.exit_code > 0);
      CHECK(result.exit_code < 128);
      without_memory += result.exit_code == 82 ? 1 : 0;
    }
  }
  CHECK(without_memory > 0);
}
