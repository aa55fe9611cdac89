// The published reward of a fused decision, for many graphs at once. G graphs.
#pragma once

#include "engine/model/networks/fusion_net.h"

namespace kdgat::fusion {

/// States [G, S] with labels [G] (1 attack, 0 benign) and the weights chosen for them [G]:
///   right: 3 + (1 - |A - p1|) + 0.5 c + 0.3 max(of the two confidences)
///   wrong: -3 - |A - p1| - 1.5 o
///   always + 0.3 (1 - 2 |alpha - 0.5|)
/// c = max(A, p1) of an attack, 1 - max(A, p1) of a benign graph; o = fused score of a false
/// alarm, 1 - fused score of a miss. Right and wrong are of the fused score > 0.5, as everywhere.
/// [G] float.
at::Tensor reward(const model::FusionNet& net, const at::Tensor& states_GS,
                  const at::Tensor& labels_G, const at::Tensor& alpha_G);

}  // namespace kdgat::fusion
