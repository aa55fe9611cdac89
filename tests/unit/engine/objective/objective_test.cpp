#include <cmath>
#include <fstream>

#include "support/graphs/batches.h"
#include "support/graphs/gradients.h"
#include "support/programs/command.h"
// The others need torch's macros gone.
#include "engine/model/model_file.h"
#include "engine/objective/autoencoder_objective.h"
#include "engine/objective/classifier_objective.h"
#include "engine/objective/load_scorer.h"
#include "kdgat/error.h"

namespace kdgat::objective {
namespace {

using test::at_every_isa;
using test::check_close;
using test::check_gradients;
using test::fixture;
using test::graphs_of;
using test::make_batch;
using test::random_small_graphs;
using test::tensor_of;

graph::StepTotals totals_of_batch(const graph::GraphBatch& batch) {
  return {batch.graphs, batch.nodes, batch.edges};
}

void load_golden(torch::nn::Module& module, const file::SafetensorsFile& file) {
  const torch::NoGradGuard no_grad;
  for (auto& item : module.named_parameters()) {
    item.value().copy_(tensor_of(file, "weight." + item.key()));
  }
}

int64_t check_golden_gradients(const torch::nn::Module& module, const file::SafetensorsFile& file) {
  int64_t compared = 0;
  for (const auto& item : module.named_parameters()) {
    if (!file.has("grad." + item.key())) continue;
    check_close(item.value().grad(), tensor_of(file, "grad." + item.key()), item.key());
    ++compared;
  }
  return compared;
}

/// The batch with edge features that depend on the ends of the edge within its graph.
graph::GraphBatch with_edge_features(graph::GraphBatch batch, int64_t features) {
  batch.edge_features = features;
  batch.edge_attr.resize(batch.edges * features);
  for (int64_t g = 0; g < batch.graphs; ++g) {
    for (int32_t n = batch.node_ptr[g]; n < batch.node_ptr[g + 1]; ++n) {
      for (int32_t e = batch.in_ptr[n]; e < batch.in_ptr[n + 1]; ++e) {
        for (int64_t d = 0; d < features; ++d) {
          const int32_t to = n - batch.node_ptr[g], from = batch.in_source[e] - batch.node_ptr[g];
          batch.edge_attr[e * features + d] =
              static_cast<float>(std::sin(7 * to + from + static_cast<double>(d)));
        }
      }
    }
  }
  return batch;
}

TEST_CASE("the autoencoder equals PyTorch Geometric's", "[objective][golden]") {
  const auto file = fixture("vgae_student");
  if (!file) return;
  const graph::GraphBatch batch = make_batch(graphs_of(*file));
  model::VgaeConfig config =
      model::VgaeConfig::student(file->tensor("weight.input.embedding.weight").shape[0]);
  config.dropout = 0;
  at_every_isa([&] {
    AutoencoderObjective objective(model::make_model(config));
    load_golden(objective.module(), *file);
    objective.model()->sample_latent = false;
    const kernels::BatchTensors tensors = kernels::to_tensors(batch, torch::kCPU);
    const model::VgaeOutput out = objective.model()->forward(tensors);
    check_close(out.features_NX, tensor_of(*file, "output.features"), "features");
    check_close(out.z_NL, tensor_of(*file, "output.z"), "z");
    const torch::Tensor loss = objective.loss(batch, totals_of_batch(batch), {});
    check_close(loss, tensor_of(*file, "loss.total"), "loss");
    REQUIRE(objective.parts().size() == 4);
    for (const auto& [name, value] : objective.parts()) {
      check_close(value, tensor_of(*file, "loss." + name), name);
    }
    loss.backward();
    CHECK(check_golden_gradients(objective.module(), *file) > 20);
  });
}

TEST_CASE("the classifier equals PyTorch Geometric's", "[objective][golden]") {
  const auto file = fixture("gat_student");
  if (!file) return;
  const graph::GraphBatch batch = make_batch(graphs_of(*file));
  model::GatConfig config =
      model::GatConfig::student(file->tensor("weight.input.embedding.weight").shape[0]);
  config.dropout = 0;
  at_every_isa([&] {
    ClassifierObjective objective(model::make_model(config));
    load_golden(objective.module(), *file);
    check_close(objective.logits(batch, {}), tensor_of(*file, "output.logits"), "logits");
    const torch::Tensor loss = objective.loss(batch, totals_of_batch(batch), {});
    check_close(loss, tensor_of(*file, "loss.total"), "loss");
    loss.backward();
    CHECK(check_golden_gradients(objective.module(), *file) > 8);
    check_close(objective.score(batch), tensor_of(*file, "output.logits").softmax(1).select(1, 1),
                "score");
  });
}

TEST_CASE("the parts of a step add up to the step, with dropout", "[objective]") {
  const auto graphs = random_small_graphs(8, 21);
  const graph::GraphBatch whole = make_batch(graphs);
  const graph::StepTotals totals = totals_of_batch(whole);
  const auto compare = [&](auto& objective) {
    objective.loss(whole, totals, {7, 3}).backward();
    std::vector<torch::Tensor> grads;
    for (auto& p : objective.module().parameters()) {
      grads.push_back(p.grad().clone());
      p.mutable_grad().zero_();
    }
    const double expected = objective.loss(whole, totals, {7, 3}).template item<double>();
    double sum = 0;
    for (const auto& graph : graphs) {
      const graph::GraphBatch one = make_batch({graph});
      const torch::Tensor loss = objective.loss(one, totals, {7, 3});
      loss.backward();
      sum += loss.template item<double>();
    }
    CHECK(sum == Approx(expected).epsilon(1e-6));
    const auto parameters = objective.module().parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      check_close(parameters[i].grad(), grads[i], "gradient", 1e-6, 1e-4);
    }
    const double other = objective.loss(whole, totals, {7, 4}).template item<double>();
    CHECK(other != expected);
  };
  ClassifierObjective classifier(model::make_model(model::GatConfig::student(20)));
  compare(classifier);
  // Batch norm sees only its part, so the autoencoder is compared with running statistics.
  AutoencoderObjective autoencoder(model::make_model(model::VgaeConfig::student(20)));
  for (const auto& module : autoencoder.module().modules(false)) {
    if (module->name().find("BatchNorm") != std::string::npos) module->eval();
  }
  compare(autoencoder);
}

TEST_CASE("the parts of a step are the same step with every form", "[objective][forms]") {
  model::GatConfig config = model::GatConfig::student(20);
  config.conv = "gatv2";
  config.norm = "graph";
  config.jk = "lstm";
  config.standardise = true;
  config.id_embedding = "unknown";
  config.edge_features = 3;
  const auto graphs = random_small_graphs(8, 21);
  const graph::GraphBatch whole = with_edge_features(make_batch(graphs), 3);
  ClassifierObjective classifier(model::make_model(config));
  classifier.criterion = {"focal", 2, 0.25};
  classifier.module().to(torch::kDouble);
  CHECK(classifier.with_edge_attr());
  model::VgaeConfig vgae = model::VgaeConfig::student(20);
  vgae.norm = "graph";
  AutoencoderObjective autoencoder(model::make_model(vgae));
  autoencoder.module().to(torch::kDouble);
  const auto compare = [&](auto& objective) {
    // The norm of what is the same in all nodes is its bias, at first 0: on the kink of ReLU, where
    // rounding would decide.
    for (auto& item : objective.module().named_parameters()) {
      const torch::NoGradGuard no_grad;
      if (item.key().find("norm") != std::string::npos) item.value().add_(0.1);
    }
    const graph::StepTotals totals = totals_of_batch(whole);
    objective.loss(whole, totals, {7, 3}).backward();
    std::vector<torch::Tensor> grads;
    for (auto& p : objective.module().parameters()) {
      grads.push_back(p.grad().clone());
      p.mutable_grad().zero_();
    }
    for (const auto& graph : graphs) {
      const graph::GraphBatch one = with_edge_features(make_batch({graph}), 3);
      objective.loss(one, totals, {7, 3}).backward();
    }
    const auto parameters = objective.module().named_parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      check_close(parameters[i].value().grad(), grads[i], parameters[i].key(), 1e-6, 1e-4);
    }
  };
  compare(classifier);
  compare(autoencoder);  // in training mode: no statistic is of the batch
}

TEST_CASE("losses of several classes follow their formulas, weights of classes too",
          "[objective][classes]") {
  torch::manual_seed(8);
  const torch::Tensor logits = torch::randn({6, 4}, torch::kDouble) * 2;
  const torch::Tensor y = torch::tensor({0, 3, 1, 2, 3, 3}, torch::kLong);
  const torch::Tensor weight = torch::tensor({0.5, 2.0, 1.0, 0.25}, torch::kDouble);
  for (const bool weighted : {false, true}) {
    for (const double gamma : {0.0, 2.0}) {
      ClassificationLoss criterion{gamma > 0 ? "focal" : "cross_entropy", gamma, 0};
      if (weighted) criterion.class_weight = weight;
      double wanted = 0;
      const torch::Tensor p = logits.softmax(1);
      for (int64_t g = 0; g < 6; ++g) {
        const auto c = y[g].item<int64_t>();
        const double right = p[g][c].item<double>();
        wanted -= (weighted ? weight[c].item<double>() : 1) * std::pow(1 - right, gamma) *
                  std::log(right);
      }
      CHECK(criterion.sum(logits, y).item<double>() == Approx(wanted));
    }
  }
  torch::Tensor far = torch::tensor({{0.0, 200.0, 0.0}}, torch::kDouble).requires_grad_();
  ClassificationLoss{"focal", 2, 0}.sum(far, torch::tensor({1}, torch::kLong)).backward();
  CHECK(far.grad().isfinite().all().item<bool>());
}

TEST_CASE("focal loss follows its formula", "[objective][forms]") {
  const torch::Tensor logits = torch::randn({9, 2}, torch::kDouble);
  const torch::Tensor y = torch::tensor({0, 1, 1, 0, 1, 0, 0, 1, 1}, torch::kLong);
  for (const auto& [gamma, alpha] : {std::pair{2.0, 0.0}, {0.5, 0.25}, {0.0, 0.0}}) {
    const ClassificationLoss criterion{"focal", gamma, alpha};
    double expected = 0;
    for (int64_t g = 0; g < 9; ++g) {
      const double other = logits[g][1 - y[g].item<int64_t>()].item<double>();
      const double p = 1 / (1 + std::exp(other - logits[g][y[g].item<int64_t>()].item<double>()));
      const double weight = alpha == 0 ? 1 : (y[g].item<int64_t>() == 1 ? alpha : 1 - alpha);
      expected -= weight * std::pow(1 - p, gamma) * std::log(p);
    }
    CHECK(criterion.sum(logits, y).item<double>() == Approx(expected).epsilon(1e-12));
    check_gradients({logits.clone()},
                    [&](const std::vector<torch::Tensor>& in) { return criterion.sum(in[0], y); });
  }
  CHECK(ClassificationLoss{"focal", 0, 0}.sum(logits, y).item<double>() ==
        Approx(ClassificationLoss{}.sum(logits, y).item<double>()));
  // Neither overflows nor loses its gradient where a graph is far on the wrong side.
  torch::Tensor far = torch::tensor({{200.0, -200.0}}).requires_grad_();
  ClassificationLoss{"focal", 2, 0}.sum(far, torch::tensor({1}, torch::kLong)).backward();
  CHECK(far.grad()[0][0].item<double>() == Approx(1));
}

TEST_CASE("scores are per graph, without noise, and leave the mode as it was", "[objective]") {
  const auto graphs = random_small_graphs(6, 22);
  const graph::GraphBatch whole = make_batch(graphs), third = make_batch({graphs[2]});
  AutoencoderObjective autoencoder(model::make_model(model::VgaeConfig::student(20)));
  ClassifierObjective classifier(model::make_model(model::GatConfig::student(20)));
  for (train::Objective* objective : {static_cast<train::Objective*>(&autoencoder),
                                      static_cast<train::Objective*>(&classifier)}) {
    const torch::Tensor score = objective->score(whole);
    CHECK(score.sizes() == torch::IntArrayRef{6});
    CHECK_FALSE(score.requires_grad());
    CHECK(torch::equal(score, objective->score(whole)));
    check_close(objective->score(third)[0], score[2], "alone", 1e-6, 1e-5);
    CHECK(objective->module().is_training());
  }
  const torch::Tensor harder = autoencoder.difficulty(whole);
  CHECK(harder.gt(autoencoder.score(whole)).all().item<bool>());
}

TEST_CASE("a raw score gives the score and does not saturate", "[objective]") {
  const graph::GraphBatch batch = make_batch(random_small_graphs(8, 5));
  model::GatConfig config;
  config.num_ids = 40;
  config.hidden = 8;
  config.layers = 2;
  config.heads = 2;
  ClassifierObjective objective(model::make_model(config));
  const auto check = [&](double bias) {
    const torch::NoGradGuard no_grad;
    objective.model()->head->last()->bias.copy_(torch::tensor({-bias, bias}));
    const torch::Tensor raw = objective.raw_score(batch), score = objective.score(batch);
    check_close(score, objective.logits(batch, {}).softmax(1).select(1, 1).detach(), "score", 1e-7,
                0);
    for (int64_t g = 0; g < 8; ++g) {
      CHECK(objective.score_of(raw[g].item<double>()) ==
            Approx(score[g].item<double>()).margin(1e-6));
    }
    return raw;
  };
  objective.module().eval();
  const torch::Tensor raw = check(0);
  // 60 higher, every probability rounds to 1; the order and the gaps are still there.
  check_close(check(30) - 60, raw, "raw", 1e-4, 1e-4);
}

TEST_CASE("a classifier refuses graphs without labels", "[objective]") {
  auto graphs = random_small_graphs(3, 23);
  graphs[1].y = -1;
  const graph::GraphBatch batch = make_batch(graphs);
  ClassifierObjective classifier(model::make_model(model::GatConfig::student(20)));
  CHECK_THROWS_WITH(classifier.loss(batch, totals_of_batch(batch), {}),
                    Catch::Contains("graph 1007 has no label"));
}

TEST_CASE("a model refuses ids outside its vocabulary and other features", "[model]") {
  const graph::GraphBatch batch = make_batch(random_small_graphs(4, 24));
  ClassifierObjective classifier(model::make_model(model::GatConfig::student(4)));
  CHECK_THROWS_WITH(classifier.score(batch), Catch::Contains("the model knows 4"));
  model::GatConfig config = model::GatConfig::student(20);
  config.node_features = 12;
  ClassifierObjective wider(model::make_model(config));
  CHECK_THROWS_WITH(wider.score(batch), Catch::Contains("the model takes 12"));
}

/// A path that is removed again.
struct TemporaryFile {
  test::ScratchFolder folder;
  std::filesystem::path path = folder / "model.safetensors";
};

TEST_CASE("a saved model scores as before, from its frozen configuration", "[model_file]") {
  const TemporaryFile file;
  const graph::GraphBatch batch = make_batch(random_small_graphs(5, 25));
  AutoencoderObjective autoencoder(model::make_model(model::VgaeConfig::student(20)));
  autoencoder.loss(batch, totals_of_batch(batch), {}).backward();  // moves the running statistics
  model::save_model(file.path, autoencoder.module(),
                    {"vgae", autoencoder.model()->config(), {}, {}});
  CHECK(torch::equal(load_scorer(file.path, torch::kCPU)->score(batch), autoencoder.score(batch)));
  ClassifierObjective classifier(model::make_model(model::GatConfig::student(20)));
  model::save_model(file.path, classifier.module(), {"gat", classifier.model()->config(), {}, {}});
  CHECK(torch::equal(load_scorer(file.path, torch::kCPU)->score(batch), classifier.score(batch)));

  model::GatConfig config = model::GatConfig::student(20);
  config.conv = "gatv2";
  config.standardise = true;
  config.id_embedding = "hashed";
  ClassifierObjective second(model::make_model(config));
  second.model()->input->node_mean.uniform_();  // buffers are part of the file
  second.model()->input->edge_scale.uniform_();
  second.model()->input->bucket.fill_(5);
  model::save_model(file.path, second.module(), {"gat", config, {}, {}});
  const graph::GraphBatch edges = with_edge_features(make_batch(random_small_graphs(5, 25)), 11);
  const auto loaded = load_scorer(file.path, torch::kCPU);
  CHECK(loaded->with_edge_attr());
  CHECK(torch::equal(loaded->score(edges), second.score(edges)));
  CHECK_THROWS_WITH(loaded->score(batch), Catch::Contains("0 edge features, the model takes 11"));
}

TEST_CASE("a model whose weights were damaged is refused", "[model_file]") {
  const TemporaryFile file;
  const model::GatConfig config = model::GatConfig::student(20);
  model::save_model(file.path, *model::make_model(config), {"gat", config, {}, {}});
  {
    std::fstream damaged(file.path, std::ios::binary | std::ios::in | std::ios::out);
    damaged.seekp(-3, std::ios::end);
    damaged.put('\x55');
  }
  CHECK_THROWS_WITH(load_scorer(file.path, torch::kCPU),
                    Catch::Contains("differs from its hash") &&
                        Catch::Contains("hint: run the step that made it again"));
}

TEST_CASE("weights load strictly and name everything that is wrong", "[model_file]") {
  const TemporaryFile file;
  model::GatConfig config = model::GatConfig::student(20), other = config;
  other.embedding_dim = 9;
  other.fc_layers = 2;
  model::save_model(file.path, *model::make_model(other), {"gat", config, {}, {}});
  try {
    load_scorer(file.path, torch::kCPU);
    FAIL("accepted");
  } catch (const Error& error) {
    const std::string text = error.what();
    CHECK(error.code() == ExitCode::kData);
    CHECK_THAT(text, Catch::Contains("no tensor 'head.6.weight', which the model needs"));
    CHECK_THAT(text, Catch::Contains("'input.embedding.weight' is F32 [20,9], the model needs F32 "
                                     "[20,8]"));
    CHECK_THAT(text, Catch::Contains("'head.3.weight' is F32 [2,192]"));
  }
  config.fc_layers = 1;
  model::save_model(file.path, *model::make_model(model::GatConfig::student(20)),
                    {"gat", config, {}, {}});
  CHECK_THROWS_WITH(load_scorer(file.path, torch::kCPU),
                    Catch::Contains("'head.6.bias' is not part of the model"));
  model::save_model(file.path, *model::make_model(config), {"dqn", config, {}, {}});
  CHECK_THROWS_WITH(load_scorer(file.path, torch::kCPU), Catch::Contains("unknown model 'dqn'"));
}

TEST_CASE("configurations round-trip and name each wrong entry", "[config]") {
  for (const auto& config : {model::VgaeConfig::teacher(53), model::VgaeConfig::student(9)}) {
    CHECK(nlohmann::json(config).get<model::VgaeConfig>() == config);
  }
  for (const auto& config : {model::GatConfig::teacher(53), model::GatConfig::student(9)}) {
    CHECK(nlohmann::json(config).get<model::GatConfig>() == config);
  }
  model::GatConfig other = model::GatConfig::student(9);
  other.conv = "gatv2";
  other.norm = "graph";
  other.standardise = true;
  other.id_buckets = 31;
  CHECK(nlohmann::json(other).get<model::GatConfig>() == other);
  nlohmann::json first = model::GatConfig::student(9);
  for (const char* later : {"conv", "norm", "jk", "standardise", "id_embedding", "id_buckets",
                            "id_dropout", "edge_features"}) {
    CHECK(first.erase(later) == 1);
  }
  CHECK(first.get<model::GatConfig>() == model::GatConfig::student(9));
  nlohmann::json wrong = model::GatConfig::student(9);
  wrong["conv"] = "gnn";
  wrong["id_dropout"] = 2;
  wrong.erase("heads");
  wrong["dropout"] = 1;
  wrong["hiden"] = 3;
  CHECK_THROWS_WITH(
      wrong.get<model::GatConfig>(),
      Catch::Contains("heads is missing") && Catch::Contains("dropout is not in [0, 1)") &&
          Catch::Contains("conv cannot be \"gnn\"") && Catch::Contains("id_dropout cannot be 2") &&
          Catch::Contains("hiden is unknown"));
}

}  // namespace
}  // namespace kdgat::objective
