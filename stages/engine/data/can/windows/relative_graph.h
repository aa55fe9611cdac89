// The graph of a window relative to the profile of a vehicle, see engine/portable/window_nodes.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/data/can/windows/id_steps.h"
#include "engine/data/can/windows/relative_window.h"
#include "engine/data/can/windows/vehicle_profile.h"
#include "engine/portable/window_nodes.h"

namespace kdgat::data {

/// Of the option `features` of an import: such graphs.
inline constexpr const char* kRelativeFeatures = "relative";
inline constexpr int64_t kRelativeNodeFeatures = KDGAT_OF_NODE_COLUMNS;
inline constexpr int64_t kRelativeEdgeFeatures = KDGAT_OF_STEP_COLUMNS;
std::vector<std::string> relative_node_names();
std::vector<std::string> relative_edge_names();

struct RelativeGraph {
  std::vector<float> x;        ///< [N, kRelativeNodeFeatures]
  std::vector<uint32_t> keys;  ///< [N] ids of nodes, ascending; 0 of the first, which is all others
  std::vector<int32_t> source;  ///< [E], ascending by source, then target
  std::vector<int32_t> target;
  std::vector<float> edge_attr;  ///< [E, kRelativeEdgeFeatures]
  /// [frames of the window] the node of each; -1 of a tester's, which has none.
  std::vector<int32_t> node_of;
};

/// Makes graphs of windows. The tables that `vehicle` points at must outlive it.
class GraphMaker {
 public:
  GraphMaker(const VehicleProfile& profile, const kdgat_vehicle& vehicle);

  RelativeGraph of(const RelativeWindow& window, std::span<const ComparedFrame> frames,
                   std::span<const Silence> silences) const;

 private:
  void add_nodes(const RelativeWindow& window, std::span<const ComparedFrame> frames,
                 std::span<const Silence> silences, RelativeGraph& out) const;
  void add_edges(std::span<const ComparedFrame> frames, RelativeGraph& out) const;

  const kdgat_vehicle& vehicle_;
  std::vector<uint32_t> first_;  // these three are a kdgat_steps
  std::vector<kdgat_usual_step> steps_;
  std::vector<float> never_;
};

}  // namespace kdgat::data
