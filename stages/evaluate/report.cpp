#include "evaluate/report.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/train/metrics/curve.h"
#include "engine/train/metrics/metrics.h"
#include "kdgat/text.h"

namespace kdgat::evaluate {
namespace {

using nlohmann::json;

/// The values at some positions.
template <class T>
std::vector<T> at(const std::vector<T>& values, const std::vector<std::size_t>& positions) {
  std::vector<T> out;
  out.reserve(positions.size());
  for (const std::size_t i : positions) out.push_back(values[i]);
  return out;
}

struct Sample {
  std::vector<float> score, raw;
  std::vector<int64_t> label, calibrated;
};

Sample sample(const Predictions& p, const std::vector<std::size_t>& positions) {
  return {at(p.score, positions), at(p.raw, positions), at(p.label, positions),
          p.calibrated.empty() ? std::vector<int64_t>{} : at(p.calibrated, positions)};
}

/// {"core", "additional"} as published. Ranks come from raw scores: equal floats near 1 are no tie.
json metrics_of(const Sample& s, const ModelFacts& model) {
  const double threshold = model.decision.threshold;
  const train::Confusion counts = train::confusion(s.score, s.label, threshold);
  json core, additional;
  for (const train::Metric& one : train::metrics()) {
    json& place = one.told == train::Metric::Told::kAdditional ? additional : core;
    place[std::string(one.name)] = one.of({s.score, s.raw, s.label}, counts);
  }
  core["n_samples"] = counts.total();
  core["threshold"] = threshold;
  core["threshold_from"] = model.decision.from;
  for (const auto& [name, fpr] : {std::pair{"0.05", 0.05}, {"0.01", 0.01}, {"0.001", 0.001}}) {
    additional["detection_at_fpr"][name] = train::detection_at_fpr(s.raw, s.label, fpr);
  }
  if (model.val_threshold != threshold) {
    additional["calibrated"] =
        train::rates(train::confusion(s.score, s.label, model.val_threshold));
    additional["calibrated"]["threshold"] = model.val_threshold;
  }
  return {{"core", core}, {"additional", additional}};
}

json counts_of(const train::Confusion& c) {
  return {{"tp", c.tp}, {"fp", c.fp}, {"tn", c.tn}, {"fn", c.fn}};
}

/// Calibrated predictions as scores, to be counted at a threshold between them.
std::vector<float> as_scores(const std::vector<int64_t>& predictions) {
  return {predictions.begin(), predictions.end()};
}

json curve_of(const Sample& s, double threshold) {
  constexpr std::size_t kMost = 200;
  json out = {{"tp", json::array()}, {"fp", json::array()}};
  for (const train::CurvePoint& p : train::thinned(train::curve(s.raw, s.label), kMost)) {
    out["tp"].push_back(p.tp);
    out["fp"].push_back(p.fp);
  }
  out["counts"] = counts_of(train::confusion(s.score, s.label, threshold));
  if (!s.calibrated.empty()) {
    out["calibrated"] = counts_of(train::confusion(as_scores(s.calibrated), s.label, 0.5));
  }
  return out;
}

/// The three ways to decide, side by side, and the ranking.
json compare(const Sample& s, double threshold) {
  json out = train::rates(train::confusion(as_scores(s.calibrated), s.label, 0.5));
  out["auc"] = train::auc(s.raw, s.label);
  out["f1_fixed"] = train::rates(train::confusion(s.score, s.label, threshold)).at("f1");
  out["f1_all_attack"] =
      train::rates(train::confusion(std::vector<float>(s.label.size(), 1), s.label, 0.5)).at("f1");
  return out;
}

json cells_of(const std::string& name, const std::string& step, const json& c) {
  const auto number = [&c](const char* key) { return format_number("%.3f", c.at(key)); };
  return {name,
          step,
          c.at("n_samples"),
          number("auc"),
          number("f1_fixed"),
          number("f1"),
          number("f1_all_attack")};
}

}  // namespace

std::vector<std::size_t> judged(const Predictions& p) {
  std::vector<bool> is_used(p.label.size(), false);
  for (const train::FileWindows& file : p.files) {
    for (const std::size_t i : file.prefix) is_used[i] = true;
  }
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < p.label.size(); ++i) {
    if (p.label[i] >= 0 && !is_used[i]) out.push_back(i);
  }
  return out;
}

double on_raw_scale(const Predictions& p, double threshold) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double below = -kInfinity, above = kInfinity;
  for (std::size_t i = 0; i < p.raw.size(); ++i) {
    const double raw = p.raw[i];
    if (p.score[i] > threshold) {
      above = std::min(above, raw);
    } else {
      below = std::max(below, raw);
    }
  }
  return below > -kInfinity ? below : above - 1;
}

void Report::add(const ModelFacts& model) {
  model_ = model;
  if (model.is_ablated) ablated_.insert(model.step);
  models_.push_back({model.step, model.parameters, format_number("%.4g", model.decision.threshold),
                     model.decision.from});
}

void Report::add(const Predictions& p) {
  json& place = p.is_val() ? metrics_[model_.step] : metrics_["test"][model_.step][p.name()];
  const Sample s = sample(p, judged(p));
  if (s.label.empty()) {
    place = {{"n_samples", p.score.size()}};
    return;
  }
  place = metrics_of(s, model_);
  curves_[model_.step][p.name()] = curve_of(s, model_.decision.threshold);
  json& core = place["core"];
  if (p.is_val()) {
    core["optimal_threshold"] = model_.val_threshold;
    core["youden_j"] = model_.youden_j;
  } else {
    core["threshold_from_val"] = model_.val_threshold;
  }
  json cells = {p.name(), model_.step};
  for (const train::Metric* one : train::in_tables(train::metrics())) {
    cells.push_back(one->text(core.at(std::string(one->name))));
  }
  rows_.push_back({p.name(), std::move(cells)});
  if (!p.files.empty()) add_calibrated(p, place["calibrated"]);
}

void Report::add_calibrated(const Predictions& p, json& place) {
  const double fixed = model_.decision.threshold;
  const std::vector<std::size_t> all = judged(p);
  Sample pooled = sample(p, all);
  place = compare(pooled, fixed);
  // How far each window is above the threshold of its own file: comparable between files.
  std::vector<double> threshold(p.label.size());
  int64_t used = 0;
  json files = json::array();
  for (std::size_t f = 0; f < p.files.size(); ++f) {
    const train::FileWindows& file = p.files[f];
    std::vector<std::size_t> rest;
    for (const std::size_t i : file.rest) {
      threshold[i] = p.file_threshold[f];
      if (p.label[i] >= 0) rest.push_back(i);
    }
    used += static_cast<int64_t>(file.prefix.size());
    json one = compare(sample(p, rest), fixed);
    one["file"] = sources_.at(static_cast<std::size_t>(file.source));
    one["calibration_windows"] = file.prefix.size();
    one["raw_threshold"] = p.file_threshold[f];
    files.push_back(std::move(one));
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    pooled.raw[i] = static_cast<float>(pooled.raw[i] - threshold[all[i]]);
  }
  place["auc_above_threshold"] = train::auc(pooled.raw, pooled.label);
  place["calibration_windows"] = used;
  place["files"] = files;
  calibrated_rows_.push_back({p.name(), cells_of(p.name(), model_.step, place)});
  if (files.size() < 2) return;
  for (const json& one : files) {
    const std::string path = one.at("file");
    calibrated_rows_.push_back(
        {p.name(), cells_of("  " + path.substr(path.rfind('/') + 1), model_.step, one)});
  }
}

/// Rows of the same part together, parts and models in the order they came; each name is said once.
std::vector<json> Report::grouped(const std::vector<Row>& rows) {
  std::vector<std::string> parts;
  for (const Row& row : rows) {
    if (std::find(parts.begin(), parts.end(), row.part) == parts.end()) parts.push_back(row.part);
  }
  std::vector<json> out;
  for (const std::string& part : parts) {
    bool is_first = true;
    for (const Row& row : rows) {
      if (row.part != part) continue;
      out.push_back(row.cells);
      if (!std::exchange(is_first, false) && row.cells.at(0) == part) out.back()[0] = "";
    }
  }
  return out;
}

StageResult Report::result() const {
  std::vector<ResultTable> tables;
  if (!calibrated_rows_.empty()) {
    tables.push_back({{"calibrated on its first windows", "model", "windows", "AUC", "F1 fixed",
                       "calibrated", "always attack"},
                      grouped(calibrated_rows_)});
  }
  tables.push_back({{"model", "parameters", "threshold", "from"}, models_});
  StageResult out;
  out.metrics = metrics_;
  out.figures = train::evaluated_figures(metrics_, train::metrics());
  for (Figure& figure : out.figures) {
    if (!ablated_.contains(figure.model)) continue;
    figure.headline = 0;
    figure.is_tile = false;
  }
  out.table = ResultTable{{"part", "model"}, grouped(rows_)};
  for (const train::Metric* one : train::in_tables(train::metrics())) {
    out.table->columns.push_back(one->label());
  }
  out.tables = std::move(tables);
  out.summary = "";
  return out;
}

}  // namespace kdgat::evaluate
