// When the next of several may go, so that a rate holds in any stretch of time. Knows not what
// goes.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>

#include "pipeline/show/quantity.h"
#include "pipeline/system/subprocess.h"

namespace kdgat {

class Pacer {
 public:
  explicit Pacer(std::optional<Rate> rate) : rate_(rate) {}

  /// The past where it may go now.
  Deadline next() const {
    if (!rate_ || sent_.size() < static_cast<std::size_t>(rate_->count)) return Deadline::min();
    return sent_.front() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                               std::chrono::duration<double>(rate_->seconds));
  }
  void went() {
    if (!rate_) return;
    if (sent_.size() == static_cast<std::size_t>(rate_->count)) sent_.pop_front();
    sent_.push_back(std::chrono::steady_clock::now());
  }

 private:
  std::optional<Rate> rate_;
  std::deque<Deadline> sent_;
};

}  // namespace kdgat
