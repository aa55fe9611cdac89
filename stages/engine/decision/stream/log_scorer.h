// LogScorer: a detector on one log, frame by frame: windows with what they score and why, and
// alarms.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/data/can/frames/can_frame.h"
#include "engine/data/can/logs/dbc.h"
#include "engine/data/can/vehicles/stored_log.h"
#include "engine/data/can/vehicles/vehicles.h"
#include "engine/data/core/dataset_files.h"
#include "engine/decision/detector/alarms.h"
#include "engine/decision/detector/detector_model.h"
#include "engine/decision/detector/window_scorer.h"
#include "engine/decision/stream/bus_fit.h"
#include "engine/decision/stream/explanations.h"
#include "engine/decision/stream/judge_sink.h"
#include "engine/decision/stream/log_judge.h"
#include "engine/decision/stream/score_options.h"

namespace kdgat::decision {

/// Told of a flagged window.
inline constexpr std::size_t kReasons = 3;

/// By its name, or by the file alone that it was learned from, with its ending or without, where no
/// other has the same ("van-7" of "train_01/van-7.csv.gz"). Throws Error(kUsage) where there is
/// none.
const data::Vehicle& vehicle_named(const DetectorModel& model, const std::string& name);

/// Throws Error(kUsage) for options that a detector does not have, or that this one cannot follow.
void check_options(const DetectorModel& model, const std::string& file,
                   const ScoreOptions& options);

/// Of a DBC file, "" = none; what is passed over in it goes to the sink's log. Throws Error(kData),
/// and Error(kInterrupted) once the sink is cancelled: the file may be a pipe that nobody writes
/// to.
data::DbcNames read_names(const std::string& file, const JudgeSink& sink);

class LogScorer : public LogJudge {
 public:
  /// What another channel says of a window, in the units of the detector's scores; it is asked once
  /// for each window, in order. A window counts by the higher of the two.
  using Channel = std::function<float(const JudgedWindow&)>;

  /// All but the sink must outlive it. `file`: name of the log. `hash`: of the model's file, for
  /// alarms. `explanations`: null where none are asked for.
  LogScorer(const DetectorModel& model, const ScoreOptions& options, std::string file,
            std::string hash, JudgeSink sink, Explanations* explanations,
            const data::DbcNames& names, Channel channel = {});

  void add(const data::CanFrame& frame, bool restarts) override;
  void finish() override;
  void check(int64_t rows) const override;
  bool is_learning() const override { return watch_.is_listening(); }
  bool knows(uint32_t key) const override { return watch_.profile().find(key) != nullptr; }
  /// What was asked for is found: no more of the log is wanted.
  bool is_done() const { return explanations_ != nullptr && explanations_->is_done(); }

  /// Windows that were learned from.
  int64_t own() const { return watch_.is_listening() ? 0 : watch_.own(); }
  const WindowScorer& watch() const { return watch_; }

 private:
  void stop_if_cancelled() const;
  void tell(const JudgedWindow& judged);
  void tell_window(const JudgedWindow& window, bool is_flagged, bool is_of_channel,
                   const std::optional<Reasons>& reasons) const;
  void tell_vehicle() const;
  void tell_misfit() const;
  void tell_alarm(bool is_open);

  const DetectorModel& model_;
  std::string file_, hash_;
  JudgeSink sink_;
  Explanations* explanations_;
  Channel channel_;
  bool gives_reasons_, gives_frames_;
  double threshold_;
  AlarmStream stream_;
  BusFit fit_;
  const data::DbcNames& names_;
  WindowScorer watch_;
  data::LogProblems problems_;
  double begin_ = 0, end_ = 0;                       // of the alarm
  float explained_ = 0;                              // score of the window that ids_ are of
  std::vector<std::string> why_ids_, called_, why_;  // of its reasons
  int64_t rows_ = 0;
};

/// Adds how many there were.
StageResult with_alarms(StageResult result, int64_t alarms);

}  // namespace kdgat::decision
