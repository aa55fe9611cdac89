#include "pipeline/records/records.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "kdgat/result.h"
#include "pipeline/run/step_config.h"
#include "pipeline/run/step_metrics.h"
#include "pipeline/system/json_file.h"

namespace kdgat {
namespace {

using nlohmann::json;

/// What of step.json is recorded.
struct StepEnd {
  ModelFacts facts;
  static auto keys() { return std::tuple{key("facts", &StepEnd::facts)}; }
};

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

ModelFacts RecordedStep::facts() const {
  return record::read<StepEnd>(read_json(folder_ / "step.json")).facts;
}

bool RecordedStep::is_on_gpu() const {
  if (!on_gpu_) on_gpu_ = read_step_config(folder_).device.starts_with("cuda");
  return *on_gpu_;
}

std::vector<Point> RecordedStep::points(const json& event) const {
  const double unix = unix_of(event);
  const EventKind kind = kind_of(event);
  if (kind == EventKind::kEnd && event.get<EndEvent>().code == 0) {
    return result_points(read_figures(folder_), unix);
  }
  std::vector<Point> out;
  if (kind != EventKind::kMetrics) return out;
  const MetricsEvent told = event.get<MetricsEvent>();
  for (const auto& [key, value] : recorded_numbers(told, is_on_gpu())) {
    out.push_back({key, value, told.index, unix});
  }
  return out;
}

std::vector<Point> result_points(const std::vector<Figure>& figures, double unix) {
  std::vector<Point> out;
  for (const Figure& figure : figures) {
    if (figure.is_recorded) out.push_back({key_of(figure), figure.value, 0, unix});
  }
  return out;
}

}  // namespace kdgat
