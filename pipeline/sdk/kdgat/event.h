// What is said of a step while it runs: by its stage over the seam, by the host of its start and
// end. One JSON object each, a line of the step's journal but for progress. Both sides read and
// write them here and nowhere else.
//
//   {"event":"start","run","reason"}                      host: an attempt begins
//   {"event":"progress","phase","unit","done","total","metrics"}
//   {"event":"metrics","what","index","values"}           what: kEpoch, kEpisode, kMemory, kMachine,
//                                                         or a word of the stage's own
//   {"event":"log","level","message"}                     level: "info" or "warning"
//   {"event":"window","file","window","time","row","ids","score","decision","reasons",
//    "frames"}                                            the last two where there are any
//   {"event":"alarm","file","alarm","open","begin","end","first_window","last_window","windows",
//    "peak","ids","names","reasons","model"}              twice: when it opens, and when it is over; the
//                                                         last three where there are any
//   {"event":"end","code","error"}                        host: it has ended; "error" unless 0
//
// The journal adds "time" (ISO) and "unix" (seconds). A stage may send others: they are kept there.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <vector>

namespace kdgat {

enum class EventKind { kOther, kStart, kProgress, kMetrics, kLog, kWindow, kAlarm, kEnd };

/// Series of MetricsEvent::what that the host knows: numbers of an epoch or of an episode, what
/// happened to memory, memory of the whole machine.
inline constexpr const char* kEpoch = "epoch";
inline constexpr const char* kEpisode = "episode";
inline constexpr const char* kMemory = "memory";
inline constexpr const char* kMachine = "machine";

/// What happened, of MetricsEvent::values["event"] where `what` is kMemory. A plan stands below
/// "plan" of the values.
inline constexpr const char* kMemoryPlan = "plan";
inline constexpr const char* kMemorySplit = "split";
inline constexpr const char* kMemoryRelease = "release";
inline constexpr const char* kMemorySettled = "settled_packs";

namespace detail {

/// What stands below a key if it is of the type of `otherwise`, else that.
template <class T>
T value_or(const nlohmann::json& from, const char* key, T otherwise) {
  const auto found = from.is_object() ? from.find(key) : from.end();
  if (!from.is_object() || found == from.end()) return otherwise;
  if constexpr (std::is_same_v<T, std::string>) {
    return found->is_string() ? found->template get<T>() : otherwise;
  } else if constexpr (std::is_same_v<T, bool>) {
    return found->is_boolean() ? found->template get<T>() : otherwise;
  } else if constexpr (std::is_integral_v<T>) {
    return found->is_number_integer() ? found->template get<T>() : otherwise;
  } else {
    return found->is_number() ? found->template get<T>() : otherwise;
  }
}

/// The same of an object or a list.
inline nlohmann::json below(const nlohmann::json& from, const char* key) {
  return from.is_object() ? from.value(key, nlohmann::json()) : nlohmann::json();
}

/// The texts of a list; none where there is no list.
inline std::vector<std::string> texts(const nlohmann::json& from, const char* key) {
  std::vector<std::string> out;
  for (const nlohmann::json& text : below(from, key)) {
    if (text.is_string()) out.push_back(text.get<std::string>());
  }
  return out;
}

}  // namespace detail

struct StartEvent {
  std::string run;     ///< the run's id
  std::string reason;  ///< why the step runs
};

/// Where the work is. Shown, and of no use later.
struct ProgressEvent {
  std::string phase;  ///< "train"; may be empty
  std::string unit;   ///< "epoch", "step", "chunk"
  int64_t done = 0, total = 0;
  /// Numbers worth showing now; "rate" with "rate_unit" is shown as such.
  nlohmann::json metrics = nlohmann::json::object();
};

/// Numbers that belong in the journal for ever, e.g. those of an epoch.
struct MetricsEvent {
  std::string what;
  int64_t index = 0;  ///< -1: what was sent is no whole number
  nlohmann::json values = nlohmann::json::object();
};

struct LogEvent {
  std::string level, message;
};

/// A frame of a log that is taken for one that an attacker sent.
struct FrameEvent {
  int64_t row = 0;      ///< of the log, from 0
  nlohmann::json time;  ///< null where the log has none
  std::string id;       ///< "2C0", of bus 1 "1:2C0"
  double score = 0;     ///< log-odds
};

/// One window of a log that was scored.
struct WindowEvent {
  std::string file;
  int64_t window = 0;   ///< its number in the log, from 0
  nlohmann::json time;  ///< of its first row; null where the log has none
  int64_t row = 0;      ///< its first row, from 0
  int64_t ids = 0;      ///< distinct ids
  float score = 0;
  std::string decision;              ///< "attack", "benign" or "calibration"
  std::vector<std::string> reasons;  ///< what made it odd, in words, the first one most
  std::vector<FrameEvent> frames;    ///< of it, that were injected, where that was asked for
};

/// Windows of a log that were flagged less than two seconds apart: one alarm.
struct AlarmEvent {
  std::string file;
  int64_t alarm = 0;     ///< its number in the log, from 0
  bool open = false;     ///< it may go on
  nlohmann::json begin;  ///< time of its first row; null where the log has none
  nlohmann::json end;    ///< of its last row so far
  int64_t first_window = 0, last_window = 0;  ///< flagged
  int64_t windows = 0;                        ///< flagged
  float peak = 0;                             ///< the highest score
  std::vector<std::string> ids;  ///< that made it, the first one most: "2C0", of bus 1 "1:2C0"
  std::vector<std::string>
      names;  ///< what people call them, as many, or none; "" of one that has none
  std::vector<std::string> reasons;  ///< in words, of the window that the ids are of
  std::string model;                 ///< xxh3-128 of the model's file; "" = not said
};

struct EndEvent {
  int code = 0;       ///< 0 or an exit code
  std::string error;  ///< what went wrong
};

// ---- as JSON; what is absent or of another type has its default

inline EventKind kind_of(const nlohmann::json& event) {
  const std::string name = detail::value_or(event, "event", std::string());
  return name == "start"      ? EventKind::kStart
         : name == "progress" ? EventKind::kProgress
         : name == "metrics"  ? EventKind::kMetrics
         : name == "log"      ? EventKind::kLog
         : name == "window"   ? EventKind::kWindow
         : name == "alarm"    ? EventKind::kAlarm
         : name == "end"      ? EventKind::kEnd
                              : EventKind::kOther;
}

/// Whether it can be an event at all: an object that says of what kind.
inline bool is_event(const nlohmann::json& json) {
  return json.is_object() && json.contains("event") && json.at("event").is_string();
}

/// What an event says, without of what kind it is.
inline nlohmann::json body_of(nlohmann::json event) {
  event.erase("event");
  return event;
}

inline void to_json(nlohmann::json& out, const StartEvent& e) {
  out = {{"event", "start"}, {"run", e.run}, {"reason", e.reason}};
}

inline void to_json(nlohmann::json& out, const ProgressEvent& e) {
  out = {{"event", "progress"}, {"phase", e.phase}, {"unit", e.unit},
         {"done", e.done},      {"total", e.total}, {"metrics", e.metrics}};
}
inline void from_json(const nlohmann::json& in, ProgressEvent& e) {
  e = {detail::value_or(in, "phase", std::string()), detail::value_or(in, "unit", std::string()),
       detail::value_or(in, "done", int64_t{0}), detail::value_or(in, "total", int64_t{0}),
       detail::below(in, "metrics")};
  if (!e.metrics.is_object()) e.metrics = nlohmann::json::object();
}

inline void to_json(nlohmann::json& out, const MetricsEvent& e) {
  out = {{"event", "metrics"}, {"what", e.what}, {"index", e.index}, {"values", e.values}};
}
inline void from_json(const nlohmann::json& in, MetricsEvent& e) {
  const int64_t otherwise = in.is_object() && in.contains("index") ? -1 : 0;
  e = {detail::value_or(in, "what", std::string()), detail::value_or(in, "index", otherwise),
       detail::below(in, "values")};
}

inline void to_json(nlohmann::json& out, const LogEvent& e) {
  out = {{"event", "log"}, {"level", e.level}, {"message", e.message}};
}
inline void from_json(const nlohmann::json& in, LogEvent& e) {
  e = {detail::value_or(in, "level", std::string()),
       detail::value_or(in, "message", std::string())};
}

inline void to_json(nlohmann::json& out, const FrameEvent& e) {
  out = {{"row", e.row}, {"time", e.time}, {"id", e.id}, {"score", e.score}};
}
inline void from_json(const nlohmann::json& in, FrameEvent& e) {
  e = {detail::value_or(in, "row", int64_t{0}), detail::below(in, "time"),
       detail::value_or(in, "id", std::string()), detail::value_or(in, "score", 0.0)};
}

inline void to_json(nlohmann::json& out, const WindowEvent& e) {
  out = {{"event", "window"}, {"file", e.file}, {"window", e.window}, {"time", e.time},
         {"row", e.row},      {"ids", e.ids},   {"score", e.score},   {"decision", e.decision}};
  if (!e.reasons.empty()) out["reasons"] = e.reasons;
  if (!e.frames.empty()) out["frames"] = e.frames;
}
inline void from_json(const nlohmann::json& in, WindowEvent& e) {
  e = {detail::value_or(in, "file", std::string()),
       detail::value_or(in, "window", int64_t{0}),
       detail::below(in, "time"),
       detail::value_or(in, "row", int64_t{0}),
       detail::value_or(in, "ids", int64_t{0}),
       detail::value_or(in, "score", 0.0F),
       detail::value_or(in, "decision", std::string()),
       detail::texts(in, "reasons"),
       {}};
  const nlohmann::json frames = detail::below(in, "frames");
  if (frames.is_array()) e.frames = frames.get<std::vector<FrameEvent>>();
}

inline void to_json(nlohmann::json& out, const AlarmEvent& e) {
  out = {{"event", "alarm"},
         {"file", e.file},
         {"alarm", e.alarm},
         {"open", e.open},
         {"begin", e.begin},
         {"end", e.end},
         {"first_window", e.first_window},
         {"last_window", e.last_window},
         {"windows", e.windows},
         {"peak", e.peak},
         {"ids", e.ids}};
  if (!e.names.empty()) out["names"] = e.names;
  if (!e.reasons.empty()) out["reasons"] = e.reasons;
  if (!e.model.empty()) out["model"] = e.model;
}
inline void from_json(const nlohmann::json& in, AlarmEvent& e) {
  e = {detail::value_or(in, "file", std::string()),
       detail::value_or(in, "alarm", int64_t{0}),
       detail::value_or(in, "open", false),
       detail::below(in, "begin"),
       detail::below(in, "end"),
       detail::value_or(in, "first_window", int64_t{0}),
       detail::value_or(in, "last_window", int64_t{0}),
       detail::value_or(in, "windows", int64_t{0}),
       detail::value_or(in, "peak", 0.0F),
       detail::texts(in, "ids"),
       detail::texts(in, "names"),
       detail::texts(in, "reasons"),
       detail::value_or(in, "model", std::string())};
}

inline void to_json(nlohmann::json& out, const EndEvent& e) {
  out = {{"event", "end"}, {"code", e.code}};
  if (e.code != 0) out["error"] = e.error;
}
inline void from_json(const nlohmann::json& in, EndEvent& e) {
  e = {detail::value_or(in, "code", 1), detail::value_or(in, "error", std::string())};
}

}  // namespace kdgat
