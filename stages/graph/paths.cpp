#include "graph/paths.h"

#include <algorithm>

namespace kdgat::graph {

bool PathCursor::next(PathChunk& chunk, int64_t budget) {
  // A triplet is only written with its first path, and an arc with its first triplet.
  for (Buffer<int32_t>* nodes : {&chunk.i, &chunk.j, &chunk.k, &chunk.p}) nodes->resize(budget);
  chunk.triplet_ptr.resize(budget + 1);
  chunk.path_ptr.resize(budget + 1);
  const int32_t* ptr = edges_.ptr.data();
  const int32_t* target = edges_.target.data();
  int32_t* out_i = chunk.i.data();
  int32_t* out_j = chunk.j.data();
  int32_t* triplet_ptr = chunk.triplet_ptr.data();
  int32_t* out_k = chunk.k.data();
  int32_t* path_ptr = chunk.path_ptr.data();
  int32_t* out_p = chunk.p.data();
  int64_t arcs = 0, triplets = 0, paths = 0;
  const auto add_arc = [&](int32_t i, int32_t j) {
    out_i[arcs] = i;
    out_j[arcs] = j;
    triplet_ptr[arcs++] = static_cast<int32_t>(triplets);
  };
  const auto add_triplet = [&](int32_t k, int64_t first) {
    out_k[triplets] = k;
    path_ptr[triplets++] = static_cast<int32_t>(first);
  };
  const auto fill = [&] {
    for (; i_ < end_; ++i_, arc_ = -1) {
      const auto i = static_cast<int32_t>(i_);
      if (arc_ < 0) {
        if (paths == budget) return;
        add_arc(i, i);
        add_triplet(i, paths);
        out_p[paths++] = i;
        arc_ = ptr[i];
        k_ = p_ = -1;
      }
      for (; arc_ < ptr[i + 1]; ++arc_, k_ = -1) {
        const int32_t j = target[arc_];
        if (j == i) continue;
        if (k_ < 0) {
          k_ = ptr[j];
          p_ = -1;
        }
        bool is_new = true;
        for (; k_ < ptr[j + 1]; ++k_, p_ = -1) {
          const int32_t k = target[k_];
          if (k == i || k == j) continue;
          const int64_t first = paths;
          const int64_t end = ptr[k + 1];
          // Without branches on the nodes: each p is written, and stays if it is another node.
          int64_t p = p_ < 0 ? ptr[k] : p_;
          for (; p < end && paths < budget; ++p) {
            const int32_t node = target[p];
            out_p[paths] = node;
            paths += static_cast<int64_t>((node != i) & (node != j) & (node != k));
          }
          if (paths > first) {
            if (is_new) add_arc(i, j);
            is_new = false;
            add_triplet(k, first);
          }
          if (p < end) {
            p_ = p;
            return;
          }
        }
      }
    }
  };
  fill();
  triplet_ptr[arcs] = static_cast<int32_t>(triplets);
  path_ptr[triplets] = static_cast<int32_t>(paths);
  chunk.arcs = arcs;
  chunk.triplets = triplets;
  chunk.paths = paths;
  return paths > 0;
}

std::vector<int64_t> count_paths(OutEdges edges) {
  const int32_t* ptr = edges.ptr.data();
  const int32_t* target = edges.target.data();
  const auto degree = [&](int64_t v) { return int64_t{ptr[v + 1]} - ptr[v]; };
  const auto has = [&](int64_t v, int32_t w) {
    return std::binary_search(target + ptr[v], target + ptr[v + 1], w);
  };
  std::vector<int64_t> out(static_cast<std::size_t>(edges.nodes()), 1);
  for (int32_t i = 0; i < edges.nodes(); ++i) {
    for (int64_t a = ptr[i]; a < ptr[i + 1]; ++a) {
      const int32_t j = target[a];
      if (j == i) continue;
      for (int64_t b = ptr[j]; b < ptr[j + 1]; ++b) {
        const int32_t k = target[b];
        if (k == i || k == j) continue;
        // Every neighbour of k but i, j and k itself.
        out[static_cast<std::size_t>(i)] += degree(k) - static_cast<int64_t>(has(k, i)) -
                                            static_cast<int64_t>(has(k, j)) -
                                            static_cast<int64_t>(has(k, k));
      }
    }
  }
  return out;
}

}  // namespace kdgat::graph
