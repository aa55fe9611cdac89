// The memory of a run over time as a picture of its own: SVG without script, font or link.
#pragma once

#include <string>
#include <vector>

#include "pipeline/memory_report.h"

namespace kdgat {

/// Bands for the steps, one after another without the time between them; in each the peaks of
/// tensors and of the allocator's memory by epoch, the process's memory, the plan as a dashed line,
/// and marks where memory was given back or a batch was split. `title` stands above.
std::string memory_svg(const std::string& title, const std::vector<StepMemory>& steps);

}  // namespace kdgat
