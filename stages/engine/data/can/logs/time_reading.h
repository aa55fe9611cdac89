// TimeReading: the times of a log as seconds, whatever unit its writer had, and the one check
// whether they can be times of frames at all. For every form of log.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "engine/data/can/logs/log_reading.h"
#include "engine/data/core/note.h"

namespace kdgat::data {

/// Whether numbers at the beginning of a log are gaps between frames: too close to each other for
/// times, or falling about as often as they rise.
bool look_like_gaps(std::span<const double> times);

class TimeReading {
 public:
  TimeReading() = default;
  /// `are_gaps`: what the log itself looks like. `units_a_second`: of a log that says it, else 0.
  TimeReading(const LogReading& options, bool are_gaps, double units_a_second);

  /// Seconds. NaN stays NaN.
  double seconds(double time) {
    if (std::isnan(time)) return time;
    if (divisor_ == 0) choose_unit(time);
    if (divisor_ != 1) time /= divisor_;
    if (are_gaps_) time = sum_ += time;
    const double step = time - last_;
    ++(step > 0 ? rises_ : step < 0 ? falls_ : stays_);
    last_ = time;
    if (first_.size() < kChecked) first_.push_back(time);
    return time;
  }

  /// What is said of the times so far: how they are read, and what they cannot be.
  Notes notes(const std::string& log) const;

 private:
  static constexpr std::size_t kChecked = 1000;
  void choose_unit(double time);
  std::string doubt() const;

  double divisor_ = 1;
  bool are_gaps_ = false, are_gaps_by_look_ = false;
  const char* unit_ = nullptr;  // chosen by the number of digits
  double sum_ = 0, last_ = -std::numeric_limits<double>::infinity();
  int64_t rises_ = 0, falls_ = 0, stays_ = 0;
  std::vector<double> first_;
};

}  // namespace kdgat::data
