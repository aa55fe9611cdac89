#include "engine/data/can/logs/time_reading.h"

#include <algorithm>
#include <array>

namespace kdgat::data {
namespace {

constexpr std::size_t kFewestGaps = 20;
constexpr double kShortestGap = 10e-6, kLongestGap = 1, kNeverAGap = 1000;
constexpr double kYear2100 = 4102444800;

struct TimeUnit {
  const char* option;
  const char* name;
  double in_a_second;
  double least;  ///< times since 1970 in this unit begin here, from 2001 on
};
constexpr std::array kTimeUnits = {
    TimeUnit{"s", "seconds", 1, 1e9}, TimeUnit{"ms", "milliseconds", 1e3, 1e12},
    TimeUnit{"us", "microseconds", 1e6, 1e15}, TimeUnit{"ns", "nanoseconds", 1e9, 1e18}};

/// The median of the gaps that are not 0, forward or back; 0 without one.
double median_gap(std::span<const double> times) {
  std::vector<double> gaps;
  for (std::size_t i = 1; i < times.size(); ++i) {
    if (const double gap = std::abs(times[i] - times[i - 1]); gap > 0) gaps.push_back(gap);
  }
  if (gaps.empty()) return 0;
  const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
  std::nth_element(gaps.begin(), middle, gaps.end());
  return *middle;
}

}  // namespace

bool look_like_gaps(std::span<const double> times) {
  if (times.size() <= kFewestGaps) return false;
  std::ptrdiff_t falls = 0, rises = 0;
  for (std::size_t i = 1; i < times.size(); ++i) {
    falls += times[i] < times[i - 1] ? 1 : 0;
    rises += times[i] > times[i - 1] ? 1 : 0;
  }
  if (*std::min_element(times.begin(), times.end()) < 0) return false;
  const double median = median_gap(times);
  return 3 * falls > rises || (median > 0 && median < kShortestGap);
}

TimeReading::TimeReading(const LogReading& options, bool are_gaps, double units_a_second)
    : divisor_(units_a_second) {
  for (const TimeUnit& unit : kTimeUnits) {
    if (options.time_unit == unit.option) divisor_ = unit.in_a_second;
  }
  are_gaps_by_look_ = are_gaps && options.times == "auto";
  are_gaps_ = are_gaps_by_look_ || options.times == "delta";
  if (are_gaps_ && divisor_ == 0) divisor_ = 1;
  first_.reserve(kChecked);
}

/// By the first time of the log: no clock of seconds since 1970 has so many digits.
void TimeReading::choose_unit(double time) {
  divisor_ = 1;
  for (const TimeUnit& unit : kTimeUnits) {
    constexpr double kOneDigit = 10;
    if (unit.in_a_second > 1 && time >= unit.least && time < kOneDigit * unit.least) {
      divisor_ = unit.in_a_second;
      unit_ = unit.name;
    }
  }
}

std::string TimeReading::doubt() const {
  if (last_ > kYear2100) return "the times go beyond the year 2100";
  const auto gaps = static_cast<std::size_t>(rises_ + falls_ + stays_);  // and the first frame
  const double median = median_gap(first_);
  if (gaps > 2 && median > kNeverAGap) return "frames are more than 1,000 s apart";
  if (gaps <= kFewestGaps) return "";
  if (rises_ == 1 && falls_ == 0) return "all times are the same";
  if (3 * falls_ > rises_) return "times fall about as often as they rise";
  if (median < kShortestGap) return "half of all frames are less than 10 us apart";
  return median > kLongestGap ? "half of all frames are more than 1 s apart" : "";
}

Notes TimeReading::notes(const std::string& log) const {
  Notes out;
  if (unit_ != nullptr) {
    out.push_back({log, std::string("times are read as ") + unit_ + " since 1970",
                   reading_option("time_unit", "s") + " reads them as seconds"});
  }
  if (are_gaps_by_look_) {
    out.push_back({log, "times are read as gaps between frames, as candump -td writes them",
                   reading_option("times", "absolute") + " reads them as times"});
  }
  if (const std::string what = doubt(); !what.empty()) {
    out.push_back({log,
                   what + ": gaps (--times delta), milliseconds (--time-unit ms) or microseconds "
                          "(--time-unit us)?",
                   "in a profile data.times and data.time_unit"});
  }
  return out;
}

}  // namespace kdgat::data
