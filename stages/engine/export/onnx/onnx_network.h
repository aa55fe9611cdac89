// A trained classifier or autoencoder as an ONNX model, written without Python: what
// engine/native/networks.h computes of a batch of graphs, as a file for ONNX Runtime and others.
// Features of windows, the threshold and alarms stay outside; docs/onnx.md says how they are made.
#pragma once

#include <string>

#include "engine/file/safetensors.h"
#include "engine/model/config/model_header.h"

namespace kdgat::exporting {

/// The versions of the operator set that can be written.
inline constexpr int kOldestOpset = 16, kNewestOpset = 18;
/// The older one of them that the model can be written for: a pool by maximum needs the newer.
int least_opset(const model::ModelHeader& header);

/// The bytes of a .onnx file. Opset 18 has an operator for the largest score of a node's edges;
/// with 16 the same softmax is made from one maximum over all edges (onnx_layers.h says within what
/// limits), for runtimes that know no newer one.
///
/// Inputs, of any numbers of nodes N, edges E and graphs G:
///   x          float [N, node features]  as a graph store has them; column 0: vocabulary index,
///                                        where nodes have identifiers
///   edge_index int64 [2, E]              source and target, numbers of nodes in the batch
///   edge_attr  float [E, edge features]  of conv gatv2 alone
///   batch      int64 [N]                 graph of each node; G = max(batch) + 1, so that graphs
///                                        without nodes at the end are not counted
/// Outputs: of a classifier logits [G, 2] (benign, attack) and score [G], the probability of
/// attack; of an autoencoder score [G], the mean squared error.
///
/// The metadata of the model says what made it: "kind" (classifier, autoencoder), "hash" (xxh3-128
/// of the model file), "vocabulary_size" (numbers that column 0 may hold, that of unknown ids among
/// them), and where the model file has them "vocabulary", "node_features" and "edge_features" (JSON
/// arrays), "window" and "stride" (frames), "threshold" (scores above it are attacks).
///
/// Throws Error(kUsage) for an opset that the model is not written for, Error(kData) for a model
/// file that is broken, too large for the format (2 GiB), or of a model that has no such form,
/// naming what to change.
std::string onnx_network(const file::SafetensorsFile& file, const model::ModelHeader& header,
                         int opset);

}  // namespace kdgat::exporting
