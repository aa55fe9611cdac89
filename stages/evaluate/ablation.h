// What models lose when the edges of their graphs are rewired at random (engine/graph/rewire.h), by
// part. What they do not lose, nodes alone say. Plain numbers; no LibTorch.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "evaluate/report.h"
#include "kdgat/result.h"

namespace kdgat::evaluate {

/// Behind the name of a model that is shown graphs with rewired edges.
inline constexpr const char* kRewired = " rewired";

class Ablation {
 public:
  /// Source file of each graph of the store; outlives this.
  explicit Ablation(std::span<const int32_t> source_of) : source_of_(source_of) {}

  /// The same part twice, by the same model: as it is, and rewired. A part in which one class is
  /// missing is passed over.
  void add(const std::string& model, const Predictions& whole, const Predictions& rewired);

  /// Adds to a result, if anything was added to this: metrics "rewired", {part: {model: {"auc",
  /// "auc_rewired", "lost", "lost_low", "lost_high"}}}, the last two null with one file; a table; a
  /// line to the summary.
  void finish(StageResult& result) const;
  /// For each model and part, whether the graph matters.
  std::vector<std::string> sentences() const;

 private:
  struct Loss {
    std::string part, model;
    double auc, rewired;
    /// 95 % of the loss on as many files drawn with replacement (Efron 1979), the same for both;
    /// none with one file, which says nothing of others.
    std::optional<std::pair<double, double>> interval;
    double lost() const { return auc - rewired; }
    std::string verdict() const;
  };

  std::span<const int32_t> source_of_;
  std::vector<Loss> losses_;
};

}  // namespace kdgat::evaluate
