// Positions: where the nodes of graphs stand in space. A section of a store, see sections.h.
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

struct Positions {
  static constexpr const char* kName = "positions";
  static constexpr const char* kHint =
      "this stage needs graphs in space: SWC files, points or kdgat data synth --kind tree";

  struct Data {
    std::vector<float> pos;  ///< [N,3]
  };
  struct Batch {
    arrays::Buffer<float> pos;  ///< [nodes,3]
  };

  std::span<const float> pos;  ///< [N,3]

  static std::string fault(const Data& data, const CommonArrays& graphs);
  static std::optional<Positions> read(const file::SafetensorsFile& file,
                                       const CommonArrays& graphs);
  std::string fault(const CommonArrays& graphs, std::size_t g) const;
  void write(file::SafetensorsWriter& writer) const;
  void gather(const CommonArrays& graphs, std::span<const int64_t> ids,
              std::span<const int32_t> node_ptr, Batch& out) const;

  /// "edge_length":{"median"}
  void add_facts(const CommonArrays& graphs, nlohmann::json& facts) const;
  static bool is_in(const nlohmann::json& facts) { return facts.contains("edge_length"); }
};

}  // namespace kdgat::graph
