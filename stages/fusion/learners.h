// How a fusion learns: one episode at a time, from states computed before. Each learner owns its
// optimizer and memory and borrows the net. Everything runs on the CPU: the nets are small.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>

#include "engine/model/networks/fusion_net.h"
#include "fusion/fusion_options.h"

namespace kdgat::fusion {

/// G graphs with their labels, 1 attack and 0 benign.
struct States {
  at::Tensor x_GS;
  at::Tensor y_G;  ///< int64
};

class Learner {
 public:
  virtual ~Learner() = default;

  /// Learns from the rows `rows` (int64) of the training states; the net then scores as learned so
  /// far. Numbers for people: {"reward"} of what was decided, or {"train_loss"}.
  virtual nlohmann::json episode(const at::Tensor& rows) = 0;
};

/// None for weighted, which learns nothing. `states` are kept; random numbers are a function of
/// `seed` alone.
std::unique_ptr<Learner> make_learner(const FusionOptions& options, model::FusionNet net,
                                      const States& states, uint64_t seed);

}  // namespace kdgat::fusion
