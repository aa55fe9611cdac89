#include <algorithm>
#include <cmath>
#include <vector>

#include "support/graphs/batches.h"
#include "support/graphs/gradients.h"
// The others need torch's macros gone.
#include "engine/kernels/gin.h"
#include "engine/kernels/sums.h"
#include "engine/model/layers/gin_conv.h"
#include "engine/model/layers/layers.h"
#include "engine/model/networks/gat.h"

namespace kdgat::model {
namespace {

using test::check_close;
using test::check_gradients;

/// As written down: the rows of all neighbours of a node but itself.
at::Tensor summed_by_hand(const at::Tensor& x, const graph::GraphBatch& batch) {
  at::Tensor out = at::zeros_like(x);
  for (int64_t i = 0; i < batch.nodes; ++i) {
    for (int32_t e = batch.in_ptr[i]; e < batch.in_ptr[i + 1]; ++e) {
      if (batch.in_source[e] != i) out[i] += x[batch.in_source[e]];
    }
  }
  return out;
}

GatConfig gin_config() {
  GatConfig out = GatConfig::student(20);
  out.conv = "gin";
  out.hidden = 7;
  out.layers = 2;
  out.dropout = 0;
  return out;
}

TEST_CASE("sums over neighbours are those of a loop, in both forms, with their gradients",
          "[gin]") {
  torch::manual_seed(3);
  const graph::GraphBatch packed = test::few_nodes(6, 6);
  const kernels::BatchTensors batch = kernels::to_tensors(packed, torch::kCPU);
  for (const kernels::SumKernels* kernels :
       {&kernels::SumKernels::cpu(), &kernels::SumKernels::plain()}) {
    const at::Tensor x = torch::randn({packed.nodes, 5}, torch::kDouble);
    check_close(kernels->neighbours(x, batch), summed_by_hand(x, packed), "sum", 1e-12, 1e-12);
    const at::Tensor single = x.to(torch::kFloat);
    check_close(kernels->neighbours(single, batch), summed_by_hand(single, packed), "float");
    check_gradients(
        {x}, [&](const std::vector<at::Tensor>& in) { return kernels->neighbours(in[0], batch); });
  }
}

TEST_CASE("a gin layer is the perceptron of a node and its neighbours' sum", "[gin]") {
  torch::manual_seed(4);
  const graph::GraphBatch packed = test::few_nodes(6, 6);
  const kernels::BatchTensors batch = kernels::to_tensors(packed, torch::kCPU);
  for (const char* norm : {"none", "graph"}) {
    INFO(norm);
    GinConv conv(5, 4, true, norm);
    conv->to(torch::kDouble);
    conv->eps.data().fill_(0.3);
    const at::Tensor x = torch::randn({packed.nodes, 5}, torch::kDouble);
    if (std::string(norm) == "none") {
      const at::Tensor sum = 1.3 * x + summed_by_hand(x, packed);
      const at::Tensor wanted = conv->lin_2->forward(conv->lin_1->forward(sum).relu());
      check_close(conv->forward(x, batch), wanted, "by hand", 1e-12, 1e-12);
    }
    check_gradients({x, conv->eps, conv->lin_1->weight, conv->lin_2->bias},
                    [&](const std::vector<at::Tensor>& in) { return conv->forward(in[0], batch); });
  }
}

/// A layer with both of its norms, of random weights.
struct WholeLayer {
  WholeLayer(int64_t inputs, int64_t width, bool has_messages, at::ScalarType type)
      : conv(inputs, width, has_messages, "batch"), outer(width) {
    conv->to(type);
    outer->to(type);
    const at::NoGradGuard no_grad;
    if (has_messages) conv->eps.fill_(0.3);
    for (torch::nn::BatchNorm1d norm : {conv->batch_norm, outer}) {
      norm->weight.uniform_(0.5, 1.5);
      norm->bias.uniform_(-0.3, 0.3);
      norm->running_mean.uniform_(-0.5, 0.5);
      norm->running_var.uniform_(0.5, 1.5);
    }
  }
  at::Tensor by(const kernels::GinKernels& kernels, const at::Tensor& x, double p,
                const kernels::BatchTensors& batch, bool update_running = true) {
    return kernels.layer(x,
                         {conv->eps, conv->lin_1->weight, conv->lin_1->bias, *conv->batch_norm,
                          conv->lin_2->weight, conv->lin_2->bias, *outer},
                         p, 3, batch, update_running);
  }
  std::vector<at::Tensor> parameters() const {
    std::vector<at::Tensor> out = conv->parameters();
    for (const at::Tensor& t : outer->parameters()) out.push_back(t);
    return out;
  }
  /// The layer's results, the gradients of all that enters, and the running statistics.
  std::vector<at::Tensor> results(const kernels::GinKernels& kernels, const at::Tensor& given,
                                  double p, const kernels::BatchTensors& batch, bool wants_x,
                                  bool update_running) {
    const at::Tensor x = given.clone().set_requires_grad(wants_x);
    std::vector<at::Tensor> out = {by(kernels, x, p, batch, update_running)};
    (out[0] * at::arange(out[0].numel(), out[0].options()).view_as(out[0]).sin()).sum().backward();
    if (wants_x) out.push_back(x.grad());
    for (const at::Tensor& t : parameters()) out.push_back(t.grad().clone());
    for (const torch::nn::BatchNorm1d& norm : {conv->batch_norm, outer}) {
      for (const at::Tensor& t : norm->buffers()) out.push_back(t.clone());
    }
    return out;
  }

  GinConv conv;
  torch::nn::BatchNorm1d outer;
};

TEST_CASE("a gin layer as a whole is that of its parts, with all gradients and statistics",
          "[gin][kernels]") {
  const graph::GraphBatch packed = test::make_batch(test::random_small_graphs(30, 8));
  kernels::BatchTensors batch = kernels::to_tensors(packed, torch::kCPU);
  batch.noise.seed = 7;
  struct Other : graph::Exchange {  // a process with half as many of the same rows
    void sum(std::span<double> values) override {
      for (double& value : values) value *= 1.5;
    }
  } other;
  const auto check = [&](int64_t inputs, int64_t width, bool has_messages, bool training,
                         bool wants_x) {
    const at::Tensor x = torch::randn({packed.nodes, inputs}, torch::kDouble);
    const double p = training ? 0.4 : 0;
    std::vector<at::Tensor> results[2];
    for (const bool plain : {false, true}) {
      torch::manual_seed(9);
      WholeLayer layer(inputs, width, has_messages, torch::kDouble);
      layer.conv->train(training);
      layer.outer->train(training);
      results[plain] =
          layer.results(plain ? kernels::GinKernels::plain() : kernels::GinKernels::cpu(), x, p,
                        batch, wants_x, inputs != 3);
    }
    INFO(inputs << " to " << width << ", messages " << has_messages << ", training " << training);
    REQUIRE(results[0].size() == results[1].size());
    for (std::size_t i = 0; i < results[0].size(); ++i) {
      check_close(results[0][i], results[1][i], std::to_string(i), 1e-9, 1e-9);
    }
  };
  test::at_every_isa([&] {
    for (const bool has_messages : {true, false}) {
      for (const bool training : {true, false}) {
        check(3, 16, has_messages, training, false);
        check(5, 7, has_messages, training, true);
        check(4, 21, has_messages, training, true);
        check(32, 32, has_messages, training, true);
      }
      batch.exchange = &other;
      check(5, 8, has_messages, true, true);
      batch.exchange = nullptr;
    }
  });
}

TEST_CASE("a gin layer as a whole has the gradients of finite differences", "[gin][kernels]") {
  torch::manual_seed(4);
  const graph::GraphBatch packed = test::few_nodes(6, 6);
  const kernels::BatchTensors batch = kernels::to_tensors(packed, torch::kCPU);
  for (const bool has_messages : {true, false}) {
    WholeLayer layer(5, 4, has_messages, torch::kDouble);
    std::vector<at::Tensor> inputs = layer.parameters();
    inputs.push_back(torch::randn({packed.nodes, 5}, torch::kDouble));
    check_gradients(inputs, [&](const std::vector<at::Tensor>& in) {
      return layer.by(kernels::GinKernels::cpu(), in.back(), 0, batch, false);
    });
  }
}

TEST_CASE("a gin layer as a whole has the same bits with one thread and with more",
          "[gin][kernels]") {
  const graph::GraphBatch packed = test::make_batch(test::random_small_graphs(150, 12));
  kernels::BatchTensors batch = kernels::to_tensors(packed, torch::kCPU);
  batch.noise.seed = 7;
  REQUIRE(packed.nodes * 32 > 2 << 15);  // work for two threads in every loop
  const at::Tensor x = torch::randn({packed.nodes, 32});
  const int before = at::get_num_threads();
  std::vector<at::Tensor> results[2];
  for (const int threads : {1, 3}) {
    at::set_num_threads(threads);
    torch::manual_seed(9);
    WholeLayer layer(32, 32, true, torch::kFloat);
    results[threads / 2] = layer.results(kernels::GinKernels::cpu(), x, 0.3, batch, true, true);
  }
  at::set_num_threads(before);
  REQUIRE(results[0].size() == results[1].size());
  for (std::size_t i = 0; i < results[0].size(); ++i) {
    CHECK(torch::equal(results[0][i], results[1][i]));
  }
}

TEST_CASE("what a graph is of its nodes: their mean, sum or maximum", "[gin]") {
  const graph::GraphBatch packed = test::few_nodes(6, 6);
  const kernels::BatchTensors batch = kernels::to_tensors(packed, torch::kCPU);
  const at::Tensor x = torch::randn({packed.nodes, 3}, torch::kDouble) - 2;
  std::vector<at::Tensor> sums, largest;
  for (int64_t g = 0; g < packed.graphs; ++g) {
    const at::Tensor rows = x.slice(0, packed.node_ptr[g], packed.node_ptr[g + 1]);
    sums.push_back(rows.sum(0));
    largest.push_back(rows.amax(0));
  }
  check_close(sum_pool(x, batch), torch::stack(sums), "sum", 1e-12, 1e-12);
  check_close(max_pool(x, batch), torch::stack(largest), "max", 1e-12, 1e-12);
  const auto gradient = [&](const auto& pool) {
    check_gradients({x.clone()}, [&](const std::vector<at::Tensor>& in) { return pool(in[0]); });
  };
  gradient([&](const at::Tensor& in) { return sum_pool(in, batch); });
  gradient([&](const at::Tensor& in) { return max_pool(in, batch); });
}

TEST_CASE("no edge reaches what conv none says, and edges do reach gin", "[gin]") {
  torch::manual_seed(5);
  auto graphs = test::random_small_graphs(8, 5);
  const graph::GraphBatch with = test::make_batch(graphs);
  for (auto& graph : graphs) graph.edges.clear();
  const graph::GraphBatch without = test::make_batch(graphs);
  for (const char* conv : {"none", "gin"}) {
    GatConfig config = gin_config();
    config.conv = conv;
    config.norm = "batch";
    config.classes = 4;
    GraphClassifier model = make_model(config);
    model->eval();
    const at::Tensor a = model->forward(kernels::to_tensors(with, torch::kCPU));
    const at::Tensor b = model->forward(kernels::to_tensors(without, torch::kCPU));
    CHECK(a.size(1) == 4);
    CHECK(torch::equal(a, b) == (std::string(conv) == "none"));
  }
}

TEST_CASE("a classifier computes its gin layers again in backward to the same gradients", "[gin]") {
  const graph::GraphBatch packed = test::few_nodes(6, 6);
  const kernels::BatchTensors batch = kernels::to_tensors(packed, torch::kCPU);
  for (const char* norm : {"none", "graph", "batch"}) {
    std::vector<std::vector<at::Tensor>> seen;
    for (const bool again : {false, true}) {
      torch::manual_seed(6);
      GatConfig config = gin_config();
      config.norm = norm;
      config.pooling = "sum";
      GraphClassifier model = make_model(config);
      model->checkpointing = again;
      model->forward(batch).square().sum().backward();
      std::vector<at::Tensor> all;
      for (const at::Tensor& p : model->parameters()) all.push_back(p.grad());
      for (const at::Tensor& b : model->buffers()) all.push_back(b);
      seen.push_back(all);
    }
    REQUIRE(seen[0].size() == seen[1].size());
    for (std::size_t i = 0; i < seen[0].size(); ++i) check_close(seen[1][i], seen[0][i], norm);
  }
}

TEST_CASE("what came later stands in no model file that does not use it", "[gin]") {
  const nlohmann::json before = GatConfig::teacher(20);
  for (const char* name : {"pooling", "classes", "has_ids"}) CHECK_FALSE(before.contains(name));
  GatConfig config = gin_config();
  config.pooling = "max";
  config.classes = 6;
  config.has_ids = false;
  const nlohmann::json after = config;
  CHECK(after.get<GatConfig>() == config);
  CHECK(before.get<GatConfig>() == GatConfig::teacher(20));
}

TEST_CASE("nodes without identifiers enter with all their features", "[gin]") {
  GatConfig config = gin_config();
  config.has_ids = false;
  config.num_ids = 1;
  GraphClassifier model = make_model(config);
  CHECK(model->input->width() == 11);
  CHECK_FALSE(model->named_parameters().contains("input.embedding.weight"));
  const graph::GraphBatch packed = test::few_nodes(6, 6);
  model->eval();
  graph::GraphBatch other = test::few_nodes(6, 6);
  other.x[0] += 1;  // the column that would name an identifier
  const at::Tensor a = model->forward(kernels::to_tensors(packed, torch::kCPU));
  const at::Tensor b = model->forward(kernels::to_tensors(other, torch::kCPU));
  CHECK_FALSE(torch::equal(a[0], b[0]));
  CHECK(torch::equal(a[1], b[1]));
}

}  // namespace
}  // namespace kdgat::model
