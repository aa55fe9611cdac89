// Objectives of students: the task's loss and the distance to a teacher's outputs,
//   total = alpha * L_KD + (1 - alpha) * L_task.
#pragma once

#include <memory>

#include "engine/objective/autoencoder_objective.h"
#include "engine/objective/classifier_objective.h"
#include "engine/objective/teacher.h"

namespace kdgat::objective {

/// T^2 * KL(softmax(teacher / T) || softmax(student / T)), summed over the rows of both [G, C]
/// (Hinton et al., arXiv 1503.02531). The gradient goes to the student alone.
torch::Tensor distillation_loss(const torch::Tensor& student_GC, const torch::Tensor& teacher_GC,
                                double temperature);

/// L_KD is the distillation loss of the logits, a mean over the graphs of the step.
class ClassifierDistillation : public ClassifierObjective {
 public:
  ClassifierDistillation(model::GraphClassifier student, std::unique_ptr<Teacher> teacher)
      : ClassifierObjective(std::move(student)), teacher_(std::move(teacher)) {}

  torch::Tensor loss(const graph::GraphBatch& batch, const graph::StepTotals& totals,
                     graph::NoiseKey noise) override;
  std::vector<std::pair<std::string, torch::Tensor>> parts() const override { return parts_; }
  bool with_edge_attr() const override;
  /// What distillation_loss() holds.
  static void count_distance(model::StepCount& step, const memory::Value& logits);

  double temperature = 4.0;
  double alpha = 0.7;

 private:
  std::unique_ptr<Teacher> teacher_;
  std::vector<std::pair<std::string, torch::Tensor>> parts_;
};

/// L_KD = latent_weight * MSE(P(z), teacher's mean of z) + feature weight * MSE of the
/// reconstructions, means over all cells of the step. z is the student's sample, as published; P is
/// a learned linear map where the widths of z differ, else the identity. P is part of module(), so
/// of what is trained and of checkpoints, but not of model().
class AutoencoderDistillation : public AutoencoderObjective {
 public:
  AutoencoderDistillation(model::GraphAutoencoder student, std::unique_ptr<Teacher> teacher);

  torch::Tensor loss(const graph::GraphBatch& batch, const graph::StepTotals& totals,
                     graph::NoiseKey noise) override;
  torch::nn::Module& module() override { return projection ? *trained_ : *model(); }
  std::vector<std::pair<std::string, torch::Tensor>> parts() const override;
  bool with_edge_attr() const override;
  /// What distilling holds of a teacher whose latent layer is so wide, without the task's loss.
  static void count_distance(model::StepCount& step, const model::VgaeCount& output,
                             int64_t teacher_latent);

  torch::nn::Linear projection{nullptr};  ///< null if the widths are equal
  double alpha = 0.7;
  double latent_weight = 0.5;
  double reconstruction_weight = 0.5;

 private:
  std::unique_ptr<Teacher> teacher_;
  std::shared_ptr<torch::nn::Module> trained_;  ///< student and projection
  std::vector<std::pair<std::string, torch::Tensor>> kd_parts_;
};

}  // namespace kdgat::objective
