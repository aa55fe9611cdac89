#include "model/molecules/product_parts.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "model/kernels/cpu/isa/level.h"

namespace kdgat::model {
namespace {

constexpr int64_t kBlock = 32;  // nodes whose sums stand in memory at once: 66 kB each

template <class T>
at::Tensor view_of(const T* data, int64_t rows, int64_t columns, int64_t stride) {
  return at::from_blob(const_cast<T*>(data), {rows, columns}, {stride, 1},
                       at::TensorOptions().dtype(c10::CppTypeToScalarType<T>::value));
}

/// C = A B, or A^T B, of small row-major matrices.
template <class T>
void multiply(const T* a, int64_t row, int64_t step, const T* b, int64_t b_stride, T* c,
              int64_t c_stride, int64_t m, int64_t n, int64_t k, bool adds) {
  loops<T>().product.product({a, row, step, b, b_stride, c, c_stride, m, n, k, adds});
}

template <class T>
void axpy(T factor, const T* x, T* y, int64_t size) {
  for (int64_t i = 0; i < size; ++i) y[i] += factor * x[i];
}

/// The rows of l of a block of nodes, [block m, u] by component.
template <class T>
at::Tensor rows_of(const at::Tensor& x, const Irreps& irreps, std::size_t l, int64_t begin,
                   int64_t end) {
  const int64_t m = Irreps::components(l);
  return x.slice(0, begin, end)
      .narrow(1, irreps.offset(l), irreps.mul[l] * m)
      .reshape({(end - begin) * m, irreps.mul[l]});
}

/// Sums of a block of nodes for mixing at the target, and what they are made of.
template <class T>
class TargetBlock {
 public:
  explicit TargetBlock(const ProductArrays<T>& in)
      : in_(in),
        plan_(in.plan),
        sums_(static_cast<std::size_t>(kBlock * plan_.z_columns * in.width)),
        bias_(static_cast<std::size_t>(kBlock * plan_.z_columns)) {}

  /// Of nodes [begin, end), at most kBlock.
  void gather(int64_t begin, int64_t end) {
    begin_ = begin;
    end_ = end;
    first_ = in_.edges.target_ptr[static_cast<std::size_t>(begin)];
    const int64_t edges = in_.edges.target_ptr[static_cast<std::size_t>(end)] - first_;
    z_.assign(static_cast<std::size_t>(edges * plan_.z_columns), T(0));
    std::fill(bias_.begin(), bias_.end(), T(0));
    for (int64_t node = begin; node < end; ++node) {
      const int64_t from = edge_begin(node), to = edge_begin(node + 1);
      for (int64_t e = from; e < to; ++e) couple(e);
      for (std::size_t l = 0; l < 3; ++l) {
        const int64_t rows = rows_of_l(l);
        if (rows == 0) continue;
        multiply(z(from) + plan_.z_offset[l], int64_t{1}, plan_.z_columns,
                 in_.hidden + from * in_.width, in_.width, sums(l, node), in_.width, rows,
                 in_.width, to - from, false);
        for (int64_t e = from; e < to; ++e) {
          axpy(T(1), z(e) + plan_.z_offset[l], bias(l, node), rows);
        }
      }
    }
  }

  int64_t edge_begin(int64_t node) const {
    return in_.edges.target_ptr[static_cast<std::size_t>(node)];
  }
  int64_t rows_of_l(std::size_t l) const {
    return Irreps::components(l) * plan_.target_channels[l];
  }
  T* z(int64_t edge) { return z_.data() + (edge - first_) * plan_.z_columns; }
  /// [m U, H] of a node.
  T* sums(std::size_t l, int64_t node) {
    return sums_.data() + (kBlock * plan_.z_offset[l] + (node - begin_) * rows_of_l(l)) * in_.width;
  }
  T* bias(std::size_t l, int64_t node) {  ///< [m U]
    return bias_.data() + kBlock * plan_.z_offset[l] + (node - begin_) * rows_of_l(l);
  }
  /// The same of all nodes, a row for each component: [block m, U H] and [block m, U].
  at::Tensor all_sums(std::size_t l) {
    const int64_t columns = plan_.target_channels[l] * in_.width;
    return view_of<T>(sums(l, begin_), components(l), columns, columns);
  }
  at::Tensor all_bias(std::size_t l) {
    const int64_t columns = plan_.target_channels[l];
    return view_of<T>(bias(l, begin_), components(l), columns, columns);
  }
  int64_t components(std::size_t l) const { return (end_ - begin_) * Irreps::components(l); }

 private:
  void couple(int64_t edge) {
    const T* y = in_.harmonics + edge * kHarmonics;
    const T* x = in_.x.template const_data_ptr<T>() +
                 in_.edges.source[static_cast<std::size_t>(edge)] * plan_.irreps.dim();
    T* to = z(edge);
    for (const TargetPath& one : plan_.targets) {
      const int64_t channels = plan_.target_channels[one.path.l3];
      const T* of_x = x + plan_.irreps.offset(one.path.l1);
      T* of_z = to + plan_.z_offset[one.path.l3] + one.column;
      for (const CouplingTerm& term : one.terms) {
        axpy(static_cast<T>(term.value) * y[term.b], of_x + term.a * one.path.in,
             of_z + term.c * channels, one.path.in);
      }
    }
  }

  const ProductArrays<T>& in_;
  const ProductPlan& plan_;
  std::vector<T> sums_, bias_, z_;
  int64_t begin_ = 0, end_ = 0, first_ = 0;
};

/// What sources of a block mix: T[h][q] of each node, q over l1, its components and channels.
template <class T>
class SourceBlock {
 public:
  explicit SourceBlock(const ProductArrays<T>& in)
      : in_(in),
        plan_(in.plan),
        node_(static_cast<std::size_t>(in.width * plan_.p_columns)),
        bias_(static_cast<std::size_t>(plan_.p_columns)) {}

  void mix(int64_t begin, int64_t end) {
    begin_ = begin;
    for (std::size_t l = 0; l < 3; ++l) {
      if (plan_.source_channels[l] == 0) continue;
      x_[l] = rows_of<T>(in_.x, plan_.irreps, l, begin, end);
      mixed_[l] = at::mm(x_[l], in_.mixing.source[l]);
      mixed_bias_[l] = at::mm(x_[l], in_.mixing.source_bias[l]);
    }
  }

  /// T of one node, [H, p_columns]; of_bias(): [p_columns].
  const T* of_node(int64_t node) {
    each_part(node, [&](std::size_t l, int64_t row, int64_t column) {
      const int64_t channels = plan_.source_channels[l];
      const T* from = mixed_[l].template const_data_ptr<T>() + row * in_.width * channels;
      for (int64_t h = 0; h < in_.width; ++h) {
        std::copy_n(from + h * channels, channels, node_.data() + h * plan_.p_columns + column);
      }
      std::copy_n(mixed_bias_[l].template const_data_ptr<T>() + row * channels, channels,
                  bias_.data() + column);
    });
    return node_.data();
  }
  const T* of_bias() const { return bias_.data(); }

  /// Takes the gradient of of_node() and of_bias() to where the mixed rows stand.
  void put(int64_t node, const T* grad, const T* grad_bias) {
    each_part(node, [&](std::size_t l, int64_t row, int64_t column) {
      const int64_t channels = plan_.source_channels[l];
      T* to = mixed_[l].template data_ptr<T>() + row * in_.width * channels;
      for (int64_t h = 0; h < in_.width; ++h) {
        std::copy_n(grad + h * plan_.p_columns + column, channels, to + h * channels);
      }
      std::copy_n(grad_bias + column, channels,
                  mixed_bias_[l].template data_ptr<T>() + row * channels);
    });
  }
  /// After put() of all nodes: gradients of weights grow, those of x are set.
  void finish(int64_t end, MixingWeights& grad, T* grad_x) {
    for (std::size_t l = 0; l < 3; ++l) {
      if (plan_.source_channels[l] == 0) continue;
      grad.source[l].addmm_(x_[l].t(), mixed_[l]);
      grad.source_bias[l].addmm_(x_[l].t(), mixed_bias_[l]);
      const at::Tensor of_x = at::addmm(at::mm(mixed_bias_[l], in_.mixing.source_bias[l].t()),
                                        mixed_[l], in_.mixing.source[l].t());
      const int64_t size = plan_.irreps.mul[l] * Irreps::components(l);
      for (int64_t node = begin_; node < end; ++node) {
        std::copy_n(of_x.const_data_ptr<T>() + (node - begin_) * size, size,
                    grad_x + node * plan_.irreps.dim() + plan_.irreps.offset(l));
      }
    }
  }

 private:
  /// body(l1, row of the mixed array, first column of the node's) of each component.
  template <class Body>
  void each_part(int64_t node, const Body& body) {
    for (std::size_t l = 0; l < 3; ++l) {
      if (plan_.source_channels[l] == 0) continue;
      for (int64_t m = 0; m < Irreps::components(l); ++m) {
        body(l, (node - begin_) * Irreps::components(l) + m,
             plan_.p_offset[l] + m * plan_.source_channels[l]);
      }
    }
  }

  const ProductArrays<T>& in_;
  const ProductPlan& plan_;
  std::array<at::Tensor, 3> x_, mixed_, mixed_bias_;
  std::vector<T> node_, bias_;
  int64_t begin_ = 0;
};

/// The rows of h of the edges out of a node, side by side.
template <class T>
void take_hidden(const ProductArrays<T>& in, int64_t from, int64_t to, std::vector<T>& out) {
  out.resize(static_cast<std::size_t>((to - from) * in.width));
  for (int64_t i = from; i < to; ++i) {
    std::copy_n(in.hidden + in.edges.by_source[static_cast<std::size_t>(i)] * in.width, in.width,
                out.data() + (i - from) * in.width);
  }
}

/// Blocks of the nodes [begin, end).
std::vector<std::pair<int64_t, int64_t>> blocks_of(int64_t begin, int64_t end) {
  std::vector<std::pair<int64_t, int64_t>> out;
  for (int64_t first = begin; first < end; first += kBlock) {
    out.emplace_back(first, std::min(first + kBlock, end));
  }
  return out;
}

/// out[c][w] += value Y[b] p[a][w], or its transpose.
template <class T, class Body>
void each_message(const ProductPlan& plan, const T* y, const Body& body) {
  for (const SourcePath& one : plan.sources) {
    for (const CouplingTerm& term : one.terms) {
      const int64_t p =
          plan.p_offset[one.path.l1] + term.a * plan.source_channels[one.path.l1] + one.column;
      const int64_t out = plan.gated.offset(one.path.l3) + term.c * one.path.out;
      body(static_cast<T>(term.value) * y[term.b], p, out, one.path.out);
    }
  }
}

}  // namespace

template <class T>
void source_messages(const ProductArrays<T>& in, int64_t begin, int64_t end, T* messages) {
  const int64_t columns = in.plan.p_columns;
  if (columns == 0) return;
  SourceBlock<T> block(in);
  std::vector<T> hidden, own;
  for (const auto& [first, last] : blocks_of(begin, end)) {
    block.mix(first, last);
    for (int64_t node = first; node < last; ++node) {
      const int64_t from = in.edges.source_ptr[static_cast<std::size_t>(node)],
                    to = in.edges.source_ptr[static_cast<std::size_t>(node) + 1];
      if (from == to) continue;
      const T* mixed = block.of_node(node);
      take_hidden(in, from, to, hidden);
      own.resize(static_cast<std::size_t>((to - from) * columns));
      for (int64_t i = 0; i < to - from; ++i) {
        std::copy_n(block.of_bias(), columns, own.data() + i * columns);
      }
      multiply(hidden.data(), in.width, int64_t{1}, mixed, columns, own.data(), columns, to - from,
               columns, in.width, true);
      for (int64_t i = from; i < to; ++i) {
        std::copy_n(own.data() + (i - from) * columns, columns,
                    messages + in.edges.by_source[static_cast<std::size_t>(i)] * columns);
      }
    }
  }
}

template <class T>
void target_sums(const ProductArrays<T>& in, int64_t begin, int64_t end, const T* messages,
                 T* out) {
  const ProductPlan& plan = in.plan;
  const int64_t dim = plan.gated.dim();
  TargetBlock<T> block(in);
  for (const auto& [first, last] : blocks_of(begin, end)) {
    block.gather(first, last);
    std::fill(out + first * dim, out + last * dim, T(0));
    for (std::size_t l = 0; l < 3; ++l) {
      if (plan.target_channels[l] == 0 || plan.gated.mul[l] == 0) continue;
      const at::Tensor mixed = at::addmm(at::mm(block.all_bias(l), in.mixing.target_bias[l]),
                                         block.all_sums(l), in.mixing.target[l]);
      const int64_t size = plan.gated.mul[l] * Irreps::components(l);
      for (int64_t node = first; node < last; ++node) {
        std::copy_n(mixed.const_data_ptr<T>() + (node - first) * size, size,
                    out + node * dim + plan.gated.offset(l));
      }
    }
    for (int64_t e = block.edge_begin(first); e < block.edge_begin(last); ++e) {
      T* to = out + in.edges.target[static_cast<std::size_t>(e)] * dim;
      const T* from = messages + e * plan.p_columns;
      each_message(plan, in.harmonics + e * kHarmonics,
                   [&](T factor, int64_t p, int64_t at, int64_t size) {
                     axpy(factor, from + p, to + at, size);
                   });
    }
  }
}

template <class T>
void source_gradients(const ProductArrays<T>& in, int64_t begin, int64_t end, const T* grad_out,
                      T* grad_hidden, T* grad_x, MixingWeights& grad) {
  const ProductPlan& plan = in.plan;
  const int64_t columns = plan.p_columns, dim = plan.gated.dim(), width = in.width;
  if (columns == 0) return;
  SourceBlock<T> block(in);
  std::vector<T> hidden, of_messages, of_hidden;
  std::vector<T> turned(static_cast<std::size_t>(columns * width));
  std::vector<T> of_node(turned.size()), of_bias(static_cast<std::size_t>(columns));
  for (const auto& [first, last] : blocks_of(begin, end)) {
    block.mix(first, last);
    for (int64_t node = first; node < last; ++node) {
      const int64_t from = in.edges.source_ptr[static_cast<std::size_t>(node)],
                    to = in.edges.source_ptr[static_cast<std::size_t>(node) + 1], count = to - from;
      take_hidden(in, from, to, hidden);
      of_messages.assign(static_cast<std::size_t>(count * columns), T(0));
      std::fill(of_bias.begin(), of_bias.end(), T(0));
      for (int64_t i = 0; i < count; ++i) {
        const int64_t e = in.edges.by_source[static_cast<std::size_t>(from + i)];
        const T* of_out = grad_out + in.edges.target[static_cast<std::size_t>(e)] * dim;
        T* own = of_messages.data() + i * columns;
        each_message(plan, in.harmonics + e * kHarmonics,
                     [&](T factor, int64_t p, int64_t at, int64_t size) {
                       axpy(factor, of_out + at, own + p, size);
                     });
        axpy(T(1), own, of_bias.data(), columns);
      }
      loops<T>().product.transpose(block.of_node(node), columns, turned.data(), width, width,
                                   columns);
      of_hidden.resize(static_cast<std::size_t>(count * width));
      multiply(of_messages.data(), columns, int64_t{1}, turned.data(), width, of_hidden.data(),
               width, count, width, columns, false);
      for (int64_t i = 0; i < count; ++i) {
        std::copy_n(of_hidden.data() + i * width, width,
                    grad_hidden + in.edges.by_source[static_cast<std::size_t>(from + i)] * width);
      }
      multiply(hidden.data(), int64_t{1}, width, of_messages.data(), columns, of_node.data(),
               columns, width, columns, count, false);
      block.put(node, of_node.data(), of_bias.data());
    }
    block.finish(last, grad, grad_x);
  }
}

template <class T>
void target_gradients(const ProductArrays<T>& in, int64_t begin, int64_t end, const T* grad_out,
                      T* grad_hidden, T* grad_x, MixingWeights& grad) {
  const ProductPlan& plan = in.plan;
  const int64_t width = in.width, columns = plan.z_columns, dim = plan.irreps.dim();
  if (columns == 0) return;
  TargetBlock<T> block(in);
  const at::Tensor out = view_of<T>(grad_out, in.edges.nodes, plan.gated.dim(), plan.gated.dim());
  std::vector<T> turned(static_cast<std::size_t>(columns * width)), of_z;
  for (const auto& [first, last] : blocks_of(begin, end)) {
    block.gather(first, last);
    std::array<at::Tensor, 3> of_sums, of_bias;
    for (std::size_t l = 0; l < 3; ++l) {
      if (plan.target_channels[l] == 0) continue;
      const at::Tensor of_out = rows_of<T>(out, plan.gated, l, first, last);
      grad.target[l].addmm_(block.all_sums(l).t(), of_out);
      grad.target_bias[l].addmm_(block.all_bias(l).t(), of_out);
      of_sums[l] = at::mm(of_out, in.mixing.target[l].t());
      of_bias[l] = at::mm(of_out, in.mixing.target_bias[l].t());
    }
    for (int64_t node = first; node < last; ++node) {
      const int64_t from = block.edge_begin(node), count = block.edge_begin(node + 1) - from;
      if (count == 0) continue;
      of_z.resize(static_cast<std::size_t>(count * columns));
      for (std::size_t l = 0; l < 3; ++l) {
        const int64_t rows = block.rows_of_l(l);
        if (rows == 0) continue;
        const T* own = of_sums[l].const_data_ptr<T>() + (node - first) * rows * width;
        multiply(block.z(from) + plan.z_offset[l], columns, int64_t{1}, own, width,
                 grad_hidden + from * width, width, count, width, rows, true);
        loops<T>().product.transpose(own, width, turned.data() + plan.z_offset[l], columns, rows,
                                     width);
        const T* bias = of_bias[l].const_data_ptr<T>() + (node - first) * rows;
        for (int64_t i = 0; i < count; ++i) {
          std::copy_n(bias, rows, of_z.data() + i * columns + plan.z_offset[l]);
        }
      }
      multiply(in.hidden + from * width, width, int64_t{1}, turned.data(), columns, of_z.data(),
               columns, count, columns, width, true);
      for (int64_t e = from; e < from + count; ++e) {
        const T* y = in.harmonics + e * kHarmonics;
        T* to = grad_x + in.edges.source[static_cast<std::size_t>(e)] * dim;
        const T* of_edge = of_z.data() + (e - from) * columns;
        for (const TargetPath& one : plan.targets) {
          const int64_t channels = plan.target_channels[one.path.l3];
          T* of_x = to + plan.irreps.offset(one.path.l1);
          const T* at = of_edge + plan.z_offset[one.path.l3] + one.column;
          for (const CouplingTerm& term : one.terms) {
            axpy(static_cast<T>(term.value) * y[term.b], at + term.c * channels,
                 of_x + term.a * one.path.in, one.path.in);
          }
        }
      }
    }
  }
}

template void source_messages<float>(const ProductArrays<float>&, int64_t, int64_t, float*);
template void source_messages<double>(const ProductArrays<double>&, int64_t, int64_t, double*);
template void target_sums<float>(const ProductArrays<float>&, int64_t, int64_t, const float*,
                                 float*);
template void target_sums<double>(const ProductArrays<double>&, int64_t, int64_t, const double*,
                                  double*);
template void source_gradients<float>(const ProductArrays<float>&, int64_t, int64_t, const float*,
                                      float*, float*, MixingWeights&);
template void source_gradients<double>(const ProductArrays<double>&, int64_t, int64_t,
                                       const double*, double*, double*, MixingWeights&);
template void target_gradients<float>(const ProductArrays<float>&, int64_t, int64_t, const float*,
                                      float*, float*, MixingWeights&);
template void target_gradients<double>(const ProductArrays<double>&, int64_t, int64_t,
                                       const double*, double*, double*, MixingWeights&);

}  // namespace kdgat::model
