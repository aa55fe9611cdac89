// What follows the states of nodes: the score of a user and an item, the head that makes a rating
// of it, and the losses on pairs with their gradients. Owns nothing.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "engine/graph/noise_key.h"

namespace kdgat::ratings {

class SageNet;

inline constexpr int64_t kHeadUnits = 16;

/// Pairs by node (an item is users + its number). `negative` may be empty.
struct RatedPairs {
  std::span<const int32_t> user, item, negative;
  std::span<const float> rating;
};

/// mse_weight mean (prediction - rating)^2 - bpr_weight mean ln(sigmoid(s+ - s-) + 1e-10) (Rendle
/// et al., 2009), s with b_item. With `clamp` predictions are clamped to [low, high] first, which
/// has no gradient outside.
struct PairLoss {
  double mse_weight = 1, bpr_weight = 0;
  bool clamp = false;
  double low = 1, high = 5;
};

/// The loss of a batch; gradients of the head and of the biases are added to the net's, those of
/// out [rows, H] are written. `slot` int32 [N]: row of a node.
double pair_gradients(const SageNet& net, const RatedPairs& batch, const PairLoss& loss,
                      const graph::NoiseKey& key, const at::Tensor& slot_N,
                      const at::Tensor& out_RH, const at::Tensor& grad_RH);

/// s, with b_item, and the rating, not clamped.
struct Prediction {
  double score = 0, rating = 0;
};

/// Predicts from the states of embed(): float32 nets alone.
class SageHead {
 public:
  SageHead(const SageNet& net, const at::Tensor& h_NH);
  Prediction predict(int64_t user, int64_t item) const;  ///< nodes
  /// Of a dot product of states.
  Prediction of(float dot, int64_t user, int64_t item) const;
  const at::Tensor& states() const { return h_NH_; }

 private:
  at::Tensor h_NH_, bias_N_;
  const float *w1_, *b1_, *w2_;
  float b2_, scale_;
};

/// to[r] = from[rows[r]], or to[rows[r]] += from[r].
void copy_rows(const at::Tensor& from, std::span<const int32_t> rows, const at::Tensor& to);
void add_rows(const at::Tensor& from, std::span<const int32_t> rows, const at::Tensor& to);

}  // namespace kdgat::ratings
