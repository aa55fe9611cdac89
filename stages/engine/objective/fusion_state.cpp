#include "engine/objective/fusion_state.h"

#include <cmath>
#include <vector>

#include "engine/kernels/batch_tensors.h"
#include "engine/model/layers/blocked_heads.h"
#include "engine/objective/eval_guard.h"

namespace kdgat::objective {

namespace {

/// Mean, std, max, min over the nodes of each graph and their channels, [G, 4].
torch::Tensor latent_of_graphs(const torch::Tensor& z_NL, const kernels::BatchTensors& batch) {
  const torch::Tensor graph_N = kernels::node_graphs(batch);
  const torch::Tensor nodes_G = at::diff(batch.node_ptr_G1).to(z_NL.scalar_type());
  const auto pool = [&batch](const torch::Tensor& x_N) {
    return model::mean_pool(x_N.unsqueeze(1), batch).squeeze(1);
  };
  const auto extreme = [&](const torch::Tensor& x_N, const char* which) {
    return at::zeros_like(nodes_G).scatter_reduce(0, graph_N, x_N, which, /*include_self=*/false);
  };
  const torch::Tensor mean_G = pool(z_NL.mean(1));
  const torch::Tensor gap_NL = z_NL - mean_G.index_select(0, graph_N).unsqueeze(1);
  const torch::Tensor sum_G = pool(gap_NL.square().sum(1)) * nodes_G;
  const torch::Tensor std_G =
      (sum_G / (nodes_G * static_cast<double>(z_NL.size(1)) - 1).clamp_min(1)).sqrt();
  return at::stack({mean_G, std_G, extreme(z_NL.amax(1), "amax"), extreme(z_NL.amin(1), "amin")},
                   1);
}

/// Errors, latent statistics and confidence of the autoencoder, [G, 8]; 7 without identifiers.
torch::Tensor autoencoder_states(AutoencoderObjective& autoencoder,
                                 const kernels::BatchTensors& batch) {
  model::GraphAutoencoder& model = autoencoder.model();
  const model::VgaeOutput out = model->forward(batch);
  std::vector<torch::Tensor> of_nodes = {autoencoder.feature_errors(out),
                                         autoencoder.neighbour_errors(out, batch)};
  if (model->config().has_ids) {
    of_nodes.push_back(
        model::softmax_ce_per_node(out.z_NL, model->ids->weight, model->ids->bias, batch.id_N));
  }
  const torch::Tensor errors = model::mean_pool(at::stack(of_nodes, 1), batch);
  return at::cat({errors, latent_of_graphs(out.z_NL, batch), 1 / (1 + errors.slice(1, 0, 1))}, 1);
}

/// Probabilities, statistics of the pooled states and confidence of the classifier, [G, 7].
torch::Tensor classifier_states(model::GraphClassifier& model, const kernels::BatchTensors& batch) {
  const torch::Tensor pooled = model->pooled(batch);
  const torch::Tensor p = model->classify(pooled, batch).to(torch::kFloat).softmax(1);
  const torch::Tensor entropy = -at::xlogy(p, p).sum(1);
  const torch::Tensor std = pooled.size(1) > 1 ? pooled.std(1) : at::zeros_like(entropy);
  return at::cat({p, at::stack({pooled.mean(1), std, pooled.amax(1), pooled.amin(1),
                                (1 - entropy / std::log(2.0)).clamp(0, 1)},
                               1)},
                 1);
}

}  // namespace

torch::Tensor fusion_states(AutoencoderObjective& autoencoder, ClassifierObjective& classifier,
                            const graph::GraphBatch& batch) {
  const torch::NoGradGuard no_grad;
  const EvalGuard eval_autoencoder(*autoencoder.model()), eval_classifier(*classifier.model());
  const kernels::BatchTensors tensors = kernels::to_tensors(batch, autoencoder.device());
  return at::cat({autoencoder_states(autoencoder, tensors),
                  classifier_states(classifier.model(), tensors)},
                 1)
      .to(torch::kFloat)
      .cpu();
}

}  // namespace kdgat::objective
