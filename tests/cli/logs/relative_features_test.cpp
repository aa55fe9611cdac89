// Networks on windows that are relative to profiles of vehicles (data.features=relative).
#include <algorithm>
#include <catch2/catch.hpp>
#include <span>
#include <string>

#include "engine/file/safetensors.h"
#include "support/programs/cli.h"

namespace {

using Catch::Contains;

}  // namespace

TEST_CASE(
    "networks learn from relative windows, are evaluated, and one is the classifier of a detector",
    "[relative][cli]") {
  const ScratchFolder scratch;
  kdgat::test::write_text(scratch / "relative.yaml", R"(
data: {features: relative, most_windows: 1000, inject: [fuzzing], forgotten: 0,
       synth: {seconds: 20, vehicles: 2}}
options:
  classifier: {conv: gin, norm: batch, pooling: max, hidden: 16, layers: 2, monotone: true,
               max_epochs: 2}
stages:
  autoencoder: {needs: data, hidden_dims: [16, 8], latent_dim: 8, heads: 1, max_epochs: 2}
  curriculum: {needs: autoencoder}
  classifier: {needs: curriculum, sampling: curriculum}
  student: {stage: classifier, needs: classifier, use_kd: true, conv: none, hidden: 8}
  fusion: {needs: [autoencoder, classifier], fusion_episodes: 20}
  detector: {needs: student, inject: [fuzzing], most_windows: 1000, forgotten: 0,
             false_alarms: 0, baselines: false, trees: 20}
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
  const auto model =
      kdgat::file::SafetensorsFile::open(runs.front() / "classifier" / "model.safetensors");
  for (const char* name : {"convs.0.lin_1.weight", "convs.1.norm.weight", "head.0.weight"}) {
    const std::span<const float> weights = model.tensor(name).as<float>();
    CHECK(*std::min_element(weights.begin(), weights.end()) >= 0);
    CHECK(*std::max_element(weights.begin(), weights.end()) > 0);
  }
  const CommandResult refused =
      run_kdgat("run relative.yaml classifier.conv=gat --root runs", scratch.path());
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err, Contains("monotone=true needs conv gin or none, norm none or batch"));

  must_kdgat("data synth -o logs --seconds 20", scratch.path());
  const CommandResult scored =
      run_kdgat("score logs/test_01_known_vehicle_known_attack/dos-vehicle2.csv --model " +
                    fs::absolute(runs.front() / "classifier").string(),
                scratch.path());
  CHECK(scored.exit_code == 2);
  CHECK_THAT(scored.err, Contains("windows relative to the profile of a vehicle"));

  CHECK_THAT(run.err + run.out, Contains("the classifier is a network of"));
  const std::string detector = fs::absolute(runs.front() / "detector").string();
  const std::string log = "logs/test_01_known_vehicle_known_attack/fuzzing-vehicle1.csv";
  const std::string lines =
      must_kdgat("score " + log + " --json --model " + detector, scratch.path()).out;
  CHECK_THAT(lines, Contains(R"("decision":"attack")") && Contains(R"("decision":"benign")"));
  CHECK_THAT(must_kdgat("why " + log + " --model " + detector, scratch.path()).out,
             Contains("compared with the vehicle of") && Contains("the score"));
  const std::string watched =
      must_kdgat("watch --replay " + log + " --speed max --json --model " + detector,
                 scratch.path())
          .out;
  CHECK_THAT(watched, Contains("alarm"));

  must_kdgat("adapt " + detector + " logs/train_01_attack_free/attack-free-vehicle1.csv" +
                 " -o adapted.json --name garage",
             scratch.path());
  const std::string again =
      must_kdgat("score " + log + " --json --model adapted.json", scratch.path()).out;
  CHECK_THAT(again, Contains(R"("decision":"attack")"));

  const CommandResult exported = must_kdgat(
      "export " + detector + " --format c --vehicle attack-free-vehicle1 -o in_c", scratch.path());
  CHECK(fs::exists(scratch / "in_c" / "detector.c"));
  CHECK_THAT(read_text(scratch / "in_c" / "VERIFY.md"), Contains("against the native engine"));
  const CommandResult refused_onnx =
      run_kdgat("export " + detector + " --format onnx -o in_onnx", scratch.path());
  CHECK(refused_onnx.exit_code == 2);
  CHECK_THAT(refused_onnx.err, Contains("a graph network, not trees"));
}
