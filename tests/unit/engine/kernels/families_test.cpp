#include <c10/util/intrusive_ptr.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "engine/kernels/cpu/isa/level.h"
#include "engine/kernels/cpu/isa/rounded_products.h"
#include "engine/kernels/heads.h"
#include "engine/kernels/kernels_for.h"
#include "engine/kernels/noise_keys.h"
#include "engine/kernels/norm.h"
#include "engine/model/layers/layers.h"
#include "engine/model/layers/noise.h"
#include "support/can/short_numbers.h"
#include "support/graphs/batches.h"

// What every family owes: the form of the CPU and the one in plain tensor operations, which runs on
// devices without kernels, give the same outputs and the same gradients. Attention and paths stand
// with their models (model_test, forms_test, sgmp_test).
namespace kdgat::kernels {
namespace {

using test::at_every_isa;
using test::check_close;
using test::short_numbers;

struct Batch {
  Batch() : Batch(test::random_small_graphs(12, 5)) {}
  explicit Batch(const std::vector<test::SmallGraph>& graphs) : packed(test::make_batch(graphs)) {
    tensors = to_tensors(packed, at::kCPU);
    tensors.noise.seed = 7;
    tensors.noise.step = 3;
  }
  graph::GraphBatch packed;
  BatchTensors tensors;
};

using Call = std::function<at::Tensor(const NormKernels&, const std::vector<at::Tensor>&)>;

/// Output and gradients of a weighted sum of it, in both forms.
void compare(const std::string& what, const std::vector<at::Tensor>& inputs, const Call& call) {
  std::vector<at::Tensor> results[2];
  for (const bool plain : {false, true}) {
    std::vector<at::Tensor> own;
    for (const at::Tensor& t : inputs) own.push_back(t.clone().requires_grad_());
    const at::Tensor out = call(plain ? NormKernels::plain() : NormKernels::cpu(), own);
    (out * at::arange(out.numel(), out.options()).view(out.sizes()).sin()).sum().backward();
    results[plain].push_back(out);
    for (const at::Tensor& t : own) results[plain].push_back(t.grad());
  }
  for (std::size_t i = 0; i < results[0].size(); ++i) {
    check_close(results[0][i], results[1][i], what + ", " + std::to_string(i), 2e-5, 1e-4);
  }
}

TEST_CASE("a device without kernels gets plain tensor operations", "[kernels]") {
  CHECK(&kernels_for<NormKernels>(at::kCPU) == &NormKernels::cpu());
  CHECK(&kernels_for<NormKernels>(at::kCUDA) == &NormKernels::plain());
}

TEST_CASE("norms, dropout and pooling are the same in plain tensor operations", "[kernels]") {
  const Batch batch;
  const BatchTensors& b = batch.tensors;
  constexpr int64_t kColumns = 19;
  at_every_isa([&] {
    for (const auto type : {at::kFloat, at::kDouble}) {
      torch::manual_seed(4);
      const at::Tensor x = torch::randn({b.nodes, kColumns}, type);
      const auto weights = [&] { return torch::randn({kColumns}, type); };
      const std::vector<at::Tensor> normed{x, weights(), weights(), weights()};
      for (const double p : {0.0, 0.4}) {
        for (const int64_t columns : {int64_t{1}, int64_t{8}, kColumns, int64_t{45}}) {
          const std::string width = " of " + std::to_string(columns);
          compare("relu and dropout" + width, {torch::randn({b.nodes, columns}, type)},
                  [&](const NormKernels& k, const auto& in) {
                    return k.relu_dropout(in[0], p, 2, b, false, false);
                  });
          compare("of graphs" + width, {torch::randn({b.graphs, columns}, type)},
                  [&](const NormKernels& k, const auto& in) {
                    return k.relu_dropout(in[0], p, 2, b, true, false);
                  });
        }
        compare("graph norm", normed, [&](const NormKernels& k, const auto& in) {
          return k.graph_norm(in[0], {in[1], in[2], in[3]}, p, 2, b);
        });
      }
      compare("mean", {x},
              [&](const NormKernels& k, const auto& in) { return k.mean_pool(in[0], b); });
    }
    const at::Tensor fast = NormKernels::cpu().uniform(b, 6, 1);
    CHECK(torch::equal(fast, NormKernels::plain().uniform(b, 6, 1)));
    CHECK(fast.min().item<float>() > 0);
    CHECK(fast.max().item<float>() < 1);
  });
}

TEST_CASE("batch norm and its running statistics are the same in plain operations", "[kernels]") {
  const Batch batch;
  const BatchTensors& b = batch.tensors;
  const at::Tensor x = torch::randn({b.nodes, 9});
  at_every_isa([&] {
    for (const bool training : {true, false}) {
      for (const bool updates : {true, false}) {
        at::Tensor grad[2];
        torch::nn::BatchNorm1d norm[2] = {torch::nn::BatchNorm1d(9), torch::nn::BatchNorm1d(9)};
        at::Tensor out[2];
        for (const bool plain : {false, true}) {
          norm[plain]->running_mean.fill_(0.1);
          norm[plain]->running_var.fill_(0.9);
          norm[plain]->train(training);
          const at::Tensor own = x.clone().requires_grad_();
          const NormKernels& k = plain ? NormKernels::plain() : NormKernels::cpu();
          out[plain] = k.batch_norm(own, *norm[plain], 0.2, 4, b, updates);
          out[plain].square().sum().backward();
          grad[plain] = own.grad();
        }
        check_close(out[0], out[1], "output");
        check_close(grad[0], grad[1], "gradient", 5e-5, 1e-4);
        check_close(norm[0]->weight.grad(), norm[1]->weight.grad(), "weight", 1e-4, 1e-4);
        check_close(norm[0]->running_mean, norm[1]->running_mean, "running mean");
        check_close(norm[0]->running_var, norm[1]->running_var, "running variance");
        CHECK(norm[0]->num_batches_tracked.item<int64_t>() ==
              norm[1]->num_batches_tracked.item<int64_t>());
      }
    }
  });
}

TEST_CASE("wide heads are the same in plain tensor operations", "[kernels]") {
  const Batch batch;
  const BatchTensors& b = batch.tensors;
  constexpr int64_t kOutputs = 70;
  BatchTensors known = b;
  known.id_N = at::remainder(at::arange(b.nodes, at::kInt), kOutputs).to(at::kInt);
  const HeadTarget one{known.id_N}, neighbours{{}, &known};
  // As many inputs as tiles have remainders.
  for (const int64_t inputs : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 16, 24, 33}) {
    INFO(inputs << " inputs");
    const at::Tensor z = torch::randn({b.nodes, inputs});
    const at::Tensor weight = torch::randn({kOutputs, inputs}), bias = torch::randn({kOutputs});
    at_every_isa([&] {
      for (const bool softmax : {true, false}) {
        const Head head = softmax ? Head::kSoftmax : Head::kSigmoid;
        const HeadTarget& target = softmax ? one : neighbours;
        const HeadResult fast =
            HeadKernels::cpu().losses(head, z, weight, bias, target, true, false);
        const HeadResult plain =
            HeadKernels::plain().losses(head, z, weight, bias, target, true, false);
        check_close(fast.loss_N, plain.loss_N, "losses");
        check_close(fast.grad_z, plain.grad_z, "gradient of z", 2e-5, 1e-4);
        check_close(fast.grad_weight, plain.grad_weight, "gradient of the weight", 2e-5, 1e-4);
        check_close(fast.grad_bias, plain.grad_bias, "gradient of the bias", 2e-5, 1e-4);
      }
    });
  }
}

TEST_CASE("wide heads in bfloat16 round factors, and nothing where they need no rounding",
          "[kernels]") {
  const Batch batch;
  const BatchTensors& b = batch.tensors;
  for (const int64_t inputs : {1, 7, 16, 33}) {
    for (const int64_t outputs : {3, 64, 70, 300}) {
      BatchTensors known = b;
      known.id_N = at::remainder(at::arange(b.nodes, at::kInt), outputs).to(at::kInt);
      const at::Tensor z = short_numbers({b.nodes, inputs});
      const at::Tensor weight = short_numbers({outputs, inputs}), bias = torch::randn({outputs});
      for (const Head head : {Head::kSoftmax, Head::kSigmoid}) {
        const HeadTarget target{known.id_N, head == Head::kSigmoid ? &known : nullptr};
        const auto run = [&](const HeadKernels& kernels, bool in_bfloat16) {
          return kernels.losses(head, z, weight, bias, target, true, in_bfloat16);
        };
        const HeadResult rounded = run(HeadKernels::cpu(), true),
                         exact = run(HeadKernels::cpu(), false);
        INFO(inputs << " inputs, " << outputs << " outputs");
        check_close(rounded.loss_N, exact.loss_N, "losses");  // their factors are short
        // Cells are rounded before they are multiplied: each to 2^-9. Those of a softmax add up to
        // 0, at most 2 without their signs: products with weights that are much the same cancel.
        const auto close = [](const at::Tensor& a, const at::Tensor& b, const char* what,
                              double least = 0) {
          check_close(a, b, what, std::max(b.abs().max().item<double>() / 64, least), 0);
        };
        close(rounded.grad_z, exact.grad_z, "gradient of z",
              head == Head::kSoftmax ? weight.abs().max().item<double>() / 256 : 0);
        close(rounded.grad_weight, exact.grad_weight, "gradient of the weight");
        close(rounded.grad_bias, exact.grad_bias, "gradient of the bias");
        const bool has_products = isa_level() == "avx512" && isa::rounded_products() != nullptr;
        CHECK(at::equal(rounded.grad_z, exact.grad_z) != has_products);
      }
    }
  }
}

TEST_CASE("wide heads that are not asked for bfloat16, or cannot, stay as they are", "[kernels]") {
  const Batch batch;
  const at::Tensor z = torch::randn({batch.tensors.nodes, 7}), weight = torch::randn({70, 7});
  const at::Tensor bias = torch::randn({70});
  const HeadTarget target{at::zeros({batch.tensors.nodes}, at::kInt)};
  const auto loss = [&](bool in_bfloat16) {
    return HeadKernels::cpu()
        .losses(Head::kSoftmax, z, weight, bias, target, false, in_bfloat16)
        .loss_N;
  };
  at_every_isa([&] {
    const bool has_products = isa_level() == "avx512" && isa::rounded_products() != nullptr;
    CHECK(at::equal(loss(true), loss(false)) != has_products);
  });
}

TEST_CASE("ReLU with dropout writes over what nobody else holds", "[kernels]") {
  const Batch batch;
  const at::Tensor leaf = torch::randn({batch.tensors.nodes, 24}).requires_grad_();
  const at::Tensor wanted = model::relu_dropout(leaf, 0.3, 5, batch.tensors);
  const at::Tensor wanted_grad = torch::autograd::grad({wanted.square().sum()}, {leaf})[0];

  at::Tensor x = leaf * 1;
  const void* room = x.const_data_ptr();
  at::Tensor y = model::relu_dropout(std::move(x), 0.3, 5, batch.tensors);
  CHECK(y.const_data_ptr() == room);
  CHECK(at::equal(y, wanted));
  CHECK(at::equal(torch::autograd::grad({y.square().sum()}, {leaf})[0], wanted_grad));

  at::Tensor given = leaf * 1;
  const at::Tensor view = given.detach();  // holds the numbers, not the tensor
  y = model::relu_dropout(std::move(given), 0.3, 5, batch.tensors);
  CHECK(y.const_data_ptr() != view.const_data_ptr());
  CHECK(at::equal(view, leaf));
  CHECK(at::equal(y, wanted));
}

TEST_CASE("ReLU with dropout is the same on two threads, with a graph of no nodes", "[kernels]") {
  std::vector<test::SmallGraph> graphs = test::random_small_graphs(40, 5);
  graphs.insert(graphs.begin() + 20, test::SmallGraph());
  const Batch batch(graphs);
  const int before = at::get_num_threads();
  at::set_num_threads(2);
  at_every_isa([&] {
    for (const int64_t columns : {int64_t{384}, int64_t{387}}) {
      compare("two threads", {torch::randn({batch.tensors.nodes, columns})},
              [&](const NormKernels& k, const auto& in) {
                return k.relu_dropout(in[0], 0.4, 2, batch.tensors, false, false);
              });
    }
  });
  at::set_num_threads(before);
}

TEST_CASE("ReLU with dropout does not keep its result", "[kernels]") {
  const Batch batch;
  const at::Tensor leaf = torch::randn({batch.tensors.nodes, 24}).requires_grad_();
  at::Tensor y = model::relu_dropout(leaf, 0.3, 5, batch.tensors);
  const at::Tensor wanted =
      torch::autograd::grad({model::mean_pool(y, batch.tensors).sum()}, {leaf})[0];
  y = model::relu_dropout(leaf, 0.3, 5, batch.tensors);
  const auto storage = y.storage().getWeakStorageImpl();
  const at::Tensor pooled = model::mean_pool(y, batch.tensors);
  y.reset();
  CHECK(storage.expired());
  CHECK(at::equal(torch::autograd::grad({pooled.sum()}, {leaf})[0], wanted));
}

}  // namespace
}  // namespace kdgat::kernels
