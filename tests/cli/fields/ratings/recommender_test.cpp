// A recommender from synthetic ratings to predictions, and its memory before there are any.
#include <catch2/catch.hpp>
#include <fstream>
#include <string>

#include "support/programs/cli.h"

TEST_CASE("the preset graphsage trains on synthetic ratings", "[cli][graphsage]") {
  const ScratchFolder scratch;
  const std::string words =
      "run --preset graphsage data.synth.graphs=60 data.synth.nodes=20 data.synth.items=90 "
      "graphsage.epochs=2 hidden_dim=16 --threads 1";
  must_kdgat(words, scratch.path());
  const auto step = newest_run(scratch / "runs/ratings") / "graphsage";
  const json metrics = json::parse(read_text(step / "metrics.json"));
  CHECK(metrics.dump().find("test_rmse") != std::string::npos);
  CHECK(std::filesystem::exists(step / "recommendations.csv"));
  CHECK_THAT(must_kdgat(words + " -n", scratch.path()).out, Catch::Contains("kept"));
}

TEST_CASE("published keys of recommenders are known", "[cli][graphsage]") {
  const ScratchFolder scratch;
  must_kdgat("data synth -o files --kind ratings --graphs 40 --nodes 12", scratch.path());
  std::ofstream(scratch / "config.json")
      << R"({"hidden_dim": 8, "num_layers": 2, "dropout": 0.1, "learning_rate": 0.002,
             "weight_decay": 1e-5, "batch_size": 64, "epochs": 1, "loss_type": "combined",
             "mse_weight": 1.0, "bpr_weight": 0.1, "num_negatives": 1})";
  must_kdgat("run graphsage --config config.json --data files", scratch.path());
  const auto step = newest_run(scratch / "runs/files") / "graphsage";
  const json options = json::parse(read_text(step / "config.json"));
  CHECK_THAT(options.dump(),
             Catch::Contains("\"lr\":0.002") && Catch::Contains("\"loss\":\"combined\""));
  const CommandResult refused =
      run_kdgat("run graphsage --data files num_negatives=3", scratch.path());
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err, Catch::Contains("one item that was not rated is drawn for each pair"));
}

TEST_CASE("an estimate gives the published formula and beside it the truth",
          "[cli][memory][graphsage]") {
  const ScratchFolder scratch;
  const std::string sizes = " num_users=943 num_items=1682";
  const auto legacy = [&](const std::string& words) {
    return json::parse(must_kdgat("plan --legacy --json" + sizes + " " + words, scratch.path()).out)
        .at("legacy");
  };
  const json small = legacy("graphsage hidden_dim=64 num_layers=2");
  CHECK(small.at("legacy_gb") == 0.8);
  CHECK(small.at("tensor_bytes") == 6'424'536);  // what a run of it holds
  const json large = legacy("hidden_dim=512 num_layers=5");
  CHECK(large.at("legacy_gb") == 0.8);
  CHECK(large.at("tensor_bytes") > 20 * small.at("tensor_bytes").get<int64_t>());
  int64_t sum = 0;
  for (const json& item : large.at("items")) sum += item.at("bytes").get<int64_t>();
  CHECK(sum == large.at("tensor_bytes"));

  const std::string text =
      must_kdgat("plan graphsage --legacy hidden_dim=64 num_layers=2" + sizes, scratch.path()).out;
  CHECK_THAT(text, Catch::Contains("published formula  0.8 GB") &&
                       Catch::Contains("6.1 MiB of tensors") && Catch::Contains("Adam's moments"));
  const CommandResult asked =
      run_shell("printf '128\\nmany\\n3\\n943\\n1682\\n' | " + kdgat_word() + " plan --interactive",
                scratch.path());
  CHECK(asked.exit_code == 0);
  CHECK_THAT(asked.err,
             Catch::Contains("hidden_dim [64]: num_layers [2]: many is not a whole number "
                             "above 0\nnum_layers [2]: num_users [1000]: "));
  CHECK_THAT(asked.out, Catch::Contains("published formula  0.8 GB"));
  const CommandResult other = run_kdgat("plan classifier --legacy", scratch.path());
  CHECK(other.exit_code == 2);
  CHECK_THAT(other.err, Catch::Contains("kdgat plan graphsage --legacy"));
}
