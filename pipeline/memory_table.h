// Plans of memory as people read them, from what a stage's plan() answers (see memory/plan.h for
// the keys). Knows no stage.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kdgat {

struct PlannedMemory {
  std::string step;
  nlohmann::json facts;  ///< the answer of plan(): "memory", "cache_policy", "teacher", "epochs"
};

/// One column a step, one row a part; steps without a plan of memory are left out. "" if none has
/// one.
std::string memory_table(const std::vector<PlannedMemory>& plans);

/// "autoencoder  MemoryBudget(...)", a line a step that has one.
std::string memory_lines(const std::vector<PlannedMemory>& plans);

}  // namespace kdgat
