#include "engine/kernels/products.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <type_traits>
#include <vector>

#include "engine/kernels/cpu/isa/level.h"
#include "engine/kernels/cpu/isa/rounded_products.h"
#include "engine/kernels/cpu/parallel.h"

namespace kdgat::kernels {

namespace {

constexpr int64_t kTileOfRows = 96;  // rows of a block: those of a and of the result stay in L2
constexpr int64_t kSumRows = 512;    // rows that share one sum of add_product, at least
constexpr int64_t kMaxSums = 8;
constexpr int64_t kLargeSum = 1 << 16;  // numbers of a sum that is not kept as many times
constexpr int64_t kLargeSums = 2;
constexpr int64_t kSumOutputs = 192;  // rows of a sum that one thread makes at once: whole tiles
// Of pairs of bfloat16, which are half as large: rows and outputs that are taken at once for a sum,
// so that it and x are gone through fewer times.
constexpr int64_t kRoundedRows = 192, kRoundedOutputs = 384;
constexpr int64_t kMultiplyAdds = 8;  // that take as long as touching an element
constexpr int64_t kWholeVector = 8;   // the loops want whole vectors, of half the width at least
constexpr int64_t kLeastRows = 16;

/// Whether our loops are faster than LibTorch's: they want b transposed in a forward pass, a copy
/// that few rows do not pay for.
bool is_tall(int64_t rows, int64_t inputs) { return rows >= kLeastRows && rows >= inputs; }

int64_t padded(int64_t columns) {
  return (columns + kWholeVector - 1) / kWholeVector * kWholeVector;
}

/// Brings rows into the cache in the order of memory, if they are wide: tiles take some columns of
/// many rows, and what fetches ahead follows memory but not strides over pages. Of `columns` of
/// each row.
template <class T>
void fetch(const T* rows, int64_t stride, int64_t count, int64_t columns) {
  constexpr int64_t kLine = 64, kNarrow = 512;
  const auto size = static_cast<int64_t>(sizeof(T)) * columns;
  if (size <= kNarrow) return;
  for (int64_t r = 0; r < count; ++r) {
    const auto* row = reinterpret_cast<const volatile unsigned char*>(rows + r * stride);
    for (int64_t at = 0; at < size; at += kLine) static_cast<void>(row[at]);
  }
}

/// Rows of `columns` numbers into rows of `stride`; what is beyond them stays.
template <class T>
void copy_rows(const T* from, int64_t from_stride, T* to, int64_t to_stride, int64_t rows,
               int64_t columns) {
  for (int64_t r = 0; r < rows; ++r) {
    std::copy(from + r * from_stride, from + r * from_stride + columns, to + r * to_stride);
  }
}

/// b_IC, or a copy whose rows are padded with zeros; transposed where it is one of a contiguous
/// matrix, as weights are in a forward pass.
template <class T>
at::Tensor with_whole_rows(const at::Tensor& b_IC) {
  const int64_t inputs = b_IC.size(0), columns = b_IC.size(1), stride = padded(columns);
  if (b_IC.is_contiguous() && stride == columns) return b_IC;
  at::Tensor out = stride == columns ? at::empty({inputs, stride}, b_IC.options())
                                     : at::zeros({inputs, stride}, b_IC.options());
  if (b_IC.stride(0) == 1 && b_IC.stride(1) >= inputs) {
    loops<T>().product.transpose(b_IC.const_data_ptr<T>(), b_IC.stride(1), out.data_ptr<T>(),
                                 stride, columns, inputs);
  } else {
    out.slice(1, 0, columns).copy_(b_IC);
  }
  return out;
}

template <class T>
void fill_product(const at::Tensor& a_RI, const at::Tensor& b_IC, const at::Tensor& bias_C,
                  at::Tensor& out) {
  const int64_t rows = a_RI.size(0), inputs = a_RI.size(1), columns = b_IC.size(1);
  const at::Tensor b = with_whole_rows<T>(b_IC);
  const int64_t stride = b.size(1);
  const T* a = a_RI.const_data_ptr<T>();
  const T* bias = bias_C.defined() ? bias_C.const_data_ptr<T>() : nullptr;
  T* to = out.data_ptr<T>();
  const int64_t blocks = (rows + kTileOfRows - 1) / kTileOfRows;
  for_blocks(blocks, rows * inputs * columns / kMultiplyAdds, [&](int64_t block) {
    const int64_t first = block * kTileOfRows, count = std::min(kTileOfRows, rows - first);
    at::Tensor wide;  // where the result's rows are no whole vectors
    T* c = to + first * columns;
    if (stride != columns) {
      wide = at::empty({count, stride}, out.options());
      c = wide.data_ptr<T>();
    }
    fetch(a + first * inputs, inputs, count, inputs);
    if (bias != nullptr) {
      copy_rows(bias, 0, c, stride, count, columns);
    } else if (stride == columns) {
      fetch(c, stride, count, stride);
    }
    loops<T>().product.product({.a = a + first * inputs,
                                .row = inputs,
                                .step = 1,
                                .b = b.const_data_ptr<T>(),
                                .b_stride = stride,
                                .c = c,
                                .c_stride = stride,
                                .m = count,
                                .n = stride,
                                .k = inputs,
                                .adds = bias != nullptr});
    if (stride != columns) copy_rows(c, stride, to + first * columns, columns, count, columns);
  });
}

/// Products of pairs of bfloat16; null where this processor, or the level that is asked for, has
/// none.
const isa::RoundedProducts* pairs_here() {
  return isa_level() == "avx512" ? isa::rounded_products() : nullptr;
}
bool rounds(int64_t rows, int64_t inputs) {
  return is_tall(rows, inputs) && pairs_here() != nullptr;
}

uint32_t* pairs_in(const at::Tensor& of_floats) {
  return reinterpret_cast<uint32_t*>(of_floats.data_ptr<float>());
}

/// [ceil(I / 2), C], the pairs of rows of b_IC. Their bits are kept as floats, which are only
/// moved.
at::Tensor rounded_rows(const isa::RoundedProducts& rounded, const at::Tensor& b_IC) {
  const int64_t inputs = b_IC.size(0), columns = b_IC.size(1), pairs = (inputs + 1) / 2;
  at::Tensor out = at::empty({pairs, columns}, b_IC.options());
  if (b_IC.t().is_contiguous()) {  // weights in a forward pass
    const at::Tensor along = at::empty({columns, pairs}, b_IC.options());
    rounded.pairs_of_columns(b_IC.const_data_ptr<float>(), columns, inputs, pairs_in(along));
    loops<float>().product.transpose(along.const_data_ptr<float>(), pairs, out.data_ptr<float>(),
                                     columns, columns, pairs);
  } else {
    const at::Tensor b = b_IC.contiguous();
    rounded.pairs_of_rows(b.const_data_ptr<float>(), inputs, columns, pairs_in(out));
  }
  return out;
}

void fill_rounded(const isa::RoundedProducts& rounded, const at::Tensor& a_RI,
                  const at::Tensor& b_IC, const at::Tensor& bias_C, at::Tensor& out) {
  const int64_t rows = a_RI.size(0), inputs = a_RI.size(1), columns = b_IC.size(1);
  const at::Tensor b = rounded_rows(rounded, b_IC);
  const int64_t pairs = b.size(0);
  const float* a = a_RI.const_data_ptr<float>();
  float* to = out.data_ptr<float>();
  const int64_t blocks = (rows + kTileOfRows - 1) / kTileOfRows;
  for_blocks(blocks, rows * inputs * columns / kMultiplyAdds, [&](int64_t block) {
    const int64_t first = block * kTileOfRows, count = std::min(kTileOfRows, rows - first);
    const at::Tensor of_a = at::empty({count, pairs}, a_RI.options());
    rounded.pairs_of_columns(a + first * inputs, count, inputs, pairs_in(of_a));
    rounded.product({.a = pairs_in(of_a),
                     .row = pairs,
                     .step = 1,
                     .b = pairs_in(b),
                     .b_stride = columns,
                     .from = bias_C.defined() ? bias_C.const_data_ptr<float>() : nullptr,
                     .from_stride = 0,
                     .c = to + first * columns,
                     .c_stride = columns,
                     .m = count,
                     .n = columns,
                     .k = pairs});
  });
}

at::Tensor product(const at::Tensor& a_RI, const at::Tensor& b_IC, const at::Tensor& bias_C,
                   bool in_bfloat16) {
  const int64_t rows = a_RI.size(0), inputs = a_RI.size(1), columns = b_IC.size(1);
  const isa::RoundedProducts* rounded =
      in_bfloat16 && a_RI.scalar_type() == at::kFloat ? pairs_here() : nullptr;
  if (rounded == nullptr && !is_tall(rows, inputs)) {
    return ProductKernels::plain().product(a_RI, b_IC, bias_C, in_bfloat16);
  }
  RECORD_FUNCTION("kdgat::product", std::vector<c10::IValue>{a_RI, b_IC});
  const at::NoGradGuard no_grad;
  const at::Tensor a = a_RI.contiguous();
  const at::Tensor bias = bias_C.defined() ? bias_C.contiguous() : bias_C;
  at::Tensor out = at::empty({rows, columns}, a.options());
  if (rounded != nullptr && inputs > 0) {
    fill_rounded(*rounded, a, b_IC, bias, out);
    return out;
  }
  AT_DISPATCH_FLOATING_TYPES(a.scalar_type(), "product", [&] {
    if (inputs == 0) {
      out.zero_();
      if (bias.defined()) out.add_(bias);
    } else {
      fill_product<scalar_t>(a, b_IC, bias, out);
    }
  });
  return out;
}

/// A part of g^T x: of the rows [begin, end), to the rows [first, first + outputs) of a sum.
struct SumPart {
  int64_t begin, end, first, outputs;
};

/// sums [O, stride] += that part of g^T x.
template <class T>
void add_part(const at::Tensor& g, const at::Tensor& x, const SumPart& part, int64_t stride,
              T* sums) {
  const int64_t inputs = x.size(1);
  at::Tensor wide;  // where the rows of x are no whole vectors
  if (stride != inputs) wide = at::zeros({kTileOfRows, stride}, x.options());
  for (int64_t row = part.begin; row < part.end; row += kTileOfRows) {
    const int64_t count = std::min(kTileOfRows, part.end - row);
    const T* rows_x = x.const_data_ptr<T>() + row * inputs;
    const T* rows_g = g.const_data_ptr<T>() + row * g.size(1) + part.first;
    fetch(rows_x, inputs, count, inputs);
    fetch(rows_g, g.size(1), count, part.outputs);
    if (stride != inputs) {
      copy_rows(rows_x, inputs, wide.data_ptr<T>(), stride, count, inputs);
      rows_x = wide.const_data_ptr<T>();
    }
    loops<T>().product.product({.a = rows_g,
                                .row = 1,
                                .step = g.size(1),
                                .b = rows_x,
                                .b_stride = stride,
                                .c = sums + part.first * stride,
                                .c_stride = stride,
                                .m = part.outputs,
                                .n = stride,
                                .k = count,
                                .adds = true});
  }
}

/// The same of factors rounded to bfloat16.
void add_rounded_part(const isa::RoundedProducts& rounded, const at::Tensor& g, const at::Tensor& x,
                      const SumPart& part, float* sums) {
  const int64_t inputs = x.size(1), pairs = kRoundedRows / 2;
  const at::Tensor both = at::empty({pairs * (inputs + part.outputs)}, x.options());
  uint32_t *of_x = pairs_in(both), *of_g = of_x + pairs * inputs;
  float* c = sums + part.first * inputs;
  for (int64_t row = part.begin; row < part.end; row += kRoundedRows) {
    const int64_t count = std::min(kRoundedRows, part.end - row);
    rounded.pairs_of_rows(x.const_data_ptr<float>() + row * inputs, count, inputs, of_x);
    rounded.pairs_of_rows_apart(g.const_data_ptr<float>() + row * g.size(1) + part.first, g.size(1),
                                count, part.outputs, of_g);
    rounded.product({.a = of_g,
                     .row = 1,
                     .step = part.outputs,
                     .b = of_x,
                     .b_stride = inputs,
                     .from = c,
                     .from_stride = inputs,
                     .c = c,
                     .c_stride = inputs,
                     .m = part.outputs,
                     .n = inputs,
                     .k = (count + 1) / 2});
  }
}

/// Outputs of a part: fewer where there would be no part for each thread. No sum depends on it.
int64_t rounded_outputs(int64_t groups, int64_t outputs) {
  const int64_t parts = (outputs + kRoundedOutputs - 1) / kRoundedOutputs;
  return groups * parts < at::get_num_threads() ? kSumOutputs : kRoundedOutputs;
}

/// sum_OI += g^T x, by groups of rows with a sum each, and parts of its outputs. How many groups
/// there are depends on the shapes alone.
template <class T>
void add_sums(at::Tensor& sum_OI, const at::Tensor& g, const at::Tensor& x,
              const isa::RoundedProducts* rounded) {
  const int64_t rows = g.size(0), outputs = g.size(1), inputs = x.size(1);
  const int64_t stride = rounded != nullptr ? inputs : padded(inputs);
  const int64_t most = inputs * outputs < kLargeSum ? kMaxSums : kLargeSums;
  const int64_t groups = std::clamp<int64_t>(rows / kSumRows, 1, most);
  const int64_t at_once = rounded != nullptr ? rounded_outputs(groups, outputs) : kSumOutputs;
  const int64_t parts = (outputs + at_once - 1) / at_once;
  const bool in_place = groups == 1 && stride == inputs;
  const at::Tensor sums = in_place ? sum_OI : at::zeros({groups, outputs, stride}, g.options());
  T* to = sums.data_ptr<T>();
  for_blocks(groups * parts, rows * inputs * outputs / kMultiplyAdds, [&](int64_t task) {
    const int64_t group = task / parts, first = task % parts * at_once;
    const SumPart part{rows * group / groups, rows * (group + 1) / groups, first,
                       std::min(at_once, outputs - first)};
    T* sum = to + group * outputs * stride;
    if constexpr (std::is_same_v<T, float>) {
      if (rounded != nullptr) return add_rounded_part(*rounded, g, x, part, sum);
    }
    add_part<T>(g, x, part, stride, sum);
  });
  if (!in_place) sum_OI.add_((groups == 1 ? sums.select(0, 0) : sums.sum(0)).slice(1, 0, inputs));
}

/// sum_O += the sums of the columns of g.
template <class T>
void add_columns(at::Tensor& sum_O, const at::Tensor& g) {
  const int64_t rows = g.size(0), outputs = g.size(1);
  const int64_t groups = std::clamp<int64_t>(rows / kSumRows, 1, kMaxSums);
  const at::Tensor sums = at::empty({groups, outputs}, g.options());
  for_blocks(groups, rows * outputs, [&](int64_t i) {
    const int64_t begin = rows * i / groups;
    loops<T>().norm.column_sums(g.const_data_ptr<T>() + begin * outputs, nullptr,
                                rows * (i + 1) / groups - begin, outputs, 1,
                                sums.data_ptr<T>() + i * outputs);
  });
  sum_O.add_(groups == 1 ? sums.select(0, 0) : sums.sum(0));
}

void add_product(at::Tensor& sum_OI, at::Tensor& sum_O, const at::Tensor& g_RO,
                 const at::Tensor& x_RI, bool in_bfloat16) {
  const isa::RoundedProducts* rounded =
      in_bfloat16 && g_RO.scalar_type() == at::kFloat ? pairs_here() : nullptr;
  if (rounded == nullptr && !is_tall(g_RO.size(0), x_RI.size(1))) {
    ProductKernels::plain().add_product(sum_OI, sum_O, g_RO, x_RI, in_bfloat16);
    return;
  }
  RECORD_FUNCTION("kdgat::add_product", std::vector<c10::IValue>{g_RO, x_RI});
  const at::NoGradGuard no_grad;
  const at::Tensor g = g_RO.contiguous(), x = x_RI.contiguous();
  AT_DISPATCH_FLOATING_TYPES(g.scalar_type(), "add_product", [&] {
    if (x.size(1) > 0) add_sums<scalar_t>(sum_OI, g, x, rounded);
    if (sum_O.defined()) add_columns<scalar_t>(sum_O, g);
  });
}

constexpr ProductKernels kProducts = {product, add_product, rounds};

}  // namespace

const ProductKernels& ProductKernels::cpu() { return kProducts; }

}  // namespace kdgat::kernels
