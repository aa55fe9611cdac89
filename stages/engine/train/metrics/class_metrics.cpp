#include "engine/train/metrics/class_metrics.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "engine/train/metrics/metrics.h"

namespace kdgat::train {
namespace {

double mean(double sum, std::size_t count) {
  return count > 0 ? sum / static_cast<double>(count) : 0;
}

/// Graph by graph, probabilities of the classes.
struct Predictions {
  std::span<const float> probability;
  std::span<const int64_t> label;
  std::size_t classes;
  float of(std::size_t graph, std::size_t c) const { return probability[graph * classes + c]; }
};

using Counts = std::vector<std::vector<int64_t>>;

Counts confusion_counts(const Predictions& p) {
  Counts out(p.classes, std::vector<int64_t>(p.classes));
  for (std::size_t i = 0; i < p.label.size(); ++i) {
    const auto row = p.probability.subspan(i * p.classes, p.classes);
    const auto best = std::max_element(row.begin(), row.end()) - row.begin();
    ++out[static_cast<std::size_t>(p.label[i])][static_cast<std::size_t>(best)];
  }
  return out;
}

double macro_f1(const Counts& counts) {
  double sum = 0;
  std::size_t judged = 0;
  for (std::size_t c = 0; c < counts.size(); ++c) {
    int64_t labelled = 0, predicted = 0;
    for (std::size_t other = 0; other < counts.size(); ++other) {
      labelled += counts[c][other];
      predicted += counts[other][c];
    }
    if (labelled + predicted == 0) continue;
    sum += 2 * static_cast<double>(counts[c][c]) / static_cast<double>(labelled + predicted);
    ++judged;
  }
  return mean(sum, judged);
}

/// AUC of the probability of class `a` among the graphs of classes a and b; none without both.
std::optional<double> auc_between(const Predictions& p, std::size_t a, std::size_t b) {
  std::vector<float> scores;
  std::vector<int64_t> is_a;
  for (std::size_t i = 0; i < p.label.size(); ++i) {
    const auto label = static_cast<std::size_t>(p.label[i]);
    if (label != a && label != b) continue;
    scores.push_back(p.of(i, a));
    is_a.push_back(label == a ? 1 : 0);
  }
  const auto count = std::count(is_a.begin(), is_a.end(), 1);
  if (count == 0 || count == static_cast<int64_t>(is_a.size())) return std::nullopt;
  return auc(scores, is_a);
}

double one_vs_one_auc(const Predictions& p) {
  double sum = 0;
  std::size_t pairs = 0;
  for (std::size_t a = 0; a < p.classes; ++a) {
    for (std::size_t b = a + 1; b < p.classes; ++b) {
      const std::optional<double> of_a = auc_between(p, a, b);
      if (!of_a) continue;
      sum += (*of_a + *auc_between(p, b, a)) / 2;
      ++pairs;
    }
  }
  return pairs > 0 ? mean(sum, pairs) : 0.5;
}

/// AUC of the probability of class `c` against all other classes; none without both.
std::optional<double> auc_against_rest(const Predictions& p, std::size_t c) {
  std::vector<float> scores;
  std::vector<int64_t> is_c;
  for (std::size_t i = 0; i < p.label.size(); ++i) {
    scores.push_back(p.of(i, c));
    is_c.push_back(static_cast<std::size_t>(p.label[i]) == c ? 1 : 0);
  }
  const auto count = std::count(is_c.begin(), is_c.end(), 1);
  if (count == 0 || count == static_cast<int64_t>(is_c.size())) return std::nullopt;
  return auc(scores, is_c);
}

double share(int64_t part, int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

}  // namespace

nlohmann::json class_report(std::span<const float> probabilities, std::span<const int64_t> labels,
                            int64_t classes) {
  const Predictions predictions{probabilities, labels, static_cast<std::size_t>(classes)};
  const Counts counts = confusion_counts(predictions);
  int64_t right = 0;
  double recalls = 0, aucs = 0;
  std::size_t occurring = 0, ranked = 0;
  nlohmann::json of_classes = nlohmann::json::array();
  for (std::size_t c = 0; c < counts.size(); ++c) {
    int64_t labelled = 0, predicted = 0;
    for (std::size_t other = 0; other < counts.size(); ++other) {
      labelled += counts[c][other];
      predicted += counts[other][c];
    }
    const int64_t hits = counts[c][c];
    const std::optional<double> auc_of_class = auc_against_rest(predictions, c);
    right += hits;
    if (labelled > 0) {
      recalls += share(hits, labelled);
      ++occurring;
    }
    if (auc_of_class) {
      aucs += *auc_of_class;
      ++ranked;
    }
    of_classes.push_back({{"precision", share(hits, predicted)},
                          {"recall", share(hits, labelled)},
                          {"f1", share(2 * hits, labelled + predicted)},
                          {"auc", auc_of_class.value_or(0.5)},
                          {"n_samples", labelled}});
  }
  return {{"core",
           {{"accuracy", share(right, static_cast<int64_t>(labels.size()))},
            {"balanced_accuracy", mean(recalls, occurring)},
            {"macro_f1", macro_f1(counts)},
            {"auc", ranked > 0 ? mean(aucs, ranked) : 0.5},
            {"n_samples", labels.size()}}},
          {"classes", std::move(of_classes)},
          {"confusion", counts}};
}

nlohmann::json class_metrics(std::span<const float> probabilities, std::span<const int64_t> labels,
                             int64_t classes) {
  const Predictions predictions{probabilities, labels, static_cast<std::size_t>(classes)};
  const Counts counts = confusion_counts(predictions);
  int64_t right = 0;
  for (std::size_t c = 0; c < counts.size(); ++c) right += counts[c][c];
  return {{"accuracy", mean(static_cast<double>(right), labels.size())},
          {"macro_f1", macro_f1(counts)},
          {"auc", one_vs_one_auc(predictions)},
          {"confusion", counts},
          {"n_samples", labels.size()}};
}

nlohmann::json averaged_scores(const std::vector<std::vector<int64_t>>& confusion) {
  constexpr const char* kNames[] = {"precision", "recall", "f1"};
  double macro[3] = {}, weighted[3] = {};
  int64_t all = 0, right = 0;
  std::size_t judged = 0;
  for (std::size_t c = 0; c < confusion.size(); ++c) {
    int64_t labelled = 0, predicted = 0;
    for (std::size_t other = 0; other < confusion.size(); ++other) {
      labelled += confusion[c][other];
      predicted += confusion[other][c];
    }
    const int64_t hits = confusion[c][c];
    all += labelled;
    right += hits;
    judged += labelled + predicted > 0 ? 1 : 0;
    const double of_class[] = {share(hits, predicted), share(hits, labelled),
                               share(2 * hits, labelled + predicted)};
    for (int i = 0; i < 3; ++i) {
      macro[i] += of_class[i];
      weighted[i] += of_class[i] * static_cast<double>(labelled);
    }
  }
  nlohmann::json out;
  for (int i = 0; i < 3; ++i) {
    out[kNames[i]] = {{"macro", mean(macro[i], judged)},
                      {"micro", share(right, all)},
                      {"weighted", mean(weighted[i], static_cast<std::size_t>(all))}};
  }
  return out;
}

nlohmann::json regression_metrics(std::span<const float> predicted, std::span<const float> target) {
  double absolute = 0, square = 0;
  for (std::size_t i = 0; i < target.size(); ++i) {
    const double gap = static_cast<double>(predicted[i]) - static_cast<double>(target[i]);
    absolute += std::abs(gap);
    square += gap * gap;
  }
  return {{"mae", mean(absolute, target.size())},
          {"rmse", std::sqrt(mean(square, target.size()))},
          {"n_samples", target.size()}};
}

}  // namespace kdgat::train
