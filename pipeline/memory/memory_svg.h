// The memory of a run over time as a picture.
#pragma once

#include <string>
#include <vector>

#include "pipeline/memory/memory_report.h"
#include "pipeline/show/chart_svg.h"

namespace kdgat {

/// Bands for the steps, one after another without the time between them; in each the peaks of
/// tensors and of the allocator's memory by epoch, the process's memory, the plan as a dashed line,
/// and marks where memory was given back or a batch was split.
Chart memory_chart(const std::string& title, const std::vector<StepMemory>& steps);

/// The same as a file of its own, `title` above.
std::string memory_svg(const std::string& title, const std::vector<StepMemory>& steps);

}  // namespace kdgat
