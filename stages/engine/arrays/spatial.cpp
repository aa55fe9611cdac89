#include "engine/arrays/spatial.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "engine/arrays/index.h"

namespace kdgat::arrays {
namespace {

double squared_distance(std::span<const float> pos, int32_t a, int32_t b) {
  double sum = 0;
  for (int64_t d = 0; d < 3; ++d) {
    const double difference = static_cast<double>(pos[at(int64_t{3} * a + d)]) -
                              static_cast<double>(pos[at(int64_t{3} * b + d)]);
    sum += difference * difference;
  }
  return sum;
}

/// Sets of nodes that are joined, each named by one of them.
class DisjointSets {
 public:
  explicit DisjointSets(int64_t nodes) : up_(at(nodes)) { std::iota(up_.begin(), up_.end(), 0); }
  int32_t find(int32_t v) {
    while (up_[at(v)] != v) v = up_[at(v)] = up_[at(up_[at(v)])];
    return v;
  }
  /// False if they were one set before.
  bool join(int32_t a, int32_t b) {
    a = find(a);
    b = find(b);
    if (a == b) return false;
    up_[at(std::max(a, b))] = std::min(a, b);
    return true;
  }

 private:
  std::vector<int32_t> up_;
};

/// The node nearest the mean of `nodes`, which are ascending.
int32_t central_node(std::span<const float> pos, std::span<const int32_t> nodes) {
  std::array<double, 3> mean{};
  for (const int32_t v : nodes) {
    for (int64_t d = 0; d < 3; ++d) mean[at(d)] += static_cast<double>(pos[at(int64_t{3} * v + d)]);
  }
  for (double& m : mean) m /= static_cast<double>(nodes.size());
  int32_t best = nodes.front();
  double nearest = std::numeric_limits<double>::infinity();
  for (const int32_t v : nodes) {
    double distance = 0;
    for (int64_t d = 0; d < 3; ++d) {
      const double difference = static_cast<double>(pos[at(int64_t{3} * v + d)]) - mean[at(d)];
      distance += difference * difference;
    }
    if (distance < nearest) {
      nearest = distance;
      best = v;
    }
  }
  return best;
}

/// The edges of a minimum spanning forest in both directions (Kruskal 1956).
EdgeList spanning_edges(std::span<const float> pos, std::span<const int32_t> source,
                        std::span<const int32_t> target, DisjointSets& components) {
  std::vector<std::tuple<double, int32_t, int32_t>> sorted;
  sorted.reserve(source.size());
  for (std::size_t e = 0; e < source.size(); ++e) {
    const auto [low, high] = std::minmax(source[e], target[e]);
    if (low != high) sorted.emplace_back(squared_distance(pos, low, high), low, high);
  }
  std::sort(sorted.begin(), sorted.end());
  std::vector<int32_t> from, to;
  for (const auto& [length, low, high] : sorted) {
    if (!components.join(low, high)) continue;
    from.insert(from.end(), {low, high});
    to.insert(to.end(), {high, low});
  }
  return coalesce(from, to);
}

}  // namespace

std::vector<int32_t> faulty_nodes(std::span<const int32_t> parent) {
  const auto nodes = static_cast<int32_t>(parent.size());
  // 0 = not seen; otherwise the walk that saw it first.
  std::vector<int32_t> walk(parent.size(), 0);
  std::vector<int32_t> out;
  for (int32_t start = 0; start < nodes; ++start) {
    int32_t v = start;
    while (v >= 0 && v < nodes && walk[at(v)] == 0) {
      walk[at(v)] = start + 1;
      const int32_t up = parent[at(v)];
      if (up < -1 || up >= nodes) out.push_back(v);
      v = up;
    }
    if (v >= 0 && v < nodes && walk[at(v)] == start + 1) out.push_back(v);
  }
  return out;
}

Children children_of(std::span<const int32_t> parent) {
  Children out;
  out.ptr.assign(parent.size() + 1, 0);
  for (const int32_t p : parent) {
    if (p >= 0) ++out.ptr[at(p) + 1];
  }
  std::partial_sum(out.ptr.begin(), out.ptr.end(), out.ptr.begin());
  out.child.resize(at(out.ptr.back()));
  std::vector<int32_t> next(out.ptr.begin(), out.ptr.end() - 1);
  for (std::size_t v = 0; v < parent.size(); ++v) {
    if (parent[v] < 0) {
      out.roots.push_back(static_cast<int32_t>(v));
    } else {
      out.child[at(next[at(parent[v])]++)] = static_cast<int32_t>(v);
    }
  }
  return out;
}

void euler_tour(std::span<const int32_t> parent, std::span<int32_t> in, std::span<int32_t> out) {
  const Children children = children_of(parent);
  std::vector<int32_t> next(children.ptr.begin(), children.ptr.end() - 1);
  int32_t number = 0;
  for (const int32_t root : children.roots) {
    // Down to the next child, or back to the parent: no stack, so no depth is too deep.
    in[at(root)] = number++;
    for (int32_t v = root; v >= 0;) {
      if (next[at(v)] < children.ptr[at(v) + 1]) {
        v = children.child[at(next[at(v)]++)];
        in[at(v)] = number++;
      } else {
        out[at(v)] = number;
        v = parent[at(v)];
      }
    }
  }
  if (at(number) != parent.size()) throw std::logic_error("a tour of parents with a cycle");
}

Relations relations_of(std::span<const int32_t> parent, std::span<const int32_t> in,
                       std::span<const int32_t> out) {
  Relations relations;
  for (std::size_t v = 0; v < parent.size(); ++v) {
    const int64_t below = int64_t{out[v]} - in[v] - 1;
    relations.edges += parent[v] >= 0;
    relations.internal += below > 0;
    relations.unrelated -= below;
    if (parent[v] < 0) relations.unrelated += (below + 1) * below / 2;
  }
  return relations;
}

EdgeList coalesce(std::span<const int32_t> source, std::span<const int32_t> target) {
  EdgeList out;
  std::vector<std::pair<int32_t, int32_t>> edges;
  edges.reserve(source.size());
  for (std::size_t e = 0; e < source.size(); ++e) {
    if (source[e] == target[e]) {
      ++out.loops;
    } else {
      edges.emplace_back(source[e], target[e]);
    }
  }
  std::sort(edges.begin(), edges.end());
  const auto end = std::unique(edges.begin(), edges.end());
  out.repeated = edges.end() - end;
  edges.erase(end, edges.end());
  out.source.reserve(edges.size());
  out.target.reserve(edges.size());
  for (const auto& [from, to] : edges) {
    out.source.push_back(from);
    out.target.push_back(to);
  }
  return out;
}

EdgeList tree_edges(std::span<const int32_t> parent) {
  std::vector<int32_t> from, to;
  for (std::size_t v = 0; v < parent.size(); ++v) {
    if (parent[v] < 0) continue;
    const auto child = static_cast<int32_t>(v);
    from.insert(from.end(), {child, parent[v]});
    to.insert(to.end(), {parent[v], child});
  }
  return coalesce(from, to);
}

std::vector<int32_t> spanning_forest(std::span<const float> pos, std::span<const int32_t> source,
                                     std::span<const int32_t> target, int32_t root) {
  const auto nodes = static_cast<int32_t>(pos.size() / 3);
  DisjointSets components(nodes);
  const EdgeList edges = spanning_edges(pos, source, target, components);
  const std::vector<int32_t> ptr = out_pointers(edges.source, nodes);
  std::vector<std::vector<int32_t>> members(at(nodes));
  for (int32_t v = 0; v < nodes; ++v) members[at(components.find(v))].push_back(v);

  std::vector<int32_t> parent(at(nodes), -1);
  std::vector<int32_t> reached;
  std::vector<bool> seen(at(nodes), false);
  for (int32_t set = 0; set < nodes; ++set) {
    if (members[at(set)].empty()) continue;
    const bool has_root = root >= 0 && components.find(root) == set;
    reached.assign(1, has_root ? root : central_node(pos, members[at(set)]));
    seen[at(reached.front())] = true;
    for (std::size_t next = 0; next < reached.size(); ++next) {
      const int32_t v = reached[next];
      for (int32_t e = ptr[at(v)]; e < ptr[at(v) + 1]; ++e) {
        const int32_t w = edges.target[at(e)];
        if (seen[at(w)]) continue;
        seen[at(w)] = true;
        parent[at(w)] = v;
        reached.push_back(w);
      }
    }
  }
  return parent;
}

EdgeList nearest_edges(std::span<const float> pos, int64_t count) {
  const auto nodes = static_cast<int32_t>(pos.size() / 3);
  const auto wanted = static_cast<std::ptrdiff_t>(std::min<int64_t>(count, nodes - 1));
  std::vector<int32_t> from, to;
  std::vector<std::pair<double, int32_t>> others;
  for (int32_t v = 0; v < nodes && wanted > 0; ++v) {
    others.clear();
    for (int32_t w = 0; w < nodes; ++w) {
      if (w != v) others.emplace_back(squared_distance(pos, v, w), w);
    }
    std::partial_sort(others.begin(), others.begin() + wanted, others.end());
    for (std::ptrdiff_t i = 0; i < wanted; ++i) {
      from.push_back(v);
      to.push_back(others[at(i)].second);
    }
  }
  return coalesce(from, to);
}

void add_lengths(std::span<const float> pos, std::span<const int32_t> source,
                 std::span<const int32_t> target, std::vector<double>& lengths) {
  for (std::size_t e = 0; e < source.size(); ++e) {
    lengths.push_back(std::sqrt(squared_distance(pos, source[e], target[e])));
  }
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::vector<int32_t> out_pointers(std::span<const int32_t> source, int64_t nodes) {
  std::vector<int32_t> ptr(at(nodes) + 1, 0);
  for (const int32_t v : source) ++ptr[at(v) + 1];
  std::partial_sum(ptr.begin(), ptr.end(), ptr.begin());
  return ptr;
}

}  // namespace kdgat::arrays
