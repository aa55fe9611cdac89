// Metrics of predictions over several classes, and of predicted numbers. Plain numbers; no
// LibTorch.
//
// Every number is finite: what cannot be evaluated gets no credit (see metrics.h).
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

#include "engine/train/metrics/metric.h"

namespace kdgat::train {

/// Of probabilities [n, classes] row by row and labels [n] in 0 .. classes-1. The class predicted
/// is the most probable, of equals the first.
///
/// {"accuracy", "macro_f1", "auc", "confusion": [[true class][predicted class] counts],
/// "n_samples"} macro_f1: mean of the F1 of each class that is the label or the prediction of any
/// graph. auc: one against one (Hand and Till, Machine Learning 45, 2001): for each pair of
/// classes, on their graphs alone, the mean of the AUC of either's probability; the mean over the
/// pairs of which both occur. 0.5 if there is none.
nlohmann::json class_metrics(std::span<const float> probabilities, std::span<const int64_t> labels,
                             int64_t classes);

/// What is counted of one class.
struct OfClass {
  int64_t hits = 0, labelled = 0, predicted = 0;
  std::optional<double> auc;  ///< one against the rest, of its probability; none without both
};

/// A metric of predictions over classes, of what is counted of each class. Its row in
/// class_metrics.cpp is all there is of it: report, tables and figures follow.
struct ClassMetric : MetricForm {
  double (*of)(std::span<const OfClass>) = nullptr;
};
std::span<const ClassMetric> metrics_of_classes();

/// With what is said of each class: {"core": those of metrics_of_classes() and "n_samples",
/// "classes": [{"precision", "recall", "f1", "auc", "n_samples"}], "confusion"}. What is divided by
/// 0 is 0, an AUC that cannot be evaluated 0.5.
nlohmann::json class_report(std::span<const float> probabilities, std::span<const int64_t> labels,
                            int64_t classes);

/// Of confusion[true class][predicted class]: {"precision", "recall", "f1": {"macro", "micro",
/// "weighted"}}. macro: mean over the classes that are the label or the prediction of anything;
/// weighted: by the labels of each; micro, of all counts, is the accuracy. What is divided by 0 is
/// 0.
nlohmann::json averaged_scores(const std::vector<std::vector<int64_t>>& confusion);

/// {"mae", "rmse", "n_samples"}: mean absolute and root of the mean squared error, 0 of nothing.
nlohmann::json regression_metrics(std::span<const float> predicted, std::span<const float> target);

/// A metric of predicted numbers; its row in class_metrics.cpp is all there is of it.
struct NumberMetric : MetricForm {};
std::span<const NumberMetric> metrics_of_numbers();

/// Of predictions and targets [n, count] row by row, NaN = not known: {"core": of
/// metrics_of_numbers() the means over the targets, and "n_samples", "targets": [the same of
/// each]}. r2: 1 less the share of the squared errors in the squared distances to the mean of these
/// targets; 0 where all are equal.
nlohmann::json number_report(std::span<const float> predicted, std::span<const float> target,
                             std::size_t count);

}  // namespace kdgat::train
