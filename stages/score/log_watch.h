// LogWatch: a detector on one log of `kdgat score`, frame by frame: windows with what they score and
// why, and alarms, sent to the host.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "data/can/can_frame.h"
#include "data/can/dbc.h"
#include "data/dataset_files.h"
#include "detector/alarms.h"
#include "detector/detector_model.h"
#include "detector/traffic.h"
#include "detector/watch.h"
#include "kdgat/stage.h"
#include "score/explanations.h"
#include "score/score_options.h"

namespace kdgat::score {

/// Told of a flagged window.
inline constexpr std::size_t kReasons = 3;

/// Throws Error(kUsage) where the model knows no vehicle of that name.
const detector::Vehicle& vehicle_named(const detector::DetectorModel& model,
                                       const std::string& name);

/// Throws Error(kUsage) for options that a detector does not have, or that this one cannot follow.
void check_options(const detector::DetectorModel& model, const std::string& file,
                   const ScoreOptions& options);

/// Of options.dbc. Throws Error(kData).
graph::DbcNames read_names(const ScoreOptions& options, const Host& host);

class LogWatch {
 public:
  /// What another channel says of a window, in the units of the detector's scores; it is asked once
  /// for each window, in order. A window counts by the higher of the two.
  using Channel = std::function<float(const detector::JudgedWindow&)>;

  /// All must outlive it.
  LogWatch(const detector::DetectorModel& model, const ScoreOptions& options,
           const graph::LogFile& file, const Host& host, Explanations& explanations,
           const graph::DbcNames& names, Channel channel = {});

  /// The next frame; `restarts`: it begins another capture.
  void add(const graph::CanFrame& frame, bool restarts);
  /// The log has ended.
  void finish();
  /// What was asked for is found: no more of the log is wanted.
  bool is_done() const { return explanations_.is_done(); }

  int64_t windows() const { return windows_; }
  int64_t flagged() const { return flagged_; }
  int64_t alarms() const { return alarm_; }
  int64_t own() const { return watch_.is_listening() ? 0 : watch_.own(); }

 private:
  void stop_if_cancelled() const;
  void tell(const detector::JudgedWindow& judged);
  void tell_vehicle() const;
  void tell_alarm(bool is_open);

  const graph::LogFile& file_;
  const Host& host_;
  Explanations& explanations_;
  Channel channel_;
  bool gives_reasons_;
  double threshold_;
  detector::AlarmStream alarms_;
  const graph::DbcNames& names_;
  detector::Watch watch_;
  detector::LogProblems problems_;
  double begin_ = 0, end_ = 0;       // of the alarm
  float explained_ = 0;              // score of the window that ids_ are of
  std::vector<std::string> ids_;     // of its reasons
  std::vector<std::string> called_;  // what they are called
  int64_t rows_ = 0, windows_ = 0, flagged_ = 0, alarm_ = 0;
};

/// Adds how many there were.
StageResult with_alarms(StageResult result, int64_t alarms);

/// After finish(): warns where nothing was decided. Throws Error(kData) for a log of `rows` rows that
/// has no window.
void check_watched(const LogWatch& watch, const detector::DetectorModel& model,
                   const std::string& file, int64_t rows, const Host& host);

}  // namespace kdgat::score
