// Networks computed natively against LibTorch, on random graphs and in every form of the models.

#include <filesystem>

#include "support/graphs/batches.h"
#include "support/programs/command.h"
// The others need torch's macros gone.
#include "engine/model/model_file.h"
#include "engine/model/networks/gat.h"
#include "engine/model/networks/vgae.h"
#include "engine/native/networks.h"
#include "engine/objective/autoencoder_objective.h"
#include "engine/objective/classifier_objective.h"
#include "kdgat/error.h"

namespace kdgat::native {
namespace {

using test::at_every_isa;
using test::make_batch;
using test::random_small_graphs;

struct ModelPath {
  test::ScratchFolder folder;
  std::filesystem::path path = folder / "model.safetensors";
};

graph::GraphBatch random_batch(uint64_t seed) {
  graph::GraphBatch batch = make_batch(random_small_graphs(12, seed));
  const torch::Tensor edges = torch::rand({batch.edges, 11});
  batch.edge_features = 11;
  batch.edge_attr.resize(edges.numel());
  std::copy_n(edges.const_data_ptr<float>(), edges.numel(), batch.edge_attr.data());
  return batch;
}

/// Numbers as training leaves them, where a new model has zeros and ones.
void stir(torch::nn::Module& module) {
  const torch::NoGradGuard no_grad;
  for (auto& item : module.named_parameters()) {
    if (item.value().dim() == 1) item.value().uniform_(-0.5, 0.8);
  }
  for (auto& item : module.named_buffers()) {
    if (item.key().ends_with("running_mean") || item.key().ends_with("_mean")) {
      item.value().uniform_(-0.5, 0.5);
    }
    if (item.key().ends_with("running_var") || item.key().ends_with("_scale")) {
      item.value().uniform_(0.5, 2);
    }
  }
}

/// The largest difference of raw scores.
double difference(train::Objective& objective, const std::string& name,
                  const nlohmann::json& config) {
  const ModelPath file;
  model::save_model(file.path, objective.module(), {name, config, {}, {}});
  const auto opened = file::SafetensorsFile::open(file.path);
  const auto network = load_network(opened, model::load_header(opened));
  CHECK(network->with_edge_attr() == objective.with_edge_attr());
  double worst = 0;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    const graph::GraphBatch batch = random_batch(seed);
    const torch::Tensor wanted = objective.raw_score(batch);
    std::vector<float> said(static_cast<std::size_t>(batch.graphs));
    network->raw_scores(batch, said);
    for (int64_t g = 0; g < batch.graphs; ++g) {
      const double raw = said[static_cast<std::size_t>(g)];
      worst = std::max(worst, std::abs(raw - wanted[g].item<double>()));
      CHECK(network->score_of(raw) == Approx(objective.score_of(raw)));
    }
  }
  return worst;
}

TEST_CASE("a classifier of any form scores natively as with LibTorch", "[native]") {
  at_every_isa([] {
    for (const char* conv : {"gat", "gatv2"}) {
      for (const char* norm : {"none", "graph"}) {
        for (const char* jk : {"cat", "lstm"}) {
          for (const char* ids : {"table", "hashed"}) {
            torch::manual_seed(3);
            model::GatConfig config = model::GatConfig::student(20);
            config.conv = conv;
            config.norm = norm;
            config.jk = jk;
            config.id_embedding = ids;
            config.standardise = std::string(ids) == "hashed";
            INFO(conv << " " << norm << " " << jk << " " << ids);
            objective::ClassifierObjective classifier(model::make_model(config));
            stir(classifier.module());
            CHECK(difference(classifier, "gat", config) < 1e-5);
          }
        }
      }
    }
  });
}

TEST_CASE("sums over neighbours, pools and nodes without ids score natively as with LibTorch",
          "[native]") {
  at_every_isa([] {
    for (const char* conv : {"gin", "none", "gat"}) {
      for (const char* norm : {"none", "graph", "batch"}) {
        for (const char* pooling : {"mean", "sum", "max"}) {
          for (const bool has_ids : {true, false}) {
            torch::manual_seed(6);
            model::GatConfig config = model::GatConfig::student(20);
            config.conv = conv;
            config.norm = norm;
            config.pooling = pooling;
            config.has_ids = has_ids;
            config.hidden = 9;  // no whole vector of any instruction set
            config.standardise = !has_ids;
            INFO(conv << " " << norm << " " << pooling << " " << has_ids);
            objective::ClassifierObjective classifier(model::make_model(config));
            stir(classifier.module());
            CHECK(difference(classifier, "gat", config) < 2e-5);
          }
        }
      }
    }
  });
}

TEST_CASE("an autoencoder of any form scores natively as with LibTorch", "[native]") {
  at_every_isa([] {
    for (const char* norm : {"batch", "graph"}) {
      for (const bool standardise : {false, true}) {
        torch::manual_seed(4);
        model::VgaeConfig config = model::VgaeConfig::student(20);
        config.norm = norm;
        config.standardise = standardise;
        INFO(norm << " " << standardise);
        objective::AutoencoderObjective autoencoder(model::make_model(config));
        stir(autoencoder.module());
        CHECK(difference(autoencoder, "vgae", config) < 1e-5);
      }
    }
  });
}

TEST_CASE("teachers' sizes are computed natively as well", "[native]") {
  torch::manual_seed(5);
  const model::GatConfig gat = model::GatConfig::teacher(20);
  objective::ClassifierObjective classifier(model::make_model(gat));
  CHECK(difference(classifier, "gat", gat) < 1e-5);
  const model::VgaeConfig vgae = model::VgaeConfig::teacher(20);
  objective::AutoencoderObjective autoencoder(model::make_model(vgae));
  CHECK(difference(autoencoder, "vgae", vgae) < 1e-5);
}

TEST_CASE("a model file with a tensor too many, too few or not finite is refused", "[native]") {
  const ModelPath file;
  const model::GatConfig config = model::GatConfig::student(20);
  const auto load = [&] {
    const auto opened = file::SafetensorsFile::open(file.path);
    load_network(opened, model::load_header(opened));
  };
  model::GraphClassifier whole = model::make_model(config);
  model::GatConfig larger = config;
  larger.layers = 3;
  model::save_model(file.path, *whole, {"gat", larger, {}, {}});
  CHECK_THROWS_WITH(load(), Catch::Contains("convs.2"));
  model::GatConfig smaller = config;
  smaller.fc_layers = 2;
  model::save_model(file.path, *whole, {"gat", smaller, {}, {}});
  CHECK_THROWS_AS(load(), Error);
  {
    const torch::NoGradGuard no_grad;
    whole->convs->at<model::GatConvImpl>(0).bias[0] = std::numeric_limits<float>::quiet_NaN();
  }
  model::save_model(file.path, *whole, {"gat", config, {}, {}});
  CHECK_THROWS_WITH(load(), Catch::Contains("not finite"));
  model::save_model(file.path, *whole, {"fusion", nlohmann::json::object(), {}, {}});
  CHECK_THROWS_WITH(load(), Catch::Contains("fusion"));
  model::VgaeConfig vgae = model::VgaeConfig::student(20);
  vgae.readout = "mean_and_max";
  model::save_model(file.path, *model::make_model(vgae), {"vgae", vgae, {}, {}});
  CHECK_THROWS_WITH(load(), Catch::Contains("readout mean_and_max"));
}

}  // namespace
}  // namespace kdgat::native
