#include "model/molecules/tensor_product.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <utility>

#include "model/kernels/cpu/parallel.h"
#include "model/molecules/product_parts.h"

namespace kdgat::model {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// What the autograd nodes of a product share.
struct Product : torch::CustomClassHolder {
  Product(std::shared_ptr<const ProductEdges> over, const Irreps& irreps, bool only_scalars)
      : over(std::move(over)), plan(irreps, only_scalars) {}
  std::shared_ptr<const ProductEdges> over;
  ProductPlan plan;
};

/// Edges of a task: tasks are fixed by the data, so that sums do not depend on threads.
constexpr int64_t kTasks = 16;
constexpr int64_t kLeastEdges = 256;

/// Ranges of nodes with about as many edges each.
std::vector<std::pair<int64_t, int64_t>> tasks_of(const std::vector<int64_t>& ptr) {
  const int64_t nodes = static_cast<int64_t>(ptr.size()) - 1, edges = ptr.back();
  const int64_t tasks = std::clamp<int64_t>(edges / kLeastEdges, 1, kTasks);
  std::vector<std::pair<int64_t, int64_t>> out;
  int64_t begin = 0;
  for (int64_t task = 0; task < tasks; ++task) {
    const int64_t wanted = edges * (task + 1) / tasks;
    int64_t end = std::upper_bound(ptr.begin(), ptr.end(), wanted) - ptr.begin() - 1;
    if (task + 1 == tasks) end = nodes;
    end = std::max(begin, std::min(end, nodes));
    out.emplace_back(begin, end);
    begin = end;
  }
  return out;
}

/// [N,dim] by channel to by component, and back.
at::Tensor by_component(const at::Tensor& x, const Irreps& irreps, bool forth) {
  std::vector<at::Tensor> parts;
  for (std::size_t l = 0; l < 3; ++l) {
    const int64_t u = irreps.mul[l], m = Irreps::components(l);
    const at::Tensor part = x.narrow(1, irreps.offset(l), u * m);
    parts.push_back(
        part.reshape({x.size(0), forth ? u : m, forth ? m : u}).transpose(1, 2).flatten(1));
  }
  return at::cat(parts, 1);
}

template <class T>
at::Tensor forward_of(const Product& product, const at::Tensor& x, const RadialWeights& weights) {
  const MoleculeEdges& edges = product.over->edges;
  const at::Tensor x_c = by_component(x.contiguous(), product.plan.irreps, true);
  const at::Tensor hidden = radial_hidden(product.over->radial, weights).contiguous();
  const MixingWeights mixing(product.plan, weights);
  at::Tensor messages = at::empty({edges.edges(), product.plan.p_columns}, x.options());
  at::Tensor out = at::empty({x.size(0), product.plan.gated.dim()}, x.options());
  const ProductArrays<T> arrays(product.plan, *product.over, mixing, x_c, hidden);
  const auto sources = tasks_of(edges.source_ptr), targets = tasks_of(edges.target_ptr);
  share_blocks(static_cast<int64_t>(sources.size()), kTasks, [&](int64_t task) {
    const auto [begin, end] = sources[static_cast<std::size_t>(task)];
    source_messages<T>(arrays, begin, end, messages.data_ptr<T>());
  });
  share_blocks(static_cast<int64_t>(targets.size()), kTasks, [&](int64_t task) {
    const auto [begin, end] = targets[static_cast<std::size_t>(task)];
    target_sums<T>(arrays, begin, end, messages.const_data_ptr<T>(), out.data_ptr<T>());
  });
  return by_component(out, product.plan.gated, false);
}

/// Gradients of x and of the six weights.
template <class T>
variable_list backward_of(const Product& product, const at::Tensor& x, const RadialWeights& weights,
                          const at::Tensor& grad_out) {
  const MoleculeEdges& edges = product.over->edges;
  const at::Tensor x_c = by_component(x.contiguous(), product.plan.irreps, true);
  const at::Tensor out_c = by_component(grad_out.contiguous(), product.plan.gated, true);
  const at::Tensor hidden = radial_hidden(product.over->radial, weights).contiguous();
  const MixingWeights mixing(product.plan, weights);
  const ProductArrays<T> arrays(product.plan, *product.over, mixing, x_c, hidden);
  at::Tensor grad_x = at::zeros_like(x_c), grad_hidden = at::zeros_like(hidden);
  const auto sources = tasks_of(edges.source_ptr), targets = tasks_of(edges.target_ptr);
  MixingWeights total = mixing.zeros();
  {
    std::vector<MixingWeights> of_task(sources.size(), MixingWeights());
    share_blocks(static_cast<int64_t>(sources.size()), kTasks, [&](int64_t task) {
      const auto t = static_cast<std::size_t>(task);
      of_task[t] = mixing.zeros();
      source_gradients<T>(arrays, sources[t].first, sources[t].second, out_c.const_data_ptr<T>(),
                          grad_hidden.data_ptr<T>(), grad_x.data_ptr<T>(), of_task[t]);
    });
    for (const MixingWeights& one : of_task) total.add(one);
  }
  {
    std::vector<MixingWeights> of_task(targets.size(), MixingWeights());
    std::vector<at::Tensor> x_of_task(targets.size());
    share_blocks(static_cast<int64_t>(targets.size()), kTasks, [&](int64_t task) {
      const auto t = static_cast<std::size_t>(task);
      of_task[t] = mixing.zeros();
      x_of_task[t] = at::zeros_like(x_c);
      target_gradients<T>(arrays, targets[t].first, targets[t].second, out_c.const_data_ptr<T>(),
                          grad_hidden.data_ptr<T>(), x_of_task[t].data_ptr<T>(), of_task[t]);
    });
    for (std::size_t t = 0; t < of_task.size(); ++t) {
      total.add(of_task[t]);
      grad_x.add_(x_of_task[t]);
    }
  }
  const auto [grad_w3, grad_b3] = total.to_edge_weights(product.plan, weights);
  variable_list out = {by_component(grad_x, product.plan.irreps, false)};
  for (at::Tensor& grad : radial_gradients(product.over->radial, weights, grad_hidden)) {
    out.push_back(std::move(grad));
  }
  out.push_back(grad_w3);
  out.push_back(grad_b3);
  return out;
}

class TensorProductFunction : public torch::autograd::Function<TensorProductFunction> {
 public:
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& w1,
                            const at::Tensor& b1, const at::Tensor& w2, const at::Tensor& b2,
                            const at::Tensor& w3, const at::Tensor& b3,
                            const c10::intrusive_ptr<Product>& product) {
    const at::AutoDispatchBelowADInplaceOrView below;
    ctx->save_for_backward({x, w1, b1, w2, b2, w3, b3});
    ctx->saved_data["product"] = at::IValue::make_capsule(product);
    at::Tensor out;
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "tensor_product", [&] {
      out = forward_of<scalar_t>(*product, x, {w1, b1, w2, b2, w3, b3});
    });
    return out;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const auto product =
        c10::static_intrusive_pointer_cast<Product>(ctx->saved_data["product"].toCapsule());
    const RadialWeights weights = {saved[1], saved[2], saved[3], saved[4], saved[5], saved[6]};
    variable_list out;
    AT_DISPATCH_FLOATING_TYPES(saved[0].scalar_type(), "tensor_product_backward", [&] {
      out = backward_of<scalar_t>(*product, saved[0], weights, grads[0]);
    });
    out.emplace_back();  // the product itself
    return out;
  }
};

}  // namespace

at::Tensor tensor_product(const at::Tensor& x, const RadialWeights& weights,
                          const std::shared_ptr<const ProductEdges>& over, const Irreps& irreps,
                          bool only_scalars) {
  return TensorProductFunction::apply(x, weights.w1, weights.b1, weights.w2, weights.b2, weights.w3,
                                      weights.b3,
                                      c10::make_intrusive<Product>(over, irreps, only_scalars));
}

}  // namespace kdgat::model
