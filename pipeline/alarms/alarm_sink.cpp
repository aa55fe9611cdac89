#include "pipeline/alarms/alarm_sink.h"

#include <vector>

#include "kdgat/error.h"
#include "pipeline/alarms/sinks.h"
#include "pipeline/show/text.h"
#include "pipeline/system/secrets.h"

namespace kdgat {
namespace {

constexpr AlarmKind kAlarmKinds[] = {
    {"stdout", "stdout", "a JSON line each on standard output, until nobody reads there",
     OptionsAt::kBehind, "", make_stdout_sink},
    {"file", "file:PATH[,max=10MB][,keep=5]",
     "appended to a file; one that is full becomes PATH.1, the one before PATH.2, ...",
     OptionsAt::kBehind, "", make_file_sink},
    {"syslog", "syslog[:FACILITY][,socket=/dev/log]",
     "to the system's log: warning when an alarm opens, notice when it closes", OptionsAt::kBehind,
     "", make_syslog_sink},
    {"unix", "unix:PATH", "to a Unix socket, a datagram each or lines of a stream",
     OptionsAt::kBehind, "", make_unix_sink},
    {"udp", "udp:HOST:PORT", "a datagram each; the name is looked up once", OptionsAt::kBehind, "",
     make_udp_sink},
    {"mqtt", "mqtt://HOST[:PORT]/TOPIC[?qos=1&retain=0]",
     "published to a broker, which confirms each; USER:PASSWORD@ may stand before HOST (the "
     "password "
     "also in MQTT_PASSWORD)",
     OptionsAt::kQuery, "", make_mqtt_sink},
    {"can", "can:INTERFACE,id=HEX[,rate=1/s]",
     "a frame of 8 bytes on a bus, a second at least between two; INTERFACE may be udp:HOST:PORT",
     OptionsAt::kBehind, "1/s", make_can_sink},
    {"command", "command[,timeout=30s]:/PATH/TO/PROGRAM [ARGUMENT ...]",
     "runs a program, without a shell, with KDGAT_ALARM_* in its environment", OptionsAt::kBefore,
     "", make_command_sink}};

const AlarmKind& kind_named(const std::string& words) {
  const std::string name = alarm_kind_of(words);
  std::vector<std::string> names;
  std::string forms;
  for (const AlarmKind& kind : kAlarmKinds) {
    if (name == kind.name) return kind;
    names.emplace_back(kind.name);
    forms += std::string("\n    ") + kind.form;
  }
  const std::string meant = nearest(name, names);
  throw Error(ExitCode::kUsage,
              "--alarm " + one_line(without_secrets(words)) +
                  ": alarms go to no kind of place called \"" + one_line(without_secrets(name)) +
                  "\"",
              (meant.empty() ? "" : "did you mean " + meant + "? ") + "the forms are" + forms);
}

}  // namespace

std::size_t size_of(const AlarmItem& item) {
  if (const auto* line = std::get_if<std::string>(&item)) return line->size();
  const auto& alarm = std::get<AlarmEvent>(item);
  std::size_t out = sizeof(AlarmEvent) + alarm.file.size() + alarm.model.size();
  for (const auto* texts : {&alarm.ids, &alarm.names, &alarm.reasons}) {
    for (const std::string& text : *texts) out += sizeof(std::string) + text.size();
  }
  return out;
}

std::string AlarmNews::line() const {
  const auto* other = std::get_if<std::string>(&item);
  std::string out =
      other != nullptr
          ? *other
          : nlohmann::json(alarm()).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (suppressed == 0 || out.size() < 2 || out.back() != '}') return out;
  out.pop_back();
  return out + (out.size() > 1 ? "," : "") + "\"suppressed\":" + std::to_string(suppressed) + "}";
}

std::span<const AlarmKind> alarm_kinds() { return kAlarmKinds; }

ChosenSink choose_alarm_sink(const std::string& words) {
  const AlarmKind& kind = kind_named(words);
  AlarmWords read(words, kind.options, kind.form);
  ChosenSink out{one_line(without_secrets(words)), read.rate(kind.rate), kind.make(read)};
  read.check_all_known();
  return out;
}

std::string alarm_help() {
  std::string out;
  for (const AlarmKind& kind : kAlarmKinds) {
    out += std::string("  ") + kind.form + "\n      " + wrapped(kind.help, 6) + "\n";
  }
  return out +
         "Each may be named several times, and with rate=N/s, N/min or N/h, which holds back all "
         "but "
         "the\nnewest and says how many.\n";
}

}  // namespace kdgat
