// Trees: parents of nodes, and what follows from them. Found once, when a store is made. A section
// of a store, see sections.h.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/arrays/buffer.h"
#include "engine/arrays/spatial.h"
#include "engine/file/safetensors.h"
#include "engine/graph/sections/common_arrays.h"

namespace kdgat::graph {

struct Trees {
  static constexpr const char* kName = "trees";
  static constexpr const char* kHint =
      "this stage needs trees: SWC files, points or kdgat data synth --kind tree";

  struct Data {
    std::vector<int32_t> parent;  ///< [N] local, -1 = a root
  };
  /// What follows from the parents.
  struct Derived {
    std::vector<int32_t> tour;
    std::vector<int64_t> relations;
  };
  struct Batch {
    arrays::Buffer<int32_t> parent;    ///< [nodes] offset, -1 = a root
    arrays::Buffer<int32_t> tour_in;   ///< [nodes] local to the graph
    arrays::Buffer<int32_t> tour_out;  ///< [nodes]
  };

  std::span<const int32_t> parent;     ///< [N] local, -1 = a root
  std::span<const int32_t> tour;       ///< [2,N] Euler tour: in, out; j is in the subtree of i
                                       ///< where in[i] <= in[j] < out[i]; local to the graph
  std::span<const int64_t> relations;  ///< [G,3] see Relations

  arrays::Relations relations_of(std::size_t g) const {
    return {relations[3 * g], relations[3 * g + 1], relations[3 * g + 2]};
  }

  static std::string fault(const Data& data, const CommonArrays& graphs);
  static Derived derive(const Data& data, const CommonArrays& graphs);
  static std::optional<Trees> read(const file::SafetensorsFile& file, const CommonArrays& graphs);
  std::string fault(const CommonArrays& graphs, std::size_t g) const;
  /// Whether parents and tour of graph `g` name none but its nodes.
  bool is_within(const CommonArrays& graphs, std::size_t g) const;
  void write_graphs(file::SafetensorsWriter& writer) const;
  void write_nodes(file::SafetensorsWriter& writer) const;
  void gather(const CommonArrays& graphs, std::span<const int64_t> ids,
              std::span<const int32_t> node_ptr, Batch& out) const;

  /// "are_trees": every graph is one tree and has no other edges
  void add_facts(const CommonArrays& graphs, nlohmann::json& facts) const;
  static bool is_in(const nlohmann::json& facts) { return facts.contains("are_trees"); }
};

}  // namespace kdgat::graph
