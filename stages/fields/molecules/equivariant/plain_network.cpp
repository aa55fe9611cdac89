#include "fields/molecules/equivariant/plain_network.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <torch/optim/adamw.h>

#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include "fields/molecules/model/plain_numbers.h"
#include "fields/molecules/model/pocket_encoder.h"
#include "fields/molecules/objective/pocket_loss.h"

namespace kdgat::equivariant {
namespace {

constexpr int64_t kEpochs = 40, kBatch = 8;
constexpr double kRate = 2e-3, kDecay = 1e-2, kDropout = 0.3;

/// log(1 + number), z-scored by the training molecules, which are the first `trained` rows.
at::Tensor scaled_rows(const molecules::PlainNumbers& numbers, int64_t trained) {
  constexpr double kLeast = 1e-8, kFurthest = 6;
  const auto rows = std::ssize(numbers.rows) / numbers.width;
  const at::Tensor all =
      at::from_blob(const_cast<float*>(numbers.rows.data()), {rows, numbers.width}, at::kFloat)
          .to(at::kDouble)
          .log1p();
  const at::Tensor known = all.narrow(0, 0, trained);
  const at::Tensor deviation = known.std(0, /*unbiased=*/false);
  return ((all - known.mean(0)) /
          at::where(deviation < kLeast, at::ones_like(deviation), deviation))
      .clamp(-kFurthest, kFurthest)
      .to(at::kFloat);
}

class Perceptron {
 public:
  Perceptron(int64_t inputs, int64_t outputs, at::Generator generator)
      : generator_(std::move(generator)) {
    const auto layer = [&](int64_t in, int64_t out) {
      const double bound = 1 / std::sqrt(static_cast<double>(in));
      for (const std::vector<int64_t>& shape : {std::vector<int64_t>{out, in}, {out}}) {
        weights_.push_back(at::empty(shape).uniform_(-bound, bound, generator_).requires_grad_());
      }
    };
    layer(inputs, molecules::kPlainHidden);
    layer(molecules::kPlainHidden, outputs);
  }

  at::Tensor forward(const at::Tensor& rows, bool is_training) {
    at::Tensor hidden = at::silu(at::linear(rows, weights_[0], weights_[1]));
    if (is_training) {
      hidden =
          hidden * at::empty_like(hidden).bernoulli_(1 - kDropout, generator_) / (1 - kDropout);
    }
    const at::Tensor out = at::linear(hidden, weights_[2], weights_[3]);
    return at::layer_norm(out, {out.size(1)});
  }
  const std::vector<at::Tensor>& weights() const { return weights_; }

 private:
  at::Generator generator_;
  std::vector<at::Tensor> weights_;
};

}  // namespace

std::vector<int64_t> ranks_by_plain_network(const PocketData& data, const std::vector<int64_t>& ids,
                                            const train::Catalogue& catalogue, int64_t seed,
                                            const std::function<void()>& check) {
  std::vector<int64_t> molecules = data.train;
  molecules.insert(molecules.end(), ids.begin(), ids.end());
  const molecules::PlainNumbers numbers =
      molecules::plain_numbers(data.store, molecules, data.train);
  const auto trained = std::ssize(data.train);
  const at::Tensor rows = scaled_rows(numbers, trained);
  const at::Tensor vectors = at::from_blob(const_cast<float*>(catalogue.vectors.data()),
                                           {catalogue.ligands(), catalogue.width}, at::kFloat);
  const std::vector<int32_t> ligands = data.ligands(data.train);
  const at::Tensor ligand =
      at::tensor(std::vector<int64_t>(ligands.begin(), ligands.end()), at::kLong);
  const auto [known, place, counts] = at::_unique2(ligand, /*sorted=*/true,
                                                   /*return_inverse=*/true);

  const auto generator = at::make_generator<at::CPUGeneratorImpl>(static_cast<uint64_t>(seed));
  Perceptron net(numbers.width, catalogue.width, generator);
  torch::optim::AdamW optimizer(net.weights(),
                                torch::optim::AdamWOptions(kRate).weight_decay(kDecay));
  molecules::PocketLossOptions how;
  how.loss_fn = "catalogue";
  const int64_t steps = kEpochs * ((trained + kBatch - 1) / kBatch);
  int64_t step = 0;
  for (int64_t epoch = 0; epoch < kEpochs; ++epoch) {
    check();
    const at::Tensor order = at::randperm(trained, generator, at::kLong);
    for (int64_t first = 0; first < trained; first += kBatch) {
      const at::Tensor some = order.narrow(0, first, std::min(kBatch, trained - first));
      molecules::PocketTargets targets;
      targets.ligand = ligand.index_select(0, some);
      targets.vectors = vectors.index_select(0, targets.ligand);
      targets.place = place.index_select(0, some);
      targets.catalogue = vectors.index_select(0, known);
      const double share = static_cast<double>(step++) / static_cast<double>(steps);
      auto& rate = static_cast<torch::optim::AdamWOptions&>(optimizer.param_groups()[0].options());
      rate.lr(kRate * 0.5 * (1 + std::cos(std::numbers::pi * share)));
      optimizer.zero_grad();
      const at::Tensor loss =
          molecules::pocket_loss(net.forward(rows.index_select(0, some), true), targets, how) /
          static_cast<double>(some.size(0));
      loss.backward();
      optimizer.step();
    }
  }
  const at::NoGradGuard no_grad;
  const at::Tensor predicted =
      net.forward(rows.narrow(0, trained, std::ssize(ids)), false).contiguous();
  return train::ranks_of(
      {predicted.const_data_ptr<float>(), static_cast<std::size_t>(predicted.numel())},
      data.ligands(ids), catalogue);
}

}  // namespace kdgat::equivariant
