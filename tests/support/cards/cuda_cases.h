// Random graphs as the kernels of the card read them, and runs of these kernels on the CPU. Arrays
// have the size that is used and no more: what stands beside them is the sanitizers' to find.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "engine/arrays/random.h"
#include "engine/kernels/cuda/source/sums_args.h"
#include "support/cards/cuda_shim.h"
#include "support/graphs/directions.h"

namespace kdgat::test {

/// Graphs beside each other; edges stand by target, none leaves its graph.
struct CardGraphs {
  std::vector<int32_t> node_ptr{0}, in_ptr{0}, in_source, out_ptr, out_edge, target;

  int64_t graphs() const { return static_cast<int64_t>(node_ptr.size()) - 1; }
  int64_t nodes() const { return node_ptr.back(); }
  int64_t size() const { return static_cast<int64_t>(in_source.size()); }
  kernels::cuda::Edges edges() const {
    return {nodes(),        size(),          in_ptr.data(), in_source.data(),
            out_ptr.data(), out_edge.data(), target.data()};
  }
  /// Calls visit(source, edge) for the edges into a node from others.
  template <class Visit>
  void for_sources(int64_t node, const Visit& visit) const {
    for (int32_t e = in_ptr[static_cast<std::size_t>(node)];
         e < in_ptr[static_cast<std::size_t>(node) + 1]; ++e) {
      const int32_t source = in_source[static_cast<std::size_t>(e)];
      if (source != node) visit(int64_t{source}, int64_t{e});
    }
  }
};

/// Graphs of these numbers of nodes; some nodes are alone, some have an edge from themselves, one
/// of each graph has very many.
inline CardGraphs card_graphs(const std::vector<int64_t>& sizes, uint64_t seed) {
  arrays::Random random(seed);
  CardGraphs out;
  for (const int64_t nodes : sizes) {
    const int32_t first = out.node_ptr.back();
    for (int64_t i = 0; i < nodes; ++i) {
      const uint64_t degree = i == nodes / 2 ? 40 : random.below(4) == 0 ? 0 : random.below(7);
      for (uint64_t e = 0; e < degree; ++e) {
        out.in_source.push_back(first +
                                static_cast<int32_t>(random.below(static_cast<uint64_t>(nodes))));
      }
      out.in_ptr.push_back(static_cast<int32_t>(out.in_source.size()));
      out.target.resize(out.in_source.size(), first + static_cast<int32_t>(i));
    }
    out.node_ptr.push_back(first + static_cast<int32_t>(nodes));
  }
  out.out_ptr.push_back(0);
  for (int32_t node = 0; node < out.nodes(); ++node) {
    for (std::size_t e = 0; e < out.in_source.size(); ++e) {
      if (out.in_source[e] == node) out.out_edge.push_back(static_cast<int32_t>(e));
    }
    out.out_ptr.push_back(static_cast<int32_t>(out.out_edge.size()));
  }
  for (std::vector<int32_t>* one :
       {&out.node_ptr, &out.in_ptr, &out.in_source, &out.out_ptr, &out.out_edge, &out.target}) {
    one->shrink_to_fit();
  }
  return out;
}

/// None, one node, some, many.
inline const std::vector<std::vector<int64_t>> kCardSizes = {
    {}, {1}, {0, 1, 5, 0}, {3, 17, 1, 64, 2}, {300}};

/// What body(launcher) returns, an array of numbers: the same bits in any order of threads and
/// blocks, and nothing done that a card forbids.
template <class Body>
auto in_every_order(const Body& body) {
  using kernels::cuda::ShimLauncher;
  using kernels::cuda::shim::Order;
  ShimLauncher forward(Order::kForward);
  const auto out = body(forward);
  for (const Order order : {Order::kBackward, Order::kMixed}) {
    ShimLauncher launcher(order);
    const auto again = body(launcher);
    REQUIRE(again.size() == out.size());
    CHECK((out.empty() || std::memcmp(again.data(), out.data(), out.size() * sizeof(out[0])) == 0));
  }
  const std::vector<std::string> problems = ShimLauncher::problems();
  INFO((problems.empty() ? std::string() : problems.front()));
  CHECK(problems.empty());
  return out;
}

/// Largest difference of two arrays.
template <class T>
double worst_of(const std::vector<T>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - b[i]);
    worst = difference <= worst ? worst : difference;  // not a number is the worst
  }
  return worst;
}

}  // namespace kdgat::test
