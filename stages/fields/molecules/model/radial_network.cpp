// The network that makes h of each edge from its radial inputs, and its gradients. Edges in blocks
// whose rows stay in the cache; nothing of an edge is kept but h.
#include <ATen/ATen.h>

#include <algorithm>

#include "engine/kernels/cpu/parallel.h"
#include "fields/molecules/model/product_parts.h"

namespace kdgat::molecules {
namespace {

constexpr int64_t kRadialRows = 128;  // edges at once
constexpr int64_t kRadialTasks = 16;  // fixed by the data, so that sums do not depend on threads
constexpr int64_t kTaskRows = 1024;

}  // namespace

int64_t radial_parts_of(int64_t edges) {
  return std::clamp<int64_t>(edges / kTaskRows, 1, kRadialTasks);
}

namespace {

template <class T>
at::Tensor turned(const at::Tensor& matrix) {
  at::Tensor out = at::empty({matrix.size(1), matrix.size(0)}, matrix.options());
  kernels::loops<T>().product.transpose(matrix.const_data_ptr<T>(), matrix.size(1),
                                        out.data_ptr<T>(), matrix.size(0), matrix.size(0),
                                        matrix.size(1));
  return out;
}

/// Both layers of a block of edges.
template <class T>
class RadialBlock {
 public:
  RadialBlock(const at::Tensor& radial, const RadialWeights& weights)
      : inputs(radial.size(1)),
        width(weights.w1.size(0)),
        radial_(radial.const_data_ptr<T>()),
        first_bias_(weights.b1.const_data_ptr<T>()),
        second_bias_(weights.b2.const_data_ptr<T>()),
        first_(turned<T>(weights.w1)),
        second_(turned<T>(weights.w2)) {}

  const T* rows(int64_t edge) const { return radial_ + edge * inputs; }
  /// W1 r + b1.
  void first(int64_t edge, int64_t count, T* out) const {
    layer(rows(edge), inputs, first_, first_bias_, count, out);
  }
  /// W2 x + b2.
  void second(const T* x, int64_t count, T* out) const {
    layer(x, width, second_, second_bias_, count, out);
  }

  int64_t inputs, width;

 private:
  void layer(const T* x, int64_t size, const at::Tensor& weight, const T* bias, int64_t count,
             T* out) const {
    for (int64_t i = 0; i < count; ++i) std::copy_n(bias, width, out + i * width);
    multiply<T>(
        {x, size, 1, weight.const_data_ptr<T>(), width, out, width, count, width, size, true});
  }

  const T *radial_, *first_bias_, *second_bias_;
  at::Tensor first_, second_;
};

/// body(task, scratch, first edge, count) of blocks of edges; a task's one after the other, with
/// `buffers` arrays of a block's size.
template <class T, class Body>
void each_radial_block(int64_t edges, int64_t width, int64_t buffers, const Body& body) {
  const int64_t tasks = radial_parts_of(edges);
  kernels::share_blocks(tasks, tasks, [&](int64_t task) {
    const Scratch<T> scratch(buffers * kRadialRows * width);
    const int64_t end = edges * (task + 1) / tasks;
    for (int64_t at = edges * task / tasks; at < end; at += kRadialRows) {
      body(task, scratch.data(), at, std::min(kRadialRows, end - at));
    }
  });
}

template <class T>
at::Tensor make_hidden(const at::Tensor& radial, const RadialWeights& weights) {
  const RadialBlock<T> block(radial, weights);
  const int64_t edges = radial.size(0), width = block.width;
  const auto& silu = kernels::loops<T>().product.silu;
  at::Tensor out = at::empty({edges, width}, radial.options());
  each_radial_block<T>(edges, width, 1, [&](int64_t, T* first, int64_t edge, int64_t count) {
    T* to = out.data_ptr<T>() + edge * width;
    block.first(edge, count, first);
    silu(first, first, count * width);
    block.second(first, count, to);
    silu(to, to, count * width);
  });
  return out;
}

template <class T>
std::vector<at::Tensor> gradients_of(const at::Tensor& radial, const RadialWeights& weights,
                                     const at::Tensor& grad_hidden) {
  const RadialBlock<T> block(radial, weights);
  const int64_t edges = radial.size(0), width = block.width, inputs = block.inputs;
  const int64_t tasks = radial_parts_of(edges);
  const auto& table = kernels::loops<T>().product;
  // Of each task: w1 turned, b1, w2, b2.
  const int64_t at_b1 = inputs * width, at_w2 = at_b1 + width, at_b2 = at_w2 + width * width;
  const at::Tensor parts = at::zeros({tasks, at_b2 + width}, radial.options());
  const T* w2 = weights.w2.const_data_ptr<T>();
  each_radial_block<T>(edges, width, 5, [&](int64_t task, T* first, int64_t edge, int64_t count) {
    T* part = parts.data_ptr<T>() + task * parts.size(1);
    const int64_t size = count * width;
    T *active = first + size, *second = active + size, *of_second = second + size,
      *of_first = of_second + size;
    block.first(edge, count, first);
    table.silu(first, active, size);
    block.second(active, count, second);
    std::copy_n(grad_hidden.const_data_ptr<T>() + edge * width, size, of_second);
    table.silu_grad(second, of_second, size);
    multiply<T>(
        {of_second, 1, width, active, width, part + at_w2, width, width, width, count, true});
    sum_rows(of_second, width, count, part + at_b2, width, true);
    multiply<T>({of_second, width, 1, w2, width, of_first, width, count, width, width, false});
    table.silu_grad(first, of_first, size);
    multiply<T>(
        {block.rows(edge), 1, inputs, of_first, width, part, width, inputs, width, count, true});
    sum_rows(of_first, width, count, part + at_b1, width, true);
  });
  const at::Tensor sum = at::empty({parts.size(1)}, parts.options());
  sum_rows(parts.const_data_ptr<T>(), parts.size(1), tasks, sum.data_ptr<T>(), parts.size(1),
           false);
  return {turned<T>(sum.narrow(0, 0, at_b1).view({inputs, width})),
          sum.narrow(0, at_b1, width).clone(),
          sum.narrow(0, at_w2, width * width).view({width, width}).clone(),
          sum.narrow(0, at_b2, width).clone()};
}

}  // namespace

at::Tensor hidden_of(const at::Tensor& radial, const RadialWeights& weights) {
  return radial.scalar_type() == at::kDouble ? make_hidden<double>(radial, weights)
                                             : make_hidden<float>(radial, weights);
}

std::vector<at::Tensor> radial_gradients(const at::Tensor& radial, const RadialWeights& weights,
                                         const at::Tensor& grad_hidden) {
  return radial.scalar_type() == at::kDouble ? gradients_of<double>(radial, weights, grad_hidden)
                                             : gradients_of<float>(radial, weights, grad_hidden);
}

}  // namespace kdgat::molecules
