#include "fields/texts/model/sparse_product.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/record_function.h>
#include <torch/autograd.h>

#include <algorithm>
#include <limits>
#include <string>

#include "engine/kernels/cpu/isa/level.h"
#include "engine/kernels/cpu/parallel.h"
#include "kdgat/error.h"

namespace kdgat::texts {

namespace {

constexpr int64_t kRunNonzeros = 1 << 16;
constexpr int64_t kBlockColumns = 1 << 10;  // of 64 floats: an eighth of a cache of 2 MiB
constexpr int64_t kLeastNonzeros = 16;      // of a row in a block on average, or blocks do not pay
constexpr int64_t kPackRows = 1 << 11;

/// Columns [first, first + count) of x, one row behind the other, and zeros up to `width` columns;
/// rows that are not to be read are zeros.
template <class T>
void pack_rows(const T* x, int64_t columns, int64_t first, int64_t count, int64_t width,
               const NodeMask* read, int64_t begin, int64_t end, T* panel) {
  for (int64_t i = begin; i < end; ++i) {
    T* to = panel + i * width;
    const bool is_read = read == nullptr || (*read)[static_cast<std::size_t>(i)];
    const int64_t copied = is_read ? count : 0;
    std::copy_n(x + i * columns + first, copied, to);
    std::fill(to + copied, to + width, T(0));
  }
}

struct Product : torch::autograd::Function<Product> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x_NC,
                            const SparseProduct* product) {
    RECORD_FUNCTION("kdgat::sparse_product", std::vector<c10::IValue>{x_NC});
    ctx->saved_data["product"] = reinterpret_cast<int64_t>(product);
    return product->forward(x_NC);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 const torch::autograd::variable_list& grads) {
    const auto* product =
        // NOLINTNEXTLINE(performance-no-int-to-ptr): autograd keeps numbers, no pointers
        reinterpret_cast<const SparseProduct*>(ctx->saved_data["product"].toInt());
    return {product->backward(grads[0].contiguous()), at::Tensor()};
  }
};

}  // namespace

void require_sparse_sizes(int64_t nodes, int64_t nonzeros, int64_t columns) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const auto refuse = [](const std::string& what, int64_t size, const std::string& limit) {
    throw Error(ExitCode::kData, what + ": " + std::to_string(size) + " are more than " + limit,
                "leave out rare words: data.remove_rare_words, data.vocab_size");
  };
  const std::string most = "the " + std::to_string(kMost) + " that 32-bit indices count";
  if (nodes >= kMost) refuse("nodes", nodes, most);
  if (nonzeros > kMost) refuse("nonzeros", nonzeros, most);
  constexpr int64_t kNumbers = std::numeric_limits<int64_t>::max() / int64_t{sizeof(double)};
  if (nodes > 0 && columns > kNumbers / nodes) {
    refuse("columns of " + std::to_string(nodes) + " nodes", columns, "memory has addresses for");
  }
}

NodeMask neighbours(const SparseMatrix& matrix, const NodeMask& nodes) {
  const int32_t* row_ptr = matrix.row_ptr_N1.const_data_ptr<int32_t>();
  const int32_t* col = matrix.col_E.const_data_ptr<int32_t>();
  NodeMask out(nodes.size(), false);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes[i]) continue;
    for (int32_t e = row_ptr[i]; e < row_ptr[i + 1]; ++e)
      out[static_cast<std::size_t>(col[e])] = true;
  }
  return out;
}

SparseProduct::Part SparseProduct::part_of(const SparseMatrix& matrix, const NodeMask& rows,
                                           const NodeMask& columns) {
  const int32_t* row_ptr = matrix.row_ptr_N1.const_data_ptr<int32_t>();
  const int32_t* col = matrix.col_E.const_data_ptr<int32_t>();
  // Nodes of a kind stand together, so a span of columns leaves out most of those of no use.
  const int64_t begin = std::find(columns.begin(), columns.end(), true) - columns.begin();
  const int64_t end = columns.rend() - std::find(columns.rbegin(), columns.rend(), true);
  std::vector<int64_t> ends;  // of blocks of columns
  for (int64_t c = begin + kBlockColumns; c < end; c += kBlockColumns) ends.push_back(c);
  ends.push_back(std::max(begin, end));

  Part part;
  part.full.bounds.resize(ends.size() + 1);
  part.sparse.bounds.resize(2);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i]) continue;
    const int32_t* to = col + row_ptr[i + 1];
    const auto place = [&](const int32_t* from, int64_t column) {
      return std::lower_bound(from, to, column);
    };
    const int32_t* first = place(col + row_ptr[i], begin);
    const int32_t* last = place(first, ends.back());
    const int64_t nonzeros = last - first;
    const bool is_full = nonzeros >= kLeastNonzeros * static_cast<int64_t>(ends.size());
    Rows& own = is_full ? part.full : part.sparse;
    own.row.push_back(static_cast<int32_t>(i));
    own.bounds.front().push_back(static_cast<int32_t>(first - col));
    for (std::size_t b = 1; b + 1 < own.bounds.size(); ++b) {
      first = place(first, ends[b - 1]);
      own.bounds[b].push_back(static_cast<int32_t>(first - col));
    }
    own.bounds.back().push_back(static_cast<int32_t>(last - col));
    part.nonzeros += nonzeros;
    if (own.run.empty() || own.in_run >= kRunNonzeros) {
      own.run.push_back(static_cast<int64_t>(own.row.size()) - 1);
      own.in_run = 0;
    }
    own.in_run += nonzeros;
  }
  for (Rows* own : {&part.full, &part.sparse}) {
    own->run.push_back(static_cast<int64_t>(own->row.size()));
  }
  return part;
}

SparseProduct::SparseProduct(SparseMatrix matrix, const NodeMask& outputs, const NodeMask& inputs)
    : matrix_(std::move(matrix)),
      outputs_(outputs),
      forward_(part_of(matrix_, outputs, NodeMask(outputs.size(), true))),
      backward_(part_of(matrix_, inputs, outputs)) {}

at::Tensor SparseProduct::multiply(const Part& part, const NodeMask* read,
                                   const at::Tensor& x_NC) const {
  const int64_t nodes = x_NC.size(0), columns = x_NC.size(1);
  at::Tensor out = part.rows() == nodes ? at::empty_like(x_NC) : at::zeros_like(x_NC);
  AT_DISPATCH_FLOATING_TYPES(x_NC.scalar_type(), "sparse_product", [&] {
    const kernels::isa::SparseTable<scalar_t>& table = kernels::loops<scalar_t>().sparse;
    // Panels of about one width: the last of 200 columns would be a narrow one.
    const int64_t panels = (columns + table.width - 1) / table.width;
    const int64_t vectors = (columns + table.lanes - 1) / table.lanes;
    const int64_t width = panels == 0 ? 0 : (vectors + panels - 1) / panels * table.lanes;
    const at::Tensor panel = at::empty({nodes, width}, x_NC.options());
    const scalar_t* x = x_NC.const_data_ptr<scalar_t>();
    for (int64_t first = 0; first < columns; first += width) {
      const int64_t count = std::min(width, columns - first);
      const int64_t used = (count + table.lanes - 1) / table.lanes * table.lanes;
      scalar_t* packed = panel.data_ptr<scalar_t>();
      kernels::for_blocks((nodes + kPackRows - 1) / kPackRows, nodes * used, [&](int64_t b) {
        pack_rows(x, columns, first, count, used, read, b * kPackRows,
                  std::min(nodes, (b + 1) * kPackRows), packed);
      });
      kernels::isa::SparseArgs<scalar_t> args = {};
      args.col = matrix_.col_E.const_data_ptr<int32_t>();
      args.value = matrix_.value_E.const_data_ptr<scalar_t>();
      args.panel = packed;
      args.width = used;
      args.out = out.data_ptr<scalar_t>() + first;
      args.stride = columns;
      args.columns = count;
      const auto full = static_cast<int64_t>(part.full.run.size()) - 1;
      const auto sparse = static_cast<int64_t>(part.sparse.run.size()) - 1;
      kernels::for_blocks(full + sparse, part.nonzeros * used, [&](int64_t run) {
        const Rows& rows = run < full ? part.full : part.sparse;
        const auto at = static_cast<std::size_t>(run < full ? run : run - full);
        kernels::isa::SparseArgs<scalar_t> own = args;
        own.row = rows.row.data();
        for (std::size_t b = 0; b + 1 < rows.bounds.size(); ++b) {
          own.first = rows.bounds[b].data();
          own.last = rows.bounds[b + 1].data();
          own.add = b > 0;
          table.rows(own, rows.run[at], rows.run[at + 1]);
        }
      });
    }
  });
  return out;
}

at::Tensor SparseProduct::operator()(const at::Tensor& x_NC) const {
  return Product::apply(x_NC, this);
}

at::Tensor SparseProduct::forward(const at::Tensor& x_NC) const {
  return multiply(forward_, nullptr, x_NC);
}

at::Tensor SparseProduct::backward(const at::Tensor& grad_NC) const {
  return multiply(backward_, &outputs_, grad_NC);
}

}  // namespace kdgat::texts
