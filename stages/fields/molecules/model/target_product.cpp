// Paths that are mixed at their target: A_i[u][h], summed over the edges into a node, then mixed
// once. Block by block of nodes, path by path, so that the sums never leave the second cache.
#include <algorithm>

#include "fields/molecules/model/product_parts.h"

namespace kdgat::molecules {
namespace {

template <class T>
class TargetBlock {
 public:
  TargetBlock(const ProductArrays<T>& in, int64_t begin, int64_t end, bool backward)
      : in_(in),
        plan_(in.plan),
        z_(most_edges(in.edges.target_ptr, begin, end, kProductBlock) * plan_.z_columns),
        sums_(kProductBlock * most_stride()),
        bias_(kProductBlock * plan_.z_columns),
        of_sums_(backward ? kProductBlock * most_stride() : 0),
        of_bias_(backward ? kProductBlock * plan_.z_columns : 0),
        turned_(backward ? plan_.z_columns * in.width : 0),
        of_z_(backward
                  ? most_edges(in.edges.target_ptr, begin, end, kProductBlock) * plan_.z_columns
                  : 0) {}

  void begin_block(int64_t begin, int64_t end) {
    begin_ = begin;
    end_ = end;
    first_ = edge_begin(begin);
  }

  /// A path's numbers of the edges and their sums.
  void gather(std::size_t number) {
    path_ = &plan_.targets[number];
    number_ = number;
    const int64_t columns = path_->columns();
    in_.target[number](harmonics(), {in_.x, plan_.irreps.dim(), sources()},
                       {z_.data(), columns, nullptr}, block_edges());
    for (int64_t node = begin_; node < end_; ++node) {
      const int64_t from = edge_begin(node), to = edge_begin(node + 1);
      multiply<T>({z(from), 1, columns, in_.hidden + from * in_.width, in_.width,
                   sums_.data() + (node - begin_) * stride(), in_.width, columns, in_.width,
                   to - from, false});
      sum_rows(z(from), columns, to - from, bias_.data() + (node - begin_) * columns, columns,
               false);
    }
  }

  /// out grows by the path's share.
  void mix(T* out) {
    const TensorPath& path = path_->path;
    const int64_t dim = plan_.gated.dim(), nodes = end_ - begin_;
    for (int64_t m = 0; m < Irreps::components(path.l3); ++m) {
      T* to = out + begin_ * dim + plan_.gated.offset(path.l3) + m * path.out;
      multiply<T>({bias_.data() + m * path.in, path_->columns(), 1, in_.b3 + path.first, path.out,
                   to, dim, nodes, path.out, path.in, true});
      multiply<T>({sums_.data() + m * path.in * in_.width, stride(), 1,
                   in_.turned + path.first * in_.width, path.out, to, dim, nodes, path.out,
                   path.in * in_.width, true});
    }
  }

  /// Gradients of the weights grow; those of the sums are set.
  void mix_back(const T* grad_out, const WeightGradients<T>& grad) {
    const TensorPath& path = path_->path;
    const int64_t dim = plan_.gated.dim(), nodes = end_ - begin_, width = in_.width;
    const auto of_out = [&](int64_t m) {
      return grad_out + begin_ * dim + plan_.gated.offset(path.l3) + m * path.out;
    };
    for (int64_t u = 0; u < path.in; ++u) {
      const int64_t block = (path.first + u * path.out) * width;
      for (int64_t m = 0; m < Irreps::components(path.l3); ++m) {
        const int64_t row = (m * path.in + u) * width;
        multiply<T>({of_out(m), 1, dim, sums_.data() + row, stride(), grad.w3 + block, width,
                     path.out, width, nodes, true});
        multiply<T>({of_out(m), dim, 1, in_.w3 + block, width, of_sums_.data() + row, stride(),
                     nodes, width, path.out, false});
      }
    }
    const int64_t columns = path_->columns();
    for (int64_t m = 0; m < Irreps::components(path.l3); ++m) {
      multiply<T>({bias_.data() + m * path.in, 1, columns, of_out(m), dim, grad.b3 + path.first,
                   path.out, path.in, path.out, nodes, true});
      multiply<T>({of_out(m), dim, 1, in_.turned3 + path.first, path.in,
                   of_bias_.data() + m * path.in, columns, nodes, path.in, path.out, false});
    }
  }

  /// After mix_back(): gradients of h and of the states of sources grow.
  void gather_back(T* grad_hidden, T* grad_x) {
    const int64_t columns = path_->columns(), width = in_.width;
    for (int64_t node = begin_; node < end_; ++node) {
      const int64_t from = edge_begin(node), count = edge_begin(node + 1) - from;
      if (count == 0) continue;
      const T* own = of_sums_.data() + (node - begin_) * stride();
      multiply<T>({z(from), columns, 1, own, width, grad_hidden + from * width, width, count, width,
                   columns, true});
      kernels::loops<T>().product.transpose(own, width, turned_.data(), columns, columns, width);
      T* of_z = of_z_.data() + (from - first_) * columns;
      for (int64_t i = 0; i < count; ++i) {
        std::copy_n(of_bias_.data() + (node - begin_) * columns, columns, of_z + i * columns);
      }
      multiply<T>({in_.hidden + from * width, width, 1, turned_.data(), columns, of_z, columns,
                   count, columns, width, true});
    }
    in_.target_back[number_](harmonics(), {of_z_.data(), columns, nullptr},
                             {grad_x, plan_.irreps.dim(), sources()}, block_edges());
  }

  /// Of messages that were mixed at their sources.
  void add_messages(const T* messages, T* out) const {
    in_.source(harmonics(), {messages + first_ * plan_.p_columns, plan_.p_columns, nullptr},
               {out, plan_.gated.dim(), in_.edges.target.data() + first_}, block_edges());
  }

 private:
  int64_t edge_begin(int64_t node) const {
    return in_.edges.target_ptr[static_cast<std::size_t>(node)];
  }
  /// Rows a power of two apart would share the lines of the first cache.
  static constexpr int64_t kPadding = 16;

  int64_t most_stride() const { return plan_.z_columns * in_.width + kPadding; }
  int64_t stride() const { return path_->columns() * in_.width + kPadding; }
  /// Of the edges of the block.
  int64_t block_edges() const { return edge_begin(end_) - first_; }
  const int32_t* sources() const { return in_.edges.source.data() + first_; }
  kernels::isa::Rows<const T> harmonics() const {
    return {in_.harmonics + first_ * kHarmonics, kHarmonics, nullptr};
  }
  T* z(int64_t edge) { return z_.data() + (edge - first_) * path_->columns(); }

  const ProductArrays<T>& in_;
  const ProductPlan& plan_;
  /// Of the edges of the block, [m u]; of its nodes, [m u][h] and [m u]; and their gradients.
  Scratch<T> z_, sums_, bias_, of_sums_, of_bias_, turned_, of_z_;
  const TargetPath* path_ = nullptr;
  std::size_t number_ = 0;
  int64_t begin_ = 0, end_ = 0, first_ = 0;
};

}  // namespace

template <class T>
void target_sums(const ProductArrays<T>& in, int64_t begin, int64_t end, const T* messages,
                 T* out) {
  const ProductPlan& plan = in.plan;
  const int64_t dim = plan.gated.dim();
  TargetBlock<T> block(in, begin, end, false);
  for (const auto& [first, last] : blocks_of(begin, end)) {
    std::fill(out + first * dim, out + last * dim, T(0));
    block.begin_block(first, last);
    for (std::size_t path = 0; path < plan.targets.size(); ++path) {
      block.gather(path);
      block.mix(out);
    }
    block.add_messages(messages, out);
  }
}

template <class T>
void target_gradients(const ProductArrays<T>& in, int64_t begin, int64_t end, const T* grad_out,
                      T* grad_hidden, T* grad_x, const WeightGradients<T>& grad) {
  TargetBlock<T> block(in, begin, end, true);
  for (const auto& [first, last] : blocks_of(begin, end)) {
    block.begin_block(first, last);
    for (std::size_t path = 0; path < in.plan.targets.size(); ++path) {
      block.gather(path);
      block.mix_back(grad_out, grad);
      block.gather_back(grad_hidden, grad_x);
    }
  }
}

template void target_sums<float>(const ProductArrays<float>&, int64_t, int64_t, const float*,
                                 float*);
template void target_sums<double>(const ProductArrays<double>&, int64_t, int64_t, const double*,
                                  double*);
template void target_gradients<float>(const ProductArrays<float>&, int64_t, int64_t, const float*,
                                      float*, float*, const WeightGradients<float>&);
template void target_gradients<double>(const ProductArrays<double>&, int64_t, int64_t,
                                       const double*, double*, double*,
                                       const WeightGradients<double>&);

}  // namespace kdgat::molecules
