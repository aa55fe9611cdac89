// DifficultySampler: what the curricula have in common, which is the difficulty in use and how it
// changes. How graphs are drawn by it, they say themselves. No files, no model.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/train/sampler.h"
#include "engine/train/sampling/draws.h"

namespace kdgat::train {

/// With difficulty_cache_update = N, at the start of every N-th epoch but the first the difficulty
/// becomes (rank of the difficulty given + rank of the score of the model in training) / 2. With
/// use_vgae_mining false it is random, and random again at those epochs.
class DifficultySampler : public Sampler {
 public:
  void prepare(int64_t epoch, const std::function<void()>& check) override;
  /// The difficulty in use.
  NamedTensors state() const override { return {{"difficulty", difficulty_}}; }
  /// A hash of the difficulties given.
  std::string identity() const override { return identity_; }

 protected:
  /// Difficulties `given` of `graphs`; `what` they are. `score` may be empty if it is never asked.
  /// Throws Error(kData) if some are missing or not finite.
  DifficultySampler(const SamplingOptions& options, int64_t max_epochs, std::vector<int64_t> graphs,
                    std::vector<double> given, const std::string& what, uint64_t seed,
                    DifficultyScore score);

  const SamplingOptions& options() const { return options_; }
  int64_t max_epochs() const { return max_epochs_; }
  const std::vector<int64_t>& graphs() const { return graphs_; }
  const std::vector<double>& given() const { return given_; }
  bool is_momentum() const { return options_.curriculum_schedule == "momentum"; }
  arrays::Random draws_of(int64_t epoch) const { return draws(seed_, epoch); }
  const double* difficulty() const { return difficulty_.const_data_ptr<double>(); }  ///< in use
  void say_when_scored(int64_t epoch, nlohmann::json& composition) const;

 private:
  /// Half the ranks of `scores`, half those of given().
  virtual std::vector<double> mixed(const std::vector<double>& scores) const = 0;
  void use(const std::vector<double>& values);

  SamplingOptions options_;
  int64_t max_epochs_;
  std::vector<int64_t> graphs_;
  std::vector<double> given_;
  uint64_t seed_;
  DifficultyScore score_;
  std::string identity_;
  at::Tensor difficulty_;  ///< double, on the CPU
};

}  // namespace kdgat::train
