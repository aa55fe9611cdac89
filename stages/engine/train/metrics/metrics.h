// Metrics of a binary detector: attack is the positive class. Plain numbers; no LibTorch.
//
// Where a class is empty a rate over it is 0, AUC is 0.5, kappa and MCC are 0: a detector that
// cannot be evaluated gets no credit. Every number is finite.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>

namespace kdgat::train {

struct Confusion {
  int64_t tp = 0, fp = 0, tn = 0, fn = 0;
  int64_t total() const { return tp + fp + tn + fn; }
};

/// Predicts attack where score > threshold. Labels 1 or 0; both spans of the same length.
Confusion confusion(std::span<const float> scores, std::span<const int64_t> labels,
                    double threshold);

/// accuracy, precision, recall, f1, specificity, balanced_accuracy, mcc, fpr, fnr, n_samples,
/// kappa, tpr, tnr, detection_rate, miss_rate.
nlohmann::json rates(const Confusion& c);

/// Probability that an attack scores above a benign graph, ties counting one half.
double auc(std::span<const float> scores, std::span<const int64_t> labels);

/// Average precision: the sum over thresholds of (recall gained) x precision, equal scores
/// together.
double pr_auc(std::span<const float> scores, std::span<const int64_t> labels);

/// Largest recall at any threshold whose false-positive rate is at most `max_fpr`.
double detection_at_fpr(std::span<const float> scores, std::span<const int64_t> labels,
                        double max_fpr);

/// Where recall - false-positive rate is largest (Youden's J); half-way to the next lower score, so
/// that the result does not hang on rounding. The highest such threshold.
struct Threshold {
  double value = 0;
  double youden_j = 0;
};
Threshold best_threshold(std::span<const float> scores, std::span<const int64_t> labels);

}  // namespace kdgat::train
