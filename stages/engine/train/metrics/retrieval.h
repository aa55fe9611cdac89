// How well predicted vectors find their ligand in a catalogue. Pure numbers: knows no model.
//
// G molecules, W values of a vector, L ligands.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

namespace kdgat::train {

/// The catalogue that is ranked, [L,W].
struct Catalogue {
  std::span<const float> vectors;
  int64_t width = 0;       ///< W
  bool is_angular = true;  ///< distances are 1 - cos, not Euclidean

  int64_t ligands() const { return static_cast<int64_t>(vectors.size()) / width; }
};

/// Of a vector [W] to each ligand, [L].
std::vector<double> distances(std::span<const float> vector, const Catalogue& catalogue);

/// The numbers of the `count` nearest ligands, nearest first; of equal ones the first.
std::vector<int32_t> nearest(const std::vector<double>& distances, int64_t count);

/// 1 + the ligands strictly nearer than the right one, of each row of `predicted` [G,W].
std::vector<int64_t> ranks_of(std::span<const float> predicted, std::span<const int32_t> ligand,
                              const Catalogue& catalogue);

/// {"hit_5","hit_10","hit_20": share of ranks within that part, in percent, of the catalogue,
///  "top_1","recall_1","recall_5","recall_10","recall_20","recall_50","mrr","mean_rank","median_rank",
///  "normalised_rank"}; empty without ranks.
nlohmann::json retrieval_metrics(std::span<const int64_t> ranks, int64_t ligands);

/// The same of somebody who guesses.
nlohmann::json chance_metrics(int64_t ligands);

}  // namespace kdgat::train
