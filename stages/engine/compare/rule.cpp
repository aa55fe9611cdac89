#include "engine/compare/rule.h"

#include <algorithm>

namespace kdgat::compare {

bool RuleWindows::add(const data::CanFrame& frame) {
  constexpr float kUnknown = 2;
  if (const data::IdProfile* usual = profile_.find(frame.key()); usual == nullptr) {
    largest_ = kUnknown;
  } else {
    const auto [last, is_first] = last_.try_emplace(frame.key(), frame.time);
    if (!is_first && usual->period > 0) {
      const double gap = std::max(0.0, frame.time - last->second) / usual->period;
      largest_ = std::max(largest_, static_cast<float>(1 - gap));  // a NaN is smaller
      last->second = frame.time;
    }
  }
  if (++count_ % size_ != 0) return false;
  odd_ = largest_;
  largest_ = 0;
  return true;
}

std::vector<float> rule_scores(const data::StoredLog& log, const data::VehicleProfile& profile,
                               int64_t window) {
  std::vector<float> out;
  RuleWindows rule(profile, window);
  for (int64_t row = 0; row < log.rows(); ++row) {
    if (log.restarts(row)) rule.restart();
    if (rule.add(log.frame(row))) out.push_back(rule.odd());
  }
  return out;
}

}  // namespace kdgat::compare
