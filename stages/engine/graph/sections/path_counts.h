// PathCounts: how many third-order paths start at each node, for whoever walks them later (see
// engine/arrays/paths.h): paths are never kept, only their number. Counted where a store is made
// for such work, as it takes time. A section of a store, see sections.h.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/arrays/buffer.h"
#include "engine/file/safetensors.h"
#include "engine/graph/sections/common_arrays.h"

namespace kdgat::graph {

struct PathCounts {
  static constexpr const char* kName = "counts of third-order paths";
  static constexpr const char* kHint =
      "this stage needs paths in space: SWC files, points or kdgat data synth --kind tree";

  /// What follows from the edges.
  struct Derived {
    std::vector<int64_t> count;
    int64_t triplets = 0, arcs = 0;  ///< beginnings of paths, in all: i->j->k and i->j
  };
  struct Batch {
    arrays::Buffer<int32_t> out_ptr;     ///< [nodes+1] first outgoing edge of each node
    arrays::Buffer<int32_t> out_target;  ///< [edges] target node, offset, ascending within a source
  };

  std::span<const int64_t> count;  ///< [N] paths that start there, that of its own included

  int64_t of_graph(std::span<const int64_t> node_ptr, std::size_t g) const;

  static Derived derive(const CommonArrays& graphs);
  static std::optional<PathCounts> read(const file::SafetensorsFile& file,
                                        const CommonArrays& graphs);
  std::string fault(const CommonArrays& graphs, std::size_t g) const;
  void write(file::SafetensorsWriter& writer) const;
  void gather(const CommonArrays& graphs, std::span<const int64_t> ids,
              std::span<const int32_t> node_ptr, Batch& out) const;

  /// "paths":{"p50","p95","p99","max","sum"} of graphs, "triplets":{"sum"}, "arcs":{"sum"}
  static void add_facts(const Derived& derived, const CommonArrays& graphs, nlohmann::json& facts);
  static bool is_in(const nlohmann::json& facts) { return facts.contains("paths"); }
};

}  // namespace kdgat::graph
