#include "fields/space/data/subtrees.h"

#include <algorithm>
#include <numeric>

#include "engine/arrays/spatial.h"

namespace kdgat::space {

BranchPoints branch_points(std::span<const int32_t> parent, int64_t min_nodes, int64_t max_nodes) {
  const arrays::Children children = arrays::children_of(parent);
  std::vector<int32_t> in(parent.size()), out(parent.size());
  arrays::euler_tour(parent, in, out);
  BranchPoints points;
  for (std::size_t v = 0; v < parent.size(); ++v) {
    const int64_t size = int64_t{out[v]} - in[v];
    if (children.of(static_cast<int32_t>(v)).size() < 2 || size < min_nodes) continue;
    (size <= max_nodes ? points.fitting : points.larger).push_back(static_cast<int32_t>(v));
  }
  return points;
}

std::vector<int64_t> even_shares(const std::vector<int64_t>& available, int64_t wanted) {
  std::vector<std::size_t> order(available.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return available[a] < available[b]; });
  // The scarcest first: what they lack is spread over the others.
  std::vector<int64_t> shares(available.size());
  auto left = static_cast<int64_t>(order.size());
  for (const std::size_t i : order) {
    shares[i] = std::min(available[i], wanted / left--);
    wanted -= shares[i];
  }
  return shares;
}

std::vector<int32_t> choose(BranchPoints points, int64_t count, arrays::Random& random) {
  random.shuffle(points.fitting);
  random.shuffle(points.larger);
  std::vector<int32_t> all = std::move(points.fitting);
  all.insert(all.end(), points.larger.begin(), points.larger.end());
  all.resize(std::min(all.size(), static_cast<std::size_t>(count)));
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<int32_t> subtree(std::span<const int32_t> parent, int32_t root, int64_t max_nodes) {
  const arrays::Children children = arrays::children_of(parent);
  std::vector<int32_t> nodes{root};
  for (std::size_t next = 0; next < nodes.size(); ++next) {
    for (const int32_t child : children.of(nodes[next])) {
      if (static_cast<int64_t>(nodes.size()) == max_nodes) break;
      nodes.push_back(child);
    }
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

}  // namespace kdgat::space
