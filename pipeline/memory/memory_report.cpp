#include "pipeline/memory/memory_report.h"

#include <algorithm>

#include "kdgat/text.h"
#include "pipeline/show/json_lookup.h"
#include "pipeline/show/table.h"
#include "pipeline/system/json_file.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

void read_timeline(const json& timeline, StepMemory& step) {
  const json none = json::array();
  const json seconds = timeline.is_object() ? timeline.value("seconds", none) : none;
  const json bytes = timeline.is_object() ? timeline.value("bytes", none) : none;
  for (std::size_t i = 0; i < std::min(seconds.size(), bytes.size()); ++i) {
    if (!seconds[i].is_number() || !bytes[i].is_number()) continue;
    step.resident.emplace_back(seconds[i].get<double>(), bytes[i].get<double>());
  }
  if (!step.resident.empty()) step.seconds = std::max(step.seconds, step.resident.back().first);
}

/// How far the plan was from the truth, in percent of the truth; null where one is unknown.
json error_percent(const StepMemory& step) {
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

double StepMemory::planned_peak() const { return number(planned, "predicted"); }
double StepMemory::actual_peak() const {
  const double process = number(actual, "peak_anonymous_bytes");
  const double context = number(actual, "context_bytes");
  const bool has_tensors = number(actual, "peak_tensor_bytes") >= 0;
  if (has_tensors || process < 0 || context < 0) return number(actual, "peak_tensor_bytes");
  return std::max(0.0, process - context);
}

std::vector<StepMemory> read_run_memory(const fs::path& run) {
  const json document = load_object(run / "run.json");
  std::vector<StepMemory> out;
  for (const json& state : document.value("steps", json::array())) {
    StepMemory step;
    step.step = word(state, "step");
    const std::string kept = word(state, "folder");
    const fs::path folder = kept.empty() ? run / step.step : fs::path(kept);
    const json record = read_object(folder / "memory.json");
    if (record.empty()) continue;
    step.planned = record.value("planned", json());
    step.actual = record.value("actual", json());
    JournalMemory told = read_journal(folder).memory;
    step.seconds = told.seconds;
    step.tensors = std::move(told.tensors);
    step.reserved = std::move(told.reserved);
    step.events = std::move(told.events);
    read_timeline(record.value("timeline", json()), step);
    out.push_back(std::move(step));
  }
  return out;
}

json memory_report_json(const std::vector<StepMemory>& steps) {
  json out = json::array();
  for (const StepMemory& step : steps) {
    out.push_back({{"step", step.step},
                   {"planned", step.planned},
                   {"actual", step.actual},
                   {"error_percent", error_percent(step)}});
  }
  return out;
}

std::vector<std::vector<std::string>> memory_report_rows(const std::vector<StepMemory>& steps) {
  std::vector<std::vector<std::string>> rows = {{"MiB", "planned", "measured", "error %",
                                                 "reserved", "context", "process", "given back",
                                                 "times", "splits"}};
  for (const StepMemory& step : steps) {
    const json error = error_percent(step);
    const auto measured = [&](const char* key) { return number(step.actual, key); };
    rows.push_back({step.step, mib_cell(step.planned_peak()), mib_cell(step.actual_peak()),
                    error.is_null() ? "" : format_number("%+.1f", error.get<double>()),
                    mib_cell(measured("peak_reserved_bytes")), mib_cell(measured("context_bytes")),
                    mib_cell(measured("peak_anonymous_bytes")),
                    mib_cell(measured("released_bytes")), count_cell(measured("releases")),
                    count_cell(measured("splits"))});
  }
  return rows;
}

std::string memory_report_text(const std::vector<StepMemory>& steps) {
  Table table;
  for (auto& row : memory_report_rows(steps)) table.add(std::move(row));
  return table.text();
}

}  // namespace kdgat
