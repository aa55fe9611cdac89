// Where alarms go: one sink, and the table of kinds by which words behind --alarm choose one. What
// comes is a value until a sink writes it in its own form. A sink owns its file, socket or program,
// and is used by one thread alone. It knows neither queues nor rates (alarm_queue.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "kdgat/event.h"
#include "pipeline/alarms/alarm_words.h"
#include "pipeline/alarms/patience.h"

namespace kdgat {

/// An alarm, or a line of JSON of another kind, which only sinks that write lines take.
using AlarmItem = std::variant<AlarmEvent, std::string>;

/// About so many bytes.
std::size_t size_of(const AlarmItem& item);

/// One of them on its way to a sink.
struct AlarmNews {
  AlarmItem item;
  int64_t suppressed = 0;  ///< held back by the rate since the one before

  /// As JSON, without an end of line; "suppressed" stands at its end, unless it is 0.
  std::string line() const;
  const AlarmEvent& alarm() const { return std::get<AlarmEvent>(item); }
};

/// What became of it.
enum class Outcome {
  kDone,     ///< whoever is behind the sink has it, as far as the kind can know
  kAgain,    ///< not now: the same is to be tried later
  kRefused,  ///< this one never
  kEnded,    ///< nothing any more
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

  /// May wait for as long as there is patience. After kAgain the next call brings the same.
  virtual Delivery write(const AlarmNews& news, const Patience& patience) = 0;
  /// After the last one: what is buffered goes to where it is to stay.
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
