// What the steps of a run were planned to need and what they needed, read from memory.json and
// journal.jsonl of each. Runs nothing and draws nothing (see memory_svg.h).
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/run/journal.h"
#include "pipeline/run/memory_plan.h"

namespace kdgat {

/// Bytes over seconds since the step's process began, in order of time.
using MemorySeries = Series;

struct StepMemory {
  std::string step;
  nlohmann::json planned;  ///< null if its stage plans no memory
  nlohmann::json actual;
  double seconds = 0;                                  ///< how long it ran
  MemorySeries tensors;                                ///< peak of each epoch
  MemorySeries reserved;                               ///< by the allocator, peak of each epoch
  MemorySeries resident;                               ///< anonymous memory of the process
  std::vector<std::pair<double, std::string>> events;  ///< "split", "release"

  /// Planned peak in bytes, beyond the context: of tensors, of a stage without any of all that it
  /// holds; -1 = not planned.
  double planned_peak() const;
  /// The same as it was measured; -1 = not measured.
  double actual_peak() const;
};

/// Every step of a run that has a memory.json; kept ones as the run that made them left them. Of a
/// step that was continued, the last attempt. Throws Error(kData) if run.json is not readable.
std::vector<StepMemory> read_run_memory(const std::filesystem::path& run);

/// What a step planned beside what it needed.
struct MemoryError {
  std::string step;
  nlohmann::json planned, actual;
  std::optional<double> error_percent;

  static auto keys() {
    using T = MemoryError;
    return std::tuple{
        key("step", &T::step, "its name"),
        key("planned", &T::planned, "what the stage planned, bytes").of_type("open|null"),
        key("actual", &T::actual, "what was measured, bytes").of_type("open|null"),
        key("error_percent", &T::error_percent,
            "of the planned peak, in percent of the measured one")
            .or_null()};
  }
};
/// A MemoryError of each.
nlohmann::json memory_report_json(const std::vector<StepMemory>& steps);
/// The same as rows of a table, its head first, in MiB; "process" is the peak of its anonymous
/// memory.
std::vector<std::vector<std::string>> memory_report_rows(const std::vector<StepMemory>& steps);
std::string memory_report_text(const std::vector<StepMemory>& steps);

}  // namespace kdgat
