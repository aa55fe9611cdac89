// Third-order paths by brute force, and the encoder's block as published: every path's activations
// in one tensor, gradients by autograd. What fast forms are compared with. Needs torch first.
#pragma once

#include <numbers>
#include <set>
#include <utility>
#include <vector>

#include "engine/arrays/paths.h"
#include "engine/arrays/random.h"
#include "fields/space/model/sgmp.h"
#include "support/catch_torch.h"

namespace kdgat::test {

/// Compressed rows that own their arrays.
struct Adjacency {
  std::vector<int32_t> ptr{0}, target;

  Adjacency() = default;
  Adjacency(int32_t nodes, const std::set<std::pair<int32_t, int32_t>>& edges) {
    auto at = edges.begin();
    for (int32_t v = 0; v < nodes; ++v) {
      for (; at != edges.end() && at->first == v; ++at) target.push_back(at->second);
      ptr.push_back(static_cast<int32_t>(target.size()));
    }
  }
  arrays::OutEdges edges() const { return {ptr, target}; }
};

/// [4, P] paths, ordered, from the definition.
inline torch::Tensor brute_force_paths(const arrays::OutEdges& edges) {
  std::vector<int64_t> out;
  const auto next = [&](int64_t v) {
    return edges.target.subspan(
        static_cast<std::size_t>(edges.ptr[static_cast<std::size_t>(v)]),
        static_cast<std::size_t>(edges.ptr[static_cast<std::size_t>(v) + 1] -
                                 edges.ptr[static_cast<std::size_t>(v)]));
  };
  std::set<std::vector<int64_t>> paths;
  for (int64_t i = 0; i < edges.nodes(); ++i) {
    paths.insert({i, i, i, i});
    for (const int32_t j : next(i)) {
      for (const int32_t k : next(j)) {
        for (const int32_t p : next(k)) {
          if (std::set<int64_t>{i, j, k, p}.size() == 4) paths.insert({i, j, k, p});
        }
      }
    }
  }
  for (int place = 0; place < 4; ++place) {
    for (const auto& path : paths) out.push_back(path[static_cast<std::size_t>(place)]);
  }
  return torch::tensor(out, torch::kLong).view({4, static_cast<int64_t>(paths.size())});
}

/// [6, P]: |ij|, |jk|, |jp|, both angles, torsion, as the specification writes them.
inline torch::Tensor reference_features(const torch::Tensor& pos, const torch::Tensor& paths) {
  const auto at = [&](int64_t place) { return pos.index_select(0, paths[place]); };
  const torch::Tensor a = at(1) - at(0), b = at(2) - at(1), c = at(3) - at(1);
  const auto length = [](const torch::Tensor& x) { return x.square().sum(1).sqrt(); };
  const auto angle = [&](const torch::Tensor& u, const torch::Tensor& v) {
    return torch::atan2(length(torch::linalg_cross(u, v)), (u * v).sum(1));
  };
  const torch::Tensor n1 = torch::linalg_cross(a, b), n2 = torch::linalg_cross(a, c);
  const torch::Tensor sign =
      torch::where((torch::linalg_cross(n1, n2) * a).sum(1) >= 0, torch::ones({}, pos.options()),
                   -torch::ones({}, pos.options()));
  return torch::stack(
      {length(a), length(b), length(c), angle(a, b), angle(a, c), sign * angle(n1, n2)});
}

inline torch::Tensor reference_basis(const torch::Tensor& x, double high, int64_t count,
                                     double period = 0) {
  const double spacing =
      period > 0 ? period / static_cast<double>(count) : high / static_cast<double>(count - 1);
  torch::Tensor difference = x.unsqueeze(1) - torch::arange(count, x.options()) * spacing;
  if (period > 0) difference = torch::remainder(difference + period / 2, period) - period / 2;
  return torch::exp(-difference.square() / (2 * spacing * spacing));
}

/// A block's output with everything in one tensor a path.
inline torch::Tensor reference_block(space::SgmpBlock block, const torch::Tensor& h,
                                     const torch::Tensor& pos, const torch::Tensor& paths,
                                     double cutoff, bool mean) {
  using std::numbers::pi;
  const torch::Tensor f = reference_features(pos, paths);
  const torch::Tensor x = block->norm.is_empty() ? h : block->norm(h);
  const torch::Tensor edge = block->edge(reference_basis(f[0], cutoff, 50));
  const torch::Tensor triplet = block->triplet(
      torch::cat({reference_basis(f[1], cutoff, 50), reference_basis(f[3], pi, 6)}, 1));
  const torch::Tensor torsion =
      block->torsion(torch::cat({reference_basis(f[2], cutoff, 50), reference_basis(f[4], pi, 6),
                                 reference_basis(f[5], 0, 12, 2 * pi)},
                                1));
  std::vector<torch::Tensor> parts;
  for (int64_t place = 0; place < 4; ++place) parts.push_back(x.index_select(0, paths[place]));
  parts.insert(parts.end(), {edge, triplet, torsion});
  const torch::Tensor message = block->combine2(
      torch::relu(block->combine1(torch::relu(block->combine0(torch::cat(parts, 1))))));
  torch::Tensor total = torch::zeros_like(h).index_add(0, paths[0], message);
  if (mean) {
    total = total / torch::bincount(paths[0], {}, h.size(0)).to(h.options()).unsqueeze(1);
  }
  return h + total;
}

/// Random directed edges among `nodes` nodes, some in both directions, some of a node to itself.
inline Adjacency random_adjacency(int32_t nodes, int64_t edges, uint64_t seed) {
  arrays::Random random(seed);
  std::set<std::pair<int32_t, int32_t>> out;
  const auto node = [&] {
    return static_cast<int32_t>(random.below(static_cast<uint64_t>(nodes)));
  };
  for (int64_t e = 0; e < edges; ++e) {
    const int32_t a = node(), b = node();
    out.emplace(a, b);
    if (e % 3 == 0) out.emplace(b, a);
  }
  return Adjacency(nodes, out);
}

}  // namespace kdgat::test
