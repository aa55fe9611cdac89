// Windows of training logs as a model is to see them: relative to a profile of other drives of the
// vehicle and to those of a log's own beginning, as they are and with attacks injected. What
// becomes of a window is for the caller; which ones there are is in learning_size.h.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/data/can/vehicles/learning_options.h"
#include "engine/data/can/vehicles/stored_log.h"
#include "engine/data/can/windows/relative_windows.h"

namespace kdgat::data {

/// Folds are vehicles, every kFolds-th together; of a single vehicle its logs likewise; of a single
/// log its halves.
inline constexpr int32_t kFolds = 8;

/// Where a window that is learned from comes from.
struct SeenWindow {
  std::size_t log = 0;  ///< place among the training logs
  /// Rows of the log that it was made of, and where attacks were injected maybe some more.
  int64_t row = 0, end = 0;
  int32_t fold = 0;
  /// Most windows of the log's own beginning that the profile was learned from, an option; 0: of
  /// other drives.
  int32_t own = 0;
  bool is_forgetful = false;  ///< seen against a profile that forgot
  bool is_shadow = false;     ///< benign, right behind an attack
  bool begins = false;        ///< is no window behind the one that was given before it
  int8_t kind = -1;           ///< of injected attacks: place in LearningOptions::inject; else -1
};

/// Takes the windows of one stretch of frames, each relative to one profile.
class WindowTaker {
 public:
  virtual ~WindowTaker() = default;

  /// The next frame; `restarts`: it begins another capture.
  virtual void add(const CanFrame& frame, bool restarts) = 0;
  /// A window is complete; only of those that are learned from does `seen` say where it is from.
  virtual void take(const RelativeWindows& windows, const SeenWindow* seen) = 0;
};

/// For the stretch that comes next; the profile outlives what it gives.
using BeginWindows = std::function<std::unique_ptr<WindowTaker>(const VehicleProfile&)>;

/// Gives the windows of one log after another. All that it is made of outlives it.
class WindowLearner {
 public:
  /// `logs`: of training, in groups by vehicle. `window`: frames of one. `with_steps`: profiles
  /// have them, for graphs. Throws Error(kData) where no log has two ids.
  WindowLearner(std::span<const StoredLog> logs,
                const std::vector<std::vector<std::size_t>>& vehicles, int64_t window,
                const LearningOptions& options, int64_t seed, BeginWindows begin,
                bool with_steps = false);
  ~WindowLearner();

  /// The same for the same seed and the same logs ahead of it.
  void learn(std::size_t log);

 private:
  class Learner;
  std::unique_ptr<Learner> learner_;
};

}  // namespace kdgat::data
