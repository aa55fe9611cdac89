// What the evaluate stage says of scores: metrics in the published form and the closing tables.
// Plain numbers; no LibTorch.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/train/calibration.h"
#include "kdgat/result.h"

namespace kdgat::evaluate {

/// Scores above it are attacks.
struct Decision {
  double threshold = 0;
  std::string from;  ///< "fixed", "val" or "val quantile"
};

/// What one model said of one part, in the order of the part. What belongs to one graph stands at
/// one position.
struct Predictions {
  std::string part;  ///< "val", "test" or "test/<scenario>"
  std::vector<int64_t> graph, label, prediction;
  std::vector<float> score, raw;          ///< raw: Scorer::raw_score
  std::vector<int64_t> calibrated;        ///< by the threshold of its file; -1 = used to find it
  std::vector<train::FileWindows> files;  ///< empty unless the part is calibrated
  std::vector<double> file_threshold;     ///< of each file, on the raw scale

  /// "test/test_01" is shown as "test_01".
  std::string name() const { return part.rfind("test/", 0) == 0 ? part.substr(5) : part; }
  bool is_val() const { return part == "val"; }
};

struct ModelFacts {
  std::string step;
  int64_t parameters = 0;
  Decision decision;
  double val_threshold = 0;  ///< what validation would choose
  double youden_j = 0;       ///< there
  /// Its input was changed on purpose: its figures are listed and speak for nothing.
  bool is_ablated = false;
};

/// Positions of a part whose graphs have a label and were not used to find a threshold.
std::vector<std::size_t> judged(const Predictions& p);

/// The threshold that decides on raw scores as `threshold` does on scores, which rise with them.
double on_raw_scale(const Predictions& p, double threshold);

/// Collects models one after another.
class Report {
 public:
  explicit Report(std::vector<std::string> sources) : sources_(std::move(sources)) {}

  void add(const ModelFacts& model);
  /// Of the model added last.
  void add(const Predictions& p);
  StageResult result() const;
  /// What pictures and tables of errors are made of: model -> part -> {"tp","fp": counts at falling
  /// thresholds, at most 200 of them, the last of all graphs; "counts": {"tp","fp","tn","fn"} at
  /// the model's threshold; "calibrated": the same by the thresholds of the files, where there
  /// are}.
  const nlohmann::json& curves() const { return curves_; }

 private:
  struct Row {
    std::string part;
    nlohmann::json cells;
  };
  void add_calibrated(const Predictions& p, nlohmann::json& place);
  static std::vector<nlohmann::json> grouped(const std::vector<Row>& rows);

  std::vector<std::string> sources_;  ///< names of the store's source files
  ModelFacts model_;
  nlohmann::json metrics_ = nlohmann::json::object();
  nlohmann::json curves_ = nlohmann::json::object();
  std::vector<Row> rows_, calibrated_rows_;
  std::vector<nlohmann::json> models_;
  std::set<std::string> ablated_;
};

}  // namespace kdgat::evaluate
