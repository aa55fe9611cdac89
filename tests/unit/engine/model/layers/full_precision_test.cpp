#include "engine/kernels/full_precision.h"

#include <ATen/autocast_mode.h>

#include <cmath>
#include <functional>

#include "support/graphs/batches.h"
// The others need torch's macros gone.
#include "engine/kernels/gat.h"
#include "engine/model/layers/blocked_heads.h"
#include "engine/model/layers/gatv2_conv.h"
#include "engine/model/layers/layers.h"
#include "engine/model/layers/noise.h"
#include "engine/model/layers/norm.h"
#include "engine/model/layers/recompute.h"
#include "engine/model/networks/gat.h"
#include "engine/model/networks/vgae.h"

namespace kdgat::model {
namespace {

using test::check_close;
using test::make_batch;
using test::random_small_graphs;

/// Autocast to `type` on the CPU, with its cache of weights, as a program of LibTorch switches it
/// on.
class PlainAutocast {
 public:
  explicit PlainAutocast(at::ScalarType type)
      : before_(at::autocast::get_autocast_dtype(at::kCPU)) {
    at::autocast::increment_nesting();
    at::autocast::set_autocast_enabled(at::kCPU, true);
    at::autocast::set_autocast_dtype(at::kCPU, type);
  }
  PlainAutocast(const PlainAutocast&) = delete;
  PlainAutocast& operator=(const PlainAutocast&) = delete;
  ~PlainAutocast() {
    at::autocast::set_autocast_enabled(at::kCPU, false);
    at::autocast::set_autocast_dtype(at::kCPU, before_);
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  }

 private:
  at::ScalarType before_;
};

graph::GraphBatch packed_batch() {
  graph::GraphBatch out = make_batch(random_small_graphs(16, 8));
  out.edge_features = 11;
  out.edge_attr.resize(out.edges * 11);
  for (int64_t i = 0; i < out.edge_attr.size(); ++i) {
    out.edge_attr[i] = static_cast<float>(std::sin(static_cast<double>(i)));
  }
  return out;
}

TEST_CASE("layers take what matrix products in 16 bits give them, and compute in 32",
          "[model][precision]") {
  const graph::GraphBatch packed = packed_batch();
  kernels::BatchTensors batch = kernels::to_tensors(packed, torch::kCPU);
  batch.noise = {1, 4};
  torch::manual_seed(5);
  constexpr int64_t kWidth = 12;
  const at::Tensor att = torch::randn({1, 3, 4}), bias = torch::randn({kWidth}),
                   lin_edge = torch::randn({kWidth, 11}), head = torch::randn({20, kWidth}),
                   head_bias = torch::randn({20}), target = torch::randn({batch.nodes, kWidth});
  torch::nn::BatchNorm1d norm(kWidth);
  GraphNorm graph_norm(kWidth);
  using Layer = std::function<at::Tensor(const at::Tensor&)>;
  const std::vector<std::pair<std::string, Layer>> layers = {
      {"attention", [&](const auto& x) { return gat_attention(x, att, att, bias, batch); }},
      {"attention of the second kind",
       [&](const auto& x) { return gatv2_attention(x, target, lin_edge, att, bias, batch); }},
      {"norm", [&](const auto& x) { return norm_relu_dropout(x, *norm, 0.1, 1, batch, true); }},
      {"graph norm", [&](const auto& x) { return graph_norm->forward(x, 0.1, 1, batch); }},
      {"dropout", [&](const auto& x) { return relu_dropout(x, 0.1, 1, batch); }},
      {"pooling", [&](const auto& x) { return mean_pool(x, batch); }},
      {"identifiers",
       [&](const auto& x) { return softmax_ce_sum(x, head, head_bias, batch.id_N); }},
      {"neighbours", [&](const auto& x) { return bce_neighbour_sum(x, head, head_bias, batch); }},
  };
  for (const auto type : {at::kHalf, at::kBFloat16}) {
    for (const auto& [name, layer] : layers) {
      INFO(name << " of " << at::toString(type));
      const at::Tensor x = torch::randn({batch.nodes, kWidth}).to(type).requires_grad_();
      const at::Tensor wide = x.detach().to(at::kFloat).requires_grad_();
      at::Tensor out;
      {
        const PlainAutocast autocast(type);
        out = layer(x);
      }
      const at::Tensor expected = layer(wide);
      CHECK(out.scalar_type() == at::kFloat);
      // The wide heads may take their factors in bfloat16.
      const bool is_head = name == "identifiers" || name == "neighbours";
      const bool may_round = is_head && type == at::kBFloat16;
      const auto same = [&](const at::Tensor& a, const at::Tensor& b) {
        return may_round ? at::allclose(a, b, 0.02, 0.02 * b.abs().max().item<double>())
                         : torch::equal(a, b);
      };
      CHECK(same(out, expected));
      out.sin().mean().backward();
      expected.sin().mean().backward();
      REQUIRE(x.grad().defined());
      CHECK(x.grad().scalar_type() == type);
      CHECK(same(x.grad(), wide.grad().to(type)));
    }
  }
}

TEST_CASE("products in a scope of full precision are exact under autocast", "[model][precision]") {
  const graph::GraphBatch packed = packed_batch();
  const kernels::BatchTensors batch = kernels::to_tensors(packed, torch::kCPU);
  const at::Tensor l = torch::randn({batch.nodes, 12}), bias = torch::randn({12}),
                   lin_edge = torch::randn({12, 11}), att = torch::randn({1, 3, 4});
  const at::Tensor plain =
      kernels::GatKernels::plain().attention_v2(l, l, lin_edge, att, bias, batch);
  const PlainAutocast autocast(at::kBFloat16);
  CHECK_FALSE(torch::equal(
      kernels::GatKernels::plain().attention_v2(l, l, lin_edge, att, bias, batch), plain));
  const kernels::FullPrecision exact;
  CHECK(torch::equal(kernels::GatKernels::plain().attention_v2(l, l, lin_edge, att, bias, batch),
                     plain));
}

TEST_CASE("checkpointing keeps every gradient of mixed precision", "[model][precision]") {
  torch::manual_seed(3);
  const graph::GraphBatch packed = packed_batch();
  kernels::BatchTensors batch = kernels::to_tensors(packed, torch::kCPU);
  batch.noise = {1, 4};
  const auto compare = [&](auto plain, auto kept, at::ScalarType type, const auto& call) {
    {
      const at::NoGradGuard no_grad;
      const auto from = plain->named_parameters();
      for (auto& item : kept->named_parameters()) item.value().copy_(from[item.key()]);
    }
    kept->checkpointing = true;
    for (auto* model : {&plain, &kept}) {
      at::Tensor loss;
      {
        const PlainAutocast autocast(type);
        loss = call(*model);
      }
      loss.backward();
      // Nothing is left behind by the layers computed again in backward.
      CHECK_FALSE(at::autocast::is_autocast_enabled(at::kCPU));
      CHECK(at::autocast::is_autocast_cache_enabled());
    }
    const auto from = plain->named_parameters();
    double all = 0;
    for (const auto& item : from) {
      if (!item.value().grad().defined()) continue;
      all += item.value().grad().square().sum().template item<double>();
    }
    CHECK(all > 0);
    for (const auto& item : kept->named_parameters()) {
      const at::Tensor& expected = from[item.key()].grad();
      INFO(item.key());
      REQUIRE(item.value().grad().defined() == expected.defined());
      if (!expected.defined()) continue;
      const double gap = (item.value().grad() - expected).norm().template item<double>();
      CHECK(gap <= 1e-6 * std::sqrt(all));
    }
  };
  for (const auto type : {at::kHalf, at::kBFloat16}) {
    compare(make_model(VgaeConfig::student(20)), make_model(VgaeConfig::student(20)), type,
            [&](auto& model) {
              const VgaeOutput out = model->forward(batch);
              return out.features_NX.square().sum() + out.z_NL.sin().sum();
            });
    GatConfig config = GatConfig::student(20);
    const auto of_logits = [&](auto& model) { return model->forward(batch).square().sum(); };
    compare(make_model(config), make_model(config), type, of_logits);
    config.conv = "gatv2";
    config.norm = "graph";
    config.jk = "lstm";
    compare(make_model(config), make_model(config), type, of_logits);
  }
}

TEST_CASE("a layer that fails while it is computed again leaves autocast as it was",
          "[model][precision]") {
  const at::Tensor x = torch::ones({2, 2}).requires_grad_();
  at::Tensor out;
  {
    const PlainAutocast autocast(at::kBFloat16);
    out = checkpoint(x, {}, [](const at::Tensor& input, bool first) {
      if (!first) throw std::runtime_error("no memory");
      return input.mm(input);
    });
  }
  CHECK(out.scalar_type() == at::kBFloat16);
  CHECK_THROWS_WITH(out.sum().backward(), Catch::Contains("no memory"));
  CHECK_FALSE(at::autocast::is_autocast_enabled(at::kCPU));
  CHECK(at::autocast::is_autocast_cache_enabled());
}

}  // namespace
}  // namespace kdgat::model
