#include "detector/frame_sample.h"

#include <algorithm>
#include <set>

#include "engine/data/can/windows/frame_columns.h"
#include "engine/trees/table.h"

namespace kdgat::detector {
namespace {

constexpr int64_t kTrees = 100, kLeaves = 24, kLeastRows = 200;
constexpr double kLearningRate = 0.15;
/// Of frames of ids that nobody forges, which are easy, one in so many is kept.
constexpr int kThinned = 5;

}  // namespace

FrameSample::FrameSample(int64_t windows, int64_t size)
    : every_(std::max<int64_t>(1, windows * size / (2 * kMost))) {
  // Vectors that grow hold what they held twice for a moment; what is not filled takes no memory.
  const auto rows = static_cast<std::size_t>(rows_of(windows, size));
  values_.reserve(rows * static_cast<std::size_t>(columns()));
  labels_.reserve(rows);
  weights_.reserve(rows);
}

void FrameSample::add(const data::RelativeWindows& windows) {
  if (!windows.window().attack || !windows.window().is_labelled) return;
  const auto frames = windows.frames();
  if (std::all_of(frames.begin(), frames.end(), [](const auto& one) { return one.attack; })) return;
  if (given_++ % every_ != 0) return;
  std::set<uint32_t> attacked;
  for (const data::ComparedFrame& frame : frames) {
    if (frame.attack) attacked.insert(frame.key);
  }
  const std::vector<float> values = windows.frame_columns();
  const auto width = static_cast<std::size_t>(columns());
  for (std::size_t i = 0; i < frames.size() && this->frames() < kMost; ++i) {
    const bool is_hard = attacked.contains(frames[i].key);
    if (!is_hard && i % kThinned != 0) continue;
    const auto from = values.begin() + static_cast<std::ptrdiff_t>(i * width);
    values_.insert(values_.end(), from, from + static_cast<std::ptrdiff_t>(width));
    labels_.push_back(frames[i].attack ? 1 : 0);
    weights_.push_back(is_hard ? 1 : kThinned);
  }
}

std::optional<decision::FrameTrees> FrameSample::fit(int64_t seed, int64_t threads) const {
  if (frames() < kLeastRows) return {};
  trees::BoostedTreesOptions how;
  how.trees = kTrees;
  how.max_leaves = kLeaves;
  how.learning_rate = kLearningRate;
  how.row_fraction = 0.8;
  how.column_fraction = 0.5;
  how.monotone = data::frame_column_order();
  how.seed = seed;
  how.threads = threads;
  return decision::FrameTrees(
      trees::BoostedTrees::fit({values_, columns(), labels_, weights_}, how));
}

int64_t FrameSample::rows_of(int64_t windows, int64_t size) {
  // Not all windows are attacked, and of most of their frames one in kThinned is kept.
  constexpr double kKept = 0.35;
  return static_cast<int64_t>(kKept * static_cast<double>(std::min(2 * kMost, windows * size)));
}
int64_t FrameSample::columns() { return std::ssize(data::frame_column_order()); }
int64_t FrameSample::leaves() { return kLeaves; }

}  // namespace kdgat::detector
