// The state of a window: 15 numbers that an autoencoder and a classifier say of it, the input of a
// fusion; 14 of a graph whose nodes have no identifiers. Computed for whole batches; a graph's
// numbers do not depend on its neighbours in one.
#pragma once

#include "engine/objective/autoencoder_objective.h"
#include "engine/objective/classifier_objective.h"

namespace kdgat::objective {

/// [G, S] float on the CPU, in eval mode, without gradients; places as in model::FusionState:
///   0..2   means over the nodes: squared error of the features, binary cross entropy of the
///          neighbours (mean over num_ids cells), cross entropy of the identifier
///   3..6   mean, std, max, min of z over all nodes and channels
///   7      1 / (1 + number 0)
///   8, 9   the classifier's probabilities of benign and attack
///   10..13 mean, std, max, min of the pooled layer states
///   14     1 - entropy of 8 and 9 / ln 2, in [0, 1]
/// Without identifiers number 1 is the squared error of the means of the neighbours' features,
/// there is no number 2, and all behind it stand one place earlier.
/// std divides by one less than the count, as published; 0 where there is only one number.
torch::Tensor fusion_states(AutoencoderObjective& autoencoder, ClassifierObjective& classifier,
                            const graph::GraphBatch& batch);

}  // namespace kdgat::objective
