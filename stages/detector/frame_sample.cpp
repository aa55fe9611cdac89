#include "detector/frame_sample.h"

#include <algorithm>

#include "engine/data/can/windows/frame_columns.h"
#include "engine/trees/table.h"

namespace kdgat::detector {
namespace {

constexpr int64_t kTrees = 100, kLeaves = 24, kLeastRows = 200;
constexpr double kLearningRate = 0.15;

}  // namespace

FrameSample::FrameSample(int64_t windows, int64_t size)
    : every_(std::max<int64_t>(1, windows * size / kMost)) {}

void FrameSample::add(const data::RelativeWindows& windows) {
  if (!windows.window().attack || !windows.window().is_labelled) return;
  const auto frames = windows.frames();
  if (std::all_of(frames.begin(), frames.end(), [](const auto& one) { return one.attack; })) return;
  if (given_++ % every_ != 0 || this->frames() + std::ssize(frames) > kMost) return;
  const std::vector<float> columns = windows.frame_columns();
  values_.insert(values_.end(), columns.begin(), columns.end());
  for (const data::ComparedFrame& frame : frames) labels_.push_back(frame.attack ? 1 : 0);
}

std::optional<decision::FrameTrees> FrameSample::fit(int64_t seed, int64_t threads) const {
  if (frames() < kLeastRows) return {};
  trees::BoostedTreesOptions how;
  how.trees = kTrees;
  how.max_leaves = kLeaves;
  how.learning_rate = kLearningRate;
  how.row_fraction = 0.8;
  how.column_fraction = 0.7;
  how.monotone = data::frame_column_order();
  how.seed = seed;
  how.threads = threads;
  const std::vector<float> weights(labels_.size(), 1);
  return decision::FrameTrees(
      trees::BoostedTrees::fit({values_, columns(), labels_, weights}, how));
}

int64_t FrameSample::rows_of(int64_t windows, int64_t size) {
  return std::min(kMost, windows * size);
}
int64_t FrameSample::columns() { return std::ssize(data::frame_column_order()); }
int64_t FrameSample::leaves() { return kLeaves; }

}  // namespace kdgat::detector
