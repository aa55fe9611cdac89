// What the kernels of norm.cuh read and write; pointers are to memory of the card.
//
// N nodes in G graphs, C columns.
#pragma once

#include "engine/kernels/cuda/source/sizes.h"

namespace kdgat::kernels::cuda {

/// What noise comes from (noise_keys.h): `base` of the step and the layer, graph_id [G]. Elements
/// whose hash is below the threshold are dropped.
struct Noise {
  unsigned long base;
  const Int* graph_id;
  int threshold;
};

/// The rows of each graph: its nodes, node_ptr [G+1], or one for each graph where that is 0.
/// `parts` blocks share a graph.
struct GraphRows {
  Int graphs, columns, parts;
  const int* node_ptr;
};

/// out = dropout(relu(x gain + shift)), of x itself where `gain` is 0; those are [C]. `scale` is of
/// what is kept.
template <class T>
struct DropArgs {
  GraphRows rows;
  Noise noise;
  T scale;
  const T *x, *gain, *shift;
  T* out;
};

/// grad_x [count] of what DropArgs made without gain.
template <class T>
struct DropGradArgs {
  Int count;
  T scale;
  const T *out, *grad;
  T* grad_x;
};

/// Numbers in (0, 1).
template <class T>
struct UniformArgs {
  GraphRows rows;
  Noise noise;
  T* out;
};

/// Sums of columns over blocks of rows, partials [blocks, C]: of x or, where `mean` [C] is not 0,
/// of (x - mean)^2.
template <class T>
struct ColumnArgs {
  Int count, columns;  ///< rows
  const T *x, *mean;
  T* partials;
};

/// Of each column its moment over so many rows: its sum / rows, from `sums` [C] or, where that is
/// 0, from partials [blocks, C]. With rows < 0 `value` is read. Where `weight` is not 0, value is
/// the variance: gain = weight / sqrt(value + eps), shift = bias - mean gain. All of [C].
template <class T>
struct MomentArgs {
  Int blocks, columns;
  double rows, eps;
  const T* partials;
  const double* sums;
  T* value;
  const T *weight = nullptr, *bias = nullptr, *mean = nullptr;
  T *gain = nullptr, *shift = nullptr;
};

/// With g the gradient in front of ReLU and dropout. First partials [blocks, 2, C], sums of g and
/// of g (x - mean); then grad_x = g a - (x - mean) b - c.
template <class T>
struct NormGradArgs {
  Int count, columns;  ///< rows
  T scale;
  const T *x, *mean, *out, *grad;
  T* partials = nullptr;
  const T *a = nullptr, *b = nullptr, *c = nullptr;
  T* grad_x = nullptr;
};

/// From the sums of NormGradArgs, of this process (`own` [2, C]) and of all rows of the step
/// (`all`); both from partials where those are 0: a, b and c of NormGradArgs and the gradients of
/// weight and bias. With rows < 0 statistics are given, and b and c are 0.
template <class T>
struct NormFactorArgs {
  Int blocks, columns;
  double rows, eps;
  const T* partials;
  const double *own, *all;
  const T *weight, *variance;
  T *a, *b, *c, *grad_weight, *grad_bias;
};

/// Means over graphs [G, C], and their gradient spread over the rows.
template <class T>
struct MeanArgs {
  GraphRows rows;
  const T* from;
  T* to;
};

/// See norm.h. centre [G, C] is what is subtracted, inverse [G, C] of the spread.
template <class T>
struct GraphNormArgs {
  GraphRows rows;
  Noise noise;
  T scale, eps;
  const T *x, *weight, *bias, *mean_scale;
  T *centre, *inverse, *out;
};

/// partials [G, 3, C]: of weight, bias, mean_scale.
template <class T>
struct GraphNormGradArgs {
  GraphNormArgs<T> forward;
  const T* grad;
  T *grad_x, *partials;
};

}  // namespace kdgat::kernels::cuda
