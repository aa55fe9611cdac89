#include "engine/graph/shape.h"

#include <algorithm>
#include <cmath>

namespace kdgat::graph {

namespace {

struct Mean {
  double sum = 0, squares = 0;
  int64_t count = 0;
  void add(double x) {
    sum += x;
    squares += x * x;
    ++count;
  }
  double mean() const { return count > 0 ? sum / static_cast<double>(count) : 0; }
  double spread() const {
    const double m = mean();
    return count > 0 ? std::sqrt(std::max(0.0, squares / static_cast<double>(count) - m * m)) : 0;
  }
};

struct Vector {
  double x, y, z;
};

Vector between(const float* a, const float* b) {
  return {double{b[0]} - a[0], double{b[1]} - a[1], double{b[2]} - a[2]};
}
double dot(const Vector& a, const Vector& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
double length(const Vector& a) { return std::sqrt(dot(a, a)); }
double angle(const Vector& a, const Vector& b) {
  const double scale = length(a) * length(b);
  return scale > 0 ? std::acos(std::clamp(dot(a, b) / scale, -1.0, 1.0)) : 0;
}

/// The nodes [first, end) of a batch.
std::vector<double> shape_of(const GraphBatch& batch, int64_t first, int64_t end) {
  const auto count = static_cast<std::size_t>(end - first);
  const auto at = [&](std::size_t v) {
    return batch.pos.data() + 3 * (first + static_cast<int64_t>(v));
  };
  const auto parent = [&](std::size_t v) {
    const int32_t p = batch.parent[first + static_cast<int64_t>(v)];
    return p < 0 ? count : static_cast<std::size_t>(p - first);
  };
  std::vector<std::size_t> order(count);  // parents before children
  for (std::size_t v = 0; v < count; ++v) {
    order[static_cast<std::size_t>(batch.tour_in[first + static_cast<int64_t>(v)])] = v;
  }
  std::vector<double> depth(count, 0), way(count, 0);
  std::vector<int64_t> children(count, 0), tips(count, 0);
  std::vector<std::vector<std::size_t>> below(count);
  Mean edges, turns, depths, branch_angles, numbers, asymmetry;
  double longest = 0, extent = 0;
  for (const std::size_t v : order) {
    const std::size_t p = parent(v);
    extent = std::max(extent, length(between(at(order.front()), at(v))));
    if (p == count) continue;
    const Vector edge = between(at(p), at(v));
    edges.add(length(edge));
    ++children[p];
    below[p].push_back(v);
    depth[v] = depth[p] + 1;
    way[v] = way[p] + length(edge);
    longest = std::max(longest, way[v]);
    if (parent(p) < count) turns.add(angle(between(at(parent(p)), at(p)), edge));
  }
  int64_t all_tips = 0, branch_points = 0;
  double deepest = 0;
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const std::size_t v = *it;
    depths.add(depth[v]);
    deepest = std::max(deepest, depth[v]);
    if (children[v] == 0) {
      tips[v] = 1;
      ++all_tips;
    }
    if (parent(v) < count) tips[parent(v)] += tips[v];
    if (children[v] < 2) continue;
    ++branch_points;
    numbers.add(static_cast<double>(children[v]));
    std::vector<std::size_t>& kids = below[v];
    std::stable_sort(kids.begin(), kids.end(),
                     [&](std::size_t a, std::size_t b) { return tips[a] > tips[b]; });
    const auto a = static_cast<double>(tips[kids[0]]), b = static_cast<double>(tips[kids[1]]);
    asymmetry.add(a + b > 2 ? std::abs(a - b) / (a + b - 2) : 0);
    branch_angles.add(angle(between(at(v), at(kids[0])), between(at(v), at(kids[1]))));
  }
  const auto logarithm = [](auto x) { return std::log1p(static_cast<double>(x)); };
  return {logarithm(count),
          logarithm(all_tips),
          logarithm(branch_points),
          logarithm(deepest),
          logarithm(depths.mean()),
          logarithm(edges.sum),
          logarithm(edges.mean()),
          logarithm(edges.spread()),
          logarithm(longest),
          logarithm(extent),
          turns.mean(),
          turns.spread(),
          branch_angles.mean(),
          numbers.mean(),
          asymmetry.mean()};
}

}  // namespace

std::vector<float> shape_features(const GraphBatch& batch) {
  std::vector<float> out;
  out.reserve(static_cast<std::size_t>(batch.graphs) * kShapeFeatures.size());
  for (int64_t g = 0; g < batch.graphs; ++g) {
    for (const double value : shape_of(batch, batch.node_ptr[g], batch.node_ptr[g + 1])) {
      out.push_back(static_cast<float>(value));
    }
  }
  return out;
}

}  // namespace kdgat::graph
