#include "engine/kernels/heads.h"

#include <ATen/Dispatch.h>
#include <ATen/record_function.h>
#include <torch/types.h>

#include <algorithm>
#include <type_traits>
#include <vector>

#include "engine/kernels/cpu/isa/level.h"
#include "engine/kernels/cpu/isa/rounded_products.h"
#include "engine/kernels/cpu/parallel.h"

namespace kdgat::kernels {

namespace {

/// The cells wanted of each row, compressed: ids [ptr[i], ptr[i+1]) of row i, each once.
struct Wanted {
  std::vector<int32_t> ptr, ids;
};

Wanted targets_of(const at::Tensor& target_N) {
  const int64_t rows = target_N.size(0);
  const int32_t* target = target_N.const_data_ptr<int32_t>();
  Wanted out;
  out.ptr.resize(static_cast<std::size_t>(rows) + 1);
  for (std::size_t i = 0; i < out.ptr.size(); ++i) out.ptr[i] = static_cast<int32_t>(i);
  out.ids.assign(target, target + rows);
  return out;
}

Wanted neighbours_of(const BatchTensors& batch) {
  const auto nodes = static_cast<std::size_t>(batch.nodes);
  const int32_t* in_ptr = batch.in_ptr_N1.const_data_ptr<int32_t>();
  const int32_t* source = batch.in_source_E.const_data_ptr<int32_t>();
  const int32_t* id = batch.id_N.const_data_ptr<int32_t>();
  std::vector<int32_t> first(nodes + 2, 0), all(static_cast<std::size_t>(batch.edges));
  for (int64_t e = 0; e < batch.edges; ++e) ++first[static_cast<std::size_t>(source[e]) + 2];
  for (std::size_t i = 2; i < first.size(); ++i) first[i] += first[i - 1];
  for (std::size_t j = 0; j < nodes; ++j) {
    for (int32_t e = in_ptr[j]; e < in_ptr[j + 1]; ++e) {
      int32_t& at = first[static_cast<std::size_t>(source[e]) + 1];
      all[static_cast<std::size_t>(at++)] = id[j];
    }
  }
  Wanted out;
  out.ptr.reserve(nodes + 1);
  out.ids.reserve(all.size());
  out.ptr.push_back(0);
  for (std::size_t i = 0; i < nodes; ++i) {
    const auto begin = all.begin() + first[i], end = all.begin() + first[i + 1];
    std::sort(begin, end);
    std::unique_copy(begin, end, std::back_inserter(out.ids));
    out.ptr.push_back(static_cast<int32_t>(out.ids.size()));
  }
  return out;
}

// Of a block, whole tiles: the more there are, the fewer times weights and their gradients are gone
// through, and the cells are to stay in a core's L2 cache.
constexpr int64_t kRows = 60;
constexpr int64_t kGroupRows = 1024;  // rows that share one sum of weight gradients, at least
constexpr int64_t kMaxGroups = 16;

/// A head's weights as the kernels want them: [inputs, columns], padded with columns that say
/// nothing. If `rounded`, the weights as pairs of bfloat16 as well.
struct Weights {
  at::Tensor weight, bias;
  at::Tensor pairs_of_inputs, pairs_of_columns;  ///< int32, or undefined

  Weights(const at::Tensor& weight_VL, const at::Tensor& bias_V,
          const isa::RoundedProducts* rounded) {
    const int64_t outputs = weight_VL.size(0);
    const int64_t columns = columns_of(outputs);
    weight = at::zeros({weight_VL.size(1), columns}, weight_VL.options());
    weight.slice(1, 0, outputs).copy_(weight_VL.t());
    bias = at::full({columns}, -1e30, weight_VL.options());
    bias.slice(0, 0, outputs).copy_(bias_V);
    if (rounded == nullptr) return;
    const int64_t inputs = weight.size(0);
    const auto* from = weight.const_data_ptr<float>();
    pairs_of_inputs = at::empty({(inputs + 1) / 2, columns}, at::kInt);
    rounded->pairs_of_rows(from, inputs, columns, words(pairs_of_inputs));
    pairs_of_columns = at::empty({inputs, columns / 2}, at::kInt);
    rounded->pairs_of_columns(from, inputs, columns, words(pairs_of_columns));
  }

  /// Rows a power of two apart would share few places of the first cache.
  static int64_t columns_of(int64_t outputs) {
    constexpr int64_t kShared = 1024, kPadding = isa::kHeadPadding;
    const int64_t columns = (outputs + kPadding - 1) / kPadding * kPadding;
    return columns % kShared == 0 ? columns + kPadding : columns;
  }

  static uint32_t* words(const at::Tensor& pairs) {
    return reinterpret_cast<uint32_t*>(pairs.data_ptr<int32_t>());
  }
};

/// The matrix products of one block of at most kRows rows: of T, or of rounded factors.
template <class T>
class Products {
 public:
  Products(const Weights& weights, const isa::RoundedProducts* rounded)
      : w_(weights),
        rounded_(rounded),
        inputs_(weights.weight.size(0)),
        columns_(weights.weight.size(1)) {
    if (rounded_ == nullptr) return;
    pairs_ = at::empty({kRows * (columns_ + inputs_ + 2)}, at::kInt);
    z_ = Weights::words(pairs_);
    cells_ = z_ + kRows * (inputs_ + 2);
  }

  /// cells [rows, columns] = z weight + bias.
  void logits(const T* z, int64_t rows, T* cells) const {
    if constexpr (kCanRound) {
      if (rounded_ != nullptr) {
        rounded_->pairs_of_columns(z, rows, inputs_, z_);
        rounded_->logits(z_, Weights::words(w_.pairs_of_inputs), w_.bias.const_data_ptr<T>(), rows,
                         (inputs_ + 1) / 2, columns_, cells);
        return;
      }
    }
    loops<T>().head.logits(z, w_.weight.const_data_ptr<T>(), w_.bias.const_data_ptr<T>(), rows,
                           inputs_, columns_, cells);
  }

  /// grad_z [rows, inputs] = cells weight^T.
  void grad_rows(const T* cells, int64_t rows, T* grad_z) const {
    if constexpr (kCanRound) {
      if (rounded_ != nullptr) {
        rounded_->pairs_of_columns(cells, rows, columns_, cells_);
        rounded_->grad_rows(cells_, Weights::words(w_.pairs_of_columns), rows, inputs_, columns_,
                            grad_z);
        return;
      }
    }
    loops<T>().head.grad_rows(cells, w_.weight.const_data_ptr<T>(), rows, inputs_, columns_,
                              grad_z);
  }

  /// sums [inputs + 1, columns] += z^T cells; z [rows, inputs + 1].
  void grad_weights(const T* cells, const T* z, int64_t rows, T* sums) const {
    if constexpr (kCanRound) {
      if (rounded_ != nullptr) {
        rounded_->pairs_of_rows(cells, rows, columns_, cells_);
        rounded_->pairs_of_rows(z, rows, inputs_ + 1, z_);
        rounded_->grad_weights(cells_, z_, (rows + 1) / 2, inputs_ + 1, columns_, sums);
        return;
      }
    }
    loops<T>().head.grad_weights(cells, z, rows, inputs_ + 1, columns_, sums);
  }

 private:
  static constexpr bool kCanRound = std::is_same_v<T, float>;
  const Weights& w_;
  const isa::RoundedProducts* rounded_;  ///< null: not rounded
  int64_t inputs_, columns_;
  at::Tensor pairs_;  ///< room for z and cells of one block
  uint32_t* z_ = nullptr;
  uint32_t* cells_ = nullptr;
};

/// Rows [begin, end), block by block. `sums` [inputs+1, columns] receives the gradients of the
/// weights and, last, of the bias; undefined: no gradients.
template <class T>
void run_group(Head head, const at::Tensor& z, const Weights& w, const Wanted& wanted,
               int64_t begin, int64_t end, HeadResult& result, const at::Tensor& sums,
               const isa::RoundedProducts* rounded) {
  const isa::HeadTable<T>& table = loops<T>().head;
  const Products<T> products(w, rounded);
  const bool with_grad = sums.defined();
  const int64_t inputs = z.size(1), columns = w.weight.size(1);
  const at::Tensor block = at::empty({kRows, columns}, z.options());
  const at::Tensor small = at::empty({kRows, inputs + 3}, z.options());
  T* cells = block.data_ptr<T>();
  T* log_sum = small.data_ptr<T>();
  T* inverse = log_sum + kRows;
  T* scaled = inverse + kRows;  // [kRows, inputs+1]; the column of ones yields the bias' gradient
  T* loss = result.loss_N.data_ptr<T>();
  for (int64_t first = begin; first < end; first += kRows) {
    const int64_t rows = std::min(kRows, end - first);
    const T* z_rows = z.const_data_ptr<T>() + first * inputs;
    const auto for_wanted = [&](const auto& visit) {
      for (int64_t r = 0; r < rows; ++r) {
        const auto row = static_cast<std::size_t>(first + r);
        for (int32_t k = wanted.ptr[row]; k < wanted.ptr[row + 1]; ++k) {
          visit(r, static_cast<int64_t>(wanted.ids[static_cast<std::size_t>(k)]));
        }
      }
    };
    products.logits(z_rows, rows, cells);
    for (int64_t r = 0; r < rows; ++r) loss[first + r] = 0;
    for_wanted([&](int64_t r, int64_t id) { loss[first + r] -= cells[r * columns + id]; });
    if (head == Head::kSoftmax) {
      table.softmax_rows(cells, rows, columns, log_sum, inverse);
    } else {
      table.sigmoid_rows(cells, rows, columns, log_sum);
      std::fill(inverse, inverse + rows, T(1));
    }
    for (int64_t r = 0; r < rows; ++r) loss[first + r] += log_sum[r];
    if (!with_grad) continue;

    for_wanted([&](int64_t r, int64_t id) { cells[r * columns + id] -= 1 / inverse[r]; });
    for (int64_t r = 0; r < rows; ++r) {
      T* to = scaled + r * (inputs + 1);
      for (int64_t c = 0; c < inputs; ++c) to[c] = z_rows[r * inputs + c] * inverse[r];
      to[inputs] = inverse[r];
    }
    T* grad_rows = result.grad_z.data_ptr<T>() + first * inputs;
    products.grad_rows(cells, rows, grad_rows);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < inputs; ++c) grad_rows[r * inputs + c] *= inverse[r];
    }
    products.grad_weights(cells, scaled, rows, sums.data_ptr<T>());
  }
}

HeadResult losses(Head head, const at::Tensor& z_NL, const at::Tensor& weight_VL,
                  const at::Tensor& bias_V, const HeadTarget& target, bool with_grad,
                  bool in_bfloat16) {
  RECORD_FUNCTION("kdgat::head", std::vector<c10::IValue>{z_NL, weight_VL, with_grad});
  const at::NoGradGuard no_grad;
  const Wanted wanted =
      target.batch == nullptr ? targets_of(target.id_N) : neighbours_of(*target.batch);
  const at::Tensor z = z_NL.detach().to(weight_VL.scalar_type()).contiguous();
  const isa::RoundedProducts* rounded =
      in_bfloat16 && z.scalar_type() == at::kFloat && isa_level() == "avx512"
          ? isa::rounded_products()
          : nullptr;
  const Weights weights(weight_VL.detach(), bias_V.detach(), rounded);
  const int64_t rows = z.size(0), inputs = z.size(1), outputs = weight_VL.size(0);
  const int64_t groups = std::clamp<int64_t>(rows / kGroupRows, 1, kMaxGroups);
  HeadResult result;
  result.loss_N = at::empty({rows}, z.options());
  at::Tensor sums;
  if (with_grad) {
    result.grad_z = at::empty_like(z);
    sums = at::zeros({groups, inputs + 1, weights.weight.size(1)}, z.options());
  }
  for_blocks(groups, rows * outputs, [&](int64_t g) {
    const at::AutoDispatchBelowADInplaceOrView no_autograd;
    AT_DISPATCH_FLOATING_TYPES(z.scalar_type(), "blocked_heads", [&] {
      run_group<scalar_t>(head, z, weights, wanted, rows * g / groups, rows * (g + 1) / groups,
                          result, with_grad ? sums.select(0, g) : at::Tensor(), rounded);
    });
  });
  if (with_grad) {
    const at::Tensor sum = sums.sum(0).slice(1, 0, outputs);
    result.grad_weight = sum.slice(0, 0, inputs).t().contiguous();
    result.grad_bias = sum.select(0, inputs).contiguous();
  }
  return result;
}

constexpr HeadKernels kHeads = {losses};

}  // namespace

const HeadKernels& HeadKernels::cpu() { return kHeads; }

}  // namespace kdgat::kernels
