// One neuron from the lines of an SWC file: `id type x y z radius parent`, '#' begins a comment,
// `# SCALE sx sy sz` multiplies the places. Knows no store.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/file/line_reader.h"

namespace kdgat::space {

inline constexpr int32_t kSwcTypes = 8;   ///< 0 undefined, 1 soma, .. 7 glia
inline constexpr int32_t kSwcCustom = 5;  ///< also the type of numbers above 7

/// Which faults are mended instead of refused.
struct SwcRepairs {
  bool roots = false;       ///< of several trees the largest is kept
  bool parents = false;     ///< a node whose parent is missing becomes a root
  bool radius = false;      ///< a radius that is negative or not a number becomes 0
  bool duplicates = false;  ///< of rows with the same id the first is kept
};

/// Nodes in the order of the file, in one tree.
struct Neuron {
  std::vector<int32_t> type;    ///< [N] in [0, kSwcTypes)
  std::vector<float> pos;       ///< [N,3]
  std::vector<float> radius;    ///< [N] positive; 0 where it was mended
  std::vector<int32_t> parent;  ///< [N] -1 = the root
  std::vector<int64_t> row;     ///< [N] number of its row, from 0, comments not counted
  int64_t rows = 0;             ///< of the file
  int64_t longer_rows = 0;      ///< with more than seven columns, which are not used
  /// What was mended, by its name in SwcRepairs: rows.
  std::vector<std::pair<std::string, int64_t>> repairs;
};

/// Throws Error(kData) with the place, "file:line", at the first fault that is not to be mended.
Neuron read_swc(file::LineReader lines, const SwcRepairs& repairs);

}  // namespace kdgat::space
