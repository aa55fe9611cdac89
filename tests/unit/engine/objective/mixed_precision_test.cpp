// Objectives whose losses are computed under Autocast: near those of 32 bits, with gradients in 32.
#include <cmath>

#include "support/graphs/batches.h"
// The others need torch's macros gone.
#include "engine/model/model_file.h"
#include "engine/objective/distillation.h"
#include "engine/train/precision.h"
#include "support/programs/command.h"

namespace kdgat::objective {
namespace {

using nlohmann::json;
using test::make_batch;
using test::random_small_graphs;
using test::ScratchFolder;
using train::Autocast;

const json kMixedLayout = {{"node_features", {"id", "byte"}}, {"vocabulary", {1, 2, 3}}};

/// Without a graph of one node, which is its own mean: whether ReLU lets that zero through a graph
/// norm is a matter of rounding.
graph::GraphBatch batch_with_edges() {
  auto graphs = random_small_graphs(25, 41);
  graphs.erase(graphs.begin());
  graph::GraphBatch out = make_batch(graphs);
  out.edge_features = 11;
  out.edge_attr.resize(out.edges * 11);
  for (int64_t i = 0; i < out.edge_attr.size(); ++i) {
    out.edge_attr[i] = static_cast<float>(std::sin(static_cast<double>(i)));
  }
  return out;
}

std::vector<torch::Tensor> gradients(train::Objective& objective, const graph::GraphBatch& batch,
                                     const std::string& precision, double& loss) {
  objective.module().zero_grad();
  torch::Tensor value;
  {
    const Autocast autocast(precision, torch::kCPU);
    value = objective.loss(batch, {batch.graphs, batch.nodes, batch.edges}, {7, 3});
  }
  CHECK(value.scalar_type() == torch::kFloat);
  loss = value.item<double>();
  const double scale = precision == "16-mixed" ? 65536 : 1;
  (value * scale).backward();
  std::vector<torch::Tensor> out;
  for (const auto& p : objective.module().parameters()) {
    REQUIRE(p.grad().defined());
    CHECK(p.grad().scalar_type() == torch::kFloat);
    out.push_back(p.grad().to(torch::kDouble) / scale);
  }
  return out;
}

double norm_of(const std::vector<torch::Tensor>& tensors) {
  double sum = 0;
  for (const torch::Tensor& t : tensors) sum += t.square().sum().item<double>();
  return std::sqrt(sum);
}

/// A unit in the last place is 2^-8 of bf16 and 2^-11 of fp16. More is allowed, as activations near
/// zero change sign.
void check_near_32_bits(train::Objective& objective) {
  const graph::GraphBatch batch = batch_with_edges();
  double expected_loss = 0;
  const std::vector<torch::Tensor> expected = gradients(objective, batch, "32", expected_loss);
  const double all = norm_of(expected);
  for (const auto& [precision, tolerance] :
       {std::pair<std::string, double>{"bf16-mixed", 0.03}, {"16-mixed", 0.01}}) {
    double loss = 0;
    const std::vector<torch::Tensor> grads = gradients(objective, batch, precision, loss);
    INFO(precision);
    CHECK(loss == Approx(expected_loss).epsilon(tolerance));
    double differ = 0;
    for (std::size_t i = 0; i < grads.size(); ++i) {
      INFO(objective.module().named_parameters()[i].key());
      const double gap = (grads[i] - expected[i]).norm().item<double>();
      CHECK(gap <= 2 * tolerance * expected[i].norm().item<double>() + tolerance * all);
      differ += gap;
    }
    CHECK(differ > 0);  // it was not 32 bits twice
  }
}

model::VgaeConfig student_vgae() {
  model::VgaeConfig config = model::VgaeConfig::student(20);
  config.dropout = 0.1;
  return config;
}

TEST_CASE("gradients of an autoencoder in mixed precision are near those of 32 bits",
          "[objective][precision]") {
  torch::manual_seed(11);
  for (const char* norm : {"batch", "graph"}) {
    INFO(norm);
    model::VgaeConfig config = student_vgae();
    config.norm = norm;
    AutoencoderObjective objective(model::make_model(config));
    check_near_32_bits(objective);
    objective.model()->checkpointing = true;
    check_near_32_bits(objective);
  }
}

TEST_CASE("gradients of a classifier in mixed precision are near those of 32 bits",
          "[objective][precision]") {
  torch::manual_seed(12);
  struct Form {
    std::string conv, norm, jk, loss;
  };
  for (const Form& form :
       {Form{"gat", "none", "cat", "cross_entropy"}, Form{"gatv2", "graph", "cat", "cross_entropy"},
        Form{"gat", "graph", "lstm", "focal"}, Form{"gcn", "none", "cat", "cross_entropy"},
        Form{"sage", "graph", "cat", "cross_entropy"}, Form{"gine", "none", "cat", "cross_entropy"},
        Form{"pna", "graph", "cat", "cross_entropy"},
        Form{"transformer", "none", "cat", "cross_entropy"}}) {
    INFO(form.conv << " " << form.norm << " " << form.jk << " " << form.loss);
    model::GatConfig config = model::GatConfig::student(20);
    config.conv = form.conv;
    config.norm = form.norm;
    config.jk = form.jk;
    ClassifierObjective objective(model::make_model(config));
    if (form.loss == "focal") objective.criterion = {"focal", 2, 0.25};
    check_near_32_bits(objective);
    objective.model()->checkpointing = true;
    check_near_32_bits(objective);
  }
}

/// A teacher saved and loaded again.
template <class Config>
std::unique_ptr<Teacher> teacher_of(const ScratchFolder& scratch, const char* kind,
                                    const Config& config) {
  const auto file = scratch / (std::string(kind) + ".safetensors");
  model::save_model(file, *model::make_model(config), {kind, config, kMixedLayout, {}});
  return std::make_unique<ModelTeacher>(file, kind, kMixedLayout);
}

model::VgaeConfig mixed_teacher() {
  model::VgaeConfig config = model::VgaeConfig::teacher(20);
  config.hidden_dims = {48, 24};
  config.latent_dim = 24;
  return config;
}

TEST_CASE("gradients of distillation in mixed precision are near those of 32 bits",
          "[objective][precision][distillation]") {
  const ScratchFolder scratch;
  torch::manual_seed(13);
  ClassifierDistillation classifier(model::make_model(model::GatConfig::student(20)),
                                    teacher_of(scratch, "gat", model::GatConfig::student(20)));
  check_near_32_bits(classifier);
  AutoencoderDistillation autoencoder(model::make_model(student_vgae()),
                                      teacher_of(scratch, "vgae", mixed_teacher()));
  REQUIRE(autoencoder.projection);
  check_near_32_bits(autoencoder);
}

TEST_CASE("a teacher that runs in a mixed step says what its cache would",
          "[precision][distillation]") {
  const ScratchFolder scratch;
  const graph::GraphBatch batch = make_batch(random_small_graphs(6, 42));
  const auto check = [&](Teacher& teacher) {
    const std::vector<torch::Tensor> expected = teacher.outputs(batch);
    const Autocast autocast("bf16-mixed", torch::kCPU);
    const std::vector<torch::Tensor> outputs = teacher.outputs(batch);
    for (std::size_t i = 0; i < outputs.size(); ++i) CHECK(torch::equal(outputs[i], expected[i]));
  };
  check(*teacher_of(scratch, "gat", model::GatConfig::student(20)));
  check(*teacher_of(scratch, "vgae", mixed_teacher()));
}

}  // namespace
}  // namespace kdgat::objective
