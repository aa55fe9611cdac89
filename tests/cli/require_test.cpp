// kdgat run --require with the program's own stages: whatever a run lists can be required of it.
#include <catch2/catch.hpp>
#include <string>

#include "support/programs/cli.h"

namespace {

/// Every figure of a run as a requirement that holds.
std::string all_figures(const fs::path& run, const fs::path& folder) {
  const json shown = json::parse(must_kdgat("runs show '" + run.string() + "' --json", folder).out);
  std::string out;
  for (const json& figure : shown.at("figures")) {
    const std::string part = figure.at("part");
    out += " --require '" + figure.at("step").get<std::string>() + "." +
           (part.empty() ? "" : part + ".") + figure.at("name").get<std::string>() + ">-1e99'";
  }
  CHECK(shown.at("figures").size() > 4);
  return out;
}

}  // namespace

TEST_CASE("whatever figure a run lists can be required of it", "[require][cli]") {
  const ScratchFolder scratch;
  const std::string smoke =
      "run --preset smoke data.synth.seconds=20 data.features=v3 max_epochs=2 --threads 1";
  must_kdgat(smoke, scratch.path());
  const std::string met = all_figures(newest_run(scratch / "runs/smoke"), scratch.path());
  must_kdgat(smoke + " --dry-run" + met, scratch.path());
  must_kdgat(smoke + met, scratch.path());
  const CommandResult typo =
      run_kdgat(smoke + met + " --require 'classifier.test_01.fl>=0.5'", scratch.path());
  CHECK(typo.exit_code == 2);
  CHECK_THAT(typo.err, Catch::Contains("there is no figure of a part \"fl\""));
  const CommandResult unmet = run_kdgat(
      smoke + " --require 'classifier.test_01.f1>1' --require 'eval.val.f1>=0'", scratch.path());
  CHECK(unmet.exit_code == 11);
  CHECK_THAT(unmet.err, Catch::Contains("error: classifier.test_01.f1 is 0") &&
                            Catch::Contains(", required > 1") &&
                            Catch::Contains("eval.val.f1 is not among the figures of this run"));

  must_kdgat("data synth -o logs --seconds 40 --vehicles 3 --attacks dos,fuzzing", scratch.path());
  const std::string detector =
      "run --preset detector --data logs --threads 1 take_supported=true trees=40 "
      "baselines=false own_seconds=12";
  must_kdgat(detector + " --require 'detector.test_01.false_windows>=0'", scratch.path());
  must_kdgat(detector + all_figures(newest_run(scratch / "runs/logs"), scratch.path()),
             scratch.path());
}
