#include "engine/arrays/paths.h"

#include <array>
#include <catch2/catch.hpp>
#include <numeric>
#include <set>
#include <vector>

#include "engine/arrays/random.h"

namespace kdgat::arrays {
namespace {

using Path = std::array<int32_t, 4>;
using EdgeSet = std::set<std::pair<int32_t, int32_t>>;

struct Rows {
  std::vector<int32_t> ptr{0}, target;

  Rows(int32_t nodes, const EdgeSet& edges) {
    auto at = edges.begin();
    for (int32_t v = 0; v < nodes; ++v) {
      for (; at != edges.end() && at->first == v; ++at) target.push_back(at->second);
      ptr.push_back(static_cast<int32_t>(target.size()));
    }
  }
  OutEdges edges() const { return {ptr, target}; }
};

EdgeSet both_ways(const EdgeSet& edges) {
  EdgeSet out = edges;
  for (const auto& [a, b] : edges) out.emplace(b, a);
  return out;
}

/// By definition: four nodes in a row, all different, or four times the same.
std::vector<Path> brute_force(int32_t nodes, const EdgeSet& edges) {
  std::vector<Path> out;
  for (int32_t i = 0; i < nodes; ++i) {
    std::vector<Path> of_i = {{i, i, i, i}};
    for (int32_t j = 0; j < nodes; ++j) {
      for (int32_t k = 0; k < nodes; ++k) {
        for (int32_t p = 0; p < nodes; ++p) {
          if (std::set<int32_t>{i, j, k, p}.size() == 4 && edges.contains({i, j}) &&
              edges.contains({j, k}) && edges.contains({k, p})) {
            of_i.push_back({i, j, k, p});
          }
        }
      }
    }
    out.insert(out.end(), of_i.begin(), of_i.end());
  }
  return out;
}

/// All paths by chunks; checks the form of each chunk.
std::vector<Path> enumerate(const OutEdges& edges, int64_t budget, int64_t first, int64_t end) {
  std::vector<Path> out;
  PathCursor cursor(edges, first, end);
  PathChunk chunk;
  while (cursor.next(chunk, budget)) {
    REQUIRE(chunk.paths <= budget);
    REQUIRE(chunk.triplet_ptr[0] == 0);
    REQUIRE(chunk.path_ptr[0] == 0);
    REQUIRE(chunk.triplet_ptr[chunk.arcs] == chunk.triplets);
    REQUIRE(chunk.path_ptr[chunk.triplets] == chunk.paths);
    for (int64_t a = 0; a < chunk.arcs; ++a) {
      REQUIRE(chunk.triplet_ptr[a] < chunk.triplet_ptr[a + 1]);  // none without paths
      for (int32_t t = chunk.triplet_ptr[a]; t < chunk.triplet_ptr[a + 1]; ++t) {
        REQUIRE(chunk.path_ptr[t] < chunk.path_ptr[t + 1]);
        for (int32_t p = chunk.path_ptr[t]; p < chunk.path_ptr[t + 1]; ++p) {
          out.push_back({chunk.i[a], chunk.j[a], chunk.k[t], chunk.p[p]});
        }
      }
    }
  }
  REQUIRE(chunk.paths == 0);
  return out;
}

int64_t total(const std::vector<int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), int64_t{0});
}

TEST_CASE("paths in chunks are those of brute force, for any budget", "[paths]") {
  Random random(5);
  for (int round = 0; round < 40; ++round) {
    const auto nodes = static_cast<int32_t>(1 + random.below(10));
    EdgeSet edges;
    for (uint64_t e = random.below(40); e > 0; --e) {
      edges.emplace(static_cast<int32_t>(random.below(static_cast<uint64_t>(nodes))),
                    static_cast<int32_t>(random.below(static_cast<uint64_t>(nodes))));
    }
    if (round % 2 == 0) edges = both_ways(edges);
    const Rows rows(nodes, edges);
    const std::vector<Path> wanted = brute_force(nodes, edges);
    for (const int64_t budget : {1, 2, 3, 7, 64, 100000}) {
      REQUIRE(enumerate(rows.edges(), budget, 0, nodes) == wanted);
    }
    std::vector<int64_t> counts(static_cast<std::size_t>(nodes), 0);
    for (const Path& path : wanted) ++counts[static_cast<std::size_t>(path[0])];
    REQUIRE(count_paths(rows.edges()) == counts);
    PathChunk all;
    REQUIRE(PathCursor(rows.edges(), 0, nodes).next(all, 100000));
    const PathTotals totals = count_all_paths(rows.edges());
    REQUIRE(totals.triplets == all.triplets);
    REQUIRE(totals.arcs == all.arcs);
    const int32_t middle = nodes / 2;
    std::vector<Path> halves = enumerate(rows.edges(), 5, 0, middle);
    for (const Path& path : enumerate(rows.edges(), 5, middle, nodes)) halves.push_back(path);
    REQUIRE(halves == wanted);
  }
}

TEST_CASE("paths are as many as the closed forms say", "[paths]") {
  constexpr int32_t kNodes = 100;
  EdgeSet chain, star;
  for (int32_t v = 1; v < kNodes; ++v) {
    chain.emplace(v - 1, v);
    star.emplace(0, v);
  }
  // 2(N-3) along a chain, none in a star, and one of its own for each node.
  CHECK(total(count_paths(Rows(kNodes, both_ways(chain)).edges())) == 2 * (kNodes - 3) + kNodes);
  CHECK(total(count_paths(Rows(kNodes, both_ways(star)).edges())) == kNodes);
  EdgeSet binary;
  for (int32_t v = 1; v < 1023; ++v) binary.emplace((v - 1) / 2, v);
  CHECK(total(count_paths(Rows(1023, both_ways(binary)).edges())) == 4072 + 1023);

  // Undirected without triangles: 2 * sum over edges of (d_u - 1)(d_v - 1); here a grid.
  EdgeSet grid;
  const auto at = [](int32_t x, int32_t y) { return 8 * y + x; };
  for (int32_t y = 0; y < 8; ++y) {
    for (int32_t x = 0; x < 8; ++x) {
      if (x > 0) grid.emplace(at(x - 1, y), at(x, y));
      if (y > 0) grid.emplace(at(x, y - 1), at(x, y));
    }
  }
  const Rows rows(64, both_ways(grid));
  const auto degree = [&](int32_t v) {
    return rows.ptr[static_cast<std::size_t>(v) + 1] - rows.ptr[static_cast<std::size_t>(v)];
  };
  int64_t wanted = 64;
  for (const auto& [u, v] : grid) wanted += 2 * (degree(u) - 1) * (degree(v) - 1);
  CHECK(total(count_paths(rows.edges())) == wanted);
}

TEST_CASE("the paths of a star are counted without going through pairs of its leaves", "[paths]") {
  constexpr int32_t kLeaves = 200'000;  // 4e10 pairs
  Rows star(0, {});
  for (int32_t v = 1; v <= kLeaves; ++v) star.target.push_back(v);
  star.ptr.push_back(kLeaves);
  for (int32_t v = 1; v <= kLeaves; ++v) {
    star.target.push_back(0);
    star.ptr.push_back(kLeaves + v);
  }
  const PathTotals totals = count_all_paths(star.edges());
  CHECK(total(totals.of_node) == kLeaves + 1);
  CHECK(totals.arcs == kLeaves + 1);
  // With a tail at one leaf: a path to the tail's end from each other leaf, and the ways back.
  star.target.push_back(kLeaves + 1);
  ++star.ptr.back();
  star.target.push_back(kLeaves);
  star.ptr.push_back(static_cast<int32_t>(star.target.size()));
  CHECK(total(count_paths(star.edges())) == kLeaves + 2 + 2 * (kLeaves - 1));
}

TEST_CASE("one node may have more paths than a chunk", "[paths]") {
  EdgeSet hubs;  // 0 - 1, with 40 leaves each
  hubs.emplace(0, 1);
  for (int32_t v = 2; v < 42; ++v) hubs.emplace(0, v);
  for (int32_t v = 42; v < 82; ++v) hubs.emplace(1, v);
  const Rows rows(82, both_ways(hubs));
  const std::vector<Path> whole = enumerate(rows.edges(), 1 << 20, 0, 82);
  CHECK(whole.size() == 82 + 2 * 40 * 40);
  CHECK(enumerate(rows.edges(), 16, 0, 82) == whole);
}

}  // namespace
}  // namespace kdgat::arrays
