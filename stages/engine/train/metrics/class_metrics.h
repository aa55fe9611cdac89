// Metrics of predictions over several classes, and of predicted numbers. Plain numbers; no
// LibTorch.
//
// Every number is finite: what cannot be evaluated gets no credit (see metrics.h).
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

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

/// The same with what is said of each class: {"core": {"accuracy", "balanced_accuracy", "macro_f1",
/// "auc", "n_samples"}, "classes": [{"precision", "recall", "f1", "auc", "n_samples"}],
/// "confusion"}. balanced_accuracy: mean recall of the classes that are the label of any graph. auc
/// of a class: one against the rest, of its probability; of all: the mean over the classes of which
/// there are graphs and others, 0.5 if there is none. What is divided by 0 is 0.
nlohmann::json class_report(std::span<const float> probabilities, std::span<const int64_t> labels,
                            int64_t classes);

/// Of confusion[true class][predicted class]: {"precision", "recall", "f1": {"macro", "micro",
/// "weighted"}}. macro: mean over the classes that are the label or the prediction of anything;
/// weighted: by the labels of each; micro, of all counts, is the accuracy. What is divided by 0 is
/// 0.
nlohmann::json averaged_scores(const std::vector<std::vector<int64_t>>& confusion);

/// {"mae", "rmse", "n_samples"}: mean absolute and root of the mean squared error, 0 of nothing.
nlohmann::json regression_metrics(std::span<const float> predicted, std::span<const float> target);

}  // namespace kdgat::train
