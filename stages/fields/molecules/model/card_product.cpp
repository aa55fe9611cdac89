#include "fields/molecules/model/card_product.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

#include "engine/kernels/cuda/device.h"
#include "engine/kernels/cuda/launch/product_launches.h"
#include "engine/kernels/full_precision.h"
#include "fields/molecules/model/couplings.h"

namespace kdgat::molecules {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// What forward and backward of a product share.
struct CardProduct : torch::CustomClassHolder {
  CardProduct(std::shared_ptr<const ProductEdges> of, const Irreps& irreps, bool only_scalars,
              int64_t block, const at::Tensor& x)
      : over(std::move(of)),
        irreps(irreps),
        gated(irreps.gated()),
        block(block),
        on_card(of_card(*over, x)) {
    for (const TensorPath& path : tensor_paths(irreps)) {
      if (path.in > 0 && path.out > 0 && !(only_scalars && path.l1 > 0)) paths.push_back(path);
    }
  }

  /// The copies of `over` beside x, made if there are none yet.
  static const ProductEdges::OnCard& of_card(const ProductEdges& over, const at::Tensor& x) {
    ProductEdges::OnCard& out = over.on_card;
    const bool is_there = out.lists.defined() && out.lists.device() == x.device() &&
                          out.harmonics.scalar_type() == x.scalar_type();
    if (is_there) return out;
    const MoleculeEdges& e = over.edges;
    std::vector<int32_t> all(e.source);
    all.insert(all.end(), e.target.begin(), e.target.end());
    all.insert(all.end(), e.by_source.begin(), e.by_source.end());
    for (const std::vector<int64_t>* ptr : {&e.target_ptr, &e.source_ptr}) {
      for (const int64_t first : *ptr) all.push_back(static_cast<int32_t>(first));
    }
    out.lists = at::from_blob(all.data(), {static_cast<int64_t>(all.size())}, at::kInt)
                    .clone()
                    .to(x.device());
    out.harmonics = over.harmonics.to(x.options()).contiguous();
    out.radial = over.radial.to(x.options()).contiguous();
    return out;
  }

  /// What the kernels read for a path.
  template <class T>
  kernels::cuda::ProductArgs<T> args(const TensorPath& path, const at::Tensor& x,
                                     const at::Tensor& hidden, const at::Tensor& z) const {
    kernels::cuda::ProductArgs<T> p{};
    p.nodes = x.size(0);
    p.edges = over->edges.edges();
    p.dim = x.size(1);
    p.offset = irreps.offset(path.l1);
    p.channels = path.in;
    p.from = Irreps::components(path.l1);
    p.to = Irreps::components(path.l3);
    p.width = hidden.size(1);
    const int32_t* list = on_card.lists.const_data_ptr<int32_t>();
    const int32_t* target_ptr = list + 3 * p.edges;
    p.lists = {list, list + p.edges, target_ptr, target_ptr + p.nodes + 1, list + 2 * p.edges};
    p.x = x.const_data_ptr<T>();
    p.y = on_card.harmonics.const_data_ptr<T>();
    p.hidden = hidden.const_data_ptr<T>();
    p.z = z.data_ptr<T>();
    const std::vector<CouplingTerm>& terms = coupling(path.l1, path.l2, path.l3);
    if (terms.size() > kernels::cuda::kMostTerms)
      throw std::logic_error("a coupling of too many terms");
    for (const CouplingTerm& term : terms) {
      const auto k = static_cast<std::size_t>(p.terms.count++);
      p.terms.a[k] = static_cast<signed char>(term.a);
      p.terms.b[k] = static_cast<signed char>(static_cast<int>(kHarmonic[path.l2]) + term.b);
      p.terms.c[k] = static_cast<signed char>(term.c);
      p.terms.value[k] = static_cast<T>(term.value * path.scale);
    }
    return p;
  }

  /// body(args) for blocks of nodes, with room for their sums, [nodes of the block * C, (H+1) u].
  template <class T, class Body>
  void for_blocks(kernels::cuda::ProductArgs<T> p, const at::TensorOptions& options,
                  const Body& body) const {
    const int64_t columns = (p.width + 1) * p.channels;
    const int64_t rows = std::max<int64_t>(1, block / (p.to * columns));
    const std::vector<int64_t>& ptr = over->edges.target_ptr;
    for (p.begin = 0; p.begin < p.nodes; p.begin = p.end) {
      p.end = std::min<int64_t>(p.nodes, p.begin + rows);
      p.first_edge = ptr[static_cast<std::size_t>(p.begin)];
      p.last_edge = ptr[static_cast<std::size_t>(p.end)];
      const at::Tensor mixed = at::empty({(p.end - p.begin) * p.to, columns}, options);
      p.mixed = mixed.template data_ptr<T>();
      body(p, mixed);
    }
  }

  std::shared_ptr<const ProductEdges> over;
  Irreps irreps, gated;
  int64_t block;
  ProductEdges::OnCard on_card;  ///< its own handles: another type may take their place in `over`
  std::vector<TensorPath> paths;
};

/// The weights of a path with its bias as those of one more hidden number, [(H+1) u, w].
at::Tensor mixing_of(const TensorPath& path, const at::Tensor& w3, const at::Tensor& b3) {
  const int64_t size = path.in * path.out;
  const at::Tensor of_hidden =
      w3.narrow(0, path.first, size).view({path.in, path.out, w3.size(1)}).permute({2, 0, 1});
  const at::Tensor of_bias = b3.narrow(0, path.first, size).view({1, path.in, path.out});
  return at::cat({of_hidden, of_bias}).view({-1, path.out});
}

/// The radial network, and its gradients from that of `hidden`.
struct RadialPass {
  RadialPass(const at::Tensor& radial, const RadialWeights& weights)
      : before_first(at::linear(radial, weights.w1, weights.b1)),
        first(at::silu(before_first)),
        before_hidden(at::linear(first, weights.w2, weights.b2)),
        hidden(at::silu(before_hidden)) {}
  /// Of w1, b1, w2, b2.
  variable_list gradients(const at::Tensor& radial, const RadialWeights& weights,
                          const at::Tensor& grad_hidden) const {
    const at::Tensor second = at::silu_backward(grad_hidden, before_hidden);
    const at::Tensor one = at::silu_backward(second.mm(weights.w2), before_first);
    return {one.t().mm(radial), one.sum(0), second.t().mm(first), second.sum(0)};
  }
  at::Tensor before_first, first, before_hidden, hidden;
};

class CardProductFunction : public torch::autograd::Function<CardProductFunction> {
 public:
  static at::Tensor forward(AutogradContext* ctx, const c10::intrusive_ptr<CardProduct>& product,
                            const at::Tensor& state, const at::Tensor& w1, const at::Tensor& b1,
                            const at::Tensor& w2, const at::Tensor& b2, const at::Tensor& w3,
                            const at::Tensor& b3) {
    const at::AutoDispatchBelowADInplaceOrView below;
    const kernels::FullPrecision of_all;
    const at::Tensor x = state.contiguous();
    ctx->save_for_backward({x, w1, b1, w2, b2, w3, b3});
    ctx->saved_data["product"] = at::IValue::make_capsule(product);
    const RadialPass radial(product->on_card.radial, {w1, b1, w2, b2, w3, b3});
    const Irreps& gated = product->gated;
    std::array<at::Tensor, 3> out;  // [N,components,channels]
    for (std::size_t l = 0; l < out.size(); ++l) {
      out[l] = at::zeros({x.size(0), Irreps::components(l), gated.mul[l]}, x.options());
    }
    const kernels::cuda::OnDevice on(x);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "tensor_product", [&] {
      for (const TensorPath& path : product->paths) {
        const at::Tensor mixing = mixing_of(path, w3, b3);
        const at::Tensor z = states_of(*product, path, x);
        const auto args = product->args<scalar_t>(path, x, radial.hidden, z);
        kernels::cuda::product_states(on.launcher(), args);
        product->for_blocks(args, x.options(), [&](const auto& p, const at::Tensor& mixed) {
          kernels::cuda::product_sums(on.launcher(), p);
          out[path.l3]
              .narrow(0, p.begin, p.end - p.begin)
              .view({-1, path.out})
              .addmm_(mixed, mixing);
        });
      }
    });
    for (at::Tensor& part : out) part = part.transpose(1, 2).flatten(1);
    return at::cat(out, 1);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const at::AutoDispatchBelowADInplaceOrView below;
    const kernels::FullPrecision of_all;
    const variable_list s = ctx->get_saved_variables();
    const at::Tensor& x = s[0];
    const RadialWeights weights = {s[1], s[2], s[3], s[4], s[5], s[6]};
    const auto product =
        c10::static_intrusive_pointer_cast<CardProduct>(ctx->saved_data["product"].toCapsule());
    const RadialPass radial(product->on_card.radial, weights);
    std::array<at::Tensor, 3> grad_out;  // [N,components,channels]
    for (std::size_t l = 0; l < grad_out.size(); ++l) {
      const int64_t mul = product->gated.mul[l], components = Irreps::components(l);
      grad_out[l] = grads[0]
                        .narrow(1, product->gated.offset(l), mul * components)
                        .reshape({x.size(0), mul, components})
                        .transpose(1, 2)
                        .contiguous();
    }
    const at::Tensor grad_x = at::zeros_like(x), grad_hidden = at::zeros_like(radial.hidden);
    const at::Tensor grad_w3 = at::zeros_like(weights.w3), grad_b3 = at::zeros_like(weights.b3);
    const kernels::cuda::OnDevice on(x);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "tensor_product_backward", [&] {
      for (const TensorPath& path : product->paths) {
        const at::Tensor mixing = mixing_of(path, weights.w3, weights.b3);
        at::Tensor grad_mixing = at::zeros_like(mixing);
        const at::Tensor z = states_of(*product, path, x), grad_z = at::empty_like(z);
        auto args = product->args<scalar_t>(path, x, radial.hidden, z);
        args.grad_z = grad_z.data_ptr<scalar_t>();
        args.grad_x = grad_x.data_ptr<scalar_t>();
        args.grad_hidden = grad_hidden.data_ptr<scalar_t>();
        kernels::cuda::product_states(on.launcher(), args);
        product->for_blocks(args, x.options(), [&](auto p, const at::Tensor& mixed) {
          const at::Tensor grad =
              grad_out[path.l3].narrow(0, p.begin, p.end - p.begin).view({-1, path.out});
          kernels::cuda::product_sums(on.launcher(), p);
          grad_mixing.addmm_(mixed.t(), grad);
          const at::Tensor grad_mixed = grad.mm(mixing.t());
          p.mixed = grad_mixed.template data_ptr<scalar_t>();
          kernels::cuda::product_block_gradients(on.launcher(), p);
        });
        kernels::cuda::product_source_gradients(on.launcher(), args);
        const int64_t size = path.in * path.out, width = radial.hidden.size(1);
        const at::Tensor parts = grad_mixing.view({width + 1, size});
        grad_w3.narrow(0, path.first, size).copy_(parts.narrow(0, 0, width).t());
        grad_b3.narrow(0, path.first, size).copy_(parts[width]);
      }
    });
    variable_list out = {at::Tensor(), grad_x};  // none of the product itself
    for (at::Tensor& grad : radial.gradients(product->on_card.radial, weights, grad_hidden)) {
      out.push_back(std::move(grad));
    }
    out.push_back(grad_w3);
    out.push_back(grad_b3);
    return out;
  }

 private:
  /// Room for the coupled states of all edges.
  static at::Tensor states_of(const CardProduct& product, const TensorPath& path,
                              const at::Tensor& x) {
    return at::empty({product.over->edges.edges(), Irreps::components(path.l3), path.in},
                     x.options());
  }
};

}  // namespace

at::Tensor card_tensor_product(const at::Tensor& x, const RadialWeights& weights,
                               const std::shared_ptr<const ProductEdges>& over,
                               const Irreps& irreps, bool only_scalars, int64_t block) {
  return CardProductFunction::apply(
      c10::make_intrusive<CardProduct>(over, irreps, only_scalars, block, x), x, weights.w1,
      weights.b1, weights.w2, weights.b2, weights.w3, weights.b3);
}

/// The coupled states of all edges, for a path at a time.
Value count_card_tensor_product(PocketCount& step, const Value& state, const RadialWeights& weights,
                                PocketCount::Edges& edges, const Irreps& irreps,
                                bool only_scalars) {
  constexpr Cost kAtoms = PocketCount::kAtoms;
  const double hidden = weights.hidden();
  const auto gated = static_cast<double>(irreps.gated().dim());
  if (!edges.has_lists) {
    edges.has_lists = true;
    step.lists.push_back(
        step.tape.hold(edges.rows * (3 * PocketCount::kInt) + kAtoms * (2 * PocketCount::kInt)));
  }
  // Of a path the weights that mix, the states of an edge, and the sums of a block of nodes.
  struct Path {
    double mixing, state, sums;
  };
  std::vector<Path> paths;
  for (const TensorPath& path : tensor_paths(irreps)) {
    if (path.in == 0 || path.out == 0 || (only_scalars && path.l1 > 0)) continue;
    const auto in = static_cast<double>(path.in),
               to = static_cast<double>(Irreps::components(path.l3));
    const double of_node = to * (hidden + 1) * in;
    const double some = std::max(1.0, std::floor(static_cast<double>(kCardBlock) / of_node));
    paths.push_back({(hidden + 1) * in * static_cast<double>(path.out), to * in,
                     std::min(some, step.nodes) * of_node});
  }
  Held parts;
  {
    const Held radial = step.rows(edges.rows, 4 * hidden);
    parts = step.rows(kAtoms, gated);
    for (const Path& path : paths) {
      const Held mixing = step.once(path.mixing), z = step.rows(edges.rows, path.state);
      step.once(path.sums);
    }
  }
  Value out = step.tape.value(kAtoms, gated);
  parts = nullptr;
  step.tape.then(out, [=, &step, of = edges.rows, elements = weights.elements(),
                       of_edge = weights.of_edge()](const Held&) {
    const Held radial = step.rows(of, 4 * hidden), grad_out = step.rows(kAtoms, gated),
               of_hidden = step.rows(of, hidden);
    step.tape.give(state);
    const Held of_third = step.once(of_edge * (hidden + 1));
    for (const Path& path : paths) {
      const Held mixing = step.once(2 * path.mixing), states = step.rows(of, 2 * path.state);
      step.once(2 * path.sums);
    }
    step.rows(of, 3 * hidden);
    step.tape.parameters(elements);
  });
  return out;
}

}  // namespace kdgat::molecules
