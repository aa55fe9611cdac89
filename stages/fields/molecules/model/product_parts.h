// The parts of the fast tensor product: what is done of a range of nodes. Private to
// tensor_product.cpp. See there, and product_plan.h for how arrays stand.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/kernels/cpu/isa/level.h"
#include "fields/molecules/model/product_plan.h"
#include "fields/molecules/model/tensor_product.h"

namespace kdgat::molecules {

/// C = A B, or A^T B, of small row-major matrices.
template <class T>
void multiply(const kernels::isa::ProductArgs<T>& args) {
  kernels::loops<T>().product.product(args);
}

/// out[n], or added to it: the sum of `count` rows.
template <class T>
void sum_rows(const T* rows, int64_t stride, int64_t count, T* out, int64_t size, bool adds) {
  static constexpr T kOne = 1;
  multiply<T>({&kOne, 0, 0, rows, stride, out, size, 1, size, count, adds});
}

/// Memory of a task, of the allocator of tensors.
template <class T>
class Scratch {
 public:
  explicit Scratch(int64_t size)
      : tensor_(at::empty({size}, at::TensorOptions().dtype(c10::CppTypeToScalarType<T>::value))),
        data_(tensor_.template mutable_data_ptr<T>()) {}
  T* data() const { return data_; }

 private:
  at::Tensor tensor_;
  T* data_;
};

/// Sums over coupling terms, as the kernels read them.
template <class T>
class RowList {
 public:
  struct Entry {
    int64_t from, to, size;
    int factor;
    double value;
  };
  RowList() = default;
  RowList(std::vector<Entry> entries, bool adds);
  void operator()(const kernels::isa::Rows<const T>& y, const kernels::isa::Rows<const T>& x,
                  const kernels::isa::Rows<T>& out, int64_t count) const {
    kernels::loops<T>().product.row_sums(
        {sums_.data(), static_cast<int64_t>(sums_.size()), terms_.data(), adds_}, y, x, out, count);
  }

 private:
  std::vector<kernels::isa::RowSum> sums_;
  std::vector<kernels::isa::RowTerm<T>> terms_;
  bool adds_ = false;
};

/// Weights turned as the products of one direction read them; same places as in w3 and b3.
template <class T>
struct TurnedWeights {
  TurnedWeights(const ProductPlan& plan, const RadialWeights& weights, bool backward);
  /// Forward: blocks of paths mixed at the target, [u][h][w]. Backward: of those mixed at the
  /// source, [w h][u].
  at::Tensor w3;
  at::Tensor b3;  ///< backward: all blocks, [w][u]
};

/// What all parts read. States by component.
template <class T>
struct ProductArrays {
  ProductArrays(const ProductPlan& plan, const ProductEdges& over, const RadialWeights& weights,
                const TurnedWeights<T>& turned, const at::Tensor& x, const at::Tensor& hidden);

  const ProductPlan& plan;
  const MoleculeEdges& edges;
  const T* x;                 ///< [N,dim]
  const T* harmonics;         ///< [E,9]
  const T* hidden;            ///< [E,width]
  int64_t width;              ///< H
  const T *w3, *b3;           ///< blocks [u][w][h], [u][w]
  const T *turned, *turned3;  ///< TurnedWeights of w3, b3
  /// Of each target path: z from x (set), x from z (added).
  std::vector<RowList<T>> target, target_back;
  RowList<T> source;       ///< out from p (added)
  RowList<T> source_back;  ///< p from out (set)
};

/// Gradients of w3 and b3 grow.
template <class T>
struct WeightGradients {
  T *w3, *b3;
};

/// messages[e] = h_e V x_j of the paths mixed at the source, [E,p_columns]: all edges out of the
/// nodes.
template <class T>
void source_messages(const ProductArrays<T>& in, int64_t begin, int64_t end, T* messages);
/// out[i], [N,gated dim] by component, of nodes [begin, end).
template <class T>
void target_sums(const ProductArrays<T>& in, int64_t begin, int64_t end, const T* messages, T* out);

/// Backward of source_messages(): grad_hidden of the edges out of the nodes is set, grad_x of the
/// nodes and gradients of weights grow.
template <class T>
void source_gradients(const ProductArrays<T>& in, int64_t begin, int64_t end, const T* grad_out,
                      T* grad_hidden, T* grad_x, const WeightGradients<T>& grad);
/// Backward of target_sums(): grad_hidden of the edges into the nodes, grad_x [N,dim] of their
/// sources and gradients of weights grow.
template <class T>
void target_gradients(const ProductArrays<T>& in, int64_t begin, int64_t end, const T* grad_out,
                      T* grad_hidden, T* grad_x, const WeightGradients<T>& grad);

/// h of each edge, [E,H]; the same numbers for any number of threads.
at::Tensor hidden_of(const at::Tensor& radial, const RadialWeights& weights);
/// Into how many parts its gradients are summed.
int64_t radial_parts_of(int64_t edges);
/// Gradients of w1, b1, w2, b2 from that of h.
std::vector<at::Tensor> radial_gradients(const at::Tensor& radial, const RadialWeights& weights,
                                         const at::Tensor& grad_hidden);

/// Nodes that are mixed at once: their sums and the weights of a path stay in the second cache.
inline constexpr int64_t kProductBlock = 24;

/// Blocks of the nodes [begin, end).
inline std::vector<std::pair<int64_t, int64_t>> blocks_of(int64_t begin, int64_t end) {
  std::vector<std::pair<int64_t, int64_t>> out;
  for (int64_t first = begin; first < end; first += kProductBlock) {
    out.emplace_back(first, std::min(first + kProductBlock, end));
  }
  return out;
}

/// Edges of the block with the most, or of the node with the most.
inline int64_t most_edges(const std::vector<int64_t>& ptr, int64_t begin, int64_t end,
                          int64_t nodes) {
  int64_t out = 0;
  for (int64_t first = begin; first < end; first += nodes) {
    out = std::max(out, ptr[static_cast<std::size_t>(std::min(first + nodes, end))] -
                            ptr[static_cast<std::size_t>(first)]);
  }
  return out;
}

}  // namespace kdgat::molecules
