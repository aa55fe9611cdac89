// FrameSample: frames of windows under attack, with their labels, for decision::FrameTrees.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/data/can/windows/relative_windows.h"
#include "engine/decision/detector/frame_trees.h"

namespace kdgat::detector {

class FrameSample {
 public:
  /// Frames that are kept, at most.
  static constexpr int64_t kMost = 100'000;

  /// `windows`: how many are given, about; `size`: frames of one.
  explicit FrameSample(int64_t windows = 0, int64_t size = 1);

  /// Takes one in so many windows in which some frames are labelled as attack and others are not:
  /// of one that is attacked from end to end labels do not say which frames it is. All frames of
  /// the ids that are attacked, and some others.
  void add(const data::RelativeWindows& windows);

  int64_t frames() const { return static_cast<int64_t>(labels_.size()); }
  /// None of fewer frames than trees can learn from.
  std::optional<decision::FrameTrees> fit(int64_t seed, int64_t threads) const;

  /// What is kept and fitted of so many windows, about.
  static int64_t rows_of(int64_t windows, int64_t size);
  static int64_t columns();
  static int64_t leaves();

 private:
  int64_t every_;
  int64_t given_ = 0;  // windows
  std::vector<float> values_;
  std::vector<int64_t> labels_;
  std::vector<float> weights_;
};

}  // namespace kdgat::detector
