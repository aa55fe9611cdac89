#include "engine/objective/distillation.h"

#include "engine/kernels/full_precision.h"
#include "engine/model/layers/linear.h"

namespace kdgat::objective {

torch::Tensor distillation_loss(const torch::Tensor& student_GC, const torch::Tensor& teacher_GC,
                                double temperature) {
  const torch::Tensor s = (student_GC / temperature).log_softmax(1);
  const torch::Tensor t = (teacher_GC / temperature).log_softmax(1);
  return temperature * temperature * (t.exp() * (t - s)).sum();
}

torch::Tensor ClassifierDistillation::loss(const graph::GraphBatch& batch,
                                           const graph::StepTotals& totals, graph::NoiseKey noise) {
  teacher_->prepare();
  const torch::Tensor student = logits(batch, noise);
  const torch::Tensor teacher = teacher_->outputs(batch).front();
  const torch::Tensor kd = distillation_loss(student.to(torch::kFloat), teacher, temperature) /
                           static_cast<double>(totals.graphs);
  const torch::Tensor task = loss_of(student, batch, totals);
  parts_ = {{"kd", kd.detach()}, {"task", task.detach()}};
  return alpha * kd + (1 - alpha) * task;
}

void ClassifierDistillation::count_distance(model::StepCount& step, const memory::Value& logits) {
  step.tape.hold(model::floats(model::kGraphs, 8 * logits.width));  // both, softened
}

bool ClassifierDistillation::with_edge_attr() const {
  return ClassifierObjective::with_edge_attr() || teacher_->with_edge_attr();
}

AutoencoderDistillation::AutoencoderDistillation(model::GraphAutoencoder student,
                                                 std::unique_ptr<Teacher> teacher)
    : AutoencoderObjective(std::move(student)), teacher_(std::move(teacher)) {
  const int64_t own = model()->config().latent_dim;
  const int64_t wanted = teacher_->tensors().front().width;
  if (own == wanted) return;
  projection = torch::nn::Linear(own, wanted);
  trained_ = std::make_shared<torch::nn::Module>();
  trained_->register_module("student", model().ptr());
  trained_->register_module("projection", projection);
}

torch::Tensor AutoencoderDistillation::loss(const graph::GraphBatch& batch,
                                            const graph::StepTotals& totals,
                                            graph::NoiseKey noise) {
  teacher_->prepare();
  kernels::BatchTensors tensors = kernels::to_tensors(batch, device());
  tensors.noise = noise;
  const model::VgaeOutput output = model()->forward(tensors);
  const std::vector<torch::Tensor> wanted = teacher_->outputs(batch);
  const torch::Tensor z =
      projection ? kernels::full(projection->forward(output.z_NL)) : output.z_NL;
  const auto mean_square = [&](const torch::Tensor& a, const torch::Tensor& b) {
    return torch::mse_loss(a, b, at::Reduction::Sum) /
           static_cast<double>(totals.nodes * b.size(1));
  };
  const torch::Tensor latent = mean_square(z, wanted[0]);
  const torch::Tensor features = mean_square(output.features_NX, wanted[1]);
  kd_parts_ = {{"kd_latent", latent.detach()}, {"kd_reconstruction", features.detach()}};
  return alpha * (latent_weight * latent + reconstruction_weight * features) +
         (1 - alpha) * loss_of(output, tensors, totals);
}

void AutoencoderDistillation::count_distance(model::StepCount& step, const model::VgaeCount& output,
                                             int64_t teacher_latent) {
  memory::Tape& tape = step.tape;
  tape.enter("distillation");
  const memory::Held latents =
      tape.hold(model::floats(model::kNodes, static_cast<double>(teacher_latent)));
  const memory::Held features = tape.hold(output.features.bytes());
  const auto own = static_cast<int64_t>(output.z.width);
  const memory::Value z =
      own == teacher_latent
          ? output.z
          : model::count_linear_of_libtorch(step, output.z, {own, teacher_latent}).value;
  step.distance(z, latents);
  step.distance(output.features, features);
}

std::vector<std::pair<std::string, torch::Tensor>> AutoencoderDistillation::parts() const {
  auto out = AutoencoderObjective::parts();
  out.insert(out.end(), kd_parts_.begin(), kd_parts_.end());
  return out;
}

bool AutoencoderDistillation::with_edge_attr() const {
  return AutoencoderObjective::with_edge_attr() || teacher_->with_edge_attr();
}

}  // namespace kdgat::objective
