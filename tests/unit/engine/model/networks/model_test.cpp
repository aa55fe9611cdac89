#include <cstdlib>

#include "engine/model/layers/noise.h"
#include "support/graphs/batches.h"
#include "support/graphs/gradients.h"
// The others need torch's macros gone.
#include "engine/kernels/cpu/isa/level.h"
#include "engine/kernels/gat.h"
#include "engine/model/layers/blocked_heads.h"
#include "engine/model/layers/gat_conv.h"
#include "engine/model/layers/norm.h"
#include "engine/model/model_file.h"
#include "engine/model/networks/gat.h"
#include "engine/model/networks/vgae.h"
#include "kdgat/error.h"

namespace kdgat::model {
namespace {

using test::at_every_isa;
using test::check_close;
using test::check_gradients;
using test::fixture;
using test::make_batch;
using test::random_small_graphs;
using test::tensor_of;

kernels::BatchTensors tensors(const graph::GraphBatch& batch) {
  return kernels::to_tensors(batch, torch::kCPU);
}

TEST_CASE("attention equals PyTorch Geometric's at every instruction set", "[gat_conv][golden]") {
  const auto file = fixture("gat_conv");
  if (!file) return;
  // The file's edges already stand in one batch: one graph.
  const at::Tensor x = tensor_of(*file, "x"), edges = tensor_of(*file, "edge_index");
  test::SmallGraph graph;
  graph.nodes = x.size(0);
  graph.x.assign(static_cast<std::size_t>(graph.nodes * 11), 0.0f);
  for (int64_t e = 0; e < edges.size(1); ++e) {
    graph.edges.emplace(edges[0][e].item<int32_t>(), edges[1][e].item<int32_t>());
  }
  const graph::GraphBatch batch = make_batch({graph});
  at_every_isa([&] {
    GatConv conv(12, 6, 4);
    for (auto& item : conv->named_parameters()) {
      item.value().set_data(tensor_of(*file, "weight." + item.key()));
    }
    const at::Tensor input = x.clone().requires_grad_();
    const at::Tensor out = conv->forward(input, tensors(batch));
    check_close(out, tensor_of(*file, "output"), "output");
    out.square().sum().backward();
    check_close(input.grad(), tensor_of(*file, "grad.x"), "grad.x");
    for (const auto& item : conv->named_parameters()) {
      check_close(item.value().grad(), tensor_of(*file, "grad." + item.key()), item.key());
    }
  });
}

TEST_CASE("fused attention equals plain tensor operations on random graphs", "[gat_conv]") {
  const graph::GraphBatch packed = make_batch(random_small_graphs(24, 3));
  const kernels::BatchTensors batch = tensors(packed);
  at_every_isa([&] {
    for (const auto& [heads, channels] : {std::pair{1, 1}, {1, 40}, {3, 5}, {8, 24}}) {
      torch::manual_seed(1);
      std::vector<at::Tensor> a{
          torch::randn({batch.nodes, heads * channels}), torch::randn({1, heads, channels}),
          torch::randn({1, heads, channels}), torch::randn({heads * channels})};
      std::vector<at::Tensor> b;
      for (at::Tensor& t : a) {
        b.push_back(t.clone().requires_grad_());
        t.requires_grad_();
      }
      const at::Tensor fused = gat_attention(a[0], a[1], a[2], a[3], batch);
      const at::Tensor plain =
          kernels::GatKernels::plain().attention(b[0], b[1], b[2], b[3], batch);
      check_close(fused, plain, "output");
      fused.sin().sum().backward();
      plain.sin().sum().backward();
      for (std::size_t i = 0; i < a.size(); ++i) {
        check_close(a[i].grad(), b[i].grad(), "gradient " + std::to_string(i));
      }
    }
  });
}

TEST_CASE("gradients of attention, norm and pooling agree with finite differences", "[gat_conv]") {
  auto graphs = random_small_graphs(5, 9);
  for (auto& graph : graphs) {
    if (graph.nodes > 8) graph.nodes = 8;
    graph.x.resize(static_cast<std::size_t>(graph.nodes * 11));
    std::erase_if(graph.edges,
                  [&](const auto& e) { return e.first >= graph.nodes || e.second >= graph.nodes; });
  }
  const graph::GraphBatch packed = make_batch(graphs);
  const kernels::BatchTensors batch = tensors(packed);
  at_every_isa([&] {
    torch::manual_seed(2);
    const auto normal = [](at::IntArrayRef shape) { return torch::randn(shape, torch::kDouble); };
    check_gradients({normal({batch.nodes, 6}), normal({1, 2, 3}), normal({1, 2, 3}), normal({6})},
                    [&](const std::vector<at::Tensor>& in) {
                      return gat_attention(in[0], in[1], in[2], in[3], batch);
                    });
    check_gradients({normal({batch.nodes, 3})},
                    [&](const std::vector<at::Tensor>& in) { return mean_pool(in[0], batch); });
    torch::nn::BatchNorm1d norm(3);
    norm->to(torch::kDouble);
    for (const bool training : {true, false}) {
      norm->train(training);
      check_gradients({normal({batch.nodes, 3}), normal({3}), normal({3})},
                      [&](const std::vector<at::Tensor>& in) {
                        norm->weight = in[1];
                        norm->bias = in[2];
                        return norm_relu_dropout(in[0], *norm, 0.3, 5, batch, false);
                      });
    }
  });
}

TEST_CASE("norm, relu and dropout in one pass equal three layers", "[norm]") {
  const graph::GraphBatch packed = make_batch(random_small_graphs(30, 4));
  const kernels::BatchTensors batch = tensors(packed);
  at_every_isa([&] {
    torch::nn::BatchNorm1d fused(17), plain(17);
    for (int step = 0; step < 2; ++step) {
      const at::Tensor x = torch::randn({batch.nodes, 17}) * 3 + 1;
      const at::Tensor keep = relu_dropout(torch::ones_like(x), 0.25, 7, batch);
      check_close(norm_relu_dropout(x, *fused, 0.25, 7, batch, true),
                  plain->forward(x).relu() * keep, "training");
    }
    check_close(fused->running_mean, plain->running_mean, "running mean");
    check_close(fused->running_var, plain->running_var, "running variance");
    CHECK(fused->num_batches_tracked.item<int64_t>() == 2);
    fused->eval();
    plain->eval();
    const at::Tensor x = torch::randn({batch.nodes, 17});
    check_close(norm_relu_dropout(x, *fused, 0, 7, batch, true), plain->forward(x).relu(), "eval");
  });
}

TEST_CASE("noise does not depend on how graphs are packed and is well spread", "[noise]") {
  const auto graphs = random_small_graphs(40, 5);
  const graph::GraphBatch packed = make_batch(graphs);
  kernels::BatchTensors all = tensors(packed);
  all.noise = {3, 12};
  at_every_isa([&] {
    const at::Tensor ones = torch::ones({all.nodes, 33});
    const at::Tensor kept = relu_dropout(ones, 0.3, 2, all), normal = normal_noise(all, 33, 2);
    CHECK(kept.ne(0).to(torch::kFloat).mean().item<double>() == Approx(0.7).margin(0.02));
    CHECK(kept.max().item<double>() == Approx(1 / 0.7));
    CHECK(normal.mean().item<double>() == Approx(0).margin(0.02));
    CHECK(normal.std().item<double>() == Approx(1).margin(0.02));
    for (const std::size_t g : {std::size_t{3}, std::size_t{17}}) {
      const graph::GraphBatch one = make_batch({graphs[g]});
      kernels::BatchTensors single = tensors(one);
      single.noise = all.noise;
      const auto rows = torch::indexing::Slice(packed.node_ptr[static_cast<int64_t>(g)],
                                               packed.node_ptr[static_cast<int64_t>(g) + 1]);
      CHECK(torch::equal(relu_dropout(torch::ones({single.nodes, 33}), 0.3, 2, single),
                         kept.index({rows})));
      check_close(normal_noise(single, 33, 2), normal.index({rows}), "normal", 1e-6, 1e-6);
    }
    for (const graph::NoiseKey other : {graph::NoiseKey{4, 12}, graph::NoiseKey{3, 13}}) {
      kernels::BatchTensors changed = all;
      changed.noise = other;
      CHECK(relu_dropout(ones, 0.3, 2, changed).eq(kept).to(torch::kFloat).mean().item<double>() ==
            Approx(0.58).margin(0.03));
    }
    CHECK_FALSE(torch::equal(relu_dropout(ones, 0.3, 3, all), kept));
  });
}

TEST_CASE("blocked heads equal their dense form with gradients", "[blocked_heads]") {
  constexpr int64_t kIds = 20;
  const graph::GraphBatch packed = make_batch(random_small_graphs(120, 6, kIds));
  const kernels::BatchTensors batch = tensors(packed);
  REQUIRE(batch.nodes > 1100);
  torch::manual_seed(3);
  const at::Tensor z = torch::randn({batch.nodes, 7}) * 2, weight = torch::randn({kIds, 7}),
                   bias = torch::randn({kIds});
  const at::Tensor source = batch.in_source_E.to(torch::kLong),
                   target = kernels::edge_targets(batch);
  const at::Tensor wanted = torch::zeros({batch.nodes, kIds});
  wanted.index_put_({source, batch.id_N.to(torch::kLong).index({target})}, torch::ones({}));
  REQUIRE(wanted.sum().item<int64_t>() < batch.edges);  // some neighbours share an id
  at_every_isa([&] {
    for (const bool softmax : {true, false}) {
      std::vector<at::Tensor> a, b;
      for (const at::Tensor& t : {z, weight, bias}) {
        a.push_back(t.clone().requires_grad_());
        b.push_back(t.clone().requires_grad_());
      }
      const at::Tensor logits = torch::linear(b[0], b[1], b[2]);
      const at::Tensor cells =
          softmax
              ? at::cross_entropy_loss(logits, batch.id_N.to(torch::kLong), {}, at::Reduction::None)
              : at::binary_cross_entropy_with_logits(logits, wanted, {}, {}, at::Reduction::None)
                    .sum(1);
      const at::Tensor fused = softmax ? softmax_ce_sum(a[0], a[1], a[2], batch.id_N)
                                       : bce_neighbour_sum(a[0], a[1], a[2], batch);
      check_close(fused, cells.sum(), "sum", 0, 1e-5);
      check_close(softmax ? softmax_ce_per_node(a[0], a[1], a[2], batch.id_N)
                          : bce_neighbour_per_node(a[0], a[1], a[2], batch),
                  cells.detach(), "per node");
      (3 * fused).backward();
      (3 * cells.sum()).backward();
      for (std::size_t i = 0; i < a.size(); ++i) {
        check_close(a[i].grad(), b[i].grad(), "gradient " + std::to_string(i), 1e-4, 1e-4);
      }
      const at::NoGradGuard no_grad;
      check_close(softmax ? softmax_ce_sum(a[0], a[1], a[2], batch.id_N)
                          : bce_neighbour_sum(a[0], a[1], a[2], batch),
                  fused.detach(), "without gradients", 0, 0);
    }
  });
}

TEST_CASE("parameter counts follow the published formulas", "[model]") {
  for (const int64_t ids : {30, 53, 1791, 2049}) {
    INFO(ids);
    CHECK(count_parameters(*make_model(VgaeConfig::teacher(ids))) == 181950 + 130 * ids);
    CHECK(count_parameters(*make_model(VgaeConfig::student(ids))) == 8046 + 38 * ids);
    CHECK(count_parameters(*make_model(GatConfig::teacher(ids))) == 1638914 + 16 * ids);
    CHECK(count_parameters(*make_model(GatConfig::student(ids))) == 86018 + 8 * ids);
  }
  GatConfig teacher = GatConfig::teacher(2049), student = GatConfig::student(2049);
  teacher.fc_layers = 3;
  CHECK(count_parameters(*make_model(teacher)) == 2999954);
  teacher.fc_layers = 1;
  CHECK(count_parameters(*make_model(teacher)) == 343442);
  student.fc_layers = 2;
  CHECK(count_parameters(*make_model(student)) == 65354);
}

TEST_CASE("checkpointing changes no gradient and no running statistic", "[model]") {
  const graph::GraphBatch packed = make_batch(random_small_graphs(16, 8));
  kernels::BatchTensors batch = tensors(packed);
  batch.noise = {1, 4};
  const auto compare = [&](auto plain, auto kept, const auto& call) {
    const at::NoGradGuard no_grad;
    const auto from = plain->named_parameters();
    for (auto& item : kept->named_parameters()) item.value().copy_(from[item.key()]);
    kept->checkpointing = true;
    {
      const at::AutoGradMode with_grad(true);
      call(plain).backward();
      call(kept).backward();
    }
    for (auto& item : kept->named_parameters()) {
      if (!from[item.key()].grad().defined()) continue;
      CHECK(torch::equal(item.value().grad(), from[item.key()].grad()));
    }
    const auto buffers = plain->named_buffers();
    for (auto& item : kept->named_buffers()) CHECK(torch::equal(item.value(), buffers[item.key()]));
  };
  compare(make_model(VgaeConfig::student(20)), make_model(VgaeConfig::student(20)),
          [&](auto& model) {
            const VgaeOutput out = model->forward(batch);
            return out.features_NX.square().sum() + out.z_NL.sin().sum();
          });
  compare(make_model(GatConfig::student(20)), make_model(GatConfig::student(20)),
          [&](auto& model) { return model->forward(batch).square().sum(); });
}

TEST_CASE("results do not depend on the number of threads", "[model]") {
  const graph::GraphBatch packed = make_batch(random_small_graphs(200, 10));
  const kernels::BatchTensors batch = tensors(packed);
  const int before = at::get_num_threads();
  std::vector<at::Tensor> first;
  for (const int threads : {1, 2, 3}) {
    at::set_num_threads(threads);
    torch::manual_seed(4);
    const at::Tensor h = torch::randn({batch.nodes, 96}).requires_grad_(),
                     src = torch::randn({1, 4, 24}).requires_grad_(),
                     dst = torch::randn({1, 4, 24}).requires_grad_(),
                     bias = torch::randn({96}).requires_grad_(),
                     weight = torch::randn({300, 96}).requires_grad_(),
                     head_bias = torch::randn({300}).requires_grad_();
    torch::nn::BatchNorm1d norm(96);
    const at::Tensor out =
        norm_relu_dropout(gat_attention(h, src, dst, bias, batch), *norm, 0.1, 1, batch, true);
    const at::Tensor loss = mean_pool(out, batch).sum() +
                            softmax_ce_sum(out, weight, head_bias, batch.id_N) +
                            bce_neighbour_sum(out, weight, head_bias, batch);
    loss.backward();
    std::vector<at::Tensor> all{loss.detach(), out.detach()};
    for (const at::Tensor& t : {h, src, dst, bias, weight, head_bias, norm->weight}) {
      all.push_back(t.grad());
    }
    if (first.empty()) first = all;
    for (std::size_t i = 0; i < all.size(); ++i) {
      INFO("tensor " << i << ", " << threads << " threads");
      CHECK(torch::equal(all[i], first[i]));
    }
  }
  at::set_num_threads(before);
}

TEST_CASE("an instruction set this machine does not know is a usage error", "[isa]") {
  try {
    kernels::set_isa_level("sse9");
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::kUsage);
    CHECK(std::string(error.what()).find("portable") != std::string::npos);
  }
  CHECK(kernels::isa_levels_available().front() == "portable");
}

}  // namespace
}  // namespace kdgat::model
