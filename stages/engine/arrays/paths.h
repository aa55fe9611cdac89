// Third-order paths of a graph, enumerated from compressed rows by budget: never all of them at
// once. Owns nothing but a position.
//
// A path i->j->k->p has three edges and four different nodes; beside these every node has one path
// of its own, i = j = k = p, so that no node is without. Edges from a node to itself make no path.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/arrays/buffer.h"

namespace kdgat::arrays {

/// Outgoing edges in compressed rows: those of node v are target[ptr[v] .. ptr[v+1]), ascending,
/// none twice.
struct OutEdges {
  std::span<const int32_t> ptr;     ///< [N+1]
  std::span<const int32_t> target;  ///< [E]
  int64_t nodes() const { return static_cast<int64_t>(ptr.size()) - 1; }
};

/// Some paths, as a tree of runs ordered by (i, j, k, p): arcs i->j, of each its triplets i->j->k,
/// of each its paths. What an arc or a triplet needs is computed once for all its paths. A run may
/// go on in the next chunk; then its arc and triplet stand in both.
struct PathChunk {
  Buffer<int32_t> i, j;         ///< [arcs]
  Buffer<int32_t> triplet_ptr;  ///< [arcs+1] first triplet of each arc
  Buffer<int32_t> k;            ///< [triplets]
  Buffer<int32_t> path_ptr;     ///< [triplets+1] first path of each triplet
  Buffer<int32_t> p;            ///< [paths]
  int64_t arcs = 0, triplets = 0, paths = 0;
};

class PathCursor {
 public:
  /// Before the first path that starts at one of the nodes [first, end). `edges` outlives it.
  PathCursor(OutEdges edges, int64_t first, int64_t end) : edges_(edges), i_(first), end_(end) {}

  /// Replaces `chunk` by the next paths, at most `budget` (>= 1) of them; false when there are
  /// none.
  bool next(PathChunk& chunk, int64_t budget);

 private:
  OutEdges edges_;
  int64_t i_, end_;
  int64_t arc_ = -1;  ///< of i_: -1 = the path of its own, else the number of the out-edge
  int64_t k_ = 0;     ///< number of the out-edge of j
  int64_t p_ = 0;     ///< number of the out-edge of k
};

/// Numbers of paths, of the beginnings i->j->k that have any, and of the beginnings i->j; those of
/// the nodes themselves included.
struct PathTotals {
  std::vector<int64_t> of_node;  ///< [N] paths that start there
  int64_t triplets = 0, arcs = 0;
};

/// From degrees and common neighbours, without going along the paths: a time like that of counting
/// triangles, linear on a star.
PathTotals count_all_paths(OutEdges edges);
std::vector<int64_t> count_paths(OutEdges edges);  ///< of_node alone

}  // namespace kdgat::arrays
