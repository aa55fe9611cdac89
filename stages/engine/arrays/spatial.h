// Trees and neighbours of points in space: found once, on the CPU, when a store is made. Plain
// arrays of one graph; the same result on every machine.
//
// A forest is an array of parents, -1 = a root; a parent may have a larger number than its child.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kdgat::arrays {

/// A node of each cycle, or with a parent out of range; empty where `parent` is a forest.
std::vector<int32_t> faulty_nodes(std::span<const int32_t> parent);

/// Children in compressed rows: those of node v are child[ptr[v] .. ptr[v+1]), ascending.
struct Children {
  std::vector<int32_t> ptr, child;
  std::vector<int32_t> roots;  ///< ascending
  std::span<const int32_t> of(int32_t v) const {
    const auto at = static_cast<std::size_t>(v);
    return std::span(child).subspan(static_cast<std::size_t>(ptr[at]),
                                    static_cast<std::size_t>(ptr[at + 1] - ptr[at]));
  }
};
/// Parents in range, as in all that follows.
Children children_of(std::span<const int32_t> parent);

/// Numbers nodes in the order of a walk that is depth first, from each root, through children in
/// ascending order: `in` is the number, `out` one past the last of the subtree. So j is in the
/// subtree of i exactly where in[i] <= in[j] < out[i]. Both [N]. Throws std::logic_error unless
/// `parent` is a forest.
void euler_tour(std::span<const int32_t> parent, std::span<int32_t> in, std::span<int32_t> out);

/// Of the trees of one graph, or of several.
struct Relations {
  int64_t edges = 0;      ///< pairs of parent and child
  int64_t internal = 0;   ///< nodes with children
  int64_t unrelated = 0;  ///< unordered pairs of one tree, neither an ancestor of the other
  bool operator==(const Relations&) const = default;
};

/// Counts, from parents and their tour. The pairs of a tree of n nodes that are related are those
/// of a node and another of its subtree.
Relations relations_of(std::span<const int32_t> parent, std::span<const int32_t> in,
                       std::span<const int32_t> out);

/// Edges of one graph; what was not an edge or stood twice is left out.
struct EdgeList {
  std::vector<int32_t> source, target;  ///< [E] ordered by (source, target), unique
  int64_t loops = 0;                    ///< edges from a node to itself that were left out
  int64_t repeated = 0;                 ///< edges that stood before
};
/// Orders edges and leaves out what a store may not hold. Node numbers in range.
EdgeList coalesce(std::span<const int32_t> source, std::span<const int32_t> target);

/// Both directions of each pair of parent and child.
EdgeList tree_edges(std::span<const int32_t> parent);

/// Parents of the Euclidean minimum spanning tree of each component, edges taken in both
/// directions; of equal lengths the edge with the smaller numbers is first. The root is `root`
/// (-1 = none given) in its component, elsewhere the node nearest the component's centroid (ties:
/// the lowest number). `pos` [N,3].
std::vector<int32_t> spanning_forest(std::span<const float> pos, std::span<const int32_t> source,
                                     std::span<const int32_t> target, int32_t root = -1);

/// An edge from each point to the `count` nearest others, or to all others if there are fewer; of
/// equal distances the lower number is nearer. `pos` [N,3].
EdgeList nearest_edges(std::span<const float> pos, int64_t count);

/// Puts the lengths of edges behind `lengths`. `pos` [N,3].
void add_lengths(std::span<const float> pos, std::span<const int32_t> source,
                 std::span<const int32_t> target, std::vector<double>& lengths);
/// The upper of two in the middle; 0 of none.
double median(std::vector<double> values);

/// First outgoing edge of each node, [N+1], of edges ordered by source.
std::vector<int32_t> out_pointers(std::span<const int32_t> source, int64_t nodes);

}  // namespace kdgat::arrays
