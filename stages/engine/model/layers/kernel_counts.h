// What the kernels of a device hold in addition to what they are given and what they return, as
// counts of numbers. The one place where a plan knows how kernels differ: where those of
// kernels/cpu or kernels/cuda allocate otherwise, this is what changes with them. Those of
// kernels/plain are operations of LibTorch, each with results of its own: count_plain.h has them.
//
// N nodes, E edges, K heads, W columns, D features of an edge, L inputs and V outputs of a head.
#pragma once

#include "engine/kernels/kernels_for.h"

namespace kdgat::model {

struct KernelCounts {
  kernels::KernelSet kernels = kernels::KernelSet::kCpu;
  /// The batch is a copy on the device, of its size; on the CPU it is what was gathered, with room
  /// to grow.
  bool copies_batch = false;
  /// Lists of edges by source are made with the first attention or sum and kept: 8 bytes an edge, 4
  /// a node.
  bool lists_by_source = false;

  /// What is made number by number, and attention's gradient of h, is written over what it is made
  /// of, if nobody else holds that.
  bool writes_over = true;

  /// ReLU with dropout keeps bits for backward, of each row whole bytes; else its result.
  bool keeps_signs = true;
  bool keeps_attention = false;  ///< its result, for backward
  // Attention, while its gradients are made.
  double rows_of_thread = 256;  ///< of W, and a graph, that a thread works on
  double most_rows = 1024;    ///< of those; with more, gradients are not written over what came in
  double scores_of_node = 2;  ///< N x K so many times
  double scores_of_edge = 0;  ///< (E + N) x K so many times
  double sums_of_block = 3;   ///< W so many times, of each block of nodes

  // Attention with features of edges.
  double loop_features = 0;     ///< N x D so many times, kept for backward
  double scores2_of_node = 0;   ///< N x K so many times, while its gradients are made
  double scores2_of_edge = 0;   ///< (E + N) x K so many times, then
  bool sums2_of_edges = false;  ///< blocks of its sums are of edges and loops, else of nodes
  double sums2_of_block = 2;    ///< in addition to D, W so many times, of each such block
  bool rows_of_block = true;    ///< W + D of each block of nodes, forth and back

  // Norm over graphs: sums of each graph, else of each block of nodes.
  bool sums_of_graphs = false;

  // Heads: logits of rows_of_logits() rows so many times at once; 0: those of the CPU (count_head).
  double head_copies = 0;
  bool copies_head_gradient = false;  ///< of such rows
};

inline KernelCounts kernel_counts(kernels::KernelSet kernels) {
  KernelCounts out;
  out.kernels = kernels;
  if (kernels == kernels::KernelSet::kCpu) return out;
  out.copies_batch = true;
  out.writes_over = false;
  out.keeps_signs = false;
  out.keeps_attention = true;
  out.rows_of_thread = 0;
  out.lists_by_source = kernels == kernels::KernelSet::kCuda;
  out.scores_of_node = 3;
  out.scores_of_edge = 2;
  out.sums_of_block = 2;
  out.loop_features = 1;
  out.scores2_of_node = 1;
  out.scores2_of_edge = 1;
  out.sums2_of_edges = true;
  out.sums2_of_block = 1;
  out.rows_of_block = false;
  out.sums_of_graphs = true;
  out.head_copies = kernels == kernels::KernelSet::kPlain ? 3 : 1;
  out.copies_head_gradient = kernels == kernels::KernelSet::kPlain;
  return out;
}

}  // namespace kdgat::model
