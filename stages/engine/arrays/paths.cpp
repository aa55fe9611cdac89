#include "engine/arrays/paths.h"

#include <algorithm>
#include <numeric>

namespace kdgat::arrays {

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

namespace {

/// Counts the paths of each node from degrees. All middles j->k of a path i->j->k->p are summed
/// once for each j; what an i has to be taken off for is found among the nodes that j leads to and
/// that lead to i, from the fewer of the two. So a node that very many lead to costs no more than
/// its edges.
class PathCounter {
 public:
  explicit PathCounter(OutEdges edges) : edges_(edges), in_ptr_(edges.ptr.size(), 0) {
    // Edges by their target; of one target, sources ascend as the rows do.
    for (const int32_t v : edges.target) ++in_ptr_[static_cast<std::size_t>(v) + 1];
    std::partial_sum(in_ptr_.begin(), in_ptr_.end(), in_ptr_.begin());
    source_.resize(edges.target.size());
    std::vector<int32_t> next(in_ptr_.begin(), in_ptr_.end() - 1);
    for (int32_t v = 0; v < edges.nodes(); ++v) {
      for (const int32_t to : out_of(v)) {
        source_[static_cast<std::size_t>(next[static_cast<std::size_t>(to)]++)] = v;
      }
    }
    ends_.resize(edges.target.size());
    middles_.resize(static_cast<std::size_t>(edges.nodes()));
    for (int32_t j = 0; j < edges.nodes(); ++j) {
      Middles& of_j = middles_[static_cast<std::size_t>(j)];
      for (int64_t e = first(j); e < first(j + 1); ++e) {
        const int32_t k = edges_.target[static_cast<std::size_t>(e)];
        if (k == j) continue;
        const int64_t ends = degree(k) - (leads(k, k) ? 1 : 0) - (leads(k, j) ? 1 : 0);
        ends_[static_cast<std::size_t>(e)] = static_cast<int32_t>(ends);
        of_j.ends += ends;
        of_j.open += ends > 0 ? 1 : 0;
      }
    }
  }

  PathTotals count() const {
    PathTotals out;
    out.of_node.assign(static_cast<std::size_t>(edges_.nodes()), 1);
    out.arcs = out.triplets = edges_.nodes();  // of the paths of the nodes themselves
    for (int32_t i = 0; i < edges_.nodes(); ++i) {
      for (const int32_t j : out_of(i)) {
        if (j == i) continue;
        const Middles of_arc = behind(i, j);
        out.of_node[static_cast<std::size_t>(i)] += of_arc.ends;
        out.triplets += of_arc.open;
        out.arcs += of_arc.open > 0 ? 1 : 0;
      }
    }
    return out;
  }

 private:
  /// Of the edges j->k that paths go along.
  struct Middles {
    int64_t ends = 0;  ///< that the paths lead to, in all
    int64_t open = 0;  ///< edges that have any
  };

  int64_t first(int32_t v) const { return edges_.ptr[static_cast<std::size_t>(v)]; }
  int64_t degree(int32_t v) const { return first(v + 1) - first(v); }
  std::span<const int32_t> out_of(int32_t v) const {
    return edges_.target.subspan(static_cast<std::size_t>(first(v)),
                                 static_cast<std::size_t>(degree(v)));
  }
  std::span<const int32_t> into(int32_t v) const {
    const auto at = static_cast<std::size_t>(v);
    return std::span(source_).subspan(static_cast<std::size_t>(in_ptr_[at]),
                                      static_cast<std::size_t>(in_ptr_[at + 1] - in_ptr_[at]));
  }
  /// The edge v->w, -1 = none.
  int64_t edge(int32_t v, int32_t w) const {
    const std::span<const int32_t> out = out_of(v);
    const auto found = std::lower_bound(out.begin(), out.end(), w);
    return found == out.end() || *found != w ? -1 : first(v) + (found - out.begin());
  }
  bool leads(int32_t v, int32_t w) const { return edge(v, w) >= 0; }

  /// Of the paths that begin with i->j.
  Middles behind(int32_t i, int32_t j) const {
    Middles out = middles_[static_cast<std::size_t>(j)];
    const auto take_off = [&](int64_t e, int64_t ends) {
      const int64_t had = ends_[static_cast<std::size_t>(e)];
      out.ends -= ends;
      out.open -= had > 0 && had == ends ? 1 : 0;
    };
    if (const int64_t back = edge(j, i); back >= 0) {
      take_off(back, ends_[static_cast<std::size_t>(back)]);  // i is no middle of its own path
    }
    const auto close = [&](int64_t e, int32_t k) {
      if (k != i && k != j) take_off(e, 1);  // and not its end
    };
    if (degree(j) <= static_cast<int64_t>(into(i).size())) {
      for (int64_t e = first(j); e < first(j + 1); ++e) {
        const int32_t k = edges_.target[static_cast<std::size_t>(e)];
        if (leads(k, i)) close(e, k);
      }
    } else {
      for (const int32_t k : into(i)) {
        if (const int64_t e = edge(j, k); e >= 0) close(e, k);
      }
    }
    return out;
  }

  OutEdges edges_;
  std::vector<int32_t> in_ptr_, source_;
  std::vector<int32_t> ends_;     // of each edge j->k: nodes behind k but j and k; 0 for a loop
  std::vector<Middles> middles_;  // of each j, whatever stands before it
};

}  // namespace

PathTotals count_all_paths(OutEdges edges) { return PathCounter(edges).count(); }

std::vector<int64_t> count_paths(OutEdges edges) { return count_all_paths(edges).of_node; }

}  // namespace kdgat::arrays
