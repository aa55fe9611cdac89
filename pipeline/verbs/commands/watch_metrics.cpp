#include "pipeline/verbs/commands/watch_metrics.h"

#include <utility>

namespace kdgat {

namespace {

Metric metric(const char* name, const char* type, const char* help, double value) {
  return {name, help, type, {{{}, value}}};
}

template <class Number>
Metric counter(const char* name, const char* help, Number value) {
  return metric(name, "counter", help, static_cast<double>(value));
}

template <class Number>
Metric gauge(const char* name, const char* help, Number value) {
  return metric(name, "gauge", help, static_cast<double>(value));
}

/// A sample of each bus.
template <class Member>
Metric of_buses(const Traffic& traffic, const char* name, const char* help, Member value) {
  Metric out{name, help, "counter", {}};
  for (const BusTraffic& bus : traffic.buses) {
    out.samples.push_back({{{"bus", bus.name}}, static_cast<double>(bus.*value)});
  }
  return out;
}

Metric latency(const char* name, const char* help, const Delays& delays) {
  return {name,
          help,
          "summary",
          {{{{"quantile", "0.5"}}, delays.p50},
           {{{"quantile", "0.99"}}, delays.p99},
           {{}, delays.sum, "_sum"},
           {{}, static_cast<double>(delays.count), "_count"}}};
}

std::vector<Metric> of_traffic(const Traffic& t) {
  Metric up{"kdgat_bus_up", "1 while the bus can be read.", "gauge", {}};
  for (const BusTraffic& bus : t.buses) {
    up.samples.push_back({{{"bus", bus.name}}, bus.state == "up" ? 1.0 : 0.0});
  }
  using B = BusTraffic;
  return {
      counter("kdgat_frames_total", "Frames that were judged.", t.frames),
      counter("kdgat_unknown_frames_total", "Frames of ids that the vehicle does not have.",
              t.unknown),
      gauge("kdgat_unknown_ids", "Ids seen that the vehicle does not have.", t.unknown_ids),
      counter("kdgat_windows_total", "Windows that were judged or learned from.", t.windows),
      counter("kdgat_flagged_windows_total", "Windows above the threshold.", t.flagged),
      counter("kdgat_alarms_total", "Alarms that are over.", t.alarms),
      gauge("kdgat_alarm_open", "1 while an alarm is open.", t.alarm_open),
      gauge("kdgat_frames_per_second", "Frames a second since the report before.",
            t.frames_per_second),
      gauge("kdgat_bus_load", "Share of the bus's time that frames took.", t.load),
      gauge("kdgat_score", "Highest score of a window since the report before.",
            t.highest_score.value_or(0)),
      gauge("kdgat_learning", "1 while it listens to what is usual.", t.learning),
      gauge("kdgat_fits", "0 while more than 5 % of the windows have been flagged for a minute.",
            t.fits),
      gauge("kdgat_calibrating", "1 while it calibrates.", t.calibrating),
      of_buses(t, "kdgat_kernel_drops_total", "Frames lost because the kernel's buffer was full.",
               &B::kernel_drops),
      of_buses(t, "kdgat_queue_drops_total", "Frames lost because the program was too slow.",
               &B::queue_drops),
      of_buses(t, "kdgat_error_frames_total", "Error frames of the controller.", &B::error_frames),
      of_buses(t, "kdgat_malformed_total", "What came and was no frame.", &B::malformed),
      of_buses(t, "kdgat_interruptions_total", "How often the bus went down.", &B::interruptions),
      of_buses(t, "kdgat_own_frames_total", "Frames of its own alarms that were left out.",
               &B::own_frames),
      std::move(up),
      latency("kdgat_decision_seconds", "From the last frame of a window to its score.",
              t.decision),
      latency("kdgat_alarm_seconds",
              "From the last frame of a window to the alarm with its reasons.", t.alarm)};
}

}  // namespace

std::vector<Metric> watch_metrics(const std::optional<Traffic>& traffic, const std::string& model,
                                  const std::vector<AlarmSinks::Counts>& sinks) {
  std::vector<Metric> out;
  out.push_back({"kdgat_model_info", "The model that judges.", "gauge", {{{{"hash", model}}, 1}}});
  if (traffic) {
    for (Metric& one : of_traffic(*traffic)) out.push_back(std::move(one));
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
