#include "fusion/fusion.h"

#include <cmath>
#include <fstream>

#include "support/graphs/batches.h"
#include "support/runs/stage_fixture.h"
// The others need torch's macros gone.
#include "autoencoder/autoencoder.h"
#include "classifier/classifier.h"
#include "engine/model/model_file.h"
#include "engine/objective/fusion_scorer.h"
#include "engine/objective/fusion_state.h"
#include "engine/objective/load_scorer.h"
#include "evaluate/evaluate.h"
#include "fusion/learners.h"
#include "fusion/lin_ucb.h"
#include "fusion/reward.h"

namespace kdgat::fusion {
namespace {

constexpr model::FusionState kState(/*has_ids=*/true);
using nlohmann::json;
using test::check_close;
using test::make_batch;

/// The 15 numbers of one graph, as the published text says them, from dense logits.
torch::Tensor plain_state(objective::AutoencoderObjective& autoencoder,
                          objective::ClassifierObjective& classifier,
                          const graph::GraphBatch& one) {
  const kernels::BatchTensors batch = kernels::to_tensors(one, torch::kCPU);
  auto& vgae = autoencoder.model();
  const model::VgaeOutput out = vgae->forward(batch);
  const torch::Tensor& z = out.z_NL;
  torch::Tensor target = torch::zeros({batch.nodes, vgae->config().num_ids});
  for (int64_t n = 0; n < batch.nodes; ++n) {
    for (int32_t e = one.in_ptr[n]; e < one.in_ptr[n + 1]; ++e) {
      target[one.in_source[e]][static_cast<int64_t>(one.x[n * 11])] = 1;
    }
  }
  const torch::Tensor mse = torch::mse_loss(out.features_NX, batch.x_NF.slice(1, 1));
  const torch::Tensor bce = torch::binary_cross_entropy_with_logits(
      vgae->neighbours->last()->forward(vgae->neighbour_hidden(z, batch)), target);
  const torch::Tensor ce =
      torch::cross_entropy_loss(vgae->ids->forward(z), batch.id_N.to(torch::kLong));
  const torch::Tensor pooled = classifier.model()->pooled(batch).squeeze(0);
  const torch::Tensor p = classifier.logits(one, {}).softmax(1).squeeze(0);
  const torch::Tensor entropy = -(p * p.log()).sum();
  return torch::stack({mse, bce, ce, z.mean(), z.std(), z.max(), z.min(), 1 / (1 + mse), p[0], p[1],
                       pooled.mean(), pooled.std(), pooled.max(), pooled.min(),
                       (1 - entropy / std::log(2.0)).clamp(0, 1)});
}

/// Windows of two kinds, told apart by the mean of z: in one the classifier knows the label and the
/// autoencoder is off by chance, in the other the reverse.
States toy(int64_t windows, int64_t seed) {
  torch::manual_seed(static_cast<uint64_t>(seed));
  const torch::Tensor y = torch::randint(0, 2, {windows}, torch::kLong),
                      kind = torch::randint(0, 2, {windows}, torch::kLong);
  const torch::Tensor noise = torch::randint(0, 2, {windows}, torch::kLong);
  const auto level = [&](const torch::Tensor& hint) {
    return 0.1 + 0.8 * hint.to(torch::kFloat) + 0.05 * torch::rand({windows});
  };
  const torch::Tensor p1 = level(torch::where(kind.eq(0), y, noise));
  const torch::Tensor error = level(torch::where(kind.eq(0), noise, y));
  torch::Tensor x = torch::rand({windows, kState.size()});
  for (int64_t i = 0; i < 3; ++i) x.select(1, i).copy_(0.02 * error);
  x.select(1, kState.latent()).copy_(kind.to(torch::kFloat) + 0.1 * torch::randn({windows}));
  x.select(1, kState.probabilities()).copy_(1 - p1);
  x.select(1, kState.attack()).copy_(p1);
  return {x, y};
}

double accuracy(const torch::Tensor& score, const torch::Tensor& y) {
  return score.gt(0.5).eq(y.eq(1)).to(torch::kDouble).mean().item<double>();
}

FusionOptions toy_options(const std::string& method) {
  FusionOptions o;
  o.method = method;
  o.dqn_hidden = 32;
  o.dqn_layers = 2;
  o.mlp_hidden = 32;
  o.alpha_steps = 5;
  o.fusion_lr = 0.003;
  return o;
}

model::FusionNet toy_net(const FusionOptions& o, const States& states) {
  model::FusionConfig config;
  config.method = o.method;
  config.hidden = o.dqn_hidden;
  config.layers = 2;
  config.alpha_steps = o.alpha_steps;
  torch::manual_seed(1);
  model::FusionNet net = model::make_model(config);
  // The errors of benign windows reach 0.019 where chance says so: half of that is usual.
  net->set_scale(states.x_GS, torch::full({1, kState.size()}, 0.0095F), 0.95);
  return net;
}

/// A data set with a trained autoencoder and classifier.
struct Trained : test::StageFixture {
  Trained() {
    classifier::ClassifierOptions c = test::small_classifier();
    c.max_epochs = 8;
    classifier::Classifier::run(c, request("classifier"), fake.host);
    autoencoder::Autoencoder::run(test::small_autoencoder(), request("autoencoder"), fake.host);
  }

  Request fusion_request(const std::string& step = "fusion") const {
    Request r = request(step);
    r.inputs["autoencoder"] = {{"autoencoder", "autoencoder", folder / "autoencoder", {}}};
    r.inputs["classifier"] = {{"classifier", "classifier", folder / "classifier", {}}};
    return r;
  }
};

FusionOptions short_options(const std::string& method) {
  FusionOptions o = toy_options(method);
  o.fusion_episodes = 12;
  o.validate_every = 4;
  o.bandit_retrain = 4;
  return o;
}

std::string hash_of(const std::filesystem::path& file) {
  const std::string bytes = objective::bytes_of(file);
  return file::hash_bytes(bytes.data(), bytes.size());
}

}  // namespace

TEST_CASE("states of a batch equal those of its graphs, computed plainly", "[fusion]") {
  torch::manual_seed(3);
  objective::AutoencoderObjective autoencoder(model::make_model(model::VgaeConfig::student(20)));
  objective::ClassifierObjective classifier(model::make_model(model::GatConfig::student(20)));
  const auto graphs = test::random_small_graphs(9, 5);
  const torch::Tensor states =
      objective::fusion_states(autoencoder, classifier, make_batch(graphs));
  CHECK(autoencoder.module().is_training());
  const torch::NoGradGuard no_grad;
  autoencoder.module().eval();
  classifier.module().eval();
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    check_close(states[static_cast<int64_t>(g)],
                plain_state(autoencoder, classifier, make_batch({graphs[g]})),
                "graph " + std::to_string(g));
  }
}

TEST_CASE("the net of dqn has the published sizes", "[fusion]") {
  Request request;
  request.inputs["graphs"] = {{"data", "graphs", "", {{"num_ids", 2049}}}};
  FusionOptions o;
  o.method = "dqn";
  CHECK(Fusion::plan(o, request).at("parameters") == 689493);
  o.dqn_hidden = 160;
  o.dqn_layers = 2;
  CHECK(Fusion::plan(o, request).at("parameters") == 32341);
  o.method = "weighted";
  CHECK(Fusion::plan(o, request).at("parameters") == 0);
  request.inputs["graphs"] = {{"data", "graphs", "", json::object()}};
  CHECK(Fusion::plan(o, request).empty());
}

TEST_CASE("updates of the inverses equal inverting the sums", "[fusion]") {
  torch::manual_seed(4);
  const torch::Tensor phi = torch::randn({300, 6}), reward = torch::randn({300});
  const torch::Tensor arm = torch::randint(0, 3, {300}, torch::kLong);
  LinUcb bandit(4, 6, 0.5);
  bandit.update(phi.slice(0, 0, 7), arm.slice(0, 0, 7), reward.slice(0, 0, 7));
  bandit.update(phi.slice(0, 7), arm.slice(0, 7), reward.slice(0, 7));
  torch::Tensor widths = torch::zeros({4, 300}), values = torch::zeros({4, 300});
  for (int64_t k = 0; k < 4; ++k) {
    const torch::Tensor mine = arm.eq(k);
    const torch::Tensor own = phi.index({mine}).to(torch::kDouble);
    const torch::Tensor inverse =
        (0.5 * torch::eye(6, torch::kDouble) + own.t().matmul(own)).inverse();
    const torch::Tensor theta =
        inverse.matmul(own.t().matmul(reward.index({mine}).to(torch::kDouble)));
    check_close(bandit.theta()[k], theta, "theta", 1e-6, 1e-6);
    const torch::Tensor all = phi.to(torch::kDouble);
    values[k] = all.matmul(theta).to(torch::kFloat);
    widths[k] = all.matmul(inverse).mul(all).sum(1).sqrt().to(torch::kFloat);
  }
  CHECK(bandit.choose(phi, 0).equal(values.argmax(0)));
  CHECK(bandit.choose(phi, 2).equal((values + 2 * widths).argmax(0)));
}

TEST_CASE("the reward is the published one", "[fusion]") {
  const States states = toy(64, 6);
  const FusionOptions o = toy_options("dqn");
  const model::FusionNet net = toy_net(o, states);
  const torch::Tensor alpha = torch::rand({64});
  const torch::Tensor got = reward(net, states.x_GS, states.y_G, alpha);
  for (int64_t g = 0; g < 64; ++g) {
    const auto at = [&](int64_t i) { return states.x_GS[g][i].item<double>(); };
    const double a =
        std::clamp((0.4 * at(0) + 0.35 * at(1) + 0.25 * at(2)) / (2 * 0.0095), 0.0, 1.0);
    const double p1 = at(9), w = alpha[g].item<double>(), score = (1 - w) * a + w * p1;
    const bool attack = states.y_G[g].item<int64_t>() == 1, flagged = score > 0.5;
    double wanted = 0.3 * (1 - 2 * std::abs(w - 0.5));
    if (attack == flagged) {
      const double either = std::max(a, p1);
      wanted += 3 + (1 - std::abs(a - p1)) + 0.5 * (attack ? either : 1 - either) +
                0.3 * std::max(at(7), at(14));
    } else {
      wanted += -3 - std::abs(a - p1) - 1.5 * (flagged ? score : 1 - score);
    }
    CHECK(got[g].item<double>() == Approx(wanted).margin(1e-5));
  }
}

TEST_CASE("each method that learns finds out whom to trust", "[fusion]") {
  const States train = toy(1500, 7), val = toy(1000, 8);
  for (const std::string method : {"mlp", "dqn", "bandit"}) {
    INFO(method);
    FusionOptions o = toy_options(method);
    o.bandit_retrain = 10;
    const auto learn = [&] {
      model::FusionNet net = toy_net(o, train);
      const auto learner = make_learner(o, net, train, 9);
      for (int e = 0; e < 60; ++e) learner->episode(torch::arange(1500));
      const torch::NoGradGuard no_grad;
      return std::pair{net->score(val.x_GS), net->anomaly(val.x_GS)};
    };
    const auto [score, anomaly] = learn();
    const double alone =
        std::max(accuracy(anomaly, val.y_G), accuracy(val.x_GS.select(1, 9), val.y_G));
    CHECK(alone < 0.9);
    CHECK(accuracy(score, val.y_G) > 0.95);
    CHECK(learn().first.equal(score));  // by the seed alone
  }
}

TEST_CASE("a fusion decides alike in training, from its file and when evaluated", "[fusion]") {
  Trained f;
  for (const std::string method : {"mlp", "dqn", "bandit", "weighted"}) {
    INFO(method);
    const FusionOptions o = short_options(method);
    const json made = Fusion::run(o, f.fusion_request(), f.fake.host);
    Request request = f.request("evaluate");
    request.inputs["models"] = {{"fusion", "model", f.folder / "fusion", {}}};
    const json core =
        evaluate::Evaluate::run({}, request, f.fake.host).at("metrics").at("fusion").at("core");
    CHECK(core.at("threshold") == 0.5);
    for (const char* name : {"accuracy", "f1", "auc"}) {
      INFO(name);
      CHECK(core.at(name).get<double>() ==
            Approx(made.at("metrics").at(std::string("val_") + name).get<double>()));
    }
    const auto scorer =
        objective::load_scorer(f.folder / "fusion" / "model.safetensors", torch::kCPU);
    const auto file =
        file::SafetensorsFile::open(f.folder / "evaluate" / "predictions.safetensors");
    const graph::GraphStore store =
        graph::GraphStore::open(f.folder / "data" / "graphs.safetensors");
    graph::GraphBatch batch;
    graph::gather(store, file.require<int64_t>("fusion/val/graph", {40}), false, batch);
    check_close(scorer->score(batch), test::tensor_of(file, "fusion/val/score"), "score", 1e-6, 0);
    CHECK(test::tensor_of(file, "fusion/val/prediction")
              .equal(test::tensor_of(file, "fusion/val/score").gt(0.5).to(torch::kLong)));

    const std::string before = hash_of(f.folder / "fusion" / "model.safetensors");
    Fusion::run(o, f.fusion_request("again"), f.fake.host);
    CHECK(hash_of(f.folder / "again" / "model.safetensors") == before);
  }
}

TEST_CASE("a fusion refuses models that are not its own", "[fusion]") {
  Trained f;
  const FusionOptions o = short_options("weighted");
  Request swapped = f.fusion_request();
  std::swap(swapped.inputs["autoencoder"], swapped.inputs["classifier"]);
  CHECK_THROWS_WITH(Fusion::run(o, swapped, f.fake.host), Catch::Contains("not an autoencoder"));

  Fusion::run(o, f.fusion_request(), f.fake.host);
  const std::filesystem::path model = f.folder / "fusion" / "model.safetensors";
  const std::filesystem::path part = f.folder / "fusion" / objective::kFusionClassifier;
  // A whole, sound classifier, but another one.
  Request other = f.request("other");
  other.seed = 1;
  classifier::Classifier::run(test::small_classifier(), other, f.fake.host);
  std::filesystem::copy_file(f.folder / "other" / "model.safetensors", part,
                             std::filesystem::copy_options::overwrite_existing);
  CHECK_THROWS_WITH(objective::load_scorer(model, torch::kCPU),
                    Catch::Contains("not the model that the fusion was made with"));
  std::filesystem::remove(part);
  CHECK_THROWS_WITH(objective::load_scorer(model, torch::kCPU),
                    Catch::Contains("cannot read") && Catch::Contains("classifier.safetensors"));

  file::SafetensorsFile file =
      file::SafetensorsFile::open(f.folder / "classifier" / "model.safetensors");
  model::ModelHeader header = model::load_header(file);
  header.data["vocabulary"].push_back(0x1000);
  model::GraphClassifier net = model::make_model(header.config.get<model::GatConfig>());
  model::load_weights(*net, file);
  model::save_model(f.folder / "other" / "model.safetensors", *net, header);
  Request foreign = f.fusion_request();
  foreign.inputs["classifier"][0].path = f.folder / "other";
  CHECK_THROWS_WITH(Fusion::run(o, foreign, f.fake.host), Catch::Contains("other vocabulary"));
}

}  // namespace kdgat::fusion
