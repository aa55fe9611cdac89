// Where the facts of a graph store hold what its sections say. No LibTorch.
#pragma once

#include "graph/sections/sections.h"

namespace kdgat::graph {

/// Of graphs that have classes and no positions; kSectionFacts of all others.
inline constexpr const char* kClassifiedFacts = "classified";

inline const char* section_facts_key(bool has_positions, bool has_classes) {
  return has_classes && !has_positions ? kClassifiedFacts : kSectionFacts;
}

}  // namespace kdgat::graph
