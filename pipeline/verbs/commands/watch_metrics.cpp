#include "pipeline/verbs/commands/watch_metrics.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace kdgat {

namespace {

using nlohmann::json;

double number(const json& values, const char* key) {
  const auto found = values.find(key);
  if (found == values.end()) return 0;
  if (found->is_boolean()) return found->get<bool>() ? 1 : 0;
  return found->is_number() ? found->get<double>() : 0;
}

/// One number of the report.
struct Row {
  const char* key;
  const char* name;
  const char* type;
  const char* help;
};

constexpr Row kTraffic[] = {
    {"frames", "kdgat_frames_total", "counter", "Frames that were judged."},
    {"unknown", "kdgat_unknown_frames_total", "counter",
     "Frames of ids that the vehicle does not have."},
    {"unknown_ids", "kdgat_unknown_ids", "gauge", "Ids seen that the vehicle does not have."},
    {"windows", "kdgat_windows_total", "counter", "Windows that were judged or learned from."},
    {"flagged", "kdgat_flagged_windows_total", "counter", "Windows above the threshold."},
    {"alarms", "kdgat_alarms_total", "counter", "Alarms that are over."},
    {"alarm_open", "kdgat_alarm_open", "gauge", "1 while an alarm is open."},
    {"frames_per_second", "kdgat_frames_per_second", "gauge",
     "Frames a second since the report before."},
    {"load", "kdgat_bus_load", "gauge", "Share of the bus's time that frames took."},
    {"highest_score", "kdgat_score", "gauge", "Highest score of a window since the report before."},
    {"learning", "kdgat_learning", "gauge", "1 while it listens to what is usual."},
    {"fits", "kdgat_fits", "gauge",
     "0 while more than 5 % of the windows have been flagged for a minute."},
    {"calibrating", "kdgat_calibrating", "gauge", "1 while it calibrates."}};

constexpr Row kBuses[] = {
    {"kernel_drops", "kdgat_kernel_drops_total", "counter",
     "Frames lost because the kernel's buffer was full."},
    {"queue_drops", "kdgat_queue_drops_total", "counter",
     "Frames lost because the program was too slow."},
    {"error_frames", "kdgat_error_frames_total", "counter", "Error frames of the controller."},
    {"malformed", "kdgat_malformed_total", "counter", "What came and was no frame."},
    {"interruptions", "kdgat_interruptions_total", "counter", "How often the bus went down."},
    {"own_frames", "kdgat_own_frames_total", "counter",
     "Frames of its own alarms that were left out."}};

Metric latency(const json& traffic, const char* key, const char* name, const char* help) {
  const json values = traffic.value(key, json::object());
  Metric out{name, help, "summary", {}};
  for (const auto& [quantile, of] : {std::pair("0.5", "p50"), std::pair("0.99", "p99")}) {
    out.samples.push_back({{{"quantile", quantile}}, number(values, of)});
  }
  out.samples.push_back({{}, number(values, "sum"), "_sum"});
  out.samples.push_back({{}, number(values, "count"), "_count"});
  return out;
}

}  // namespace

std::vector<Metric> watch_metrics(const json& traffic, const std::string& model,
                                  const std::vector<AlarmSinks::Counts>& sinks) {
  std::vector<Metric> out;
  out.push_back({"kdgat_model_info", "The model that judges.", "gauge", {{{{"hash", model}}, 1}}});
  if (traffic.is_object()) {
    for (const Row& row : kTraffic) {
      out.push_back({row.name, row.help, row.type, {{{}, number(traffic, row.key)}}});
    }
    const json buses = traffic.value("buses", json::array());
    for (const Row& row : kBuses) {
      Metric metric{row.name, row.help, row.type, {}};
      for (const json& bus : buses) {
        metric.samples.push_back({{{"bus", bus.value("name", "")}}, number(bus, row.key)});
      }
      out.push_back(std::move(metric));
    }
    Metric up{"kdgat_bus_up", "1 while the bus can be read.", "gauge", {}};
    for (const json& bus : buses) {
      up.samples.push_back(
          {{{"bus", bus.value("name", "")}}, bus.value("state", "") == "up" ? 1.0 : 0.0});
    }
    out.push_back(std::move(up));
    out.push_back(latency(traffic, "decision", "kdgat_decision_seconds",
                          "From the last frame of a window to its score."));
    out.push_back(latency(traffic, "alarm", "kdgat_alarm_seconds",
                          "From the last frame of a window to the alarm with its reasons."));
  }
  Metric sent{"kdgat_sink_sent_total", "Events that a sink has taken.", "counter", {}};
  Metric dropped{"kdgat_sink_dropped_total", "Events that a sink never got.", "counter", {}};
  for (const AlarmSinks::Counts& sink : sinks) {
    sent.samples.push_back({{{"sink", sink.name}}, static_cast<double>(sink.sent)});
    dropped.samples.push_back(
        {{{"sink", sink.name}}, static_cast<double>(sink.dropped + sink.failed)});
  }
  out.push_back(std::move(sent));
  out.push_back(std::move(dropped));
  return out;
}

}  // namespace kdgat
