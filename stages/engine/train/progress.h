// Progress: how far a training is, which epoch was its best, and the checkpoint that keeps both.
// The one rule of every loop for when it is over, what it says when it is left, and what it
// continues.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "engine/train/checkpoint.h"
#include "kdgat/stage.h"

namespace kdgat::train {

/// Tells whoever watches; `level` is "info" or "warning".
using Log = std::function<void(const std::string& level, const std::string& message)>;

/// The log of a host that outlives it; null = nobody listens.
Log log_of(const Host* host);

class Progress {
 public:
  /// `checkpoint`: file to continue from if it is there and to write; empty = none. `identity`:
  /// what results depend on beside the seed.
  Progress(std::filesystem::path checkpoint, std::string identity, uint64_t seed)
      : checkpoint_(std::move(checkpoint)), identity_(std::move(identity)), seed_(seed) {}

  int64_t epoch = 0;                               ///< epochs completed
  int64_t step = 0;                                ///< steps done
  int64_t standing = 0;                            ///< epochs evaluated since the best
  int64_t best_epoch = 0;                          ///< counted from 1; 0 = none was evaluated
  nlohmann::json best = nlohmann::json::object();  ///< its metrics

  /// Whether another epoch is to be trained.
  bool goes_on(int64_t max_epochs, int64_t patience) const {
    return epoch < max_epochs && standing < patience;
  }
  /// Judges the epoch just completed: it is the best if it is the first, or `is_better`; then true.
  bool judge(const nlohmann::json& metrics, bool is_better);
  /// Throws Error(kStageFailed) with the place and the hint.
  void check_finite(double value, const std::string& name, const std::string& hint) const;
  /// Ends the training with `code`; where there is one, the checkpoint has been written.
  [[noreturn]] void leave(ExitCode code) const;

  bool has_checkpoint() const { return !checkpoint_.empty(); }
  /// Whether the last checkpoint, or the start, is so long ago.
  bool is_due(double seconds) const;
  /// Writes tensors, progress and `more`, what else the loop is in the middle of. With a writer the
  /// loop goes on meanwhile.
  void save(const NamedTensors& tensors, const nlohmann::json& more,
            CheckpointWriter* writer = nullptr);
  int64_t saves() const { return saves_; }               ///< in this process
  double save_seconds() const { return save_seconds_; }  ///< for which training stood still

  /// What the checkpoint says, whatever it is of; nothing if there is none. Throws Error(kData) if
  /// it is damaged.
  std::optional<nlohmann::json> read() const;
  /// Goes on where `state` stands, and true. False with a warning if it is of another identity or
  /// seed: then training starts over, and the file stays until the next checkpoint replaces it.
  bool resume(const nlohmann::json& state, const Log& log);
  /// Copies the checkpoint's tensors into `tensors`, as load_checkpoint().
  void load(const NamedTensors& tensors) const { load_checkpoint(checkpoint_, tensors); }

 private:
  std::string place(const char* before_step) const;

  std::filesystem::path checkpoint_;
  std::string identity_;
  uint64_t seed_;
  std::chrono::steady_clock::time_point saved_ = std::chrono::steady_clock::now();
  int64_t saves_ = 0;
  double save_seconds_ = 0;
};

}  // namespace kdgat::train
