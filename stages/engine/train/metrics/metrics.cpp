#include "engine/train/metrics/metrics.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/train/metrics/curve.h"

namespace kdgat::train {
namespace {

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

/// Counts as numbers.
struct Counts {
  explicit Counts(const Confusion& c)
      : tp(static_cast<double>(c.tp)),
        fp(static_cast<double>(c.fp)),
        tn(static_cast<double>(c.tn)),
        fn(static_cast<double>(c.fn)) {}
  double tp, fp, tn, fn;
  double all() const { return tp + fp + tn + fn; }
};

double accuracy(const Confusion& of) {
  const Counts c(of);
  return ratio(c.tp + c.tn, c.all());
}

double precision(const Confusion& of) {
  const Counts c(of);
  return ratio(c.tp, c.tp + c.fp);
}

double recall(const Confusion& of) {
  const Counts c(of);
  return ratio(c.tp, c.tp + c.fn);
}

double specificity(const Confusion& of) {
  const Counts c(of);
  return ratio(c.tn, c.tn + c.fp);
}

double f1(const Confusion& of) {
  const Counts c(of);
  return ratio(2 * c.tp, 2 * c.tp + c.fp + c.fn);
}

double balanced_accuracy(const Confusion& c) { return (recall(c) + specificity(c)) / 2; }

double mcc(const Confusion& of) {
  const Counts c(of);
  const double scale = std::sqrt((c.tp + c.fp) * (c.tp + c.fn) * (c.tn + c.fp) * (c.tn + c.fn));
  return ratio(c.tp * c.tn - c.fp * c.fn, scale);
}

double fpr(const Confusion& of) {
  const Counts c(of);
  return ratio(c.fp, c.fp + c.tn);
}

double fnr(const Confusion& of) {
  const Counts c(of);
  return ratio(c.fn, c.fn + c.tp);
}

double kappa(const Confusion& of) {
  const Counts c(of);
  const double n = c.all();
  const double chance = ratio((c.tp + c.fp) * (c.tp + c.fn) + (c.tn + c.fn) * (c.tn + c.fp), n * n);
  return ratio(accuracy(of) - chance, 1 - chance);
}

double auc_of(const Scores& s) { return auc(s.ranks, s.labels); }
double pr_auc_of(const Scores& s) { return pr_auc(s.ranks, s.labels); }

using enum Better;
using enum Metric::Told;

/// Of an epoch in the order in which monitor_metric offers them.
constexpr Metric kMetrics[] = {
    {{.name = "auc", .better = kMore, .place = 5, .headline = 2, .is_decision = true},
     kEpoch,
     nullptr,
     auc_of},
    {{.name = "f1", .better = kMore, .place = 4, .headline = 1, .is_decision = true}, kEpoch, f1},
    {{.name = "accuracy", .better = kMore, .place = 1}, kEpoch, accuracy},
    {{.name = "precision", .better = kMore, .place = 2, .is_decision = true}, kCore, precision},
    {{.name = "recall", .better = kMore, .place = 3, .is_decision = true}, kCore, recall},
    {{.name = "specificity", .better = kMore}, kCore, specificity},
    {{.name = "balanced_accuracy", .better = kMore}, kCore, balanced_accuracy},
    {{.name = "mcc", .better = kMore}, kCore, mcc},
    {{.name = "fpr", .better = kLess}, kCore, fpr},
    {{.name = "fnr", .better = kLess}, kCore, fnr},
    {{.name = "kappa", .better = kMore}, kAdditional, kappa},
    {{.name = "tpr", .better = kMore}, kAdditional, recall},
    {{.name = "tnr", .better = kMore}, kAdditional, specificity},
    {{.name = "detection_rate", .better = kMore}, kAdditional, recall},
    {{.name = "miss_rate", .better = kLess}, kAdditional, fnr},
    {{.name = "pr_auc", .better = kMore}, kAdditional, nullptr, pr_auc_of}};

std::string of_validation(const Metric& metric) {
  return std::string(kOfValidation) + std::string(metric.name);
}

/// By the name of an epoch; null = it is none of a detector.
const Metric* metric_of_epoch(const std::string& name) {
  const auto found = std::find_if(std::begin(kMetrics), std::end(kMetrics), [&](const Metric& one) {
    return one.told == kEpoch && of_validation(one) == name;
  });
  return found == std::end(kMetrics) ? nullptr : found;
}

}  // namespace

Confusion confusion(std::span<const float> scores, std::span<const int64_t> labels,
                    double threshold) {
  Confusion c;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const bool flagged = static_cast<double>(scores[i]) > threshold;
    if (labels[i] == 1) {
      (flagged ? c.tp : c.fn) += 1;
    } else {
      (flagged ? c.fp : c.tn) += 1;
    }
  }
  return c;
}

std::span<const Metric> metrics() { return kMetrics; }

nlohmann::json rates(const Confusion& c) {
  nlohmann::json out = {{"n_samples", c.total()}};
  for (const Metric& one : kMetrics) {
    if (one.of_counts != nullptr) out[std::string(one.name)] = one.of_counts(c);
  }
  return out;
}

nlohmann::json epoch_metrics(std::span<const float> scores, std::span<const int64_t> labels,
                             double threshold) {
  const Confusion counts = confusion(scores, labels, threshold);
  nlohmann::json out;
  for (const Metric& one : kMetrics) {
    if (one.told == kEpoch) out[std::string(one.name)] = one.of({scores, scores, labels}, counts);
  }
  return out;
}

std::vector<std::string> monitored() {
  std::vector<std::string> out = {"val_loss"};
  for (const Metric& one : kMetrics) {
    if (one.told == kEpoch) out.push_back(of_validation(one));
  }
  out.insert(out.end(), {"val_mrr", "val_mae", "val_rmse", "train_loss"});
  return out;
}

bool is_less_monitored(const std::string& name) {
  const Metric* metric = metric_of_epoch(name);
  if (metric != nullptr) return metric->better == kLess;
  return name.ends_with("loss") || name == "val_mae" || name == "val_rmse";
}

std::vector<Figure> trained_figures(const nlohmann::json& metrics) {
  constexpr int kBehindUsual = 10;
  std::vector<Figure> out = step_figures(metrics);
  for (Figure& figure : out) {
    const Metric* metric = figure.part.empty() ? metric_of_epoch(figure.name) : nullptr;
    if (metric == nullptr || figure.place > 0) continue;
    figure.label = "val " + metric->label();
    figure.better = metric->better;
    figure.decimals = metric->decimals;
    figure.place = kBehindUsual;
  }
  return out;
}

double auc(std::span<const float> scores, std::span<const int64_t> labels) {
  const std::vector<CurvePoint> points = curve(scores, labels);
  if (points.empty() || points.back().tp == 0 || points.back().fp == 0) return 0.5;
  double area = 0;
  int64_t tp = 0, fp = 0;
  for (const CurvePoint& p : points) {  // trapezes: attacks above count 1, attacks level 1/2
    area += static_cast<double>(p.fp - fp) * static_cast<double>(p.tp + tp) / 2;
    tp = p.tp;
    fp = p.fp;
  }
  return area / static_cast<double>(tp) / static_cast<double>(fp);
}

double pr_auc(std::span<const float> scores, std::span<const int64_t> labels) {
  const std::vector<CurvePoint> points = curve(scores, labels);
  if (points.empty() || points.back().tp == 0) return 0;
  double area = 0;
  int64_t tp = 0;
  for (const CurvePoint& p : points) {
    area += static_cast<double>(p.tp - tp) * static_cast<double>(p.tp) /
            static_cast<double>(p.tp + p.fp);
    tp = p.tp;
  }
  return area / static_cast<double>(tp);
}

double detection_at_fpr(std::span<const float> scores, std::span<const int64_t> labels,
                        double max_fpr) {
  const std::vector<CurvePoint> points = curve(scores, labels);
  if (points.empty() || points.back().tp == 0) return 0;
  int64_t best = 0;
  const double allowed = max_fpr * static_cast<double>(points.back().fp);
  for (const CurvePoint& p : points) {
    if (static_cast<double>(p.fp) <= allowed) best = p.tp;
  }
  return static_cast<double>(best) / static_cast<double>(points.back().tp);
}

Threshold best_threshold(std::span<const float> scores, std::span<const int64_t> labels) {
  const std::vector<CurvePoint> points = curve(scores, labels);
  if (points.empty()) return {0.5, 0};
  // Flagging nothing is the first candidate: J = 0.
  Threshold best{points.front().score, 0};
  const auto attacks = static_cast<double>(points.back().tp);
  const auto benign = static_cast<double>(points.back().fp);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double j = ratio(static_cast<double>(points[i].tp), attacks) -
                     ratio(static_cast<double>(points[i].fp), benign);
    if (j <= best.youden_j) continue;
    const double next = i + 1 < points.size()
                            ? points[i + 1].score
                            : points[i].score - std::max(1e-6, std::abs(points[i].score) * 1e-6);
    best = {(points[i].score + next) / 2, j};
  }
  return best;
}

}  // namespace kdgat::train
