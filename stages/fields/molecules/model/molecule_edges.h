// Directed edges between atoms in the two orders that messages are summed in. Owns them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kdgat::molecules {

struct MoleculeEdges {
  int64_t nodes = 0;
  std::vector<int32_t> source, target;  ///< [E] ordered by target, then by source
  std::vector<int64_t> target_ptr;      ///< [N+1] edges that end at a node
  std::vector<int64_t> source_ptr;      ///< [N+1] of by_source
  std::vector<int32_t> by_source;       ///< [E] numbers of edges, ordered by source, then by target
  std::vector<int32_t> origin;          ///< [E] number of each edge as it was given

  int64_t edges() const { return static_cast<int64_t>(source.size()); }
  /// Throws std::out_of_range for a node that is not there.
  static MoleculeEdges of(int64_t nodes, std::span<const int32_t> source,
                          std::span<const int32_t> target);
};

}  // namespace kdgat::molecules
