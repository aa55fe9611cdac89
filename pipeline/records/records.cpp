#include "pipeline/records/records.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "kdgat/result.h"
#include "pipeline/run/step_metrics.h"
#include "pipeline/system/json_file.h"

namespace kdgat {
namespace {

using nlohmann::json;

/// "classifier student" as part of a name.
std::string joined_words(std::string name) {
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

std::string key_of(const Figure& figure) {
  if (figure.model.empty()) return "result." + figure.name;
  const std::string model = joined_words(figure.model);
  if (figure.part == "val") return model + "_" + figure.name;
  return "test." + model + "." + figure.part + "." + figure.name;
}

}  // namespace

std::string exact_number(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end.ptr};
}

json RecordedStep::config() const { return read_object(folder_ / "config.json"); }

json RecordedStep::facts() const {
  return read_object(folder_ / "step.json").value("facts", json::object());
}

bool RecordedStep::is_on_gpu() const {
  if (!on_gpu_) on_gpu_ = config().value("device", "").rfind("cuda", 0) == 0;
  return *on_gpu_;
}

std::vector<Point> RecordedStep::points(const json& event) const {
  const double unix = unix_of(event);
  const EventKind kind = kind_of(event);
  if (kind == EventKind::kEnd && event.get<EndEvent>().code == 0) {
    return result_points(read_object(folder_ / "metrics.json"), unix);
  }
  std::vector<Point> out;
  if (kind != EventKind::kMetrics) return out;
  const MetricsEvent told = event.get<MetricsEvent>();
  for (const auto& [key, value] : recorded_numbers(told, is_on_gpu())) {
    out.push_back({key, value, told.index, unix});
  }
  return out;
}

std::vector<Point> result_points(const json& metrics, double unix) {
  std::vector<Point> out;
  for (const Figure& figure : read_figures(metrics)) {
    if (figure.is_recorded) out.push_back({key_of(figure), figure.value, 0, unix});
  }
  return out;
}

}  // namespace kdgat
