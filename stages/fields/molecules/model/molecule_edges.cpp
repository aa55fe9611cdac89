#include "fields/molecules/model/molecule_edges.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace kdgat::molecules {
namespace {

std::vector<int64_t> pointers(int64_t nodes, std::span<const int32_t> ends) {
  std::vector<int64_t> out(static_cast<std::size_t>(nodes) + 1, 0);
  for (const int32_t end : ends) ++out[static_cast<std::size_t>(end) + 1];
  std::partial_sum(out.begin(), out.end(), out.begin());
  return out;
}

}  // namespace

MoleculeEdges MoleculeEdges::of(int64_t nodes, std::span<const int32_t> source,
                                std::span<const int32_t> target) {
  const auto is_node = [nodes](int32_t node) { return node >= 0 && node < nodes; };
  if (source.size() != target.size() || !std::all_of(source.begin(), source.end(), is_node) ||
      !std::all_of(target.begin(), target.end(), is_node)) {
    throw std::out_of_range("an edge ends at a node that is not there");
  }
  MoleculeEdges out;
  out.nodes = nodes;
  out.origin.resize(source.size());
  std::iota(out.origin.begin(), out.origin.end(), 0);
  std::stable_sort(out.origin.begin(), out.origin.end(), [&](int32_t a, int32_t b) {
    const auto i = static_cast<std::size_t>(a), j = static_cast<std::size_t>(b);
    return std::pair(target[i], source[i]) < std::pair(target[j], source[j]);
  });
  for (const int32_t edge : out.origin) {
    out.source.push_back(source[static_cast<std::size_t>(edge)]);
    out.target.push_back(target[static_cast<std::size_t>(edge)]);
  }
  out.target_ptr = pointers(nodes, out.target);
  out.source_ptr = pointers(nodes, out.source);
  out.by_source.resize(source.size());
  std::vector<int64_t> next(out.source_ptr.begin(), out.source_ptr.end() - 1);
  for (std::size_t e = 0; e < out.source.size(); ++e) {
    int64_t& place = next[static_cast<std::size_t>(out.source[e])];
    out.by_source[static_cast<std::size_t>(place++)] = static_cast<int32_t>(e);
  }
  return out;
}

}  // namespace kdgat::molecules
