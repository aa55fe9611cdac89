// What is said of a ranking: metrics by part of the data, of molecules whose ligand was seen in
// training and of others, beside baselines and chance. Pure numbers: knows no model.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kdgat/result.h"

namespace kdgat::equivariant {

/// The ranks of a method on the molecules of a part, and what is known of each.
struct Ranking {
  std::string method;  ///< the step's name, "mean embedding", "nearest by plain numbers"
  std::string part;    ///< "val", "test"
  std::vector<int64_t> rank;
  std::vector<bool> seen;          ///< its ligand stands in the training part
  std::vector<std::string> group;  ///< molecules of one entry are no independent witnesses
};

/// retrieval_metrics() with "molecules", "interval": {"hit_10","mrr": [low, high]}, 95 % by 1,000
/// bootstrap samples of groups, and "seen" and "unseen": the same of those, as far as there are
/// any.
nlohmann::json ranking_metrics(const Ranking& ranking, int64_t ligands);

/// A row each, and chance.
ResultTable ranking_table(const std::vector<Ranking>& rankings, int64_t ligands);

/// The numbers of a ranking that lists show.
std::vector<Figure> ranking_figures(const std::string& part, const nlohmann::json& metrics);

}  // namespace kdgat::equivariant
