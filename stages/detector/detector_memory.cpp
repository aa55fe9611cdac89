#include "detector/detector_memory.h"

#include <algorithm>
#include <map>
#include <string>

#include "detector/frame_sample.h"
#include "engine/compare/baselines.h"
#include "engine/compare/plain_windows.h"
#include "engine/data/can/vehicles/learning_size.h"
#include "engine/data/can/windows/relative_windows.h"
#include "engine/decision/detector/reasons.h"
#include "engine/train/resources.h"
#include "engine/trees/bins.h"
#include "engine/trees/boosted_trees.h"
#include "engine/trees/split_search.h"
#include "kdgat/text.h"

namespace kdgat::detector {
namespace {

constexpr int64_t kFloat = sizeof(float), kInt = sizeof(int32_t), kLong = sizeof(int64_t);
constexpr int64_t kRow = kFloat * static_cast<int64_t>(data::kRelativeColumns);
constexpr int64_t kPlainRow = kFloat * static_cast<int64_t>(compare::kPlainColumns);
/// Of a row of a LearningSet: values, label, weight and score of the rule, fold and own windows,
/// flags; and beside it what CrossFit says of it, and whether it is left out, twice.
constexpr int64_t kLearned = kRow + kLong + 2 * kFloat + 2 * kInt + 4;
constexpr int64_t kCrossFit = 2 * kFloat + 2;
/// What is fitted gets of a row: values, label, weight.
constexpr int64_t kFitted = kRow + kLong + kFloat;
/// The model, its JSON, the profiles of vehicles, the result.
constexpr int64_t kBeside = int64_t{4} << 20;

struct Counts {
  int64_t logs = 0, windows = 0, frames = 0;
  int64_t longest_windows = 0, longest_frames = 0;  // of one log
  int64_t longest_heard = 0;                        // frames of a beginning
  int64_t ids = 0;                                  // most in the beginning of one

  void add(const data::StoredLog& log, const DetectorOptions& options) {
    const int64_t window = options.window;
    const int64_t own = data::own_windows_in(log, window, options.own_seconds);
    longest_heard = std::max(longest_heard, own * window);
    ++logs;
    frames += log.rows();
    windows += log.rows() / window;
    longest_frames = std::max(longest_frames, log.rows());
    longest_windows = std::max(longest_windows, log.rows() / window);
    constexpr int64_t kBeginning = 20'000;  // rows; ids that come later are rare
    if (log.trains()) ids = std::max(ids, std::ssize(log.benign_ids(kBeginning)));
  }
};

/// Of BoostedTrees::fit() on so many rows: codes of bins and numbers of rows; then either what a
/// column is binned by, in each thread, or scores and what a tree is grown by, drawn rows twice.
int64_t fit_bytes(int64_t rows, int64_t columns, int64_t leaves, int64_t threads) {
  const int64_t binning =
      std::min(threads, columns) * (kFloat + int64_t{sizeof(std::pair<float, double>)});
  constexpr int64_t growing = kLong + 1 + 2 * (kInt + int64_t{sizeof(trees::Gradient)});
  const int64_t histograms =
      leaves * columns * (trees::BinnedTable::kMostBins + 1) * int64_t{sizeof(trees::Bin)};
  return rows * (columns + kInt + std::max(binning, growing)) + histograms;
}

/// Of a ProfileBuilder: what each id keeps, and of those that are not rare the quantiles of gaps,
/// distances and surprises.
int64_t profile_bytes(int64_t frames, int64_t ids, int64_t with_rare) {
  constexpr int64_t kMostOfAnId = int64_t{3} * 4096 * kFloat, kOfAnId = 2048;
  with_rare = std::min<int64_t>(with_rare, data::ProfileBuilder::kMostIds);
  return with_rare * kOfAnId + std::min(3 * kFloat * frames, ids * kMostOfAnId);
}

/// Of data::inject(): frames as they were, twice, their times, rows by id and times of the bus;
/// those added; and all that come of it, in a vector that grows.
int64_t injection_bytes(int64_t attacked, int64_t added) {
  constexpr auto kFrame = int64_t{sizeof(data::CanFrame)};
  return attacked * (2 * kFrame + 4 * kLong) + added * (kLong + kFrame) +
         2 * (attacked + added) * kFrame;
}

/// The baselines: what they learn from, and the times of a log's ids or the trees.
int64_t baseline_bytes(const Counts& training, int64_t threads) {
  const double held_share = compare::BaselineOptions().val_fraction;
  const trees::BoostedTreesOptions trees;
  const auto held =
      static_cast<int64_t>(held_share * static_cast<double>(training.windows)) + training.logs;
  const int64_t learned = training.windows - held + training.logs;
  const int64_t fitting = learned * (2 * kPlainRow + kLong) + held * (kPlainRow + kLong);
  constexpr auto columns = static_cast<int64_t>(compare::kPlainColumns);
  return std::max(kLong * training.longest_frames,
                  fitting + std::max((kPlainRow + kLong) * training.longest_windows,
                                     fit_bytes(learned, columns, trees.max_leaves, threads)));
}

/// Judged windows of all test logs, and what the longest of them, or figures of all, need beside
/// it.
int64_t judging_bytes(const Counts& tests, const DetectorOptions& options) {
  const int64_t methods = 2 + (options.baselines ? compare::baseline_count() : 1);
  constexpr int64_t kOfWindow = 6 * kLong + kInt + 1;
  constexpr int64_t kOfFigures = 5 * kLong;      // a curve, its order, scores and labels
  constexpr int64_t kOfLine = 256;               // of windows.csv, or of the axis of a picture
  constexpr int64_t kOfLog = int64_t{32} << 10;  // its figures by every method, as JSON
  const int64_t of_log = tests.longest_windows * (kPlainRow + kLong + 4 * kFloat + kOfLine) +
                         2 * tests.longest_heard * int64_t{sizeof(decision::LogRow)};
  return tests.windows * (kOfWindow + methods * kFloat) + tests.logs * methods * kOfLog / 9 +
         std::max(of_log, tests.windows * kOfFigures);
}

/// Without what would make it smaller.
memory::Footprint counted(std::span<const data::StoredLog> logs, const DetectorOptions& options,
                          int64_t ids, int64_t threads) {
  std::vector<data::StoredLog> training;
  Counts of_training, of_tests;
  for (const data::StoredLog& log : logs) {
    (log.trains() ? of_training : of_tests).add(log, options);
    if (log.trains()) training.push_back(log);
  }
  const data::LearningSize size = data::learning_size(training, options.window, options);
  constexpr auto columns = static_cast<int64_t>(data::kRelativeColumns);
  const int64_t clocks =
      options.monotonic ? kLong * (of_training.frames + of_tests.frames) : int64_t{0};
  memory::Footprint out;
  out.margin = 0.1;
  out.whole = "training on " + grouped(size.windows) + " windows";
  const auto phase = [&](const char* name, int64_t bytes) {
    out.phases.push_back({name, {static_cast<double>(kBeside + clocks + bytes), 0, 0, 0}});
  };
  const int64_t of_frames = FrameSample::rows_of(size.rows, options.window);
  const int64_t sampled = of_frames * (kFloat * FrameSample::columns() + kLong + kFloat);
  phase("windows and injected attacks",
        size.rows * kLearned + size.held * kRow + sampled +
            std::max(injection_bytes(size.attacked_frames, size.added_frames),
                     profile_bytes(of_training.frames, of_training.ids, ids)));
  phase("trees",
        size.rows * (kLearned + kCrossFit + kFitted) + size.held * (2 * kRow + 2 * kFloat) +
            sampled +
            std::max(fit_bytes(size.rows, columns, options.leaves, threads),
                     fit_bytes(of_frames, FrameSample::columns(), FrameSample::leaves(), threads)));
  if (options.baselines) phase("baselines", baseline_bytes(of_training, threads));
  phase("judging", judging_bytes(of_tests, options));
  return out;
}

std::string line_of(const memory::MemoryPlan& plan) {
  const auto mb = [](int64_t bytes) {
    constexpr double kMiB = 1 << 20;
    return format_number("%.1fMB", static_cast<double>(bytes) / kMiB);
  };
  return "MemoryBudget(total=" + mb(plan.device.total) + " static=" + mb(plan.device.context) +
         " step=" + mb(plan.predicted) + " [" + plan.footprint.largest({}).name +
         "] available=" + mb(plan.available) + " mode=" + plan.footprint.mode + ")";
}

}  // namespace

memory::Footprint memory_footprint(std::span<const data::StoredLog> logs,
                                   const DetectorOptions& options, int64_t ids, int64_t threads) {
  memory::Footprint out = counted(logs, options, ids, threads);
  const auto offer = [&](const std::string& text, const DetectorOptions& other) {
    out.alternatives.push_back({text, counted(logs, other, ids, threads)});
  };
  DetectorOptions less = options;
  less.baselines = false;
  if (options.baselines) offer("baselines=false", less);
  less = options;
  less.forgotten = 0;
  if (options.forgotten > 0) offer("forgotten=0", less);
  constexpr int64_t kFewest = 1000;  // of the option
  int64_t windows = 0;
  for (const data::StoredLog& log : logs) windows += log.trains() ? log.rows() / options.window : 0;
  less = options;
  less.most_windows = std::max(kFewest, std::min(windows, options.most_windows) / 4);
  offer("most_windows=" + std::to_string(less.most_windows), less);
  return out;
}

nlohmann::json planned_memory(std::span<const data::StoredLog> logs, int64_t ids,
                              const DetectorOptions& options, const Request& request) {
  Request here = request;
  here.device = "cpu";
  here.memory.device.clear();
  train::TrainOptions whole;  // nothing is divided into batches
  whole.batch_size = 1;
  whole.min_steps_per_epoch = 1;
  const memory::MemoryPlan plan = train::plan_memory(
      whole, memory_footprint(logs, options, ids, request.threads), {{"graphs", 1}}, here);
  nlohmann::json out = plan.json();
  for (const char* of_batches : {"batch", "bounds", "binds", "packs", "min_packs", "steps"}) {
    out.erase(of_batches);
  }
  out["table"] = {{"context", plan.device.context}, {"step", plan.predicted}};
  out["line"] = line_of(plan);
  return out;
}

}  // namespace kdgat::detector
