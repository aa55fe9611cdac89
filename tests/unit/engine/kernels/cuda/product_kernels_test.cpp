#include "engine/kernels/cuda/launch/product_launches.h"
#include "support/cards/cuda_cases.h"

// Kernels of the card, run on the CPU.
namespace kdgat::kernels::cuda {
namespace {

using test::in_every_order;
using test::random_numbers;

/// A made-up coupling over random edges, and one weight matrix behind it.
struct ProductCase {
  test::CardGraphs graphs;
  int64_t channels, from, to, width;
  int64_t nodes = graphs.nodes(), edges = graphs.size(), offset = 2;
  int64_t dim = offset + channels * from + 1;
  std::vector<double> x = random_numbers<double>(nodes * dim, 1, 1);
  std::vector<double> y = random_numbers<double>(edges * 9, 1, 2);
  std::vector<double> hidden = random_numbers<double>(edges * width, 1, 3);
  std::vector<double> z = unset(edges * to * channels), grad_z = z;
  Terms<double> terms = some_terms();

  static std::vector<double> unset(int64_t size) {
    return std::vector<double>(static_cast<std::size_t>(size), NAN);
  }
  int64_t row() const { return to * (width + 1) * channels; }
  Terms<double> some_terms() const {
    Terms<double> out{};
    for (int64_t c = 0; c < to; ++c) {
      for (int64_t a = 0; a < from; ++a) {
        if ((a + c) % 2 != 0) continue;
        const auto k = static_cast<std::size_t>(out.count++);
        out.a[k] = static_cast<signed char>(a);
        out.b[k] = static_cast<signed char>((2 * a + c) % 9);
        out.c[k] = static_cast<signed char>(c);
        out.value[k] = 0.3 * static_cast<double>(a + 1) - 0.2 * static_cast<double>(c);
      }
    }
    return out;
  }
  ProductArgs<double> args() {
    ProductArgs<double> p{};
    p.nodes = nodes;
    p.edges = edges;
    p.dim = dim;
    p.offset = offset;
    p.channels = channels;
    p.from = from;
    p.to = to;
    p.width = width;
    const Edges e = graphs.edges();
    p.lists = {e.in_source, e.target, e.in_ptr, e.out_ptr, e.out_edge};
    p.terms = terms;
    p.x = x.data();
    p.y = y.data();
    p.hidden = hidden.data();
    p.z = z.data();
    p.grad_z = grad_z.data();
    return p;
  }
  /// body(args) of each block of three nodes; `mixed` [nodes, row].
  template <class Body>
  void for_blocks(ProductArgs<double> p, std::vector<double>& mixed, const Body& body) const {
    for (p.begin = 0; p.begin < nodes; p.begin = p.end) {
      p.end = std::min<int64_t>(nodes, p.begin + 3);
      p.first_edge = p.lists.target_ptr[p.begin];
      p.last_edge = p.lists.target_ptr[p.end];
      p.mixed = mixed.data() + p.begin * row();
      body(p);
    }
  }
  std::vector<double> forward(Launcher& on) {
    z = unset(edges * to * channels);
    std::vector<double> mixed = unset(nodes * row());
    product_states(on, args());
    for_blocks(args(), mixed, [&](const ProductArgs<double>& p) { product_sums(on, p); });
    return mixed;
  }
  std::vector<double> expected() const {
    std::vector<double> out(static_cast<std::size_t>(nodes * row()), 0.0);
    for (int64_t e = 0; e < edges; ++e) {
      const auto edge = static_cast<std::size_t>(e);
      for (int k = 0; k < terms.count; ++k) {
        for (int64_t u = 0; u < channels; ++u) {
          const double coupled = terms.value[k] *
                                 y[edge * 9 + static_cast<std::size_t>(terms.b[k])] *
                                 x[static_cast<std::size_t>(graphs.in_source[edge] * dim + offset +
                                                            u * from + terms.a[k])];
          for (int64_t h = 0; h <= width; ++h) {
            const double factor = h < width ? hidden[static_cast<std::size_t>(e * width + h)] : 1.0;
            out[static_cast<std::size_t>(graphs.target[edge] * row() +
                                         (terms.c[k] * (width + 1) + h) * channels + u)] +=
                factor * coupled;
          }
        }
      }
    }
    return out;
  }
};

TEST_CASE(
    "a path of a tensor product by the card's kernels equals its definition, gradients agree "
    "with differences",
    "[cuda]") {
  uint64_t seed = 1;
  for (const auto& sizes : test::kCardSizes) {
    const test::CardGraphs graphs = test::card_graphs(sizes, seed++);
    if (graphs.nodes() > 200) continue;
    for (const auto& [channels, from, to, width] : std::vector<std::array<int64_t, 4>>{
             {1, 1, 1, 1}, {5, 3, 1, 4}, {3, 5, 3, 7}, {16, 3, 5, 9}}) {
      INFO(graphs.nodes() << " nodes, " << channels << " channels, " << from << " to " << to);
      ProductCase c{graphs, channels, from, to, width};
      const auto mixed = in_every_order([&](Launcher& on) { return c.forward(on); });
      CHECK(test::worst_of(mixed, c.expected()) < 1e-12);

      auto probe = random_numbers<double>(static_cast<int64_t>(mixed.size()), 1, 5);
      std::vector<double> grad_x, grad_hidden;
      in_every_order([&](Launcher& on) {
        grad_x.assign(c.x.size(), 0.5);
        grad_hidden.assign(c.hidden.size(), 0.25);
        c.grad_z = ProductCase::unset(c.edges * to * channels);
        ProductArgs<double> all = c.args();
        all.grad_x = grad_x.data();
        all.grad_hidden = grad_hidden.data();
        c.for_blocks(all, probe,
                     [&](const ProductArgs<double>& p) { product_block_gradients(on, p); });
        product_source_gradients(on, all);
        std::vector<double> out = grad_x;
        out.insert(out.end(), grad_hidden.begin(), grad_hidden.end());
        return out;
      });
      for (double& grad : grad_x) grad -= 0.5;
      for (double& grad : grad_hidden) grad -= 0.25;
      ShimLauncher on;
      const auto value = [&] {
        const std::vector<double> out = c.forward(on);
        double sum = 0;
        for (std::size_t i = 0; i < out.size(); ++i) sum += out[i] * probe[i];
        return sum;
      };
      test::check_direction("x", c.x, grad_x.data(), value);
      test::check_direction("hidden", c.hidden, grad_hidden.data(), value);
    }
  }
}

}  // namespace
}  // namespace kdgat::kernels::cuda
