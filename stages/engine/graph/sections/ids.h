// Ids: the first feature of each node is the number of a raw id in a vocabulary, and one number is
// for all others. A section of a store, see sections.h.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/file/safetensors.h"
#include "engine/graph/sections/common_arrays.h"

namespace kdgat::graph {

struct Ids {
  static constexpr const char* kName = "ids of nodes";
  static constexpr const char* kHint =
      "this stage needs nodes that represent senders: logs of a bus or kdgat data synth";

  struct Data {
    std::vector<int64_t> vocabulary;  ///< raw ids, ascending
  };

  std::span<const int64_t> vocabulary;  ///< [count-1] raw ids, ascending

  int64_t count() const { return static_cast<int64_t>(vocabulary.size()) + 1; }  ///< OOV is last

  static std::string fault(const Data& data, const CommonArrays& graphs);
  static std::optional<Ids> read(const file::SafetensorsFile& file, const CommonArrays& graphs);
  /// Of the vocabulary.
  std::string fault() const;
  std::string fault(const CommonArrays& graphs, std::size_t g) const;
  static constexpr const char* kIdFault = "has a node whose id is not in [0, num_ids)";
  /// Whether the ids of the nodes of graph `g` are numbers below count().
  bool is_within(const CommonArrays& graphs, std::size_t g) const;
  void write(file::SafetensorsWriter& writer) const;
};

}  // namespace kdgat::graph
