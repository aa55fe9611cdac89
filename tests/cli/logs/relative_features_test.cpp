// Networks on windows that are relative to profiles of vehicles (data.features=relative).
#include <catch2/catch.hpp>
#include <string>

#include "support/programs/cli.h"

namespace {

using Catch::Contains;

}  // namespace

TEST_CASE(
    "an autoencoder, a classifier and their fusion learn from relative windows, and are "
    "evaluated",
    "[relative][cli]") {
  const ScratchFolder scratch;
  kdgat::test::write_text(scratch / "relative.yaml", R"(
data: {features: relative, most_windows: 1000, inject: [fuzzing], forgotten: 0,
       synth: {seconds: 20, vehicles: 2}}
options:
  classifier: {conv: gin, norm: batch, pooling: max, hidden: 16, layers: 2, standardise: true,
               max_epochs: 2}
stages:
  autoencoder: {needs: data, hidden_dims: [16, 8], latent_dim: 8, heads: 1, max_epochs: 2}
  curriculum: {needs: autoencoder}
  classifier: {needs: curriculum, sampling: curriculum}
  student: {stage: classifier, needs: classifier, use_kd: true, conv: none, hidden: 8}
  fusion: {needs: [autoencoder, classifier], fusion_episodes: 20}
  evaluate: {needs: [autoencoder, classifier, student, fusion]}
)");
  const CommandResult run = run_kdgat("run relative.yaml --root runs", scratch.path());
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  for (const char* model : {"autoencoder", "classifier", "student", "fusion"}) {
    CHECK_THAT(run.out, Contains(model));
  }
  const std::vector<fs::path> runs = runs_in(scratch / "runs");
  REQUIRE(runs.size() == 1);
  must_kdgat("data synth -o logs --seconds 20", scratch.path());
  const CommandResult scored =
      run_kdgat("score logs/test_01_known_vehicle_known_attack/dos-vehicle2.csv --model " +
                    fs::absolute(runs.front() / "classifier").string(),
                scratch.path());
  CHECK(scored.exit_code == 2);
  CHECK_THAT(scored.err, Contains("windows relative to the profile of a vehicle"));
}
