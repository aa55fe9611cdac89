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

std::vector<OfClass> counted(const Counts& counts) {
  std::vector<OfClass> out(counts.size());
  for (std::size_t c = 0; c < counts.size(); ++c) {
    out[c].hits = counts[c][c];
    for (std::size_t other = 0; other < counts.size(); ++other) {
      out[c].labelled += counts[c][other];
      out[c].predicted += counts[other][c];
    }
  }
  return out;
}

double precision(const OfClass& c) { return share(c.hits, c.predicted); }
double recall(const OfClass& c) { return share(c.hits, c.labelled); }
double f1(const OfClass& c) { return share(2 * c.hits, c.labelled + c.predicted); }

double accuracy(std::span<const OfClass> classes) {
  int64_t hits = 0, all = 0;
  for (const OfClass& c : classes) {
    hits += c.hits;
    all += c.labelled;
  }
  return share(hits, all);
}

/// Mean recall of the classes that are the label of anything.
double balanced_accuracy(std::span<const OfClass> classes) {
  double sum = 0;
  std::size_t occurring = 0;
  for (const OfClass& c : classes) {
    sum += recall(c);
    occurring += c.labelled > 0 ? 1 : 0;
  }
  return mean(sum, occurring);
}

/// Mean F1 of the classes that are the label or the prediction of anything.
double macro_f1(std::span<const OfClass> classes) {
  double sum = 0;
  std::size_t judged = 0;
  for (const OfClass& c : classes) {
    sum += f1(c);
    judged += c.labelled + c.predicted > 0 ? 1 : 0;
  }
  return mean(sum, judged);
}

/// Mean over the classes of which there are graphs and others; 0.5 if there is none.
double mean_auc(std::span<const OfClass> classes) {
  double sum = 0;
  std::size_t ranked = 0;
  for (const OfClass& c : classes) {
    sum += c.auc.value_or(0);
    ranked += c.auc ? 1 : 0;
  }
  return ranked > 0 ? mean(sum, ranked) : 0.5;
}

constexpr ClassMetric kClassMetrics[] = {
    {{.name = "accuracy", .better = Better::kMore, .place = 1, .headline = 1}, accuracy},
    {{.name = "balanced_accuracy", .better = Better::kMore, .place = 2}, balanced_accuracy},
    {{.name = "macro_f1", .better = Better::kMore, .place = 3, .headline = 2, .words = "macro F1"},
     macro_f1},
    {{.name = "auc", .better = Better::kMore, .place = 4}, mean_auc}};

}  // namespace

std::span<const ClassMetric> metrics_of_classes() { return kClassMetrics; }

nlohmann::json class_report(std::span<const float> probabilities, std::span<const int64_t> labels,
                            int64_t classes) {
  const Predictions predictions{probabilities, labels, static_cast<std::size_t>(classes)};
  const Counts counts = confusion_counts(predictions);
  std::vector<OfClass> all = counted(counts);
  nlohmann::json of_classes = nlohmann::json::array();
  for (std::size_t c = 0; c < all.size(); ++c) {
    all[c].auc = auc_against_rest(predictions, c);
    of_classes.push_back({{"precision", precision(all[c])},
                          {"recall", recall(all[c])},
                          {"f1", f1(all[c])},
                          {"auc", all[c].auc.value_or(0.5)},
                          {"n_samples", all[c].labelled}});
  }
  nlohmann::json core = {{"n_samples", labels.size()}};
  for (const ClassMetric& one : kClassMetrics) core[std::string(one.name)] = one.of(all);
  return {{"core", std::move(core)}, {"classes", std::move(of_classes)}, {"confusion", counts}};
}

nlohmann::json class_metrics(std::span<const float> probabilities, std::span<const int64_t> labels,
                             int64_t classes) {
  const Predictions predictions{probabilities, labels, static_cast<std::size_t>(classes)};
  const Counts counts = confusion_counts(predictions);
  const std::vector<OfClass> all = counted(counts);
  return {{"accuracy", accuracy(all)},
          {"macro_f1", macro_f1(all)},
          {"auc", one_vs_one_auc(predictions)},
          {"confusion", counts},
          {"n_samples", labels.size()}};
}

nlohmann::json averaged_scores(const std::vector<std::vector<int64_t>>& confusion) {
  constexpr const char* kNames[] = {"precision", "recall", "f1"};
  double macro[3] = {}, weighted[3] = {};
  int64_t all = 0, right = 0;
  std::size_t judged = 0;
  for (const OfClass& c : counted(confusion)) {
    all += c.labelled;
    right += c.hits;
    judged += c.labelled + c.predicted > 0 ? 1 : 0;
    const double of_class[] = {precision(c), recall(c), f1(c)};
    for (int i = 0; i < 3; ++i) {
      macro[i] += of_class[i];
      weighted[i] += of_class[i] * static_cast<double>(c.labelled);
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

std::span<const NumberMetric> metrics_of_numbers() {
  static constexpr NumberMetric kNumberMetrics[] = {
      {{.name = "mae",
        .better = Better::kLess,
        .place = 1,
        .headline = 1,
        .words = "MAE",
        .decimals = 4}},
      {{.name = "rmse", .better = Better::kLess, .place = 2, .words = "RMSE", .decimals = 4}},
      {{.name = "r2", .better = Better::kMore, .place = 3, .headline = 2, .words = "R2"}}};
  return kNumberMetrics;
}

nlohmann::json number_report(std::span<const float> predicted, std::span<const float> target,
                             std::size_t count) {
  nlohmann::json out = {{"core", nlohmann::json::object()}, {"targets", nlohmann::json::array()}};
  for (std::size_t t = 0; t < count; ++t) {
    std::vector<float> said, wanted;
    double sum = 0;
    for (std::size_t i = t; i < target.size(); i += count) {
      if (std::isnan(target[i])) continue;
      said.push_back(predicted[i]);
      wanted.push_back(target[i]);
      sum += static_cast<double>(target[i]);
    }
    nlohmann::json of_target = regression_metrics(said, wanted);
    const double middle = mean(sum, wanted.size());
    double spread = 0;
    for (const float value : wanted) {
      spread += (static_cast<double>(value) - middle) * (static_cast<double>(value) - middle);
    }
    const double rmse = of_target.at("rmse");
    const double square = rmse * rmse * static_cast<double>(wanted.size());
    of_target["r2"] = spread > 0 ? 1 - square / spread : 0;
    out["targets"].push_back(std::move(of_target));
  }
  for (const NumberMetric& metric : metrics_of_numbers()) {
    double sum = 0;
    for (const auto& of_target : out["targets"]) {
      sum += of_target.at(std::string(metric.name)).get<double>();
    }
    out["core"][std::string(metric.name)] = mean(sum, count);
  }
  out["core"]["n_samples"] = count == 0 ? 0 : target.size() / count;
  return out;
}

}  // namespace kdgat::train
