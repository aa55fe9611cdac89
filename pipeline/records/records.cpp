#include "pipeline/records/records.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <ctime>
#include <fstream>

#include "pipeline/system/json_file.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double kGiB = 1 << 30;

/// "classifier student" as part of a name.
std::string joined_words(std::string name) {
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

class Points {
 public:
  Points(int64_t step, double unix) : step_(step), unix_(unix) {}

  void add(const std::string& key, const json& value) {
    if (!value.is_number() || !std::isfinite(value.get<double>())) return;
    list_.push_back({key, value.get<double>(), step_, unix_});
  }
  /// The numbers of an object, those of objects inside of it under "outer.inner".
  void add_all(const std::string& prefix, const json& values) {
    for (const auto& [name, value] : values.items()) {
      if (value.is_object()) {
        add_all(prefix + name + ".", value);
      } else {
        add(prefix + name, value);
      }
    }
  }
  /// The flat numbers of the two tables evaluation makes of a model on a part.
  void add_tables(const std::string& prefix, const json& of) {
    for (const char* table : {"core", "additional"}) {
      if (!of.contains(table) || !of.at(table).is_object()) continue;
      for (const auto& [name, value] : of.at(table).items()) add(prefix + name, value);
    }
  }
  std::vector<Point> take() { return std::move(list_); }

 private:
  int64_t step_;
  double unix_;
  std::vector<Point> list_;
};

/// What tensors and the process hold, as an epoch ends.
void add_memory(Points& points, const json& memory, bool on_gpu) {
  const auto add = [&](const char* key, const char* name) {
    const auto found = memory.find(name);
    if (found != memory.end() && found->is_number()) {
      points.add(key, found->get<double>() / kGiB);
    }
  };
  add("process_mem_gb", "rss_anon");
  if (!on_gpu) return;
  add("gpu_mem_allocated_gb", "allocated");
  add("gpu_mem_reserved_gb", "reserved");
  add("gpu_mem_max_allocated_gb", "peak_allocated");
}

/// The name a number was published under: the classifier's accuracy has a short one.
std::string published_name(const std::string& what, const std::string& name) {
  return what == "epoch" && name == "val_accuracy" ? "val_acc" : name;
}

bool is_evaluation(const json& metrics) {
  return std::any_of(metrics.begin(), metrics.end(),
                     [](const json& part) { return part.is_object() && part.contains("core"); });
}

}  // namespace

std::string exact_number(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end.ptr};
}

std::vector<JournalReader::Line> JournalReader::read() {
  std::vector<Line> lines;
  std::error_code none;
  const auto size = fs::file_size(file_, none);
  if (none || static_cast<int64_t>(size) <= offset_) return lines;
  std::ifstream in(file_, std::ios::binary);
  in.seekg(offset_);
  for (std::string text; std::getline(in, text) && !in.eof();) {
    offset_ += static_cast<int64_t>(text.size()) + 1;
    json event = json::parse(text, nullptr, false);
    if (event.is_object()) lines.push_back({std::move(event), offset_});
  }
  return lines;
}

json RecordedStep::config() const { return read_object(folder_ / "config.json"); }

json RecordedStep::facts() const {
  return read_object(folder_ / "step.json").value("facts", json::object());
}

bool RecordedStep::is_on_gpu() const {
  if (!on_gpu_) on_gpu_ = config().value("device", "").rfind("cuda", 0) == 0;
  return *on_gpu_;
}

std::vector<Point> RecordedStep::points(const json& event) const try {
  const double unix = unix_of(event);
  const std::string kind = event.value("event", "");
  if (kind == "end" && event.value("code", 1) == 0) {
    return result_points(read_object(folder_ / "metrics.json"), unix);
  }
  const std::string what = event.value("what", "");
  const json values = event.value("values", json());
  // Those of "memory" are plans and repairs, not series.
  if (kind != "metrics" || what == "memory" || !values.is_object()) return {};
  Points points(event.value("index", int64_t{0}), unix);
  for (const auto& [name, value] : values.items()) {
    if (name == "memory" && value.is_object()) {
      add_memory(points, value, is_on_gpu());
    } else if (value.is_object()) {
      points.add_all(name + ".", value);
    } else {
      points.add(published_name(what, name), value);
    }
  }
  return points.take();
} catch (const json::exception&) {
  return {};
}

double unix_of(const json& event) {
  if (const auto unix = event.find("unix"); unix != event.end() && unix->is_number()) return *unix;
  const auto time = event.find("time");  // a journal of an early version has nothing else
  std::tm utc{};
  if (time == event.end() || !time->is_string() ||
      ::strptime(time->get_ref<const std::string&>().c_str(), "%Y-%m-%dT%H:%M:%SZ", &utc) ==
          nullptr) {
    return 0;
  }
  return static_cast<double>(::timegm(&utc));
}

std::vector<Point> result_points(const json& metrics, double unix) {
  Points points(0, unix);
  if (!is_evaluation(metrics)) {
    for (const auto& [name, value] : metrics.items()) points.add("result." + name, value);
    return points.take();
  }
  for (const auto& [model, tables] : metrics.items()) {
    if (!tables.is_object()) continue;
    if (tables.contains("core")) {
      points.add_tables(joined_words(model) + "_", tables);
      continue;
    }
    if (model != "test") continue;
    for (const auto& [name, scenarios] : tables.items()) {
      if (!scenarios.is_object()) continue;
      const std::string prefix = "test." + joined_words(name) + ".";
      for (const auto& [scenario, of] : scenarios.items()) {
        if (of.is_object()) points.add_tables(prefix + scenario + ".", of);
      }
    }
  }
  return points.take();
}

json memory_event(const Machine& machine, int64_t index) {
  const auto total = static_cast<double>(machine.memory_total());
  const auto available = static_cast<double>(machine.memory_available());
  json values = json::object();
  if (total > 0) {
    values = {{"cpu_mem_percent", 100 * (total - available) / total},
              {"cpu_mem_used_gb", (total - available) / kGiB},
              {"cpu_mem_available_gb", available / kGiB}};
  }
  return {{"event", "metrics"}, {"what", "machine"}, {"index", index}, {"values", values}};
}

}  // namespace kdgat
