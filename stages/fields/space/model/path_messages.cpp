#include "fields/space/model/path_messages.h"

#include <ATen/ATen.h>
#include <ATen/record_function.h>
#include <torch/autograd.h>

#include "engine/kernels/full_precision.h"
#include "engine/kernels/kernels_for.h"
#include "fields/space/model/chunk_index.h"
#include "fields/space/model/path_features.h"
#include "fields/space/model/products.h"

namespace kdgat::space {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// The tensors of PathMessages in the order of the list that autograd sees.
enum : std::size_t {
  kH,
  kOfNodes,
  kBias,
  kEdge,
  kTriplet = kEdge + 3,
  kTorsion = kTriplet + 3,
  kSecond = kTorsion + 3,
  kSecondBias,
  kTensors
};

/// One of the geometry's perceptrons on the rows of a chunk.
struct TermRows {
  at::Tensor basis;   ///< [rows, basis]
  at::Tensor hidden;  ///< [rows, H] after the ReLU
};

struct Shared {
  Products product;
  at::Tensor pos_N3;
  arrays::OutEdges edges;
  double cutoff;
  int64_t budget;
};

class Pass {
 public:
  Pass(const Shared& shared, const variable_list& t)
      : s_(shared), t_(t), width_(t[kSecond].size(1)) {
    for (const at::Tensor& tensor : t) {
      transposed_.push_back(tensor.dim() == 2 ? tensor.t().contiguous() : at::Tensor());
    }
    tables_ = s_.product.times(t[kH], transposed_[kOfNodes]);
    table(tables_, 0).add_(t[kBias]);
  }

  at::Tensor forward() {
    at::Tensor sums = at::zeros({t_[kH].size(0), t_[kSecond].size(0)}, t_[kH].options());
    for_chunks([&](const ChunkIndex& index, const PathBasis& basis) {
      const Rows rows = hidden_of(index, basis);
      kernels_.relu_sum(s_.product.times(rows.z, transposed_[kSecond]),
                        {index.path_ptr_A1, index.i_A}, t_[kSecondBias], sums);
    });
    return sums;
  }

  variable_list backward(const at::Tensor& grad_sums) {
    grads_.clear();
    for (const at::Tensor& t : t_) grads_.push_back(at::zeros_like(t));
    at::Tensor grad_tables = at::zeros_like(tables_);
    for_chunks([&](const ChunkIndex& index, const PathBasis& basis) {
      const Rows rows = hidden_of(index, basis);
      at::Tensor grad = s_.product.times(rows.z, transposed_[kSecond]);
      kernels_.relu_sum_backward(grad, {index.path_ptr_A1, index.i_A}, t_[kSecondBias], grad_sums,
                                 grads_[kSecondBias]);
      s_.product.add_gradient(grads_[kSecond], grad, rows.z);
      at::Tensor grad_z = s_.product.times(grad, t_[kSecond]);
      grad.reset();
      at::Tensor grad_u =
          kernels_.sum_runs(grad_z, rows.z, {index.path_ptr_T1, index.p_P}, table(grad_tables, 3));
      term_backward(kTorsion, rows.torsion, grad_z);
      grad_z.reset();
      const at::Tensor grad_v =
          kernels_.sum_runs(grad_u, {}, {index.triplet_ptr_A1, index.k_T}, table(grad_tables, 2));
      term_backward(kTriplet, rows.triplet, grad_u);
      table(grad_tables, 1).index_add_(0, index.j_A, grad_v);
      table(grad_tables, 0).index_add_(0, index.i_A, grad_v);
      term_backward(kEdge, rows.edge, grad_v);
    });
    grads_[kBias].add_(table(grad_tables, 0).sum(0));
    s_.product.add_gradient(grads_[kOfNodes], grad_tables, t_[kH]);
    grads_[kH] = s_.product.times(grad_tables, t_[kOfNodes]);
    return std::move(grads_);
  }

 private:
  /// What backward needs of a chunk's rows.
  struct Rows {
    TermRows edge, triplet, torsion;
    at::Tensor z;  ///< [paths, 4H] after the first combination's ReLU
  };

  /// Columns of what a node gives as i, j, k or p (0 .. 3).
  at::Tensor table(const at::Tensor& tables, int64_t place) const {
    return tables.narrow(1, place * width_, width_);
  }

  TermRows term(std::size_t first, const at::Tensor& basis) const {
    at::Tensor hidden = s_.product.times(basis, transposed_[first]);
    hidden.add_(t_[first + 1]).relu_();
    return {basis, hidden};
  }

  void term_backward(std::size_t first, const TermRows& rows, const at::Tensor& grad) {
    s_.product.add_gradient(grads_[first + 2], grad, rows.hidden);
    at::Tensor grad_hidden = s_.product.times(grad, t_[first + 2]);
    at::threshold_backward_out(grad_hidden, grad_hidden, rows.hidden, 0);
    s_.product.add_gradient(grads_[first], grad_hidden, rows.basis);
    grads_[first + 1].add_(grad_hidden.sum(0));
  }

  Rows hidden_of(const ChunkIndex& index, const PathBasis& basis) const {
    Rows out{
        term(kEdge, basis.edge), term(kTriplet, basis.triplet), term(kTorsion, basis.torsion), {}};
    at::Tensor v = s_.product.times(out.edge.hidden, transposed_[kEdge + 2]);
    v.add_(table(tables_, 0).index_select(0, index.i_A));
    v.add_(table(tables_, 1).index_select(0, index.j_A));
    at::Tensor u = s_.product.times(out.triplet.hidden, transposed_[kTriplet + 2]);
    kernels_.add_runs(u, {index.triplet_ptr_A1, index.k_T}, v, table(tables_, 2), false);
    out.z = s_.product.times(out.torsion.hidden, transposed_[kTorsion + 2]);
    kernels_.add_runs(out.z, {index.path_ptr_T1, index.p_P}, u, table(tables_, 3), true);
    return out;
  }

  template <class Body>
  void for_chunks(const Body& body) const {
    arrays::PathCursor cursor(s_.edges, 0, s_.edges.nodes());
    arrays::PathChunk chunk;
    while (cursor.next(chunk, s_.budget)) {
      body(ChunkIndex(chunk, s_.pos_N3.device()),
           path_basis(kernels_.features(s_.pos_N3, chunk), s_.cutoff));
    }
  }

  const Shared& s_;
  const kernels::PathKernels& kernels_ =
      kernels::kernels_for<kernels::PathKernels>(s_.pos_N3.device());
  const variable_list& t_;
  int64_t width_;             ///< 4H
  variable_list transposed_;  ///< of the matrices in t_
  at::Tensor tables_;
  variable_list grads_;
};

struct Captured : torch::CustomClassHolder {
  explicit Captured(Shared s) : shared(std::move(s)) {}
  Shared shared;
};

struct MessageSum : torch::autograd::Function<MessageSum> {
  static at::Tensor forward(AutogradContext* ctx, at::TensorList tensors,
                            const c10::intrusive_ptr<Captured>& captured) {
    ctx->save_for_backward(tensors.vec());
    ctx->saved_data["captured"] = c10::IValue::make_capsule(captured);
    return run(tensors.vec(), captured->shared);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const at::NoGradGuard no_grad;
    const kernels::FullPrecision exact;
    const auto held = ctx->saved_data["captured"].toCapsule();
    const variable_list tensors = ctx->get_saved_variables();
    variable_list out =
        Pass(static_cast<Captured&>(*held).shared, tensors).backward(grads[0].contiguous());
    out.emplace_back();
    return out;
  }

  static at::Tensor run(const variable_list& tensors, const Shared& shared) {
    RECORD_FUNCTION("kdgat::path_messages", std::vector<c10::IValue>());
    const at::NoGradGuard no_grad;
    const kernels::FullPrecision exact;
    return Pass(shared, tensors).forward();
  }
};

}  // namespace

at::Tensor path_messages(const PathMessages& m, const at::Tensor& pos_N3, arrays::OutEdges edges,
                         double cutoff, int64_t path_budget) {
  variable_list tensors(kTensors);
  tensors[kH] = m.h_NH;
  tensors[kOfNodes] = m.of_nodes;
  tensors[kBias] = m.bias;
  const auto put = [&tensors](std::size_t first, const PathTerm& term) {
    tensors[first] = term.weight;
    tensors[first + 1] = term.bias;
    tensors[first + 2] = term.folded;
  };
  put(kEdge, m.edge);
  put(kTriplet, m.triplet);
  put(kTorsion, m.torsion);
  tensors[kSecond] = m.second;
  tensors[kSecondBias] = m.second_bias;
  const Products product(m.h_NH.device().type());
  for (at::Tensor& t : tensors) t = kernels::full(t).contiguous();
  const Shared shared{product, pos_N3.detach().contiguous(), edges, cutoff, path_budget};
  if (!at::GradMode::is_enabled()) return MessageSum::run(tensors, shared);
  return MessageSum::apply(at::TensorList(tensors), c10::make_intrusive<Captured>(shared));
}

}  // namespace kdgat::space
