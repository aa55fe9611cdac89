// The network of a detector as C: layers that see one node after another (runtime/nodes.c).
#pragma once

#include <cstdint>
#include <string>

#include "engine/decision/detector/relative_network.h"

namespace kdgat::exporting {

struct NodeNetwork {
  std::string tables;                  ///< of C
  std::string functions;               ///< kdgat_node_states() and kdgat_head()
  int64_t bytes = 0;                   ///< of the tables
  int64_t widest = 0;                  ///< numbers of a node, at most
  int64_t pooled = 0;                  ///< numbers of a window
  int64_t of_node = 0, of_window = 0;  ///< multiply-adds
};

/// Throws Error(kData) for a network that reads edges, or is of another form that C does not have.
NodeNetwork node_network(const decision::RelativeNetwork& network);

}  // namespace kdgat::exporting
