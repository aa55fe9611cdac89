// Products of a sparse, symmetric matrix with dense ones, differentiable, as graph convolutions
// over one large graph need them. Knows no layers. CPU only.
//
// S [N, N] with nnz nonzeros, X [N, C].
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace kdgat::texts {

/// A symmetric matrix in compressed rows.
struct SparseMatrix {
  at::Tensor row_ptr_N1;  ///< int32
  at::Tensor col_E;       ///< int32, ascending in each row
  at::Tensor value_E;     ///< float or double, as what it is multiplied with

  int64_t nodes() const { return row_ptr_N1.size(0) - 1; }
  int64_t nonzeros() const { return col_E.size(0); }
};

/// Throws Error(kData) if nodes or nonzeros do not fit the int32 of an index, or N x columns
/// numbers no address, saying which. To be called before anything of these sizes is allocated.
void require_sparse_sizes(int64_t nodes, int64_t nonzeros, int64_t columns);

/// By node whether it is meant.
using NodeMask = std::vector<bool>;

/// The nodes that rows of `nodes` read: what stands in their columns.
NodeMask neighbours(const SparseMatrix& matrix, const NodeMask& nodes);

/// Y = S X where only some rows of Y are wanted, and the gradient of some rows of X. The others are
/// 0. Results do not depend on the number of threads.
///
/// X is read a panel at a time, some columns packed behind each other. Rows of S with many nonzeros
/// read it block by block, so that what many rows read stays in the nearest caches.
class SparseProduct {
 public:
  /// `outputs`: rows of Y that are wanted. `inputs`: rows of X whose gradient is wanted; of the
  /// others outputs must not depend, or their gradient is lost.
  SparseProduct(SparseMatrix matrix, const NodeMask& outputs, const NodeMask& inputs);

  int64_t nodes() const { return matrix_.nodes(); }
  /// Multiply-adds of one column, forward.
  int64_t nonzeros() const { return forward_.nonzeros; }
  /// X and Y are contiguous, of the type of the matrix' values. Differentiable in X; this product
  /// must outlive the backward pass.
  at::Tensor operator()(const at::Tensor& x_NC) const;

  at::Tensor forward(const at::Tensor& x_NC) const;
  at::Tensor backward(const at::Tensor& grad_NC) const;

 private:
  /// Rows that read the panel in the same blocks.
  struct Rows {
    std::vector<int32_t> row;
    /// [blocks + 1] nonzeros of each row before each block, and the end.
    std::vector<std::vector<int32_t>> bounds;
    std::vector<int64_t> run;  ///< starts of runs of rows with about as many nonzeros, and the end
    int64_t in_run = 0;
  };
  /// Some rows of S, and of those the columns that may hold something.
  struct Part {
    Rows full, sparse;  ///< with many nonzeros, and with few
    int64_t nonzeros = 0;
    int64_t rows() const { return static_cast<int64_t>(full.row.size() + sparse.row.size()); }
  };
  static Part part_of(const SparseMatrix& matrix, const NodeMask& rows, const NodeMask& columns);
  at::Tensor multiply(const Part& part, const NodeMask* read, const at::Tensor& x_NC) const;

  SparseMatrix matrix_;
  NodeMask outputs_;
  Part forward_, backward_;
};

}  // namespace kdgat::texts
