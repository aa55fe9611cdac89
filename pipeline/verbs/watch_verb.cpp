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
#include "pipeline/show/text.h"
#include "pipeline/system/record.h"
#include "pipeline/system/signals.h"
#include "pipeline/verbs/commands/log_stage.h"
#include "pipeline/verbs/commands/watch_metrics.h"
#include "pipeline/verbs/commands/watch_request.h"
#include "pipeline/verbs/commands/watch_view.h"
#include "pipeline/verbs/json/json_forms.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kTrafficEvent = "traffic";  // reports of the stage
constexpr const char* kModelSeries = "model";
constexpr double kPatience = 5;  // seconds that sinks have at the end

/// What the stage says of the model that judges.
struct WatchedModel {
  std::string hash, name;
  static auto keys() {
    return std::tuple{key("hash", &WatchedModel::hash), key("name", &WatchedModel::name)};
  }
};

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
      const auto alarm = event.get<AlarmEvent>();
      if (sinks_) sinks_->send(alarm);
      return view_.alarm(alarm);
    }
    if (kind != EventKind::kMetrics) return;
    const MetricsEvent metrics = event.get<MetricsEvent>();
    if (metrics.what == kModelSeries) {
      const auto model = record::read<WatchedModel>(metrics.values);
      const std::lock_guard lock(mutex_);
      model_ = model.hash;
      view_.set_name(model.name);
    } else if (metrics.what == kTrafficEvent) {
      auto traffic = record::read<Traffic>(metrics.values);
      view_.traffic(traffic);
      const std::lock_guard lock(mutex_);
      traffic_ = std::move(traffic);
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
  std::optional<Traffic> traffic_;
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
  if (!is_json) request.options.emplace("heartbeat", 1);
  request.options["replay"] = is_replay;
  // The view writes these lines there already.
  if (is_json) std::erase(request.alarms, "stdout");
  // Nobody who leaves the lines of a live bus unread may stop the reading of it: they have a queue.
  // Of a log each line is written, however long that takes.
  std::optional<AlarmSinks> lines;
  const auto write = [&](const AlarmItem& item) {
    if (lines) return lines->send(item);
    context.out << AlarmNews{item}.line() << std::endl;
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
  if (!is_json) view.message("info", answer.made().summary.value_or(""));
  return pending_signal();
}

}  // namespace

Verb make_watch_verb() {
  return {"watch", "judge a live bus, and raise alarms", Needs::kCatalog, watch_verb, watch_help()};
}

Verb make_guard_verb() {
  return {
      kGuardVerb,      "",
      Needs::kNothing, [](Context&, const std::vector<std::string>&) { return guard_command(); },
      nullptr,         true};
}

}  // namespace kdgat
