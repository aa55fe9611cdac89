#include "engine/graph/shape.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>
#include <string_view>
#include <vector>

namespace kdgat::graph {
namespace {

/// One tree: places and parents; nodes stand in the order of their tour.
GraphBatch tree(const std::vector<std::array<float, 3>>& places,
                const std::vector<int32_t>& parents) {
  GraphBatch out;
  out.graphs = 1;
  out.nodes = static_cast<int64_t>(parents.size());
  out.pos.resize(3 * out.nodes);
  out.parent.resize(out.nodes);
  out.tour_in.resize(out.nodes);
  out.node_ptr.resize(2);
  out.node_ptr[0] = 0;
  out.node_ptr[1] = static_cast<int32_t>(out.nodes);
  for (int64_t v = 0; v < out.nodes; ++v) {
    const auto at = static_cast<std::size_t>(v);
    std::copy(places[at].begin(), places[at].end(), out.pos.data() + 3 * v);
    out.parent[v] = parents[at];
    out.tour_in[v] = static_cast<int32_t>(v);
  }
  return out;
}

float feature(const std::vector<float>& shape, std::string_view name) {
  const auto found = std::find(kShapeFeatures.begin(), kShapeFeatures.end(), name);
  REQUIRE(found != kShapeFeatures.end());
  return shape[static_cast<std::size_t>(found - kShapeFeatures.begin())];
}

TEST_CASE("the shape of a small tree is what one counts by hand", "[shape]") {
  // 0 - 1 straight on to 2; from 1 also 3 at a right angle, and 4 behind it.
  const std::vector<float> shape = shape_features(
      tree({{0, 0, 0}, {1, 0, 0}, {3, 0, 0}, {1, 1, 0}, {1, 2, 0}}, {-1, 0, 1, 1, 3}));
  REQUIRE(shape.size() == kShapeFeatures.size());
  const auto logarithm = [](double x) { return Approx(std::log1p(x)); };
  CHECK(feature(shape, "nodes") == logarithm(5));
  CHECK(feature(shape, "tips") == logarithm(2));
  CHECK(feature(shape, "branch_points") == logarithm(1));
  CHECK(feature(shape, "largest_depth") == logarithm(3));
  CHECK(feature(shape, "length") == logarithm(5));
  CHECK(feature(shape, "mean_edge") == logarithm(1.25));
  CHECK(feature(shape, "longest_way") == logarithm(3));
  CHECK(feature(shape, "extent") == logarithm(3));
  CHECK(feature(shape, "mean_turn") == Approx(std::numbers::pi / 6));
  CHECK(feature(shape, "branch_angle") == Approx(std::numbers::pi / 2));
  CHECK(feature(shape, "children") == Approx(2));
  CHECK(feature(shape, "asymmetry") == Approx(0));
}

TEST_CASE("shapes are finite where there is nothing to measure", "[shape]") {
  for (const float value : shape_features(tree({{1, 2, 3}}, {-1}))) CHECK(std::isfinite(value));
  for (const float value : shape_features(tree({{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, {-1, 0, 1}))) {
    CHECK(std::isfinite(value));
  }
}

}  // namespace
}  // namespace kdgat::graph
