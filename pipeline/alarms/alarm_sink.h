// Where lines go that tell of alarms: one sink, and the table of kinds by which words behind
// --alarm choose one. A sink owns its file, socket or program, and is used by one thread alone. It
// knows neither queues nor rates (alarm_queue.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "pipeline/alarms/alarm_words.h"
#include "pipeline/alarms/patience.h"

namespace kdgat {

/// What became of a line.
enum class Outcome {
  kDone,     ///< whoever is behind the sink has it, as far as the kind can know
  kAgain,    ///< not now: the same line is to be tried later
  kRefused,  ///< this line never
  kEnded,    ///< no line any more
};

struct Delivery {
  Outcome outcome = Outcome::kDone;
  std::string why{};  ///< unless it is done
};

/// Frames that a sink writes to a bus: to which interface, and with which id, as in
/// can_frame::can_id.
struct BusFrames {
  std::string interface;
  uint32_t id = 0;
};

class AlarmSink {
 public:
  AlarmSink() = default;
  AlarmSink(const AlarmSink&) = delete;
  AlarmSink& operator=(const AlarmSink&) = delete;
  virtual ~AlarmSink() = default;

  /// One event as JSON, without an end of line in it. May wait for as long as there is patience.
  /// After kAgain the next call brings the same line.
  virtual Delivery write(std::string_view line, const Patience& patience) = 0;
  /// After the last line: what is buffered goes to where it is to stay.
  virtual void close() {}
  /// Of a sink that writes to an interface of SocketCAN.
  virtual std::optional<BusFrames> bus_frames() const { return std::nullopt; }
};

struct AlarmKind {
  const char* name;
  const char* form;  ///< how its words look
  const char* help;  ///< a sentence
  OptionsAt options;
  const char* rate;  ///< by default; "" = no limit
  std::unique_ptr<AlarmSink> (*make)(AlarmWords& words);
};

std::span<const AlarmKind> alarm_kinds();

struct ChosenSink {
  std::string name;  ///< its words, without secrets
  std::optional<Rate> rate;
  std::unique_ptr<AlarmSink> sink;
};

/// The sink that words choose. Throws Error(kUsage) naming the nearest kind and all forms.
ChosenSink choose_alarm_sink(const std::string& words);

/// The kinds, for --help.
std::string alarm_help();

}  // namespace kdgat
