// Model files whose hashes agree and that lie: what they say is bounded by what they hold.
#include <cmath>

#include "support/catch_torch.h"
// The others need torch's macros gone.
#include "engine/model/model_file.h"
#include "engine/objective/autoencoder_objective.h"
#include "engine/objective/classifier_objective.h"
#include "engine/objective/load_scorer.h"
#include "kdgat/error.h"
#include "support/programs/command.h"

namespace kdgat::objective {
namespace {

TEST_CASE("a configuration of a model that the file cannot hold is refused before it is built",
          "[model_file]") {
  const test::ScratchFolder folder;
  const std::filesystem::path path = folder / "model.safetensors";
  const auto refused = [&](const nlohmann::json& config, const torch::nn::Module& module,
                           const char* name) {
    model::save_model(path, module, {name, config, {}, {}});
    try {
      load_scorer(path, torch::kCPU);
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::kData);
      CHECK_THAT(error.what(), Catch::StartsWith(path.string() + ": its configuration is of"));
      return true;
    }
    return false;
  };
  const nlohmann::json gat = model::GatConfig::student(20), vgae = model::VgaeConfig::student(20);
  const auto with = [](nlohmann::json config, const char* key, const nlohmann::json& value) {
    config[key] = value;
    return config;
  };
  const auto classifier = model::make_model(model::GatConfig::student(20));
  const auto autoencoder = model::make_model(model::VgaeConfig::student(20));
  CHECK_FALSE(refused(gat, *classifier, "gat"));
  CHECK_FALSE(refused(vgae, *autoencoder, "vgae"));
  for (const char* key :
       {"fc_layers", "layers", "hidden", "heads", "embedding_dim", "num_ids", "node_features"}) {
    INFO(key);
    CHECK(refused(with(gat, key, 1 << 30), *classifier, "gat"));
  }
  CHECK(refused(with(gat, "fc_layers", 100'000), *classifier, "gat"));
  for (const char* key : {"latent_dim", "heads", "embedding_dim", "num_ids", "node_features"}) {
    INFO(key);
    CHECK(refused(with(vgae, key, (1 << 30) + 1), *autoencoder, "vgae"));
  }
  CHECK(refused(with(vgae, "hidden_dims", {1 << 30, 1 << 30}), *autoencoder, "vgae"));
  CHECK(refused(with(vgae, "hidden_dims", std::vector<int>(100'000, 1)), *autoencoder, "vgae"));
}

TEST_CASE("what a configuration needs at least is near to what its model has", "[model_file]") {
  const auto check = [](const auto& config) {
    const auto net = model::make_model(config);
    double numbers = 0, tensors = 0;
    for (const auto& list : {net->parameters(), net->buffers()}) {
      for (const torch::Tensor& tensor : list) {
        numbers += static_cast<double>(tensor.numel());
        ++tensors;
      }
    }
    INFO(nlohmann::json(config).dump());
    CHECK(config.least_size().numbers <= numbers);
    CHECK(config.least_size().numbers > 0.8 * numbers);
    CHECK(config.least_size().tensors <= tensors);
  };
  for (const char* embedding : {"table", "unknown", "hashed"}) {
    for (model::VgaeConfig config :
         {model::VgaeConfig::teacher(53), model::VgaeConfig::student(9)}) {
      config.id_embedding = embedding;
      check(config);
      config.heads = 3;  // divides no width: each head is as wide
      check(config);
      config.has_ids = false;
      config.num_ids = 1;
      check(config);
    }
    for (model::GatConfig config : {model::GatConfig::teacher(53), model::GatConfig::student(9)}) {
      config.id_embedding = embedding;
      check(config);
      for (const std::string& conv : model::conv_names()) {
        config.conv = conv;
        check(config);
      }
      config.conv = "gatv2";
      config.jk = "lstm";
      check(config);
    }
  }
}

TEST_CASE("weights and thresholds that are no numbers are refused", "[model_file]") {
  const test::ScratchFolder folder;
  const std::filesystem::path path = folder / "model.safetensors";
  const model::GatConfig config = model::GatConfig::student(20);
  for (const double wrong : {std::nan(""), static_cast<double>(INFINITY)}) {
    const auto net = model::make_model(config);
    const torch::NoGradGuard no_grad;
    net->input->embedding->weight[3][2] = wrong;
    model::save_model(path, *net, {"gat", config, {}, {}});
    CHECK_THROWS_WITH(load_scorer(path, torch::kCPU),
                      Catch::StartsWith(path.string() + ": tensor 'input.embedding.weight' "
                                                        "holds a number that is not finite"));
  }
  const auto header_with = [&](const nlohmann::json& decision) {
    model::save_model(path, *model::make_model(config), {"gat", config, {}, decision});
    return model::load_header(file::SafetensorsFile::open(path));
  };
  CHECK(model::decision_of(header_with({{"threshold", 0.25}}))->threshold == 0.25);
  for (const nlohmann::json& wrong : {nlohmann::json("high"), nlohmann::json(),
                                      nlohmann::json::array({1}), nlohmann::json(INFINITY)}) {
    CHECK_THROWS_WITH(header_with({{"threshold", wrong}}), Catch::Contains("threshold"));
  }
  CHECK_THROWS_WITH(header_with({{"threshold", 1}, {"from", 2}}), Catch::Contains("threshold"));
}

TEST_CASE("a header that is nested without end is refused", "[model_file]") {
  const test::ScratchFolder folder;
  const std::filesystem::path path = folder / "model.safetensors";
  const std::string deep = "{\"a\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  for (const char* key : {"config", "data", "decision"}) {
    file::SafetensorsWriter writer;
    for (const auto& [name, value] : {std::pair("model", "gat"), std::pair("config", "{}")}) {
      writer.metadata(name, value);
    }
    writer.metadata(key, deep);
    writer.write(path, true);
    CHECK_THROWS_WITH(
        model::load_header(file::SafetensorsFile::open(path)),
        Catch::Contains("malformed metadata '" + std::string(key) + "': JSON nested"));
  }
}

}  // namespace
}  // namespace kdgat::objective
