#include "pipeline/memory/memory_svg.h"

#include "pipeline/show/text.h"

namespace kdgat {
namespace {

enum Colour { kTensors = 0, kSplit = 1, kPlanned = 2, kReserved = 4 };

}  // namespace

Chart memory_chart(const std::string& title, const std::vector<StepMemory>& steps) {
  Chart chart;
  chart.title = title;
  chart.x = {.title = "seconds of the steps, one after another", .from = 0};
  chart.y = {.ticks = Axis::Ticks::kBytes};
  double first = 0;
  // A line for each step, so that nothing joins one to the next; the first of a kind is named.
  const auto add = [&](const char* name, const MemorySeries& series, int colour, bool is_dashed) {
    if (series.empty()) return;
    ChartLine line{name, {}, colour, is_dashed};
    for (const ChartLine& before : chart.lines) {
      if (before.name == name) line.is_in_legend = false;
    }
    for (const auto& [at, bytes] : series) line.points.emplace_back(first + at, bytes);
    chart.lines.push_back(std::move(line));
  };
  for (const StepMemory& step : steps) {
    chart.bands.push_back(
        {first, first + step.seconds, step.step, step.step + ", " + format_seconds(step.seconds)});
    add("process (RssAnon)", step.resident, kGrey, false);
    add("reserved by the allocator", step.reserved, kReserved, false);
    if (const double planned = step.planned_peak(); planned >= 0) {
      add("planned peak", {{0, planned}, {step.seconds, planned}}, kPlanned, true);
    }
    add("tensors, peak of each epoch", step.tensors, kTensors, false);
    for (const auto& [at, kind] : step.events) {
      const bool is_split = kind == kMemorySplit;
      if (!is_split && kind != kMemoryRelease) continue;
      chart.rules.push_back(
          {first + at, is_split ? "split" : "given back", is_split ? kSplit : kGrey, true});
    }
    first += step.seconds;
  }
  return chart;
}

std::string memory_svg(const std::string& title, const std::vector<StepMemory>& steps) {
  Chart chart = memory_chart(title, steps);
  chart.width = 960;
  chart.height = 440;
  chart.stands_alone = true;
  return chart_svg(chart);
}

}  // namespace kdgat
