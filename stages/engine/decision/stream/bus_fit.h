// Whether a detector fits the bus that it scores. It does not where more than a twentieth of the
// windows is flagged in each of the last six stretches of ten seconds: an attack that goes on, or a
// car, or a way of driving, that the detector does not know. Scores can not say which.
#pragma once

#include <cstdint>

namespace kdgat::decision {

class BusFit {
 public:
  static constexpr double kStretch = 10;  ///< seconds
  static constexpr int kStretches = 6;
  static constexpr double kMostFlagged = 0.05;  ///< of the windows of a stretch

  /// The next window, which took so many seconds. True where it is the first that shows that the
  /// detector does not fit: it is said once.
  bool add(double seconds, bool is_flagged) {
    seconds_ += seconds;
    ++windows_;
    flagged_ += is_flagged ? 1 : 0;
    if (seconds_ < kStretch) return false;
    const bool is_odd =
        static_cast<double>(flagged_) > kMostFlagged * static_cast<double>(windows_);
    odd_ = is_odd ? odd_ + 1 : 0;
    seconds_ = 0;
    windows_ = flagged_ = 0;
    if (fits() || was_said_) return false;
    was_said_ = true;
    return true;
  }
  bool fits() const { return odd_ < kStretches; }

 private:
  double seconds_ = 0;  // of the stretch so far
  int64_t windows_ = 0, flagged_ = 0;
  int64_t odd_ = 0;  // stretches on end
  bool was_said_ = false;
};

}  // namespace kdgat::decision
