#include "engine/train/metrics/metrics.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/train/metrics/curve.h"

namespace kdgat::train {
namespace {

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

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

nlohmann::json rates(const Confusion& c) {
  const auto tp = static_cast<double>(c.tp), fp = static_cast<double>(c.fp);
  const auto tn = static_cast<double>(c.tn), fn = static_cast<double>(c.fn);
  const double n = tp + fp + tn + fn;
  const double recall = ratio(tp, tp + fn), specificity = ratio(tn, tn + fp);
  const double accuracy = ratio(tp + tn, n);
  const double chance = ratio((tp + fp) * (tp + fn) + (tn + fn) * (tn + fp), n * n);
  const double mcc_scale = std::sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn));
  return {{"accuracy", accuracy},
          {"precision", ratio(tp, tp + fp)},
          {"recall", recall},
          {"f1", ratio(2 * tp, 2 * tp + fp + fn)},
          {"specificity", specificity},
          {"balanced_accuracy", (recall + specificity) / 2},
          {"mcc", ratio(tp * tn - fp * fn, mcc_scale)},
          {"fpr", ratio(fp, fp + tn)},
          {"fnr", ratio(fn, fn + tp)},
          {"n_samples", c.total()},
          {"kappa", ratio(accuracy - chance, 1 - chance)},
          {"tpr", recall},
          {"tnr", specificity},
          {"detection_rate", recall},
          {"miss_rate", ratio(fn, fn + tp)}};
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
