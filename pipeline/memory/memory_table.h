// Plans of memory as people read them (run/memory_plan.h). Knows no stage.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kdgat {

struct PlannedMemory {
  std::string step;
  nlohmann::json plan;  ///< "memory" of the answer of plan(); null if there is none
};

/// One column a step, one row a part; steps without a plan of memory are left out. "" if none has
/// one.
std::string memory_table(const std::vector<PlannedMemory>& plans);

/// What a step's memory is made of, for 1, 4 and 16 graphs, with a line for each pack that was run:
/// predicted and measured. "" where the stage names no components.
std::string component_table(const PlannedMemory& planned);

/// "autoencoder  MemoryBudget(...)", a line a step that has one.
std::string memory_lines(const std::vector<PlannedMemory>& plans);

}  // namespace kdgat
