#include "pipeline/show/chart_scale.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kdgat/text.h"
#include "pipeline/show/text.h"

namespace kdgat {
namespace {

constexpr double kMiB = 1 << 20, kGiB = 1 << 30;

/// The distance between ticks, of 1, 2 or 5 times a power of ten, for about `wanted` of them.
double tick_step(double range, int wanted) {
  const double rough = range / wanted;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double step : {1.0, 2.0, 5.0}) {
    if (rough <= step * power * (1 + 1e-9)) return step * power;
  }
  return 10 * power;
}

}  // namespace

ChartScale::ChartScale(const Axis& axis, const std::vector<double>& values, int wanted,
                       bool is_rounded)
    : axis_(axis) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  low_ = axis.from.value_or(*least);
  high_ = axis.to.value_or(*most);
  is_log_ = low_ > 0 && (axis.scale == Axis::Scale::kLog ||
                         (axis.scale == Axis::Scale::kByValues && high_ / kWideSpan > low_));
  title = axis.title;
  if (is_log_) {
    by_powers();
  } else {
    evenly(wanted, is_rounded);
  }
}

double ChartScale::at(double value) const {
  const double share = is_log_
                           ? (std::log(value) - std::log(low_)) / (std::log(high_) - std::log(low_))
                           : (value - low_) / (high_ - low_);
  return std::clamp(share, -0.01, 1.01);
}

bool ChartScale::has(double value) const { return std::isfinite(value) && (!is_log_ || value > 0); }

std::string ChartScale::words(double value) const {
  if (axis_.ticks == Axis::Ticks::kBytes) {
    return format_bytes(static_cast<uint64_t>(std::max(0.0, value)));
  }
  return short_number(value);
}

void ChartScale::evenly(int wanted, bool is_rounded) {
  const bool is_bytes = axis_.ticks == Axis::Ticks::kBytes;
  const bool is_whole = axis_.ticks == Axis::Ticks::kWhole;
  if (!axis_.from && is_rounded && low_ > 0 && low_ < 0.6 * high_) low_ = 0;
  if (is_bytes) low_ = 0;
  if (!(high_ > low_)) {
    const double some = is_whole ? 0.5 : std::max(std::abs(low_) * 0.1, is_bytes ? kMiB : 1e-3);
    if (!is_bytes && !axis_.from) low_ -= some;
    if (!axis_.to || !(high_ > low_)) high_ += some;
  }
  const double unit = !is_bytes ? 1 : high_ >= 2 * kGiB ? kGiB : kMiB;
  if (is_bytes) title += (title.empty() ? "" : ", ") + std::string(unit == kGiB ? "GiB" : "MiB");
  double step = tick_step((high_ - low_) / unit, wanted) * unit;
  if (is_whole) step = std::max(1.0, std::round(step));
  if (is_rounded) {
    if (!axis_.from) low_ = std::floor(low_ / step + 1e-9) * step;
    if (!axis_.to) high_ = std::ceil(high_ / step - 1e-9) * step;
  }
  const auto first = static_cast<int64_t>(std::ceil(low_ / step - 1e-9));
  const auto last = static_cast<int64_t>(std::floor(high_ / step + 1e-9));
  for (int64_t k = first; k <= last; ++k) {
    const double value = static_cast<double>(k) * step;
    ticks.push_back({at(value), short_number(value / unit)});
  }
}

void ChartScale::by_powers() {
  constexpr double kMostDecades = 6, kFewDecades = 2;
  const auto power = [](double value) { return std::pow(10, std::floor(std::log10(value))); };
  const double least = low_, most = high_;
  low_ = power(least);
  for (const double step : {2.0, 5.0}) {
    if (!axis_.from && step * power(least) <= least) low_ = step * power(least);
  }
  high_ = 10 * power(most);
  for (const double step : {5.0, 2.0, 1.0}) {
    if (!axis_.to && step * power(most) >= most) high_ = step * power(most);
  }
  if (axis_.from) low_ = least;
  if (axis_.to) high_ = most;
  const double decades = std::log10(high_) - std::log10(low_);
  const int every = std::max(1, static_cast<int>(std::ceil(decades / kMostDecades)));
  const auto exponent = [](double value) {
    return static_cast<int>(std::floor(std::log10(value)));
  };
  const int first = exponent(low_), last = exponent(high_ * (1 + 1e-9));
  for (int k = first; k <= last; ++k) {
    for (const double step : {1.0, 2.0, 5.0}) {
      const double value = step * std::pow(10, k);
      const bool is_wanted = step == 1 ? (k - first) % every == 0 : decades <= kFewDecades;
      if (!is_wanted || value < low_ * (1 - 1e-9) || value > high_ * (1 + 1e-9)) continue;
      ticks.push_back({at(value), short_number(value)});
    }
  }
  title += (title.empty() ? "" : ", ") + std::string("logarithmic");
}

}  // namespace kdgat
