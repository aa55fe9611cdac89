// Fusion on labelled graphs of two classes, whose nodes have no identifiers.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>

#include "fusion/fusion.h"
#include "support/graphs/batches.h"
#include "support/graphs/class_fixture.h"
// The others need torch's macros gone.
#include "autoencoder/autoencoder.h"
#include "classifier/classifier.h"
#include "engine/model/config/trained_model.h"
#include "engine/model/model_file.h"
#include "engine/objective/class_scorer.h"
#include "engine/objective/fusion_scorer.h"
#include "engine/objective/fusion_state.h"
#include "engine/objective/load_scorer.h"
#include "evaluate/evaluate.h"
#include "fusion/reward.h"

namespace kdgat::fusion {
namespace {

using nlohmann::json;
using test::check_close;
using test::make_batch;

constexpr model::FusionState kOfClasses(/*has_ids=*/false);

/// Labelled graphs with a trained autoencoder and a classifier that no edge reaches, so that each
/// knows something else.
struct TrainedOnClasses : test::ClassFixture {
  TrainedOnClasses() : ClassFixture(2, 240) {
    autoencoder::AutoencoderOptions a;
    a.hidden_dims = {16, 16};
    a.latent_dim = 8;
    a.heads = 2;
    a.dropout = 0;
    a.lr = 0.01;
    a.batch_size = 16;
    a.max_epochs = 20;
    a.min_steps_per_epoch = 1;
    autoencoder::Autoencoder::run(a, request("autoencoder"), fake.host);
    classifier::ClassifierOptions c = test::small_gin();
    c.conv = "none";
    c.max_epochs = 2;
    classifier::Classifier::run(c, request("classifier"), fake.host);
  }

  Request fusion_request(const std::string& step = "fusion") const {
    Request r = request(step);
    r.inputs["autoencoder"] = {{"autoencoder", "autoencoder", folder / "autoencoder", {}}};
    r.inputs["classifier"] = {{"classifier", "classifier", folder / "classifier", {}}};
    return r;
  }
};

FusionOptions few_episodes(const std::string& method) {
  FusionOptions o;
  o.method = method;
  o.mlp_hidden = o.dqn_hidden = 32;
  o.dqn_layers = 2;
  o.alpha_steps = 5;
  o.fusion_lr = 0.003;
  o.fusion_episodes = 12;
  o.validate_every = 4;
  o.bandit_retrain = 4;
  return o;
}

/// Both models made anew, for nodes without identifiers.
objective::FusionInputs untrained() {
  model::VgaeConfig a = model::VgaeConfig::student(1);
  a.has_ids = false;
  model::GatConfig c = model::GatConfig::student(1);
  c.has_ids = false;
  return {std::make_unique<objective::AutoencoderObjective>(model::make_model(a)),
          std::make_unique<objective::ClassifierObjective>(model::make_model(c))};
}

}  // namespace

TEST_CASE("the state of a labelled graph is 14 numbers, computed plainly", "[fusion][classes]") {
  torch::manual_seed(3);
  const objective::FusionInputs inputs = untrained();
  const auto graphs = test::random_small_graphs(6, 5);
  const torch::Tensor states =
      objective::fusion_states(*inputs.autoencoder, *inputs.classifier, make_batch(graphs));
  REQUIRE(states.size(1) == kOfClasses.size());
  REQUIRE(kOfClasses.size() == 14);
  const torch::NoGradGuard no_grad;
  inputs.autoencoder->module().eval();
  inputs.classifier->module().eval();
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    const graph::GraphBatch one = make_batch({graphs[g]});
    const kernels::BatchTensors batch = kernels::to_tensors(one, torch::kCPU);
    auto& vgae = inputs.autoencoder->model();
    const model::VgaeOutput out = vgae->forward(batch);
    const torch::Tensor& z = out.z_NL;
    const torch::Tensor features = torch::mse_loss(out.features_NX, batch.x_NF);
    const torch::Tensor neighbours = torch::mse_loss(vgae->neighbour_features(z, batch),
                                                     model::neighbour_mean(batch.x_NF, batch));
    const torch::Tensor pooled = inputs.classifier->model()->pooled(batch).squeeze(0);
    const torch::Tensor p = inputs.classifier->logits(one, {}).softmax(1).squeeze(0);
    const torch::Tensor entropy = -(p * p.log()).sum();
    check_close(
        states[static_cast<int64_t>(g)],
        torch::stack({features, neighbours, z.mean(), z.std(), z.max(), z.min(), 1 / (1 + features),
                      p[0], p[1], pooled.mean(), pooled.std(), pooled.max(), pooled.min(),
                      (1 - entropy / std::log(2.0)).clamp(0, 1)}),
        "graph " + std::to_string(g));
    check_close(inputs.autoencoder->score(one)[0], features + neighbours, "score");
  }
}

TEST_CASE("without an identifier's error the other two make an anomaly and a reward",
          "[fusion][classes]") {
  model::FusionConfig config;
  config.method = "weighted";
  config.has_ids = false;
  model::FusionNet net = model::make_model(config);
  const torch::Tensor states = torch::rand({9, kOfClasses.size()});
  torch::Tensor usual = torch::zeros({1, kOfClasses.size()});
  usual[0][0] = 2;
  usual[0][1] = 0.5;
  net->set_scale(states, usual, 0.95);
  CHECK(net->anomaly(usual).item<double>() == Approx(0.5));
  check_close(
      net->anomaly(states),
      (0.4 / 0.75 / 4 * states.select(1, 0) + 0.35 / 0.75 * states.select(1, 1)).clamp(0, 1),
      "anomaly");
  const torch::Tensor labels = torch::arange(9).remainder(2), alpha = torch::ones({9});
  const torch::Tensor given = reward(net, states, labels, alpha * 0.5);
  for (int64_t g = 0; g < 9; ++g) {
    const auto number = [&](int64_t at) { return states[g][at].item<double>(); };
    const double anomaly = net->anomaly(states)[g].item<double>(), p1 = number(8);
    const double score = (anomaly + p1) / 2, gap = std::abs(anomaly - p1);
    const double largest = std::max(anomaly, p1), trust = std::max(number(6), number(13));
    const bool is_second = g % 2 == 1, is_right = (score > 0.5) == is_second;
    const double wanted =
        is_right ? 3 + (1 - gap) + 0.5 * (is_second ? largest : 1 - largest) + 0.3 * trust
                 : -3 - gap - 1.5 * (is_second ? 1 - score : score);
    INFO("graph " << g);
    CHECK(given[g].item<double>() == Approx(wanted + 0.3).epsilon(1e-4));
  }
  check_close(net->fused(states, alpha), states.select(1, kOfClasses.attack()), "classifier alone");
  check_close(net->fused(states, alpha * 0), net->anomaly(states), "autoencoder alone");
}

TEST_CASE("a fusion of labelled graphs finds what its autoencoder alone knows, by every method",
          "[fusion][classes]") {
  TrainedOnClasses f;
  for (const char* method : {"mlp", "dqn", "bandit", "weighted"}) {
    INFO(method);
    const FusionOptions o = few_episodes(method);
    const json plan = Fusion::plan(o, f.fusion_request());
    const json made = Fusion::run(o, f.fusion_request(), f.fake.host);
    CHECK(made.at("facts").at("parameters") == plan.at("parameters"));
    const json& metrics = made.at("metrics");
    CHECK(metrics.at("inputs").at("autoencoder").at("auc").get<double>() > 0.9);
    CHECK(metrics.at("inputs").at("classifier").at("auc").get<double>() < 0.75);
    if (std::string(method) != "weighted") CHECK(metrics.at("val_auc").get<double>() > 0.85);

    Request r = f.request("evaluate");
    r.inputs["models"] = {{"fusion", "model", f.folder / "fusion", {}},
                          {"classifier", "model", f.folder / "classifier", {}},
                          {"autoencoder", "model", f.folder / "autoencoder", {}}};
    const json judged = evaluate::Evaluate::run({}, r, f.fake.host).at("metrics");
    CHECK(judged.at("fusion").at("core").at("auc").get<double>() ==
          Approx(metrics.at("val_auc").get<double>()).epsilon(1e-4));
    CHECK(judged.at("fusion").at("core").at("accuracy").get<double>() ==
          Approx(metrics.at("val_accuracy").get<double>()).epsilon(1e-4));
    if (std::string(method) == "mlp") {
      const json& tests = judged.at("test");
      CHECK(tests.at("fusion").at("test").at("core").at("auc").get<double>() > 0.85);
    }
  }
}

TEST_CASE("a fusion of labelled graphs is the same again, and its files are checked",
          "[fusion][classes]") {
  TrainedOnClasses f;
  const FusionOptions o = few_episodes("mlp");
  Fusion::run(o, f.fusion_request(), f.fake.host);
  Fusion::run(o, f.fusion_request("again"), f.fake.host);
  CHECK(f.weights("fusion") == f.weights("again"));
  const auto file = file::SafetensorsFile::open(f.folder / "fusion" / "model.safetensors");
  CHECK(file.metadata().at("scored_by") == "classify");
  CHECK(model::load_header(file).config.at("has_ids") == false);
  CHECK_FALSE(json(model::FusionConfig()).contains("has_ids"));
  // A decision is that of the score, whoever loads it.
  const auto scorer =
      objective::load_scorer(f.folder / "fusion" / "model.safetensors", torch::kCPU);
  const train::Data data = f.data();
  graph::GraphBatch batch;
  const std::vector<int64_t> test = data.part("test");
  graph::gather(data.store, test, false, batch);
  objective::ClassScorer of_classes(model::open_model(f.folder / "fusion"), torch::kCPU);
  check_close(of_classes.probabilities(batch).select(1, 1), scorer->score(batch), "score");
}

TEST_CASE("a fusion refuses labelled graphs of several classes and a detector beside them",
          "[fusion][classes]") {
  const auto said_of = [](const Request& r, ExitCode code) {
    try {
      Fusion::plan({}, r);
    } catch (const Error& error) {
      CHECK(error.code() == code);
      return std::string(error.what());
    }
    FAIL("accepted");
    return std::string();
  };
  const test::ClassFixture three(3, 40);
  CHECK_THAT(said_of(three.request("fusion"), ExitCode::kData),
             Catch::StartsWith("a fusion decides between two classes, with an autoencoder of one: "
                               "that takes two classes, these graphs have 3\n"));
  test::FakeHost host;
  CHECK_THROWS_WITH(Fusion::run({}, three.request("fusion"), host.host),
                    Catch::Contains("these graphs have 3"));
  const test::ClassFixture two(2, 40);
  Request r = two.request("fusion");
  r.inputs["detector"] = {{"detector", "data", two.folder / "detector.json", {}}};
  CHECK_THAT(said_of(r, ExitCode::kUsage), Catch::Contains("these are labelled graphs"));
}

}  // namespace kdgat::fusion
