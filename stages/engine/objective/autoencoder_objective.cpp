#include "engine/objective/autoencoder_objective.h"

#include "engine/model/layers/blocked_heads.h"
#include "engine/model/layers/linear.h"
#include "engine/objective/eval_guard.h"

namespace kdgat::objective {
namespace {

/// The sum over all cells, in the more precise of both types: the gradient of PyTorch 2.11 takes no
/// two of them.
torch::Tensor squared_error(const torch::Tensor& made, const torch::Tensor& wanted) {
  const auto type = c10::promoteTypes(made.scalar_type(), wanted.scalar_type());
  const auto converted = [type](const torch::Tensor& cells) {
    return cells.scalar_type() == type ? cells : cells.to(type);
  };
  return torch::mse_loss(converted(made), converted(wanted), at::Reduction::Sum);
}

/// 1 + logvar - mean^2 - exp(logvar), its sum is a term.
void count_divergence(model::StepCount& step, const memory::Value& mean,
                      const memory::Value& logvar) {
  using memory::Held, memory::Value;
  memory::Tape& tape = step.tape;
  const double width = mean.width;
  const Value one = step.tape.joined({logvar}, model::kNodes, width);
  const Value square = tape.value(model::kNodes, width);
  tape.then(square, [&tape, mean](const Held&) {
    const Held power = tape.hold(mean.bytes()), twice = tape.hold(mean.bytes());
    tape.give(mean);
  });
  const auto less = [&tape, width](const Value& a, const Value& b) {  // a - b
    Value out = tape.value(model::kNodes, width);
    tape.then(out, [&tape, a = a.without_data(), b = b.without_data()](const Held& grad) {
      tape.pass(a, grad);
      tape.give(b);
    });
    return out;
  };
  const Value difference = less(one, square);
  const Value variance = tape.elementwise(logvar, memory::Keeps::kResult);
  const Value sum = less(difference, variance);
  tape.then(step.term(), [&tape, sum = sum.without_data()](const Held& grad) {
    tape.pass(sum, grad);  // one number for all
  });
}

}  // namespace

torch::Tensor AutoencoderObjective::loss(const graph::GraphBatch& batch,
                                         const graph::StepTotals& totals, graph::NoiseKey noise) {
  kernels::BatchTensors tensors = kernels::to_tensors(batch, device());
  tensors.noise = noise;
  return loss_of(model_->forward(tensors), tensors, totals);
}

torch::Tensor AutoencoderObjective::loss_of(const model::VgaeOutput& output,
                                            const kernels::BatchTensors& batch,
                                            const graph::StepTotals& totals) {
  const model::VgaeConfig& config = model_->config();
  const auto nodes = static_cast<double>(totals.nodes);
  const auto num_ids = static_cast<double>(config.num_ids);
  const double cells = nodes * static_cast<double>(config.features());
  torch::Tensor total = torch::zeros({}, output.z_NL.options().dtype(torch::kFloat));
  parts_.clear();
  const auto add = [&](const char* name, double weight, const auto& term) {
    if (weight == 0) return;
    const torch::Tensor value = term();
    parts_.emplace_back(name, value.detach());
    total = total + weight * value;
  };
  add("feature", feature_weight,
      [&] { return squared_error(output.features_NX, output.wanted_NX) / cells; });
  add("identifier", config.has_ids ? identifier_weight : 0, [&] {
    return model::softmax_ce_sum(output.z_NL, model_->ids->weight, model_->ids->bias, batch.id_N) /
           nodes;
  });
  add("neighbour", neighbour_weight, [&] {
    if (!config.has_ids) {
      return squared_error(model_->neighbour_features(output.z_NL, batch),
                           model::neighbour_mean(output.wanted_NX, batch)) /
             cells;
    }
    const torch::nn::Linear& last = model_->neighbours->last();
    return model::bce_neighbour_sum(model_->neighbour_hidden(output.z_NL, batch), last->weight,
                                    last->bias, batch) /
           (nodes * num_ids);
  });
  add("kl", kl_weight, [&] {
    return -0.5 * (1 + output.logvar_NL - output.mean_NL.square() - output.logvar_NL.exp()).sum() /
           (nodes * static_cast<double>(config.latent_dim));
  });
  return total;
}

void AutoencoderObjective::count(model::StepCount& step, const model::GraphAutoencoderImpl& model,
                                 const model::VgaeCount& output) {
  memory::Tape& tape = step.tape;
  step.distance(output.features, output.wanted);
  if (model.ids) {
    tape.enter("the identifier head");
    model::count_head(step, output.z, model.ids);
  }
  tape.enter("the neighbour head");
  const memory::Value hidden = model.neighbours->count(step, output.z, false);
  if (model.ids) {
    model::count_head(step, hidden, model.neighbours->last());
  } else {
    const memory::Value said =
        model::count_linear_of_libtorch(step, hidden, model.neighbours->last()).value;
    step.distance(said, model::count_neighbour_mean(step, said.width));
  }
  tape.enter("the divergence");
  count_divergence(step, output.mean, output.logvar);
}

torch::Tensor AutoencoderObjective::node_errors(const kernels::BatchTensors& batch,
                                                double identifier) {
  const torch::NoGradGuard no_grad;
  const EvalGuard eval(*model_);
  const model::VgaeOutput output = model_->forward(batch);
  torch::Tensor node = feature_errors(output);
  if (!model_->config().has_ids) {
    node = node + neighbour_errors(output, batch);
  } else if (identifier != 0) {
    node = node + identifier * model::softmax_ce_per_node(output.z_NL, model_->ids->weight,
                                                          model_->ids->bias, batch.id_N);
  }
  return node.unsqueeze(1);
}

torch::Tensor AutoencoderObjective::feature_errors(const model::VgaeOutput& output) {
  return (output.features_NX - output.wanted_NX).square().mean(1);
}

torch::Tensor AutoencoderObjective::neighbour_errors(const model::VgaeOutput& output,
                                                     const kernels::BatchTensors& batch) {
  const model::VgaeConfig& config = model_->config();
  if (!config.has_ids) {
    return (model_->neighbour_features(output.z_NL, batch) -
            model::neighbour_mean(output.wanted_NX, batch))
        .square()
        .mean(1);
  }
  const torch::nn::Linear& last = model_->neighbours->last();
  return model::bce_neighbour_per_node(model_->neighbour_hidden(output.z_NL, batch), last->weight,
                                       last->bias, batch) /
         static_cast<double>(config.num_ids);
}

torch::Tensor AutoencoderObjective::score(const graph::GraphBatch& batch) {
  const kernels::BatchTensors tensors = kernels::to_tensors(batch, device());
  const torch::Tensor node_N1 = node_errors(tensors, 0);
  torch::Tensor out_G1 = model::mean_pool(node_N1, tensors);
  if (model_->config().readout == "mean_and_max") {
    out_G1 = out_G1 + model::max_pool(node_N1, tensors);
  }
  return out_G1.squeeze(1).cpu();
}

torch::Tensor AutoencoderObjective::difficulty(const graph::GraphBatch& batch) {
  const kernels::BatchTensors tensors = kernels::to_tensors(batch, device());
  return model::mean_pool(node_errors(tensors, identifier_weight), tensors).squeeze(1).cpu();
}

}  // namespace kdgat::objective
