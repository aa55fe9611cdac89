#include "pipeline/verbs/commands/watch_request.h"

#include <utility>

#include "kdgat/kinds.h"
#include "pipeline/alarms/alarms.h"
#include "pipeline/cli/command_line.h"
#include "pipeline/plugin/schema.h"
#include "pipeline/show/quantity.h"
#include "pipeline/show/text.h"

namespace kdgat {
namespace {

using nlohmann::json;

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

}  // namespace

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

Help watch_help() {
  return [](const std::vector<std::string>& words, const PluginCatalog& catalog) {
    const std::string head = kWatchHelp + alarm_help() + "\n";
    return help_around("watch", head.c_str(), kind::kBus, kWatchEnd)(words, catalog);
  };
}

}  // namespace kdgat
