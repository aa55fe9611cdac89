#include <cmath>

#include "engine/kernels/cuda/launch/norm_launches.h"
#include "support/cards/cuda_cases.h"

// Kernels of the card, run on the CPU.
namespace kdgat::kernels::cuda {
namespace {

using test::CardGraphs;
using test::in_every_order;
using test::random_numbers;

namespace noise {
#include "engine/kernels/cpu/isa/dropout_hash.h"

uint64_t mix(uint64_t z) {
  z += 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}
}  // namespace noise

constexpr uint64_t kBase = 0x1234567890ABCDEF;
const std::vector<int64_t> kColumns = {1, 7, 32, 33, 64};

/// Rows with a graph each, their ids, and what is random about them.
struct Rows {
  CardGraphs graphs;
  int64_t columns, nodes = graphs.nodes(), size = nodes * columns;
  std::vector<int64_t> ids = ids_of(graphs.graphs());

  static std::vector<int64_t> ids_of(int64_t count) {
    std::vector<int64_t> out(static_cast<std::size_t>(count));
    for (std::size_t g = 0; g < out.size(); ++g) out[g] = 1000 - 7 * static_cast<int64_t>(g);
    return out;
  }
  GraphRows rows() const {
    return {graphs.graphs(), columns, parts_of_graph(graphs.graphs(), nodes, columns),
            graphs.node_ptr.data()};
  }
  Noise noise(double p) const {
    return {kBase, ids.data(), static_cast<int32_t>(p * 2147483648.0)};
  }
  /// Calls visit(graph, row, column, hash) for each element.
  template <class Visit>
  void for_elements(const Visit& visit) const {
    for (int64_t g = 0; g < graphs.graphs(); ++g) {
      const auto at = static_cast<std::size_t>(g);
      const uint64_t key = noise::mix(kBase ^ noise::mix(static_cast<uint64_t>(ids[at])));
      uint32_t element = 0;
      for (int64_t row = graphs.node_ptr[at]; row < graphs.node_ptr[at + 1]; ++row) {
        for (int64_t c = 0; c < columns; ++c) {
          visit(
              g, row, c,
              noise::hash(element++, static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)));
        }
      }
    }
  }
  double rows_of(int64_t g) const {
    const auto at = static_cast<std::size_t>(g);
    return graphs.node_ptr[at + 1] - graphs.node_ptr[at];
  }
};

template <class Body>
void for_rows(const Body& body) {
  uint64_t seed = 1;
  for (const auto& sizes : test::kCardSizes) {
    const CardGraphs graphs = test::card_graphs(sizes, seed++);
    for (const int64_t columns : kColumns) {
      INFO(graphs.nodes() << " nodes, " << columns << " columns");
      body(Rows{graphs, columns});
    }
  }
}

double at(const std::vector<double>& values, int64_t index) {
  return values.at(static_cast<std::size_t>(index));
}

std::vector<double> unset(int64_t size) {
  return std::vector<double>(static_cast<std::size_t>(size), NAN);
}

TEST_CASE("dropout of the card keeps what the others keep", "[cuda]") {
  for_rows([](const Rows& r) {
    const auto x = random_numbers<double>(r.size, 1, 1);
    const auto gain = random_numbers<double>(r.columns, 1, 2);
    const auto shift = random_numbers<double>(r.columns, 1, 3);
    for (const double p : {0.0, 0.4}) {
      for (const bool normed : {false, true}) {
        const auto out = in_every_order([&](Launcher& on) {
          std::vector<double> y = unset(r.size);
          norm_drop<double>(
              on, {r.rows(), r.noise(p), 1 / (1 - p), x.data(), normed ? gain.data() : nullptr,
                   normed ? shift.data() : nullptr, y.data()});
          return y;
        });
        std::vector<double> expected = unset(r.size);
        r.for_elements([&](int64_t, int64_t row, int64_t c, int32_t hash) {
          double value = at(x, row * r.columns + c);
          if (normed) value = value * at(gain, c) + at(shift, c);
          expected[static_cast<std::size_t>(row * r.columns + c)] =
              hash >= r.noise(p).threshold ? std::max(value, 0.0) / (1 - p) : 0;
        });
        CHECK(test::worst_of(out, expected) < 1e-14);

        const auto grad = random_numbers<double>(r.size, 1, 4);
        const auto grad_x = in_every_order([&](Launcher& on) {
          std::vector<double> g = unset(r.size);
          drop_grad<double>(on, {r.size, 1 / (1 - p), out.data(), grad.data(), g.data()});
          return g;
        });
        for (std::size_t i = 0; i < out.size(); ++i) {
          expected[i] = out[i] > 0 ? grad[i] / (1 - p) : 0;
        }
        CHECK(test::worst_of(grad_x, expected) < 1e-14);
      }
    }
    const auto numbers = in_every_order([&](Launcher& on) {
      std::vector<float> out(static_cast<std::size_t>(r.size), NAN);
      uniform<float>(on, {r.rows(), r.noise(0), out.data()});
      return out;
    });
    std::vector<double> expected = unset(r.size);
    r.for_elements([&](int64_t, int64_t row, int64_t c, int32_t hash) {
      const float number = (static_cast<float>(hash >> 7) + 0.5f) / 16777216;
      expected[static_cast<std::size_t>(row * r.columns + c)] = static_cast<double>(number);
    });
    CHECK(test::worst_of(numbers, expected) == 0);
  });
}

TEST_CASE("rows of graphs are one each where a graph is a row", "[cuda]") {
  const std::vector<int64_t> ids = {5, 6, 7};
  const auto x = random_numbers<double>(3 * 4, 1, 1);
  ShimLauncher on;
  std::vector<double> out = unset(3 * 4);
  norm_drop<double>(on, {{3, 4, parts_of_graph(3, 3, 4), nullptr},
                         {kBase, ids.data(), 0},
                         1.0,
                         x.data(),
                         nullptr,
                         nullptr,
                         out.data()});
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(out[i] == std::max(x[i], 0.0));
}

TEST_CASE("sums over rows by the card's kernels equal their definition", "[cuda]") {
  for_rows([](const Rows& r) {
    const auto x = random_numbers<double>(r.size, 1, 1);
    const auto mean = random_numbers<double>(r.columns, 1, 2);
    const auto out = random_numbers<double>(r.size, 1, 3);  // half of them are not above 0
    const auto grad = random_numbers<double>(r.size, 1, 4);
    const int64_t blocks = row_blocks(r.nodes);
    const auto total = [&](const std::vector<double>& partials, int64_t rows, int64_t row,
                           int64_t c) {
      double sum = 0;
      for (int64_t b = 0; b < blocks; ++b) {
        sum += at(partials, (b * rows + row) * r.columns + c);
      }
      return sum;
    };
    const auto run = [&](const double* centre) {
      return in_every_order([&](Launcher& on) {
        std::vector<double> partials = unset(blocks * r.columns);
        column_sums<double>(on, {r.nodes, r.columns, x.data(), centre, partials.data()});
        return partials;
      });
    };
    const auto sums = run(nullptr), squares = run(mean.data());
    NormGradArgs<double> args{r.nodes,     r.columns,  1.5,        x.data(),
                              mean.data(), out.data(), grad.data()};
    const auto of_grad = in_every_order([&](Launcher& on) {
      std::vector<double> partials = unset(blocks * 2 * r.columns);
      args.partials = partials.data();
      norm_grad_sums(on, args);
      return partials;
    });
    for (int64_t c = 0; c < r.columns; ++c) {
      double sum = 0, square = 0, g = 0, gx = 0;
      for (int64_t row = 0; row < r.nodes; ++row) {
        const int64_t i = row * r.columns + c;
        const double o = at(x, i) - at(mean, c), before = at(out, i) > 0 ? 1.5 * at(grad, i) : 0;
        sum += at(x, i);
        square += o * o;
        g += before;
        gx += before * o;
      }
      CHECK(total(sums, 1, 0, c) == Approx(sum).margin(1e-12));
      CHECK(total(squares, 1, 0, c) == Approx(square).margin(1e-12));
      CHECK(total(of_grad, 2, 0, c) == Approx(g).margin(1e-12));
      CHECK(total(of_grad, 2, 1, c) == Approx(gx).margin(1e-12));
    }
    const auto a = random_numbers<double>(r.columns, 1, 5);
    const auto b = random_numbers<double>(r.columns, 1, 7);
    const auto shift = random_numbers<double>(r.columns, 1, 8);
    args.a = a.data();
    args.b = b.data();
    args.c = shift.data();
    const auto grad_x = in_every_order([&](Launcher& on) {
      std::vector<double> g = unset(r.size);
      args.grad_x = g.data();
      norm_grad(on, args);
      return g;
    });
    std::vector<double> expected = unset(r.size);
    for (int64_t i = 0; i < r.size; ++i) {
      const int64_t c = i % r.columns;
      const double before = at(out, i) > 0 ? 1.5 * at(grad, i) : 0;
      expected[static_cast<std::size_t>(i)] =
          before * at(a, c) - (at(x, i) - at(mean, c)) * at(b, c) - at(shift, c);
    }
    CHECK(test::worst_of(grad_x, expected) < 1e-14);
  });
}

TEST_CASE("moments and factors of a batch norm come out of sums of blocks or of all", "[cuda]") {
  constexpr double kEps = 1e-3, kRows = 37;
  for (const int64_t columns : kColumns) {
    for (const int64_t blocks : {1, 5, 30}) {
      const auto partials = random_numbers<double>(blocks * 2 * columns, 1, 1);
      const auto weight = random_numbers<double>(columns, 1, 2);
      const auto bias = random_numbers<double>(columns, 1, 3);
      const auto mean = random_numbers<double>(columns, 1, 4);
      auto variance = random_numbers<double>(columns, 1, 5);
      for (double& v : variance) v *= v;
      std::vector<double> sums(static_cast<std::size_t>(2 * columns), 0.0);
      for (std::size_t i = 0; i < partials.size(); ++i) sums[i % sums.size()] += partials[i];
      std::vector<double> doubled = sums;
      for (double& value : doubled) value *= 2;
      // Of [blocks, 2, C] the moment reads rows of 2 C columns.
      for (const bool is_given : {false, true}) {
        const auto moment = in_every_order([&](Launcher& on) {
          std::vector<double> value = unset(2 * columns);
          norm_moment<double>(on, {blocks, 2 * columns, kRows, kEps, partials.data(),
                                   is_given ? doubled.data() : nullptr, value.data(), nullptr,
                                   nullptr, nullptr, nullptr, nullptr});
          return value;
        });
        for (int64_t c = 0; c < 2 * columns; ++c) {
          CHECK(at(moment, c) == Approx((is_given ? 2 : 1) * at(sums, c) / kRows).margin(1e-12));
        }
      }
      const auto gains = in_every_order([&](Launcher& on) {
        std::vector<double> out = unset(2 * columns);
        norm_moment<double>(on,
                            {0, columns, -1, kEps, nullptr, nullptr, variance.data(), weight.data(),
                             bias.data(), mean.data(), out.data(), out.data() + columns});
        return out;
      });
      for (const double rows : {kRows, -1.0}) {
        for (const bool is_given : {false, true}) {
          const auto factors = in_every_order([&](Launcher& on) {
            std::vector<double> out = unset(5 * columns);
            double* to = out.data();
            norm_factors<double>(
                on, {blocks, columns, rows, kEps, partials.data(), is_given ? sums.data() : nullptr,
                     is_given ? doubled.data() : nullptr, weight.data(), variance.data(), to,
                     to + columns, to + 2 * columns, to + 3 * columns, to + 4 * columns});
            return out;
          });
          for (int64_t c = 0; c < columns; ++c) {
            const double inverse = 1 / std::sqrt(at(variance, c) + kEps);
            const double gain = at(weight, c) * inverse, all = (is_given ? 2 : 1) / rows;
            CHECK(at(gains, c) == Approx(gain));
            CHECK(at(gains, columns + c) == Approx(at(bias, c) - at(mean, c) * gain).margin(1e-12));
            CHECK(at(factors, c) == Approx(gain));
            const double b = gain * inverse * inverse * at(sums, columns + c) * all;
            const double of_all = gain * at(sums, c) * all;
            CHECK(at(factors, columns + c) == Approx(rows < 0 ? 0 : b).margin(1e-12));
            CHECK(at(factors, 2 * columns + c) == Approx(rows < 0 ? 0 : of_all).margin(1e-12));
            CHECK(at(factors, 3 * columns + c) ==
                  Approx(at(sums, columns + c) * inverse).margin(1e-12));
            CHECK(at(factors, 4 * columns + c) == Approx(at(sums, c)).margin(1e-12));
          }
        }
      }
    }
  }
}

TEST_CASE("means over graphs by the card's kernels equal their definition", "[cuda]") {
  for_rows([](const Rows& r) {
    const auto x = random_numbers<double>(r.size, 1, 1);
    const int64_t graphs = r.graphs.graphs();
    const auto means = in_every_order([&](Launcher& on) {
      std::vector<double> out = unset(graphs * r.columns);
      graph_means<double>(on, {r.rows(), x.data(), out.data()});
      return out;
    });
    std::vector<double> expected(means.size(), 0.0), spread = unset(r.size);
    const auto grad = random_numbers<double>(graphs * r.columns, 1, 2);
    r.for_elements([&](int64_t g, int64_t row, int64_t c, int32_t) {
      expected[static_cast<std::size_t>(g * r.columns + c)] +=
          at(x, row * r.columns + c) / r.rows_of(g);
      spread[static_cast<std::size_t>(row * r.columns + c)] =
          at(grad, g * r.columns + c) / r.rows_of(g);
    });
    CHECK(test::worst_of(means, expected) < 1e-13);
    const auto grad_x = in_every_order([&](Launcher& on) {
      std::vector<double> out = unset(r.size);
      graph_spread<double>(on, {r.rows(), grad.data(), out.data()});
      return out;
    });
    CHECK(test::worst_of(grad_x, spread) < 1e-14);
  });
}

TEST_CASE(
    "graph norm by the card's kernels equals its definition, gradients agree with differences",
    "[cuda]") {
  for_rows([](const Rows& r) {
    constexpr double kEps = 1e-5, kKeep = 0.6;
    const int64_t graphs = r.graphs.graphs();
    auto x = random_numbers<double>(r.size, 1, 1);
    auto weight = random_numbers<double>(r.columns, 1, 2);
    auto bias = random_numbers<double>(r.columns, 1, 3);
    auto share = random_numbers<double>(r.columns, 1, 4);
    std::vector<double> centre, inverse, out;
    const auto args = [&]() -> GraphNormArgs<double> {
      return {r.rows(),      r.noise(1 - kKeep), 1 / kKeep,   kEps,
              x.data(),      weight.data(),      bias.data(), share.data(),
              centre.data(), inverse.data(),     out.data()};
    };
    const auto forward = [&](Launcher& on) {
      centre = inverse = unset(graphs * r.columns);
      out = unset(r.size);
      graph_norm(on, args());
      return out;
    };
    in_every_order(forward);
    std::vector<double> mean(centre.size(), 0.0), square(centre.size(), 0.0);
    std::vector<double> expected = unset(r.size);
    const auto centred = [&](int64_t g, int64_t row, int64_t c) {
      return at(x, row * r.columns + c) - at(mean, g * r.columns + c) * at(share, c);
    };
    r.for_elements([&](int64_t g, int64_t row, int64_t c, int32_t) {
      mean[static_cast<std::size_t>(g * r.columns + c)] +=
          at(x, row * r.columns + c) / r.rows_of(g);
    });
    r.for_elements([&](int64_t g, int64_t row, int64_t c, int32_t) {
      const double o = centred(g, row, c);
      square[static_cast<std::size_t>(g * r.columns + c)] += o * o / r.rows_of(g);
    });
    r.for_elements([&](int64_t g, int64_t row, int64_t c, int32_t hash) {
      const double value =
          at(weight, c) * centred(g, row, c) / std::sqrt(at(square, g * r.columns + c) + kEps) +
          at(bias, c);
      expected[static_cast<std::size_t>(row * r.columns + c)] =
          hash >= r.noise(1 - kKeep).threshold ? std::max(value, 0.0) / kKeep : 0;
    });
    CHECK(test::worst_of(out, expected) < 1e-10);

    const auto probe = random_numbers<double>(r.size, 1, 5);
    std::vector<double> grad_x, partials;
    in_every_order([&](Launcher& on) {
      grad_x = unset(r.size);
      partials = unset(graphs * 3 * r.columns);
      graph_norm_grad<double>(on, {args(), probe.data(), grad_x.data(), partials.data()});
      std::vector<double> all = grad_x;
      all.insert(all.end(), partials.begin(), partials.end());
      return all;
    });
    std::vector<double> sums(static_cast<std::size_t>(3 * r.columns), 0.0);
    for (std::size_t i = 0; i < partials.size(); ++i) sums[i % sums.size()] += partials[i];
    ShimLauncher on;
    const auto value = [&] {
      forward(on);
      double sum = 0;
      for (std::size_t i = 0; i < out.size(); ++i) sum += out[i] * probe[i];
      return sum;
    };
    // A graph of one node has no spread: differences of it are noise.
    if (r.graphs.graphs() > 0 && r.nodes > 100) {
      test::check_direction("x", x, grad_x.data(), value);
    }
    test::check_direction("weight", weight, sums.data(), value);
    test::check_direction("bias", bias, sums.data() + r.columns, value);
    if (r.nodes > 100) {
      test::check_direction("mean_scale", share, sums.data() + 2 * r.columns, value);
    }
  });
}

}  // namespace
}  // namespace kdgat::kernels::cuda
