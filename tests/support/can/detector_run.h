// A detector of two made-up vehicles from the command line, and logs for it to score.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "support/runs/runs.h"

namespace kdgat::test {

inline constexpr const char* kKnownLog =
    "logs/test_01_known_vehicle_known_attack/fuzzing-vehicle1.csv";
inline constexpr const char* kStrangeLog =
    "logs/test_02_unknown_vehicle_known_attack/dos-vehicle3.csv";

/// Logs and a run in a folder of its own; programs run there.
struct DetectorRun {
  ScratchFolder scratch;
  std::filesystem::path run;

  /// `options`: more words of the run. `profile`: YAML of data set "logs" with a step `detector`,
  /// in the place of the preset of that name.
  explicit DetectorRun(const std::string& options = "", const std::string& profile = "") {
    if (!profile.empty()) std::ofstream(scratch / "profile.yaml") << profile;
    must_kdgat("data synth -o logs --seconds 40 --vehicles 3 --attacks dos,fuzzing",
               scratch.path());
    must_kdgat("run " + std::string(profile.empty() ? "--preset detector" : "profile.yaml") +
                   " --data logs --root runs --threads 1 take_supported=true trees=40 "
                   "baselines=false own_seconds=12 " +
                   options,
               scratch.path());
    run = newest_run(scratch / "runs" / "logs");
  }
  std::filesystem::path model() const { return run / "detector" / "detector.json"; }
  std::string named() const { return " --run '" + model().string() + "' "; }
  CommandResult kdgat(const std::string& words) const { return run_kdgat(words, scratch.path()); }
  /// Checked for success.
  CommandResult score(const std::string& words) const {
    return must_kdgat("score " + words, scratch.path());
  }
};

}  // namespace kdgat::test
