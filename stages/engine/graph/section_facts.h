// Where the facts of a graph store hold what its sections say.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "engine/graph/sections/sections.h"

namespace kdgat::graph {

/// Of graphs that have classes and no positions; kSectionFacts of all others.
inline constexpr const char* kClassifiedFacts = "classified";

inline const char* section_facts_key(bool has_positions, bool has_classes) {
  return has_classes && !has_positions ? kClassifiedFacts : kSectionFacts;
}

/// How many classes labelled graphs have, by the facts of their store; -1 of other data.
inline int64_t classes_of(const nlohmann::json& facts) {
  const auto found = facts.find(kClassifiedFacts);
  if (found == facts.end()) return -1;
  return static_cast<int64_t>(found->value("classes", nlohmann::json::array()).size());
}

/// How many numbers are to be predicted of such graphs, by the same facts; 0 = none.
inline int64_t targets_of(const nlohmann::json& facts) {
  const auto found = facts.find(kClassifiedFacts);
  if (found == facts.end()) return 0;
  return static_cast<int64_t>(found->value("target_names", nlohmann::json::array()).size());
}

}  // namespace kdgat::graph
