// Metrics of a binary detector: attack is the positive class. Plain numbers; no LibTorch.
//
// Where a class is empty a rate over it is 0, AUC is 0.5, kappa and MCC are 0: a detector that
// cannot be evaluated gets no credit. Every number is finite.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "engine/train/metrics/metric.h"

namespace kdgat::train {

struct Confusion {
  int64_t tp = 0, fp = 0, tn = 0, fn = 0;
  int64_t total() const { return tp + fp + tn + fn; }
};

/// Predicts attack where score > threshold. Labels 1 or 0; both spans of the same length.
Confusion confusion(std::span<const float> scores, std::span<const int64_t> labels,
                    double threshold);

/// Graph by graph.
struct Scores {
  std::span<const float> scores;  ///< what is compared with the threshold
  std::span<const float> ranks;   ///< they rise with the scores, and no two are equal near 1
  std::span<const int64_t> labels;
};

/// A metric of a detector: of counted decisions, or of scores. Its row in metrics.cpp is all there
/// is of it: results, tables, figures and the choices of monitor_metric follow.
struct Metric : MetricForm {
  enum class Told {
    kAdditional,  ///< below "additional" in the metrics of an evaluation
    kCore,        ///< below "core" there
    kEpoch        ///< there, and of validation after each epoch, as "val_<name>"
  };
  Told told = Told::kAdditional;
  double (*of_counts)(const Confusion&) = nullptr;
  double (*of_scores)(const Scores&) = nullptr;

  double of(const Scores& s, const Confusion& c) const {
    return of_counts != nullptr ? of_counts(c) : of_scores(s);
  }
};
std::span<const Metric> metrics();

/// Those of counts, and n_samples.
nlohmann::json rates(const Confusion& c);

/// Those of an epoch, by name.
nlohmann::json epoch_metrics(std::span<const float> scores, std::span<const int64_t> labels,
                             double threshold);

/// What may choose the best epoch: names of its numbers.
std::vector<std::string> monitored();
bool is_less_monitored(const std::string& name);

/// Figures of a step that trains (kdgat/figures.h): of an epoch's metrics, too, that the usual ones
/// do not hold.
std::vector<Figure> trained_figures(const nlohmann::json& metrics);

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
