// Targets: what is to be predicted of graphs, the names of their classes and one number or several.
// A section of a store, see sections.h.
//
// T targets; T is 1 where they have no names.
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

struct Targets {
  static constexpr const char* kName = "classes and targets";
  static constexpr const char* kHint =
      "this stage needs graphs with labels: data.labels names the file that has them";

  struct Data {
    std::vector<std::string> classes;  ///< what y counts
    std::vector<std::string> names;    ///< of the targets; none = there is one, without a name
    std::vector<float> values;         ///< [G,T] NaN = none; empty = no graph has any
  };
  struct Batch {
    arrays::Buffer<float> target;  ///< [graphs,T] NaN = none
  };

  std::vector<std::string> classes, names;
  std::span<const float> values;  ///< [G,T] NaN = none

  std::size_t count() const { return names.empty() ? 1 : names.size(); }  ///< T
  std::span<const float> of_graph(std::size_t g) const {
    return values.subspan(g * count(), count());
  }

  static std::string fault(const Data& data, const CommonArrays& graphs);
  /// [G,T]
  static std::vector<float> derive(const Data& data, const CommonArrays& graphs);
  static std::optional<Targets> read(const file::SafetensorsFile& file, const CommonArrays& graphs);
  std::string fault(const CommonArrays& graphs, std::size_t g) const;
  static constexpr const char* kLabelFault = "has a label that is not one of the classes";
  /// Whether the label of graph `g` is -1 or the number of a class.
  bool is_labelled(const CommonArrays& graphs, std::size_t g) const {
    return graphs.y[g] >= -1 && graphs.y[g] < static_cast<int64_t>(classes.size());
  }
  void write(file::SafetensorsWriter& writer) const;
  void gather(const CommonArrays& graphs, std::span<const int64_t> ids,
              std::span<const int32_t> node_ptr, Batch& out) const;

  /// "classes":[names], "class_graphs":[graphs of each], "targets": graphs that have any,
  /// "target_names":[names] where there are any
  void add_facts(const CommonArrays& graphs, nlohmann::json& facts) const;
  static bool is_in(const nlohmann::json& facts) { return facts.contains("classes"); }
};

}  // namespace kdgat::graph
