// kdgat watch: a live bus, or a log in its place, judged by the watch stage in this process; alarms
// to where the user wants them.
#include <linux/can.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "kdgat/event.h"
#include "kdgat/kinds.h"
#include "pipeline/alarms/alarms.h"
#include "pipeline/alarms/command_guard.h"
#include "pipeline/alarms/metrics_server.h"
#include "pipeline/cli/command_line.h"
#include "pipeline/data/data.h"
#include "pipeline/plugin/option_groups.h"
#include "pipeline/plugin/schema.h"
#include "pipeline/plugin/stage_call.h"
#include "pipeline/show/quantity.h"
#include "pipeline/show/text.h"
#include "pipeline/system/signals.h"
#include "pipeline/verbs/commands/log_stage.h"
#include "pipeline/verbs/commands/watch_metrics.h"
#include "pipeline/verbs/commands/watch_view.h"
#include "pipeline/verbs/json/json_forms.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kTrafficEvent = "traffic";  // reports of the stage
constexpr const char* kModelSeries = "model";
constexpr double kPatience = 5;  // seconds that sinks have at the end

struct WatchRequest : ModelWords {
  std::vector<std::string> buses, alarms;
  std::string replay;
  std::optional<int> metrics;
  bool has_speed = false;
};

/// The flags that stand for options in other words.
void declare_times(CommandLine& line, WatchRequest& request) {
  json& options = request.options;
  line.value("--calibrate", [&](const std::string& text) {
    const json windows = plain_scalar(text).value;
    if (const std::optional<double> seconds = parse_seconds(text)) {
      options["calibrate_seconds"] = *seconds;
    } else if (windows.is_number_integer()) {
      options["calibrate"] = windows;
    } else {
      line.problem("--calibrate: " + text + " is neither a time nor a number of windows",
                   "e.g. 5min, 90s or 300");
    }
  });
  line.value("--budget", [&](const std::string& text) {
    if (const std::optional<double> budget = parse_per_hour(text)) {
      options["budget"] = *budget;
    } else {
      line.problem("--budget: " + text + " is no budget of false windows", "e.g. 10/h or 48/day");
    }
  });
  line.value("--heartbeat", [&](const std::string& text) {
    const std::optional<double> seconds = parse_seconds(text);
    if (!seconds) return line.problem("--heartbeat: " + text + " is no time", "e.g. 10s");
    options["heartbeat"] = *seconds;
  });
  line.value("--speed", [&](const std::string& text) {
    const std::optional<double> number = finite_number(text);
    request.has_speed = true;
    if (text == "max") {
      options["speed"] = 0;
    } else if (number && *number > 0) {
      options["speed"] = *number;
    } else {
      line.problem("--speed: " + text + " is no speed", "1, 10 or max");
    }
  });
}

/// Throws Error(kUsage) with every problem.
WatchRequest read_watch_request(const Context& context, const json& schema,
                                const std::vector<std::string>& words) {
  WatchRequest request;
  json filters = json::array();
  CommandLine line(context, "kdgat watch");
  line.words([&](const std::string& bus) { request.buses.push_back(bus); });
  line.value("--run", request.run, Offer::kRuns);
  const CommandLine::Set set = request.declare(line, schema);
  line.value("--threshold", [&](const std::string& text) {
    const std::optional<double> number = finite_number(text);
    if (!number) return line.problem("--threshold: " + text + " is no number");
    request.options["threshold"] = json::array({*number});
  });
  declare_times(line, request);
  line.value("--replay", request.replay, Offer::kFiles);
  line.value(
      "--save", [&](const std::string& file) { request.options["save"] = file; }, Offer::kFiles);
  line.value("--filter", [&](const std::string& filter) { filters.push_back(filter); });
  line.value("--alarm", [&](const std::string& action) { request.alarms.push_back(action); });
  line.value("--expect", [&](const std::string& hash) { request.options["expect"] = hash; });
  line.value("--metrics", [&](const std::string& text) {
    constexpr int kMostPort = 65535;
    const json port = plain_scalar(text).value;
    if (!port.is_number_integer() || port < 0 || port > kMostPort) {
      return line.problem("--metrics: " + text + " is no port", "0 takes any that is free");
    }
    request.metrics = port.get<int>();
  });
  std::vector<Diagnostic> problems = line.read(words);
  if (!filters.empty()) request.options["filters"] = filters;
  const std::string usage = "kdgat watch --help shows examples";
  if (request.buses.empty() == request.replay.empty()) {
    problems.push_back({"",
                        request.buses.empty() ? "kdgat watch needs a bus, or --replay LOG"
                                              : "a bus and --replay cannot both be watched",
                        usage});
  }
  if (request.has_speed && request.replay.empty()) {
    problems.push_back({"", "--speed is for --replay: a bus has its own", ""});
  }
  if (!problems.empty()) throw Error(ExitCode::kUsage, std::move(problems));
  return request;
}

constexpr const char* kWatchHelp =
    R"(Watch a live bus: an alarm as soon as traffic is odd, and why.

  kdgat watch can0                              with the detector that comes with kdgat
  kdgat watch can0 --model detector.json
  kdgat watch can0 can1 --model detector.json --alarm syslog --alarm file:/var/log/alarms.jsonl
  kdgat watch can0 --model detector.json --calibrate 15min --budget 10/h --save mine.json
  kdgat watch can0 --model mine.json --metrics 9105 --alarm 'command:/usr/local/bin/tell'
  kdgat watch --replay drive.log --model detector.json --speed max
  zcat drive.log.gz | kdgat watch --replay - --model detector.json --speed max

usage: kdgat watch BUS... [--model MODEL] [options]
       kdgat watch --replay LOG [--model MODEL] [options]

BUS is an interface of SocketCAN, or udp:HOST:PORT where each datagram is a struct can_frame or
canfd_frame. Several are one vehicle's, each with ids of its own. MODEL is a detector.json, or the
file of a classifier or an autoencoder; without one it is the detector that comes with kdgat, which
needs no training and knows no vehicle. LibTorch is not needed. Nothing is written to the bus but by
--alarm can:.. .

A detector finds the vehicle by the first 100 windows, or learns what is usual from the first 15 s,
as kdgat score does. --calibrate TIME learns it from that much traffic, which is taken as benign,
and judges what follows. Flagged windows less than two seconds apart are one alarm. On a terminal a
line shows the traffic and alarms are told in words; elsewhere, and with --json, standard output
gets a line of JSON for each alarm when it opens and when it is over, the same that kdgat score
--json writes of the same frames, and {"event":"traffic",..} at each heartbeat.

  --model MODEL        a run's id or folder, a step's folder, or a model file or detector.json
  --run RUN            the same, as kdgat score calls it; --model then is the step of the run
  --root DIR           folder that holds all runs (default runs)
  --replay LOG         a log of any form in the place of a bus, by the same code; - = standard input
  --speed S            seconds of the log in one second, or max (default 1)
  --calibrate T        learn what is usual from this much traffic: 5min, 90s; or 300 windows
  --budget N/h         with a time to calibrate: false windows an hour that may be; the last third
                       of that time may raise the threshold, never lower it
  --save FILE          write the detector with what was learned: the next start needs no calibration
  --threshold X        windows that score above it are flagged
  --filter ID:MASK     ids that are watched, in hexadecimal; may be said again
  --alarm ACTION       where alarms go, see below; may be said again
  --metrics PORT       numbers for Prometheus at http://127.0.0.1:PORT/metrics
  --heartbeat T        time between two reports of the traffic (default 10s; on a terminal 1s)
  --expect HASH        end with 3 unless the model file has this hash, as alarms name it in "model"
  --json               JSON lines also on a terminal

)";

constexpr const char* kWatchEnd = R"(
Exit codes: 0 the log that was replayed has ended; 2 usage, no such bus, or no place for alarms; 3
the model or the log cannot be read, or the hash is another; 129, 130, 131 and 143 stopped by
SIGHUP, SIGINT, SIGQUIT or SIGTERM, and 85 by SIGUSR1, after an open alarm was closed and everything
was handed to its sinks. SIGUSR2 does nothing.
)";

std::string watch_help_head() { return kWatchHelp + alarm_help() + "\n"; }

/// What is told while the stage works.
class WatchReport {
 public:
  WatchReport(const Context& context, const WatchRequest& request, WatchView& view,
              const AlarmSinkOptions& options)
      : view_(view) {
    if (!request.alarms.empty()) sinks_.emplace(request.alarms, options);
    if (!request.metrics) return;
    server_.emplace(*request.metrics, [this] {
      const std::lock_guard lock(mutex_);
      return watch_metrics(traffic_, model_,
                           sinks_ ? sinks_->counts() : std::vector<AlarmSinks::Counts>());
    });
    if (context.verbosity >= 0) {
      view.message("info",
                   "metrics at http://127.0.0.1:" + std::to_string(server_->port()) + "/metrics");
    }
  }

  void hear(const json& event) {
    const EventKind kind = kind_of(event);
    if (kind == EventKind::kAlarm) {
      if (sinks_) sinks_->send(event);
      return view_.alarm(event);
    }
    if (kind != EventKind::kMetrics) return;
    const MetricsEvent metrics = event.get<MetricsEvent>();
    if (metrics.what == kModelSeries) {
      const std::lock_guard lock(mutex_);
      model_ = metrics.values.value("hash", "");
      view_.set_name(metrics.values.value("name", ""));
    } else if (metrics.what == kTrafficEvent) {
      view_.traffic(metrics.values);
      const std::lock_guard lock(mutex_);
      traffic_ = metrics.values;
    }
  }

  /// What alarms write to a bus, as the stage's option has it.
  std::vector<std::string> own_frames() const {
    std::vector<std::string> out;
    if (!sinks_) return out;
    for (const BusFrames& frames : sinks_->bus_frames()) {
      const bool is_extended = (frames.id & CAN_EFF_FLAG) != 0;
      std::array<char, 16> id{};
      std::snprintf(id.data(), id.size(), is_extended ? "%08X" : "%03X", frames.id & CAN_EFF_MASK);
      out.push_back(frames.interface + "," + id.data());
    }
    return out;
  }
  void finish() {
    server_.reset();
    if (sinks_) sinks_->finish(kPatience);
    view_.finish();
  }

 private:
  WatchView& view_;
  std::mutex mutex_;
  json traffic_;
  std::string model_;
  std::optional<AlarmSinks> sinks_;
  std::optional<MetricsServer> server_;
};

/// Whether alarms sent to `words` come back from the bus `udp:HOST:PORT`: the same port, of the same
/// host or of two names of this computer.
bool sends_to(const std::string& words, const std::string& bus) {
  const std::string to = words.substr(0, words.find(','));
  if (!bus.starts_with("udp:") || !to.starts_with("can:udp:")) return false;
  const auto host_and_port = [](const std::string& text) {
    const std::size_t colon = text.rfind(':');
    return std::pair{text.substr(0, colon), text.substr(colon)};
  };
  const auto [host, port] = host_and_port(bus.substr(4));
  const auto [other_host, other_port] = host_and_port(to.substr(8));
  const auto is_here = [](const std::string& name) {
    return name == "localhost" || name == "0.0.0.0" || name == "[::]" || name == "[::1]" ||
           name.starts_with("127.");
  };
  return port == other_port && (host == other_host || (is_here(host) && is_here(other_host)));
}

int watch_verb(Context& context, const std::vector<std::string>& arguments) {
  const PluginDescription& plugin = stage_behind("watch", kind::kBus, context.catalog);
  WatchRequest request =
      read_watch_request(context, options_of_verb(plugin.options, "watch"), arguments);
  const bool is_replay = !request.replay.empty();
  if (is_replay) require_input(request.replay);
  const fs::path model = request.find(context.catalog);
  const Terminal terminal = Terminal::of(STDERR_FILENO, context.verbosity);
  const bool is_json = context.json || ::isatty(STDOUT_FILENO) == 0;
  if (!is_json && !request.options.contains("heartbeat")) request.options["heartbeat"] = 1;
  request.options["replay"] = is_replay;
  // The view writes these lines there already.
  if (is_json) std::erase(request.alarms, "stdout");
  // Nobody who leaves the lines of a live bus unread may stop the reading of it: they have a queue.
  // Of a log each line is written, however long that takes.
  std::optional<AlarmSinks> lines;
  const auto write = [&](const json& event) {
    if (lines) return lines->send(event);
    context.out << json_line(event) << std::flush;
  };
  WatchView view(is_json ? WatchView::Write(write) : nullptr, context.err, terminal, STDERR_FILENO);
  AlarmSinkOptions telling;
  telling.tell = [&view](const std::string& level, const std::string& text) {
    view.message(level, text);
  };
  if (is_json && !is_replay) lines.emplace(std::vector<std::string>{"stdout"}, telling);
  install_signal_flags();
  if (const std::string said = request.said_of_model(); !said.empty()) view.message("info", said);
  WatchReport watcher(context, request, view, telling);
  for (const std::string& bus : request.buses) {
    const bool is_sent_to =
        std::any_of(request.alarms.begin(), request.alarms.end(),
                    [&](const std::string& words) { return sends_to(words, bus); });
    if (!is_sent_to) continue;
    view.message("warning",
                 bus +
                     ": alarms are sent to the bus that is watched, and are scored there "
                     "like any other frame; send them to another port");
  }
  if (!is_replay) request.options["own_frames"] = watcher.own_frames();
  StageCall call = log_stage_call(plugin, request.options, model, "");
  call.request["inputs"].erase("log");
  call.request["inputs"]["bus"] =
      json::array({{{"name", "bus"},
                    {"kind", kind::kBus},
                    {"path", is_replay ? request.replay : joined(request.buses, ",")}}});
  const StageAnswer answer = call_stage(
      call,
      [&](const json& event) {
        if (kind_of(event) != EventKind::kLog) return watcher.hear(event);
        const LogEvent log = event.get<LogEvent>();
        view.message(log.level, log.message);
      },
      [&] {
        return is_replay && !context.out.good() ? static_cast<int>(ExitCode::kInterrupted)
                                                : pending_signal();
      });
  watcher.finish();
  if (lines) lines->finish(kPatience);
  require_done(answer);
  if (!is_json) view.message("info", answer.result.value("summary", ""));
  return pending_signal();
}

}  // namespace

Verb make_watch_verb() {
  return {"watch", "judge a live bus, and raise alarms", Needs::kCatalog, watch_verb,
          [](const std::vector<std::string>& words, const PluginCatalog& catalog) {
            const std::string head = watch_help_head();
            return help_around("watch", head.c_str(), kind::kBus, kWatchEnd)(words, catalog);
          }};
}

Verb make_guard_verb() {
  return {
      kGuardVerb,      "",
      Needs::kNothing, [](Context&, const std::vector<std::string>&) { return guard_command(); },
      nullptr,         true};
}

}  // namespace kdgat
