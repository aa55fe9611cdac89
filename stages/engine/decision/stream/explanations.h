// What `explain` asks of a detector: the parts of a window's score, id by id, in words and numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/decision/detector/alarms.h"
#include "engine/decision/detector/rank_filter.h"
#include "engine/decision/detector/window_scorer.h"
#include "engine/decision/stream/score_options.h"
#include "kdgat/stage.h"

namespace kdgat::decision {

/// null where there is none.
nlohmann::json time_json(double seconds);

class Explanations {
 public:
  /// Alarms that are explained where all are asked for: those with the highest peaks.
  static constexpr std::size_t kMostAlarms = 10;

  /// Both must outlive it.
  Explanations(const ScoreOptions& options, const Host& host) : options_(options), host_(host) {}

  /// A window that was just judged, from within the sink of `watch`, when `alarms` had it; `alarm`:
  /// number of the open alarm, or of the next one.
  void add(const std::string& file, const JudgedWindow& window, double threshold,
           const AlarmStream& alarms, int64_t alarm, const WindowScorer& watch);
  /// The alarm of the last peak is over; `begin`: time of its first row.
  void close(const kdgat_alarm& alarm, double begin, double end);
  /// The one window, or alarm, that was asked for is found: no more of the log is wanted.
  bool is_done() const { return options_.explains_one() && !found_.empty(); }
  /// The log has ended. Throws Error(kUsage) with what there is, where it has no such window or
  /// alarm.
  void finish_log(const std::string& file, int64_t windows, int64_t alarms) const;
  /// Sends each as {"event":"metrics","what":"reasons","index": window, "values"}: values are a
  /// StageResult with a heading as summary, a table, and the numbers as metrics: {"file","window",
  /// "row","time","end","score" (what is decided by),"alone" (of this window; the same where each
  /// stands for itself),"threshold","decision","vehicle","alarm" (null, or {"number","begin","end",
  /// "first_window","last_window","windows"}),"reasons" (see Reason::json()),"everything_else"};
  /// contributions and everything_else add up to "alone".
  void send() const;

 private:
  struct AlarmSpan {
    int64_t number = 0;
    double begin = 0, end = 0;
    kdgat_alarm alarm;
  };
  struct Found {
    std::string file, vehicle;
    JudgedWindow window;
    double threshold = 0;
    KOfN alarm_rule;
    Reasons reasons;
    std::optional<AlarmSpan> alarm;
  };
  bool is_wanted(const JudgedWindow& window) const;
  static std::string heading(const Found& one);
  static nlohmann::json numbers(const Found& one);
  static ResultTable table(const Found& one);

  const ScoreOptions& options_;
  const Host& host_;
  std::vector<Found> found_;     // by score, the highest first
  std::optional<Found> peak_;    // of the open alarm
  int64_t left_out_ = 0;         // alarms
  double first_ = 0, last_ = 0;  // times of the log; NaN where it has none
};

}  // namespace kdgat::decision
