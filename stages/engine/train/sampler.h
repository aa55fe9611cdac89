// Sampler: which graphs an epoch trains on, where that is not simply all of them.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/train/optimizer.h"

namespace kdgat::train {

/// One is made for a run and asked epoch after epoch, counted from 0. So that a run continued in
/// the middle of an epoch draws the graphs it drew before, draw() depends only on the constructor's
/// arguments, the epoch and state().
class Sampler {
 public:
  virtual ~Sampler() = default;

  /// At the start of an epoch, before its first step: the time to look at the model (in eval mode,
  /// gradients off) and to change the state. To be called now and then: `check` throws when the run
  /// is cancelled; the state must then be as it was.
  virtual void prepare(int64_t epoch, const std::function<void()>& check) {
    static_cast<void>(epoch);
    static_cast<void>(check);
  }
  /// Graph ids of the epoch, at least one; their order does not matter. `composition` receives what
  /// the journal says of them.
  virtual std::vector<int64_t> draw(int64_t epoch, nlohmann::json& composition) = 0;
  /// Names what the constructor was given beside the options of the run; a checkpoint of another is
  /// not continued.
  virtual std::string identity() const { return ""; }
  /// Tensors of fixed shapes, kept in checkpoints and filled in place when a run is continued.
  virtual NamedTensors state() const { return {}; }
};

}  // namespace kdgat::train
