// CachePolicy: when memory that the allocator keeps for reuse is given back. Cache carries a policy
// out for one stage and counts what it cost.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kdgat/error.h"

namespace kdgat::memory {

class MemoryMeter;

struct CachePolicy {
  bool epoch = false, chunk = false, checkpoint = false, stage = false;
  bool automatic = false;         ///< stage ends, checkpoints, and when fragmented with little free
  int64_t every = 0;              ///< steps; 0 = not by steps
  double fragmentation = 0;       ///< reserved over allocated at the peak, above which; 0 = never
  int64_t synchronize_every = 0;  ///< steps

  /// What parse() takes, as choices of an option.
  static std::vector<std::string> choices() {
    return {"never", "auto",    "epoch",   "chunk",          "checkpoint",
            "stage", "hygiene", "every:N", "fragmentation:P"};
  }
  /// `words`: never, every:N, epoch, chunk, checkpoint, stage, fragmentation:P, auto, hygiene (=
  /// every:5, checkpoint, epoch and synchronize_every 20). Adds to `problems` what is wrong.
  static CachePolicy parse(const std::vector<std::string>& words,
                           std::vector<Diagnostic>& problems);
};

class Cache {
 public:
  /// `note` is told each release of `auto` and `fragmentation`. The meter outlives the cache.
  Cache(MemoryMeter& meter, const CachePolicy& policy,
        std::function<void(const std::string&)> note = {});

  /// After each optimiser step, counted from 1; resets nothing.
  void after_step(int64_t step);
  /// At the end of each epoch.
  void after_epoch();
  /// Between two chunks of scoring.
  void after_chunk();
  void after_checkpoint();
  void after_stage();
  /// Whatever the policy says, e.g. out of memory.
  void release();

  /// {"releases", "released_bytes", "release_seconds"}
  nlohmann::json totals() const;

 private:
  void release_if_fragmented();

  MemoryMeter& meter_;
  CachePolicy policy_;
  std::function<void(const std::string&)> note_;
  int64_t releases_ = 0, bytes_ = 0;
  int64_t looked_at_ = 0;  ///< reserved bytes when it was last asked what is free
  double seconds_ = 0;
};

}  // namespace kdgat::memory
