#include "fields/molecules/model/tensor_product.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <utility>

#include "engine/kernels/cpu/parallel.h"
#include "engine/kernels/kernels_for.h"
#include "fields/molecules/model/card_product.h"
#include "fields/molecules/model/product_parts.h"

namespace kdgat::molecules {
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

/// Tasks are fixed by the data, so that sums do not depend on threads; a power of two, which most
/// numbers of threads divide.
constexpr int64_t kMostTasks = 16;
constexpr int64_t kLeastWork = 4096;  // of a task, in edges
constexpr int64_t kNodeWork = 24;     // a node is as much work as so many edges

}  // namespace

int64_t product_parts_of(int64_t nodes, int64_t edges) {
  const int64_t work = edges + kNodeWork * nodes;
  int64_t tasks = 1;
  while (tasks < kMostTasks && work / (2 * tasks) >= kLeastWork) tasks *= 2;
  return tasks;
}

namespace {

/// Ranges of nodes with about as much work each; `ptr` counts their edges.
std::vector<std::pair<int64_t, int64_t>> tasks_of(const std::vector<int64_t>& ptr) {
  const int64_t nodes = static_cast<int64_t>(ptr.size()) - 1;
  const auto before = [&](int64_t node) {
    return ptr[static_cast<std::size_t>(node)] + kNodeWork * node;
  };
  const int64_t tasks = product_parts_of(nodes, ptr[static_cast<std::size_t>(nodes)]);
  std::vector<std::pair<int64_t, int64_t>> out;
  int64_t node = 0;
  for (int64_t task = 0; task < tasks; ++task) {
    const int64_t begin = node, wanted = before(nodes) * (task + 1) / tasks;
    while (node < nodes && (task + 1 == tasks || before(node + 1) <= wanted)) ++node;
    out.emplace_back(begin, node);
  }
  return out;
}

/// body(task, begin, end) of each.
template <class Body>
void share_tasks(const std::vector<std::pair<int64_t, int64_t>>& tasks, const Body& body) {
  kernels::share_blocks(static_cast<int64_t>(tasks.size()), kMostTasks, [&](int64_t task) {
    const auto [begin, end] = tasks[static_cast<std::size_t>(task)];
    body(task, begin, end);
  });
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
  const at::Tensor hidden = hidden_of(product.over->radial, weights);
  const TurnedWeights<T> turned(product.plan, weights, false);
  const ProductArrays<T> arrays(product.plan, *product.over, weights, turned, x_c, hidden);
  at::Tensor messages = at::empty({edges.edges(), product.plan.p_columns}, x.options());
  at::Tensor out = at::empty({x.size(0), product.plan.gated.dim()}, x.options());
  share_tasks(tasks_of(edges.source_ptr), [&](int64_t, int64_t begin, int64_t end) {
    source_messages<T>(arrays, begin, end, messages.data_ptr<T>());
  });
  share_tasks(tasks_of(edges.target_ptr), [&](int64_t, int64_t begin, int64_t end) {
    target_sums<T>(arrays, begin, end, messages.const_data_ptr<T>(), out.data_ptr<T>());
  });
  return by_component(out, product.plan.gated, false);
}

/// Sums of tasks, [tasks,size], in their order.
template <class T>
void sum_parts(const T* parts, int64_t tasks, int64_t stride, T* out, int64_t size) {
  constexpr int64_t kPart = 1 << 14;
  kernels::share_blocks((size + kPart - 1) / kPart, kMostTasks, [&](int64_t block) {
    const int64_t first = block * kPart;
    sum_rows(parts + first, stride, tasks, out + first, std::min(kPart, size - first), false);
  });
}

/// Gradients of w3 and b3 in parts, one a task.
template <class T>
class WeightParts {
 public:
  WeightParts(const ProductPlan& plan, const RadialWeights& weights, std::size_t tasks)
      : w3(at::empty({static_cast<int64_t>(tasks), weights.w3.numel()}, weights.w3.options())),
        b3(at::empty({static_cast<int64_t>(tasks), weights.b3.numel()}, weights.b3.options())),
        width_(weights.w3.size(1)) {
    for (const TargetPath& one : plan.targets) paths_.push_back(one.path);
    for (const SourcePath& one : plan.sources) paths_.push_back(one.path);
  }
  /// Those of a task, to be called once: 0 at first.
  WeightGradients<T> begin(int64_t task) const {
    const WeightGradients<T> out = of(task);
    for (const TensorPath& path : paths_) {
      const int64_t size = path.in * path.out;
      std::fill_n(out.w3 + path.first * width_, size * width_, T(0));
      std::fill_n(out.b3 + path.first, size, T(0));
    }
    return out;
  }
  WeightGradients<T> of(int64_t task) const {
    return {w3.data_ptr<T>() + task * w3.size(1), b3.data_ptr<T>() + task * b3.size(1)};
  }
  std::pair<at::Tensor, at::Tensor> sums(const RadialWeights& weights) const {
    at::Tensor of_w3 = at::zeros_like(weights.w3), of_b3 = at::zeros_like(weights.b3);
    const WeightGradients<T> first = of(0);
    for (const TensorPath& path : paths_) {
      const int64_t at = path.first * width_, size = path.in * path.out;
      sum_parts(first.w3 + at, w3.size(0), w3.size(1), of_w3.data_ptr<T>() + at, size * width_);
      sum_parts(first.b3 + path.first, b3.size(0), b3.size(1), of_b3.data_ptr<T>() + path.first,
                size);
    }
    return {of_w3, of_b3};
  }

  at::Tensor w3, b3;

 private:
  int64_t width_;
  std::vector<TensorPath> paths_;
};

/// Gradients of x and of the six weights.
template <class T>
variable_list backward_of(const Product& product, const at::Tensor& x, const RadialWeights& weights,
                          const at::Tensor& grad_out) {
  const MoleculeEdges& edges = product.over->edges;
  const at::Tensor x_c = by_component(x.contiguous(), product.plan.irreps, true);
  const at::Tensor out_c = by_component(grad_out.contiguous(), product.plan.gated, true);
  const at::Tensor hidden = hidden_of(product.over->radial, weights);
  const TurnedWeights<T> turned(product.plan, weights, true);
  const ProductArrays<T> arrays(product.plan, *product.over, weights, turned, x_c, hidden);
  const auto sources = tasks_of(edges.source_ptr), targets = tasks_of(edges.target_ptr);
  const WeightParts<T> parts(product.plan, weights, targets.size());
  // Of the sources all in one; then those of each task of targets.
  const at::Tensor grad_x =
      at::empty({static_cast<int64_t>(targets.size()) + 1, x_c.numel()}, x_c.options());
  const int64_t dim = x_c.size(1);
  at::Tensor grad_hidden =
      product.plan.sources.empty() ? at::zeros_like(hidden) : at::empty_like(hidden);
  // The order of sums is that of the tasks, and both kinds are split into as many.
  share_tasks(sources, [&](int64_t task, int64_t begin, int64_t end) {
    T* of_x = grad_x.data_ptr<T>();
    std::fill(of_x + begin * dim, of_x + end * dim, T(0));
    source_gradients<T>(arrays, begin, end, out_c.const_data_ptr<T>(), grad_hidden.data_ptr<T>(),
                        of_x, parts.begin(task));
  });
  share_tasks(targets, [&](int64_t task, int64_t begin, int64_t end) {
    T* of_x = grad_x.data_ptr<T>() + (task + 1) * grad_x.size(1);
    std::fill_n(of_x, grad_x.size(1), T(0));
    target_gradients<T>(arrays, begin, end, out_c.const_data_ptr<T>(), grad_hidden.data_ptr<T>(),
                        of_x, parts.of(task));
  });
  const at::Tensor of_x = at::empty_like(x_c);
  sum_parts(grad_x.const_data_ptr<T>(), grad_x.size(0), grad_x.size(1), of_x.data_ptr<T>(),
            grad_x.size(1));
  variable_list out = {by_component(of_x, product.plan.irreps, false)};
  for (at::Tensor& grad : radial_gradients(product.over->radial, weights, grad_hidden)) {
    out.push_back(std::move(grad));
  }
  const auto [grad_w3, grad_b3] = parts.sums(weights);
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
  const kernels::KernelSet kernels = kernels::kernel_set(x.device());
  if (kernels == kernels::KernelSet::kCuda) {
    return card_tensor_product(x, weights, over, irreps, only_scalars);
  }
  if (kernels == kernels::KernelSet::kPlain) {
    const auto on_device = [&](const std::vector<int32_t>& list) {
      return at::tensor(at::ArrayRef<int32_t>(list), at::kLong).to(x.device());
    };
    return plain_tensor_product(x, weights, on_device(over->edges.source),
                                on_device(over->edges.target), over->harmonics.to(x.options()),
                                over->radial.to(x.options()), irreps);
  }
  return TensorProductFunction::apply(x, weights.w1, weights.b1, weights.w2, weights.b2, weights.w3,
                                      weights.b3,
                                      c10::make_intrusive<Product>(over, irreps, only_scalars));
}

Value count_tensor_product(PocketCount& step, const Value& state, const RadialWeights& weights,
                           PocketCount::Edges& edges, const Irreps& irreps, bool only_scalars) {
  if (step.kernels == kernels::KernelSet::kCuda) {
    return count_card_tensor_product(step, state, weights, edges, irreps, only_scalars);
  }
  if (step.kernels == kernels::KernelSet::kPlain) {
    return count_plain_tensor_product(step, state, weights, edges, irreps);
  }
  constexpr Cost kAtoms = PocketCount::kAtoms;
  const ProductPlan plan(irreps, only_scalars);
  const auto dim = static_cast<double>(irreps.dim());
  const auto gated = static_cast<double>(plan.gated.dim());
  const double hidden = weights.hidden(), inputs = weights.inputs();
  const double third = weights.of_edge() * (hidden + 1);  // weights and biases
  const auto columns = static_cast<double>(plan.p_columns);
  const double block = static_cast<double>(kProductBlock) * step.threads;
  const double of_sources = columns * (hidden + 1),
               of_targets = static_cast<double>(plan.z_columns) * (hidden + 1);

  Value out = step.tape.value(kAtoms, gated);
  {
    const Held x = step.rows(kAtoms, dim), h = step.rows(edges.rows, hidden),
               turned = step.once(third), messages = step.rows(edges.rows, columns),
               sums = step.rows(kAtoms, gated);
    step.once(block * std::max(of_sources, of_targets));
    step.rows(kAtoms, gated);  // its parts by channel, before they stand side by side
  }
  step.tape.then(
      out, [=, &step, elements = weights.elements(), parts = static_cast<double>(edges.parts),
            radial_parts = static_cast<double>(edges.radial_parts), of = edges.rows](const Held&) {
        const Held x = step.rows(kAtoms, dim), grad_out = step.rows(kAtoms, gated),
                   h = step.rows(of, hidden), turned = step.once(third),
                   of_weights = step.once(parts * third),
                   of_states = step.rows(kAtoms, (parts + 1) * dim), of_h = step.rows(of, hidden);
        step.once(block * std::max(of_sources, 2 * of_targets));
        const Held of_x = step.rows(kAtoms, dim);
        step.rows(kAtoms, dim);
        step.tape.give(state);
        step.once(radial_parts * (hidden + inputs + 2) * hidden);
        step.tape.parameters(elements);
      });
  return out;
}

}  // namespace kdgat::molecules
