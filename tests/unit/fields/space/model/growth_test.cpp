#include "fields/space/model/growth.h"

#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "support/graphs/gradients.h"
#include "support/graphs/spatial_graphs.h"
// The others need torch's macros gone.
#include "engine/train/precision.h"

namespace kdgat::space {
namespace {

using test::check_close;
using test::make_spatial_batch;
using test::random_trees;

GrowthConfig small_config(const std::string& gamma = "spacing") {
  GrowthConfig config;
  config.num_rbf_centers = 7;
  config.rbf_gamma = gamma;
  config.channels = 3;
  config.cutoff = 2.5;  // shorter than some edges
  return config;
}

std::span<const int32_t> parents(const graph::GraphBatch& batch) {
  return {batch.parent.data(), static_cast<std::size_t>(batch.nodes)};
}

at::Tensor positions(const graph::GraphBatch& batch) {
  return at::from_blob(const_cast<float*>(batch.pos.data()), {batch.nodes, 3}, at::kFloat)
      .to(at::kDouble);
}

at::Tensor random_distributions(int64_t rows, int64_t columns) {
  return at::randn({rows, columns}, at::kDouble).mul_(2).softmax(1);
}

TEST_CASE("earth_mover is a distance, and moving all mass by a centre costs one", "[growth]") {
  torch::manual_seed(1);
  const at::Tensor p = random_distributions(50, 9), q = random_distributions(50, 9),
                   r = random_distributions(50, 9);
  CHECK(earth_mover(p, p).abs().max().item<double>() == 0);
  CHECK(earth_mover(p, q).min().item<double>() > 1e-3);
  check_close(earth_mover(p, q), earth_mover(q, p), "symmetry", 1e-15, 0);
  CHECK((earth_mover(p, r) - earth_mover(p, q) - earth_mover(q, r)).max().item<double>() < 1e-15);

  const at::Tensor at_centre = at::eye(9, at::kDouble);
  const at::Tensor moved = earth_mover(at_centre.slice(0, 0, 8), at_centre.slice(0, 1, 9));
  check_close(moved, at::full({8}, 1.0 / 8, at::kDouble), "one centre", 1e-15, 0);
  const at::Tensor farthest = earth_mover(at_centre.slice(0, 0, 1), at_centre.slice(0, 8, 9));
  CHECK(farthest.item<double>() == Approx(1));
}

// From scipy 1.17:
//   from scipy.stats import wasserstein_distance
//   bins = np.arange(6) / 5
//   [wasserstein_distance(bins, bins, a, b) for a, b in zip(p, q)]
TEST_CASE("earth_mover is scipy's Wasserstein distance", "[growth][golden]") {
  const at::Tensor p = at::tensor({0.1,  0.2,  0.3,  0.4,  0.0, 0.0,  //
                                   1.0,  0.0,  0.0,  0.0,  0.0, 0.0,  //
                                   0.05, 0.15, 0.45, 0.05, 0.2, 0.1,  //
                                   0.0,  0.5,  0.0,  0.0,  0.5, 0.0},
                                  at::kDouble);
  const at::Tensor q = at::tensor({0.4, 0.1,  0.1,  0.1, 0.1,  0.2,   //
                                   0.0, 0.0,  0.5,  0.0, 0.0,  0.5,   //
                                   0.3, 0.05, 0.15, 0.3, 0.15, 0.05,  //
                                   0.0, 0.0,  0.5,  0.5, 0.0,  0.0},
                                  at::kDouble);
  check_close(earth_mover(p.view({4, 6}), q.view({4, 6})),
              at::tensor({0.2, 0.7, 0.14, 0.2}, at::kDouble), "distances", 1e-15, 0);
}

/// What growth_of says, node by node in plain loops.
struct Reference {
  std::vector<int64_t> node;
  std::vector<double> length, turn, has_turn, ancestry;
};

using Vec = std::array<double, 3>;

double dot(const Vec& a, const Vec& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

double angle(const Vec& a, const Vec& b) {
  const Vec n = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
  return std::atan2(std::sqrt(dot(n, n)), dot(a, b));
}

Reference reference(const graph::GraphBatch& batch, const GrowthConfig& config) {
  const auto k = static_cast<std::size_t>(config.num_rbf_centers);
  const auto edge = [&](int32_t v) {
    const int32_t p = batch.parent[v];
    Vec out;
    for (int c = 0; c < 3; ++c) {
      out[static_cast<std::size_t>(c)] =
          static_cast<double>(batch.pos[3 * v + c]) - static_cast<double>(batch.pos[3 * p + c]);
    }
    return out;
  };
  const auto add = [&](std::vector<double>& to, double x, double end) {
    const double spacing = end / static_cast<double>(k - 1);
    const double gamma = config.rbf_gamma == "one" ? 1 : 1 / (2 * spacing * spacing);
    for (std::size_t i = 0; i < k; ++i) {
      const double gap = std::min(x, end) - static_cast<double>(i) * spacing;
      to[i] += std::exp(-gamma * gap * gap);
    }
  };
  const auto append = [](std::vector<double>& to, const std::vector<double>& from, double over) {
    for (const double x : from) to.push_back(over > 0 ? x / over : 0);
  };
  Reference out;
  for (int32_t v = 0; v < batch.nodes; ++v) {
    std::vector<double> length(k), turn(k), above_length(k), above_turn(k);
    int64_t children = 0;
    for (int32_t c = 0; c < batch.nodes; ++c) {
      if (batch.parent[c] != v) continue;
      ++children;
      const Vec to_child = edge(c);
      add(length, std::sqrt(dot(to_child, to_child)), config.cutoff);
      if (batch.parent[v] >= 0) add(turn, angle(edge(v), to_child), std::numbers::pi);
    }
    if (children == 0) continue;
    double edges = 0, turns = 0;
    for (int32_t a = v; batch.parent[a] >= 0; a = batch.parent[a]) {
      add(above_length, std::sqrt(dot(edge(a), edge(a))), config.cutoff);
      edges += 1;
      if (batch.parent[batch.parent[a]] < 0) continue;
      add(above_turn, angle(edge(batch.parent[a]), edge(a)), std::numbers::pi);
      turns += 1;
    }
    out.node.push_back(v);
    append(out.length, length, std::accumulate(length.begin(), length.end(), 0.0));
    append(out.turn, turn, std::accumulate(turn.begin(), turn.end(), 0.0));
    out.has_turn.push_back(batch.parent[v] >= 0 ? 1 : 0);
    append(out.ancestry, above_length, edges);
    append(out.ancestry, above_turn, turns);
    out.ancestry.push_back(edges > 0 ? 1 : 0);
  }
  return out;
}

at::Tensor as_rows(const std::vector<double>& values, int64_t columns) {
  return at::tensor(values, at::kDouble).view({-1, columns});
}

TEST_CASE("growth_of is what loops over nodes, children and ancestors give", "[growth]") {
  const graph::GraphBatch batch = make_spatial_batch(random_trees(10, 3));
  for (const std::string gamma : {"spacing", "one"}) {
    const GrowthConfig config = small_config(gamma);
    const Growth growth = growth_of(positions(batch), parents(batch), config);
    const Reference expected = reference(batch, config);
    const int64_t k = config.num_rbf_centers;
    CHECK(growth.node_I.equal(at::tensor(expected.node, at::kLong)));
    check_close(growth.children.length_IK, as_rows(expected.length, k), "lengths", 1e-13, 1e-12);
    check_close(growth.children.turn_IK, as_rows(expected.turn, k), "turns", 1e-13, 1e-12);
    check_close(growth.has_turn_I, at::tensor(expected.has_turn, at::kDouble), "has turn", 0, 0);
    check_close(growth.ancestry_IC, as_rows(expected.ancestry, 2 * k + 1), "ancestry", 1e-13,
                1e-12);
    const auto in_32_bits = growth_of(positions(batch).to(at::kFloat), parents(batch), config);
    check_close(in_32_bits.children.turn_IK, growth.children.turn_IK, "turns in 32 bits", 1e-5, 0);
  }
}

TEST_CASE("growth_of of a long chain adds up all of its edges", "[growth]") {
  // Straight, with edges of length 1: every turn is 0.
  constexpr int64_t kNodes = 1000;
  std::vector<int32_t> parent;
  for (int32_t v = 0; v < kNodes; ++v) parent.push_back(v - 1);
  at::Tensor pos = at::zeros({kNodes, 3}, at::kDouble);
  pos.select(1, 1) = at::arange(kNodes, at::kDouble);
  const GrowthConfig config = small_config();
  const Growth growth = growth_of(pos, parent, config);
  CHECK(growth.node_I.size(0) == kNodes - 1);
  const at::Tensor last = growth.ancestry_IC.select(0, kNodes - 2);
  // Each mean is of equal rows: the one of the second node, whose turn is the first there is.
  check_close(last.slice(0, 0, 7), growth.ancestry_IC.select(0, 1).slice(0, 0, 7), "lengths", 1e-12,
              0);
  check_close(last.slice(0, 7, 14), growth.ancestry_IC.select(0, 2).slice(0, 7, 14), "turns", 1e-12,
              0);
  CHECK(last[7].item<double>() == Approx(1));
}

TEST_CASE("growth is the same after a rotation and a translation", "[growth]") {
  const graph::GraphBatch batch = make_spatial_batch(random_trees(5, 8));
  torch::manual_seed(4);
  const at::Tensor rotation = std::get<0>(at::linalg_qr(at::randn({3, 3}, at::kDouble)));
  const at::Tensor pos = positions(batch);
  const at::Tensor moved = at::matmul(pos, rotation) + at::tensor({3.0, -1.0, 7.0}, at::kDouble);
  const Growth a = growth_of(pos, parents(batch), small_config());
  const Growth b = growth_of(moved, parents(batch), small_config());
  check_close(a.children.length_IK, b.children.length_IK, "lengths", 1e-12, 0);
  check_close(a.children.turn_IK, b.children.turn_IK, "turns", 1e-12, 0);
  check_close(a.ancestry_IC, b.ancestry_IC, "ancestry", 1e-12, 0);
}

TEST_CASE("histograms are distributions, also of edges far beyond the cutoff", "[growth]") {
  const graph::GraphBatch batch = make_spatial_batch(random_trees(5, 9));
  const Growth growth =
      growth_of(positions(batch).to(at::kFloat) * 1e4, parents(batch), small_config());
  check_close(growth.children.length_IK.sum(1), at::ones_like(growth.has_turn_I), "lengths");
  check_close(growth.children.turn_IK.sum(1), growth.has_turn_I, "turns");
  CHECK(growth.ancestry_IC.isfinite().all().item<bool>());
}

TEST_CASE("the growth predictor's loss is the mean of its blocks", "[growth]") {
  torch::manual_seed(5);
  const graph::GraphBatch batch = make_spatial_batch(random_trees(5, 11));
  const GrowthConfig config = small_config();
  const Growth growth = growth_of(positions(batch), parents(batch), config);
  GrowthPredictor predictor(config);
  predictor->to(at::kDouble);
  const at::Tensor u = at::randn({batch.nodes, config.channels}, at::kDouble);
  const Histograms predicted = predictor->forward(u, growth);
  check_close(predicted.length_IK.sum(1), at::ones_like(growth.has_turn_I), "lengths", 1e-12, 0);
  check_close(predicted.turn_IK.sum(1), at::ones_like(growth.has_turn_I), "turns", 1e-12, 0);
  const at::Tensor loss = predictor->loss(u, growth);
  const at::Tensor length = earth_mover(predicted.length_IK, growth.children.length_IK);
  const at::Tensor turn = earth_mover(predicted.turn_IK, growth.children.turn_IK);
  check_close(loss, at::where(growth.has_turn_I.gt(0), (length + turn) / 2, length), "loss", 1e-15,
              0);
  CHECK(loss.min().item<double>() >= 0);
  CHECK(loss.max().item<double>() <= 1);
}

TEST_CASE("gradients of the growth predictor", "[growth][gradients]") {
  torch::manual_seed(6);
  const graph::GraphBatch batch = make_spatial_batch(random_trees(3, 12));
  const GrowthConfig config = small_config();
  const Growth growth = growth_of(positions(batch), parents(batch), config);
  GrowthPredictor predictor(config);
  predictor->to(at::kDouble);
  std::vector<at::Tensor> inputs = {at::randn({batch.nodes, config.channels}, at::kDouble),
                                    predictor->first->bias, predictor->last->weight};
  test::check_gradients(
      inputs, [&](const std::vector<at::Tensor>& in) { return predictor->loss(in[0], growth); });
}

TEST_CASE("the growth predictor computes in 32 bits under autocast", "[growth][precision]") {
  torch::manual_seed(7);
  const graph::GraphBatch batch = make_spatial_batch(random_trees(5, 13));
  const GrowthConfig config = small_config();
  const at::Tensor pos = positions(batch).to(at::kFloat);
  GrowthPredictor predictor(config);
  const at::Tensor u = at::randn({batch.nodes, config.channels}).to(at::kBFloat16);
  const auto loss = [&] { return predictor->loss(u, growth_of(pos, parents(batch), config)); };
  const at::Tensor expected = loss();
  CHECK(expected.scalar_type() == at::kFloat);
  const train::Autocast in_16_bits("bf16-mixed", at::kCPU);
  CHECK(loss().equal(expected));
}

TEST_CASE("the growth predictor has the layers of the specification", "[growth]") {
  int64_t parameters = 0;
  for (const at::Tensor& p : GrowthPredictor(GrowthConfig())->parameters()) parameters += p.numel();
  CHECK(parameters == (64 + 41) * 64 + 64 + 64 * 64 + 64 + 64 * 40 + 40);
}

}  // namespace
}  // namespace kdgat::space
