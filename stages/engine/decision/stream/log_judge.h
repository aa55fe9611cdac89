// LogJudge: a model on one log, frame by frame, whatever kind of model it is. What it finds goes to
// a JudgeSink.
#pragma once

#include <cstdint>

#include "engine/data/can/frames/can_frame.h"

namespace kdgat::decision {

class LogJudge {
 public:
  LogJudge() = default;
  LogJudge(const LogJudge&) = delete;
  LogJudge& operator=(const LogJudge&) = delete;
  virtual ~LogJudge() = default;

  /// The next frame; `restarts`: it begins another capture.
  virtual void add(const data::CanFrame& frame, bool restarts) = 0;
  /// The log has ended: what is left is judged, and an alarm that is open is over.
  virtual void finish() = 0;
  /// After finish(): warns where nothing was decided. Throws Error(kData) for a log of `rows` rows
  /// that fills no window.
  virtual void check(int64_t rows) const = 0;
  /// Whether it still learns what is usual, and decides nothing.
  virtual bool is_learning() const = 0;

  /// Whether the model, or what was learned of the bus, knows a sender by CanFrame::key(). Not
  /// while it learns.
  virtual bool knows(uint32_t key) const = 0;

  int64_t windows() const { return windows_; }  ///< judged, those learned from included
  int64_t flagged() const { return flagged_; }
  int64_t alarms() const { return alarms_; }
  float last_score() const { return last_score_; }  ///< of the last window
  int64_t ids() const { return ids_; }              ///< distinct, of the last window
  bool is_missing() const { return is_missing_; }   ///< an id is, in the last window
  bool fits() const { return fits_; }               ///< see bus_fit.h

 protected:
  int64_t windows_ = 0, flagged_ = 0, alarms_ = 0, ids_ = 0;
  float last_score_ = 0;
  bool is_missing_ = false;
  bool fits_ = true;
};

}  // namespace kdgat::decision
