#include <functional>

#include "engine/kernels/cuda/device.h"
#include "engine/kernels/gat.h"
#include "engine/kernels/heads.h"
#include "engine/kernels/kernels_for.h"
#include "engine/kernels/norm.h"
#include "engine/kernels/paths.h"
#include "engine/kernels/sums.h"
#include "support/cards/cuda_shim.h"
#include "support/cards/needs_card.h"
#include "support/graphs/batches.h"
#include "support/graphs/gradients.h"

// The families of kernels of a card against the plain ones, whole: tensors, autograd and kernels.
// On the CPU the kernels are loops; on a card ([gpu]) they are what NVRTC made.
namespace kdgat::kernels {
namespace {

using test::check_close;

/// Where the kernels of a card run.
class Place {
 public:
  explicit Place(at::Device device) : device(device) {
    if (device.is_cpu()) as_card_.emplace(launcher_);
  }
  ~Place() {
    for (const std::string& problem : cuda::ShimLauncher::problems()) FAIL_CHECK(problem);
  }
  Place(const Place&) = delete;

  const at::Device device;

 private:
  cuda::ShimLauncher launcher_{cuda::shim::Order::kMixed};
  std::optional<cuda::CpuIsCard> as_card_;
};

struct CardBatch {
  CardBatch(std::vector<test::SmallGraph> graphs, at::Device device, int64_t features = 3)
      : packed(test::make_batch(graphs)) {
    tensors = to_tensors(packed, device);
    tensors.noise.seed = 7;
    tensors.noise.step = 3;
    tensors.edge_attr_ED = torch::randn({tensors.edges, features}, device);
  }
  graph::GraphBatch packed;
  BatchTensors tensors;
};

/// No graphs, a node alone, many.
std::vector<std::vector<test::SmallGraph>> graph_lists() {
  std::vector<test::SmallGraph> one = test::random_small_graphs(1, 5);
  return {{}, one, test::random_small_graphs(9, 6)};
}

using Call = std::function<at::Tensor(bool plain, const std::vector<at::Tensor>&)>;

/// Output and gradients of a weighted sum of it, in both forms.
void compare(const std::string& what, const std::vector<at::Tensor>& inputs, const Call& call) {
  std::vector<at::Tensor> results[2];
  const bool is_double = inputs.front().scalar_type() == at::kDouble;
  for (const bool plain : {false, true}) {
    std::vector<at::Tensor> own;
    for (const at::Tensor& t : inputs) own.push_back(t.clone().requires_grad_());
    const at::Tensor out = call(plain, own);
    const at::Tensor probe = at::arange(out.numel(), out.options()).view(out.sizes()).sin();
    (out * probe).sum().backward();
    results[plain].push_back(out.detach());
    for (const at::Tensor& t : own) results[plain].push_back(t.grad());
  }
  for (std::size_t i = 0; i < results[0].size(); ++i) {
    INFO(what << ", " << i);
    REQUIRE(results[0][i].sizes() == results[1][i].sizes());
    check_close(results[0][i], results[1][i], what + ", " + std::to_string(i),
                is_double ? 1e-10 : 1e-4, is_double ? 1e-10 : 1e-4);
  }
}

/// Both types, all batches: body(batch, randn).
template <class Body>
void everywhere(at::Device device, const Body& body) {
  const Place place(device);
  for (const auto type : {at::kFloat, at::kDouble}) {
    torch::manual_seed(4);
    for (const auto& graphs : graph_lists()) {
      const CardBatch batch(graphs, device);
      body(batch.tensors, [&](const std::vector<int64_t>& shape) {
        return torch::randn(shape, torch::device(device).dtype(type));
      });
    }
  }
}

const std::vector<std::pair<int64_t, int64_t>> kForms = {{1, 1}, {4, 10}, {2, 64}, {3, 5}};

void check_sums(at::Device device) {
  everywhere(device, [](const BatchTensors& b, const auto& randn) {
    for (const int64_t columns : {1, 19, 64}) {
      compare("sums", {randn({b.nodes, columns})}, [&](bool plain, const auto& in) {
        return (plain ? SumKernels::plain() : SumKernels::cuda()).neighbours(in[0], b);
      });
    }
  });
}

void check_attention(at::Device device) {
  everywhere(device, [](const BatchTensors& b, const auto& randn) {
    for (const auto& [k, c] : kForms) {
      compare("attention",
              {randn({b.nodes, k * c}), randn({1, k, c}), randn({1, k, c}), randn({k * c})},
              [&](bool plain, const auto& in) {
                return (plain ? GatKernels::plain() : GatKernels::cuda())
                    .attention(in[0], in[1], in[2], in[3], b);
              });
      compare("attention v2",
              {randn({b.nodes, k * c}), randn({b.nodes, k * c}), randn({k * c, 3}),
               randn({1, k, c}), randn({k * c})},
              [&](bool plain, const auto& in) {
                return (plain ? GatKernels::plain() : GatKernels::cuda())
                    .attention_v2(in[0], in[1], in[2], in[3], in[4], b);
              });
    }
  });
}

void check_norms(at::Device device) {
  everywhere(device, [](const BatchTensors& b, const auto& randn) {
    const auto of = [](bool plain) -> const NormKernels& {
      return plain ? NormKernels::plain() : NormKernels::cuda();
    };
    for (const int64_t columns : {1, 19, 64}) {
      const at::Tensor x = randn({b.nodes, columns}), of_graphs = randn({b.graphs, columns});
      const std::vector<at::Tensor> normed{x, randn({columns}), randn({columns}), randn({columns})};
      for (const double p : {0.0, 0.4}) {
        compare("relu and dropout", {x}, [&](bool plain, const auto& in) {
          return of(plain).relu_dropout(in[0], p, 2, b, false, false);
        });
        compare("of graphs", {of_graphs}, [&](bool plain, const auto& in) {
          return of(plain).relu_dropout(in[0], p, 2, b, true, false);
        });
        compare("graph norm", normed, [&](bool plain, const auto& in) {
          return of(plain).graph_norm(in[0], {in[1], in[2], in[3]}, p, 2, b);
        });
      }
      compare("mean", {x},
              [&](bool plain, const auto& in) { return of(plain).mean_pool(in[0], b); });
      CHECK(torch::equal(of(true).uniform(b, columns, 1), of(false).uniform(b, columns, 1)));
    }
  });
}

void check_batch_norm(at::Device device) {
  everywhere(device, [&](const BatchTensors& b, const auto& randn) {
    if (b.nodes < 2) return;  // LibTorch's has no variance then
    for (const bool training : {true, false}) {
      for (const bool updates : {true, false}) {
        torch::nn::BatchNorm1d norm[2] = {torch::nn::BatchNorm1d(9), torch::nn::BatchNorm1d(9)};
        const at::Tensor x = randn({b.nodes, 9}) + 2;
        for (const bool plain : {false, true}) {
          norm[plain]->to(device, x.scalar_type());
          norm[plain]->running_mean.fill_(0.1);
          norm[plain]->running_var.fill_(0.9);
          norm[plain]->train(training);
        }
        compare("batch norm", {x}, [&](bool plain, const auto& in) {
          return (plain ? NormKernels::plain() : NormKernels::cuda())
              .batch_norm(in[0], *norm[plain], 0.2, 4, b, updates);
        });
        for (const auto& [name, of] :
             std::vector<std::pair<std::string, std::function<at::Tensor(int)>>>{
                 {"weight", [&](int i) { return norm[i]->weight.grad(); }},
                 {"bias", [&](int i) { return norm[i]->bias.grad(); }},
                 {"running mean", [&](int i) { return norm[i]->running_mean; }},
                 {"running variance", [&](int i) { return norm[i]->running_var; }},
                 {"steps", [&](int i) { return norm[i]->num_batches_tracked; }}}) {
          check_close(of(0).to(at::kFloat), of(1).to(at::kFloat), name, 1e-4, 1e-4);
        }
      }
    }
  });
}

void check_heads(at::Device device) {
  everywhere(device, [&](const BatchTensors& b, const auto& randn) {
    constexpr int64_t kInputs = 7, kOutputs = 70;
    BatchTensors known = b;
    known.id_N = at::remainder(at::arange(b.nodes, torch::device(device)), kOutputs).to(at::kInt);
    const at::Tensor z = randn({b.nodes, kInputs}), weight = randn({kOutputs, kInputs});
    const at::Tensor bias = randn({kOutputs});
    for (const bool softmax : {true, false}) {
      const Head head = softmax ? Head::kSoftmax : Head::kSigmoid;
      const HeadTarget target = softmax ? HeadTarget{known.id_N} : HeadTarget{{}, &known};
      for (const bool with_grad : {false, true}) {
        const HeadResult fast =
            HeadKernels::cuda().losses(head, z, weight, bias, target, with_grad, false);
        const HeadResult plain =
            HeadKernels::plain().losses(head, z, weight, bias, target, with_grad, false);
        check_close(fast.loss_N, plain.loss_N, "losses", 1e-4, 1e-4);
        CHECK(fast.grad_z.defined() == with_grad);
        if (!with_grad) continue;
        check_close(fast.grad_z, plain.grad_z, "gradient of z", 1e-4, 1e-4);
        check_close(fast.grad_weight, plain.grad_weight, "gradient of the weight", 1e-4, 1e-4);
        check_close(fast.grad_bias, plain.grad_bias, "gradient of the bias", 1e-4, 1e-4);
      }
    }
  });
}

/// Outputs of one function of a table on copies of tensors, which it may change; all in one.
using PathCall = std::function<std::vector<at::Tensor>(const PathKernels&)>;

void compare_paths(const std::string& what, const PathCall& call) {
  const std::vector<at::Tensor> fast = call(PathKernels::cuda()),
                                plain = call(PathKernels::plain());
  REQUIRE(fast.size() == plain.size());
  for (std::size_t i = 0; i < fast.size(); ++i) {
    check_close(fast[i], plain[i], what + ", " + std::to_string(i), 1e-4, 1e-4);
  }
}

void check_paths(at::Device device) {
  const Place place(device);
  constexpr int64_t kNodes = 12, kColumns = 24;
  // Of each node to the next three around a ring.
  std::vector<int32_t> ptr{0}, target;
  for (int32_t i = 0; i < kNodes; ++i) {
    std::set<int32_t> next;
    for (int32_t step = 1; step <= 3; ++step) next.insert((i + step) % int32_t{kNodes});
    target.insert(target.end(), next.begin(), next.end());
    ptr.push_back(static_cast<int32_t>(target.size()));
  }
  arrays::PathCursor cursor({ptr, target}, 0, kNodes);
  arrays::PathChunk chunk;
  const auto on_device = [&](const arrays::Buffer<int32_t>& buffer, int64_t size) {
    return at::from_blob(const_cast<int32_t*>(buffer.data()), {size}, at::kInt).to(device);
  };
  int chunks = 0;
  while (cursor.next(chunk, 50)) {
    ++chunks;
    for (const auto type : {at::kFloat, at::kDouble}) {
      torch::manual_seed(chunks);
      const auto randn = [&](const std::vector<int64_t>& shape) {
        return torch::randn(shape, torch::device(device).dtype(type));
      };
      const at::Tensor pos = randn({kNodes, 3});
      compare_paths("geometry", [&](const PathKernels& k) -> std::vector<at::Tensor> {
        const PathFeatures f = k.features(pos, chunk);
        return {f.d_ij, f.d_jk, f.theta_ijk, f.d_jp, f.theta_ijp, f.phi.cos(), f.phi.sin()};
      });
      const at::Tensor x = randn({chunk.paths});
      compare_paths("Gaussians", [&](const PathKernels& k) -> std::vector<at::Tensor> {
        const at::Tensor out = torch::zeros({chunk.paths, 9}, pos.options());
        k.smear(x, {5, 0.7, 0}, out, 1);
        k.smear(x, {2, 0.7, 3.0}, out, 7);
        return {out};
      });
      const at::Tensor path_ptr = on_device(chunk.path_ptr, chunk.triplets + 1);
      const at::Tensor end = on_device(chunk.p, chunk.paths);
      const at::Tensor start = on_device(chunk.k, chunk.triplets);
      const at::Tensor rows = randn({chunk.paths, kColumns}), mask = randn({chunk.paths, kColumns});
      const at::Tensor of_run = randn({chunk.triplets, kColumns});
      const at::Tensor tables = randn({kNodes, 3 * kColumns}), bias = randn({kColumns});
      const at::Tensor of_nodes = randn({kNodes, kColumns});
      for (const bool relu : {false, true}) {
        compare_paths("runs added", [&](const PathKernels& k) -> std::vector<at::Tensor> {
          at::Tensor out = rows.clone();
          k.add_runs(out, {path_ptr, end}, of_run, tables.narrow(1, kColumns, kColumns), relu);
          return {out};
        });
        compare_paths("runs summed", [&](const PathKernels& k) -> std::vector<at::Tensor> {
          at::Tensor grad = rows.clone();
          const at::Tensor wide = tables.clone();
          const at::Tensor sums = k.sum_runs(grad, relu ? mask : at::Tensor(), {path_ptr, end},
                                             wide.narrow(1, kColumns, kColumns));
          return {grad, wide, sums};
        });
      }
      compare_paths("starts", [&](const PathKernels& k) -> std::vector<at::Tensor> {
        at::Tensor sums = of_nodes.clone(), grad = rows.clone(), grad_bias = bias.clone();
        k.relu_sum(rows, {path_ptr, start}, bias, sums);
        k.relu_sum_backward(grad, {path_ptr, start}, bias, of_nodes, grad_bias);
        return {sums, grad, grad_bias};
      });
    }
  }
  CHECK(chunks > 2);
}

TEST_CASE("paths of a card are the same in plain operations", "[cuda]") { check_paths(at::kCPU); }

TEST_CASE("on a card paths are the same in plain operations", "[gpu]") {
  if (test::has_card()) check_paths(at::kCUDA);
}

TEST_CASE("norms, noise and heads of a card are the same in plain operations", "[cuda]") {
  check_norms(at::kCPU);
  check_batch_norm(at::kCPU);
  check_heads(at::kCPU);
}

TEST_CASE("on a card norms, noise and heads are the same in plain operations", "[gpu]") {
  if (!test::has_card()) return;
  check_norms(at::kCUDA);
  check_batch_norm(at::kCUDA);
  check_heads(at::kCUDA);
}

TEST_CASE("a card's batch norm takes the statistics of all processes", "[cuda]") {
  struct Twice : graph::Exchange {  // another process with the same rows
    void sum(std::span<double> values) override {
      for (double& value : values) value *= 2;
    }
  } twice;
  const Place place(at::kCPU);
  CardBatch batch(test::random_small_graphs(4, 3), at::kCPU);
  const at::Tensor x = torch::randn({batch.tensors.nodes, 5});
  at::Tensor out[2], variance[2];
  for (const bool joint : {false, true}) {
    batch.tensors.exchange = joint ? &twice : nullptr;
    torch::nn::BatchNorm1d norm(5);
    out[joint] = NormKernels::cuda().batch_norm(x, *norm, 0.0, 4, batch.tensors, true);
    out[joint].square().sum().backward();
    variance[joint] = norm->running_var;
  }
  check_close(out[0], out[1], "output");
  CHECK(!torch::equal(variance[0], variance[1]));  // unbiased over twice as many rows
}

TEST_CASE("sums and attention of a card are the same in plain operations", "[cuda]") {
  check_sums(at::kCPU);
  check_attention(at::kCPU);
}

TEST_CASE("on a card sums and attention are the same in plain operations", "[gpu]") {
  if (!test::has_card()) return;
  check_sums(at::kCUDA);
  check_attention(at::kCUDA);
}

TEST_CASE("gradients of a card's attention agree with differences", "[cuda]") {
  const Place place(at::kCPU);
  torch::manual_seed(2);
  const CardBatch batch(test::random_small_graphs(2, 3), at::kCPU, 2);
  const BatchTensors& b = batch.tensors;
  const auto randn = [](const std::vector<int64_t>& shape) {
    return torch::randn(shape, at::kDouble);
  };
  test::check_gradients({randn({b.nodes, 6}), randn({1, 2, 3}), randn({1, 2, 3}), randn({6})},
                        [&](const std::vector<at::Tensor>& in) {
                          return GatKernels::cuda().attention(in[0], in[1], in[2], in[3], b);
                        });
  test::check_gradients(
      {randn({b.nodes, 6}), randn({b.nodes, 6}), randn({6, 2}), randn({1, 2, 3}), randn({6})},
      [&](const std::vector<at::Tensor>& in) {
        return GatKernels::cuda().attention_v2(in[0], in[1], in[2], in[3], in[4], b);
      });
}

TEST_CASE("edges by source hold every edge once", "[cuda]") {
  const CardBatch batch(test::random_small_graphs(5, 8), at::kCPU);
  const BatchTensors& b = batch.tensors;
  const EdgesBySource& by_source = edges_by_source(b);
  CHECK(&edges_by_source(BatchTensors(b)) == &by_source);  // made once
  const at::Tensor edge = by_source.out_edge_E.to(at::kLong);
  CHECK(torch::equal(std::get<0>(at::sort(edge)), at::arange(b.edges, at::kLong)));
  CHECK(torch::equal(by_source.target_E.to(at::kLong), edge_targets(b)));
  const at::Tensor source = b.in_source_E.index_select(0, edge);
  for (int64_t node = 0; node < b.nodes; ++node) {
    const int64_t first = by_source.out_ptr_N1[node].item<int64_t>();
    const int64_t last = by_source.out_ptr_N1[node + 1].item<int64_t>();
    CHECK(source.slice(0, first, last).eq(node).all().item<bool>());
  }
  BatchTensors other = b;
  other.in_source_E = b.in_source_E.flip(0);  // its own, not those of the batch it came from
  CHECK(!torch::equal(edges_by_source(other).out_edge_E, edge.to(at::kInt)));
}

}  // namespace
}  // namespace kdgat::kernels
