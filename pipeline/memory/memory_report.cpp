#include "pipeline/memory/memory_report.h"

#include <algorithm>

#include "kdgat/text.h"
#include "pipeline/run/run_record.h"
#include "pipeline/show/table.h"
#include "pipeline/system/json_file.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// How far the plan was from the truth, in percent of the truth; none where one is unknown.
std::optional<double> error_percent(const StepMemory& step) {
  const double planned = step.planned_peak(), actual = step.actual_peak();
  if (planned < 0 || actual <= 0) return {};
  return 100 * (planned - actual) / actual;
}

/// In MiB; nothing for what was not measured.
std::string mib_cell(double bytes) {
  return bytes < 0 ? "" : format_number("%.1f", bytes / (1 << 20));
}

std::string count_cell(double count) { return count < 0 ? "" : format_number("%.0f", count); }

}  // namespace

double StepMemory::planned_peak() const {
  return record::read<MemoryPlan>(planned).predicted.value_or(-1);
}
double StepMemory::actual_peak() const {
  const auto use = record::read<MemoryUse>(actual);
  if (use.tensors >= 0 || use.process < 0 || use.context < 0) return use.tensors;
  return std::max(0.0, use.process - use.context);
}

std::vector<StepMemory> read_run_memory(const fs::path& run) {
  std::vector<StepMemory> out;
  for (const StepRecord& state : read_run_file(run).steps) {
    const json file = read_json(state.folder / "memory.json");
    if (!file.is_object() || file.empty()) continue;
    auto record = record::read<MemoryOfStep>(file);
    StepMemory& step = out.emplace_back();
    step.step = state.step;
    step.planned = std::move(record.planned);
    step.actual = std::move(record.actual);
    JournalMemory told = read_journal(state.folder).memory;
    step.seconds = told.seconds;
    step.tensors = std::move(told.tensors);
    step.reserved = std::move(told.reserved);
    step.events = std::move(told.events);
    const auto& [seconds, bytes] = record.timeline;
    for (std::size_t i = 0; i < std::min(seconds.size(), bytes.size()); ++i) {
      if (seconds[i] && bytes[i]) step.resident.emplace_back(*seconds[i], *bytes[i]);
    }
    if (!step.resident.empty()) step.seconds = std::max(step.seconds, step.resident.back().first);
  }
  return out;
}

json memory_report_json(const std::vector<StepMemory>& steps) {
  std::vector<MemoryError> out;
  out.reserve(steps.size());
  for (const StepMemory& step : steps) {
    out.push_back({step.step, step.planned, step.actual, error_percent(step)});
  }
  return record::write<json>(out);
}

std::vector<std::vector<std::string>> memory_report_rows(const std::vector<StepMemory>& steps) {
  std::vector<std::vector<std::string>> rows = {{"MiB", "planned", "measured", "error %",
                                                 "reserved", "context", "process", "given back",
                                                 "times", "splits"}};
  for (const StepMemory& step : steps) {
    const std::optional<double> error = error_percent(step);
    const auto use = record::read<MemoryUse>(step.actual);
    rows.push_back({step.step, mib_cell(step.planned_peak()), mib_cell(step.actual_peak()),
                    error ? format_number("%+.1f", *error) : "", mib_cell(use.reserved),
                    mib_cell(use.context), mib_cell(use.process), mib_cell(use.released),
                    count_cell(use.releases), count_cell(use.splits)});
  }
  return rows;
}

std::string memory_report_text(const std::vector<StepMemory>& steps) {
  Table table;
  for (auto& row : memory_report_rows(steps)) table.add(std::move(row));
  return table.text();
}

}  // namespace kdgat
