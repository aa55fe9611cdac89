// Paths that are mixed at their source: T_j[q][h] once a node, then h_e . T_j an edge.
#include <algorithm>

#include "fields/molecules/model/product_parts.h"

namespace kdgat::molecules {
namespace {

/// The mixed states of a block of sources, [q][h] of each, and what belongs to the bias, [q].
template <class T>
class SourceBlock {
 public:
  explicit SourceBlock(const ProductArrays<T>& in)
      : in_(in),
        size_(in.plan.p_columns * in.width),
        stride_(size_ + kPadding),
        mixed_(kProductBlock * stride_),
        bias_(kProductBlock * in.plan.p_columns) {}

  void mix(int64_t begin, int64_t end) {
    begin_ = begin;
    each_component([&](const TensorPath& path, int64_t column, int64_t of_x) {
      const T* x = in_.x + begin * in_.plan.irreps.dim() + of_x;
      const int64_t dim = in_.plan.irreps.dim();
      multiply<T>({x, dim, 1, in_.w3 + path.first * in_.width, path.out * in_.width,
                   mixed_.data() + column * in_.width, stride_, end - begin, path.out * in_.width,
                   path.in, false});
      multiply<T>({x, dim, 1, in_.b3 + path.first, path.out, bias_.data() + column,
                   in_.plan.p_columns, end - begin, path.out, path.in, false});
    });
  }
  T* of_node(int64_t node) { return mixed_.data() + (node - begin_) * stride_; }
  T* bias(int64_t node) { return bias_.data() + (node - begin_) * in_.plan.p_columns; }

  /// Where of_node() and bias() hold their gradients: those of x and of weights grow.
  void finish(int64_t end, T* grad_x, const WeightGradients<T>& grad) {
    each_component([&](const TensorPath& path, int64_t column, int64_t of_x) {
      const int64_t dim = in_.plan.irreps.dim(), nodes = end - begin_;
      const int64_t wide = path.out * in_.width, columns = in_.plan.p_columns;
      const T* x = in_.x + begin_ * dim + of_x;
      T* to = grad_x + begin_ * dim + of_x;
      const T* mixed = mixed_.data() + column * in_.width;
      const T* bias = bias_.data() + column;
      multiply<T>({mixed, stride_, 1, in_.turned + path.first * in_.width, path.in, to, dim, nodes,
                   path.in, wide, true});
      multiply<T>({bias, columns, 1, in_.turned3 + path.first, path.in, to, dim, nodes, path.in,
                   path.out, true});
      multiply<T>({x, 1, dim, mixed, stride_, grad.w3 + path.first * in_.width, wide, path.in, wide,
                   nodes, true});
      multiply<T>({x, 1, dim, bias, columns, grad.b3 + path.first, path.out, path.in, path.out,
                   nodes, true});
    });
  }

 private:
  /// Rows a power of two apart would share the lines of the first cache.
  static constexpr int64_t kPadding = 16;

  /// body(path, first of its columns, first of its channels in x) of each component.
  template <class Body>
  void each_component(const Body& body) {
    for (const SourcePath& one : in_.plan.sources) {
      for (int64_t m = 0; m < Irreps::components(one.path.l1); ++m) {
        body(one.path, one.column + m * one.path.out,
             in_.plan.irreps.offset(one.path.l1) + m * one.path.in);
      }
    }
  }

  const ProductArrays<T>& in_;
  int64_t size_, stride_;
  Scratch<T> mixed_, bias_;
  int64_t begin_ = 0;
};

/// The edges out of a node.
struct OutEdges {
  OutEdges(const MoleculeEdges& edges, int64_t node)
      : first(edges.by_source.data() + edges.source_ptr[static_cast<std::size_t>(node)]),
        count(edges.source_ptr[static_cast<std::size_t>(node) + 1] -
              edges.source_ptr[static_cast<std::size_t>(node)]) {}
  const int32_t* first;
  int64_t count;
};

/// The rows of h of the edges out of a node, side by side.
template <class T>
void take_hidden(const ProductArrays<T>& in, const OutEdges& out, T* to) {
  for (int64_t i = 0; i < out.count; ++i) {
    std::copy_n(in.hidden + out.first[i] * in.width, in.width, to + i * in.width);
  }
}

}  // namespace

template <class T>
void source_messages(const ProductArrays<T>& in, int64_t begin, int64_t end, T* messages) {
  const int64_t columns = in.plan.p_columns, width = in.width;
  if (columns == 0) return;
  const int64_t most = most_edges(in.edges.source_ptr, begin, end, 1);
  SourceBlock<T> block(in);
  const Scratch<T> hidden(most * width), own(most * columns), turned(columns * width);
  for (const auto& [first, last] : blocks_of(begin, end)) {
    block.mix(first, last);
    for (int64_t node = first; node < last; ++node) {
      const OutEdges out(in.edges, node);
      if (out.count == 0) continue;
      kernels::loops<T>().product.transpose(block.of_node(node), width, turned.data(), columns,
                                            columns, width);
      take_hidden(in, out, hidden.data());
      for (int64_t i = 0; i < out.count; ++i) {
        std::copy_n(block.bias(node), columns, own.data() + i * columns);
      }
      multiply<T>({hidden.data(), width, 1, turned.data(), columns, own.data(), columns, out.count,
                   columns, width, true});
      for (int64_t i = 0; i < out.count; ++i) {
        std::copy_n(own.data() + i * columns, columns, messages + out.first[i] * columns);
      }
    }
  }
}

template <class T>
void source_gradients(const ProductArrays<T>& in, int64_t begin, int64_t end, const T* grad_out,
                      T* grad_hidden, T* grad_x, const WeightGradients<T>& grad) {
  const int64_t columns = in.plan.p_columns, dim = in.plan.gated.dim(), width = in.width;
  if (columns == 0) return;
  const int64_t most = most_edges(in.edges.source_ptr, begin, end, 1);
  SourceBlock<T> block(in);
  const Scratch<T> hidden(most * width), of_hidden(most * width), of_messages(most * columns);
  std::vector<int32_t> targets(static_cast<std::size_t>(most));
  for (const auto& [first, last] : blocks_of(begin, end)) {
    block.mix(first, last);
    for (int64_t node = first; node < last; ++node) {
      const OutEdges out(in.edges, node);
      take_hidden(in, out, hidden.data());
      for (int64_t i = 0; i < out.count; ++i) {
        targets[static_cast<std::size_t>(i)] =
            in.edges.target[static_cast<std::size_t>(out.first[i])];
      }
      in.source_back({in.harmonics, kHarmonics, out.first}, {grad_out, dim, targets.data()},
                     {of_messages.data(), columns, nullptr}, out.count);
      multiply<T>({of_messages.data(), columns, 1, block.of_node(node), width, of_hidden.data(),
                   width, out.count, width, columns, false});
      for (int64_t i = 0; i < out.count; ++i) {
        std::copy_n(of_hidden.data() + i * width, width, grad_hidden + out.first[i] * width);
      }
      // From here the node's place holds the gradient of what it held.
      multiply<T>({of_messages.data(), 1, columns, hidden.data(), width, block.of_node(node), width,
                   columns, width, out.count, false});
      sum_rows(of_messages.data(), columns, out.count, block.bias(node), columns, false);
    }
    block.finish(last, grad_x, grad);
  }
}

template void source_messages<float>(const ProductArrays<float>&, int64_t, int64_t, float*);
template void source_messages<double>(const ProductArrays<double>&, int64_t, int64_t, double*);
template void source_gradients<float>(const ProductArrays<float>&, int64_t, int64_t, const float*,
                                      float*, float*, const WeightGradients<float>&);
template void source_gradients<double>(const ProductArrays<double>&, int64_t, int64_t,
                                       const double*, double*, double*,
                                       const WeightGradients<double>&);

}  // namespace kdgat::molecules
