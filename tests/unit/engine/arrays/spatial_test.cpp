#include "engine/arrays/spatial.h"

#include <catch2/catch.hpp>
#include <functional>
#include <numeric>
#include <set>

#include "engine/arrays/random.h"

namespace kdgat::arrays {
namespace {

/// A forest in a shuffled order of nodes: each node hangs below one of those before it, or is a
/// root.
std::vector<int32_t> random_forest(int32_t nodes, uint64_t root_every, Random& random) {
  std::vector<int32_t> name(static_cast<std::size_t>(nodes));
  std::iota(name.begin(), name.end(), 0);
  random.shuffle(name);
  std::vector<int32_t> parent(name.size(), -1);
  for (std::size_t i = 1; i < name.size(); ++i) {
    if (random.below(root_every) == 0) continue;
    parent[static_cast<std::size_t>(name[i])] = name[random.below(i)];
  }
  return parent;
}

bool is_ancestor(const std::vector<int32_t>& parent, int32_t a, int32_t v) {
  for (; v >= 0; v = parent[static_cast<std::size_t>(v)]) {
    if (v == a) return true;
  }
  return false;
}

int32_t root_of(const std::vector<int32_t>& parent, int32_t v) {
  while (parent[static_cast<std::size_t>(v)] >= 0) v = parent[static_cast<std::size_t>(v)];
  return v;
}

std::vector<float> random_places(int32_t nodes, Random& random) {
  std::vector<float> pos;
  for (int32_t i = 0; i < 3 * nodes; ++i) pos.push_back(static_cast<float>(random.uniform()));
  return pos;
}

double length(const std::vector<float>& pos, int32_t a, int32_t b) {
  std::vector<double> one;
  add_lengths(pos, std::vector<int32_t>{a}, std::vector<int32_t>{b}, one);
  return one.front();
}

TEST_CASE("a tour tells ancestors, and relations are counted as by hand", "[spatial]") {
  Random random(3);
  for (int round = 0; round < 60; ++round) {
    const auto nodes = static_cast<int32_t>(1 + random.below(30));
    const std::vector<int32_t> parent = random_forest(nodes, 1 + random.below(12), random);
    REQUIRE(faulty_nodes(parent).empty());
    std::vector<int32_t> in(parent.size()), out(parent.size());
    euler_tour(parent, in, out);
    CHECK(std::set<int32_t>(in.begin(), in.end()).size() == in.size());
    Relations wanted;
    std::set<int32_t> with_children;
    for (int32_t i = 0; i < nodes; ++i) {
      const auto u = static_cast<std::size_t>(i);
      if (parent[u] >= 0) {
        ++wanted.edges;
        with_children.insert(parent[u]);
      }
      for (int32_t j = 0; j < nodes; ++j) {
        const auto v = static_cast<std::size_t>(j);
        const bool is_inside = in[u] <= in[v] && in[v] < out[u];
        REQUIRE(is_inside == is_ancestor(parent, i, j));
        wanted.unrelated += i < j && root_of(parent, i) == root_of(parent, j) &&
                            !is_ancestor(parent, i, j) && !is_ancestor(parent, j, i);
      }
    }
    const Relations found = relations_of(parent, in, out);
    CHECK(found.edges == wanted.edges);
    CHECK(found.internal == static_cast<int64_t>(with_children.size()));
    CHECK(found.unrelated == wanted.unrelated);
  }
}

TEST_CASE("a chain has no unrelated pairs, a star all pairs of its tips", "[spatial]") {
  std::vector<int32_t> chain(100), star(100, 0), in(100), out(100);
  std::iota(chain.begin(), chain.end(), -1);
  euler_tour(chain, in, out);
  CHECK(relations_of(chain, in, out).unrelated == 0);
  CHECK(in.back() == 99);
  star[0] = -1;
  euler_tour(star, in, out);
  CHECK(relations_of(star, in, out).unrelated == 99 * 98 / 2);
  CHECK(relations_of(star, in, out).internal == 1);
}

TEST_CASE("a tour needs no stack as deep as the tree", "[spatial]") {
  std::vector<int32_t> chain(1 << 20), in(chain.size()), out(chain.size());
  std::iota(chain.begin(), chain.end(), -1);
  euler_tour(chain, in, out);
  CHECK(in.back() == static_cast<int32_t>(chain.size()) - 1);
}

TEST_CASE("cycles and parents that are no nodes are found", "[spatial]") {
  CHECK(faulty_nodes(std::vector<int32_t>{-1, 0, 1}).empty());
  CHECK(faulty_nodes(std::vector<int32_t>{}).empty());
  CHECK(faulty_nodes(std::vector<int32_t>{0}) == std::vector<int32_t>{0});
  CHECK(faulty_nodes(std::vector<int32_t>{-1, 3, 1, 2}).size() == 1);
  CHECK(faulty_nodes(std::vector<int32_t>{-1, 2}) == std::vector<int32_t>{1});
  CHECK(faulty_nodes(std::vector<int32_t>{-1, -2}) == std::vector<int32_t>{1});
  CHECK(faulty_nodes(std::vector<int32_t>{1, 0, 3, 2, 3}).size() == 2);  // two cycles and a tail
}

TEST_CASE("edges are ordered, and loops and repeated ones counted", "[spatial]") {
  const EdgeList edges =
      coalesce(std::vector<int32_t>{2, 0, 1, 2, 0}, std::vector<int32_t>{1, 1, 1, 1, 2});
  CHECK(edges.source == std::vector<int32_t>{0, 0, 2});
  CHECK(edges.target == std::vector<int32_t>{1, 2, 1});
  CHECK(edges.loops == 1);
  CHECK(edges.repeated == 1);
}

TEST_CASE("a spanning forest is as short as any", "[spatial]") {
  Random random(5);
  for (int round = 0; round < 30; ++round) {
    const auto nodes = static_cast<int32_t>(2 + random.below(5));
    const std::vector<float> pos = random_places(nodes, random);
    std::set<std::pair<int32_t, int32_t>> pairs;
    for (uint64_t e = random.below(12); e > 0; --e) {
      const auto a = static_cast<int32_t>(random.below(static_cast<uint64_t>(nodes)));
      const auto b = static_cast<int32_t>(random.below(static_cast<uint64_t>(nodes)));
      if (a != b) pairs.insert(std::minmax(a, b));
    }
    std::vector<std::pair<int32_t, int32_t>> edges(pairs.begin(), pairs.end());
    std::vector<int32_t> source, target;
    for (const auto& [a, b] : edges) {  // one direction alone
      source.push_back(b);
      target.push_back(a);
    }
    const std::vector<int32_t> parent = spanning_forest(pos, source, target);
    REQUIRE(faulty_nodes(parent).empty());
    double found = 0;
    std::size_t taken = 0;
    for (int32_t v = 0; v < nodes; ++v) {
      const int32_t p = parent[static_cast<std::size_t>(v)];
      if (p < 0) continue;
      CHECK(pairs.count(std::minmax(p, v)) == 1);
      found += length(pos, p, v);
      ++taken;
    }
    // Of all sets of so many edges without a circle the shortest.
    double best = 1e300;
    for (uint32_t set = 0; set < 1U << edges.size(); ++set) {
      if (static_cast<std::size_t>(__builtin_popcount(set)) != taken) continue;
      std::vector<int32_t> up(static_cast<std::size_t>(nodes));
      std::iota(up.begin(), up.end(), 0);
      const std::function<int32_t(int32_t)> find = [&](int32_t v) {
        return up[static_cast<std::size_t>(v)] == v ? v : find(up[static_cast<std::size_t>(v)]);
      };
      double total = 0;
      bool has_circle = false;
      for (std::size_t e = 0; e < edges.size(); ++e) {
        if ((set >> e & 1) == 0) continue;
        const int32_t a = find(edges[e].first), b = find(edges[e].second);
        has_circle = has_circle || a == b;
        up[static_cast<std::size_t>(a)] = b;
        total += length(pos, edges[e].first, edges[e].second);
      }
      if (!has_circle) best = std::min(best, total);
    }
    CHECK(found == Approx(taken == 0 ? 0 : best));
    // Components are what edges join.
    for (const auto& [a, b] : edges) CHECK(root_of(parent, a) == root_of(parent, b));
  }
}

TEST_CASE("the root is the one given, else the node nearest the centroid", "[spatial]") {
  const std::vector<float> pos = {0, 0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0, 9, 0, 0, 10, 0, 0};
  const std::vector<int32_t> source = {0, 1, 2, 4}, target = {1, 2, 3, 5};
  // 1 and 2 are as near the middle of the first four: the lower one; so of 4 and 5.
  CHECK(spanning_forest(pos, source, target) == std::vector<int32_t>{1, -1, 1, 2, -1, 4});
  CHECK(spanning_forest(pos, source, target, 3) == std::vector<int32_t>{1, 2, 3, -1, -1, 4});
}

TEST_CASE("edges go to the nearest points, ties to the lower number", "[spatial]") {
  Random random(9);
  for (int round = 0; round < 20; ++round) {
    const auto nodes = static_cast<int32_t>(1 + random.below(20));
    std::vector<float> pos = random_places(nodes, random);
    if (round % 2 == 0) {
      for (float& p : pos) p = static_cast<float>(static_cast<int>(p * 3));  // many ties
    }
    const int64_t count = 1 + static_cast<int64_t>(random.below(8));
    const EdgeList edges = nearest_edges(pos, count);
    CHECK(edges.loops + edges.repeated == 0);
    std::vector<std::set<int32_t>> near(static_cast<std::size_t>(nodes));
    for (std::size_t e = 0; e < edges.source.size(); ++e) {
      near[static_cast<std::size_t>(edges.source[e])].insert(edges.target[e]);
    }
    for (int32_t v = 0; v < nodes; ++v) {
      std::vector<std::pair<double, int32_t>> others;
      for (int32_t w = 0; w < nodes; ++w) {
        if (w != v) others.emplace_back(length(pos, v, w), w);
      }
      std::sort(others.begin(), others.end());
      others.resize(std::min(others.size(), static_cast<std::size_t>(count)));
      std::set<int32_t> wanted;
      for (const auto& [distance, w] : others) wanted.insert(w);
      CHECK(near[static_cast<std::size_t>(v)] == wanted);
    }
  }
  CHECK(median({}) == 0);
  CHECK(median({3, 1, 2}) == 2);
  CHECK(median({4, 1, 2, 3}) == 3);
}

}  // namespace
}  // namespace kdgat::arrays
