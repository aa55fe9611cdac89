#include <numbers>

#include "engine/kernels/cuda/launch/path_launches.h"
#include "support/cards/cuda_cases.h"

// Kernels of the card, run on the CPU.
namespace kdgat::kernels::cuda {
namespace {

using test::in_every_order;
using test::random_numbers;

std::size_t index(int64_t at) { return static_cast<std::size_t>(at); }

/// `runs` of some rows each, none among them.
std::vector<int32_t> run_starts(int64_t runs, int64_t most, arrays::Random& random) {
  std::vector<int32_t> out{0};
  for (int64_t r = 0; r < runs; ++r) {
    out.push_back(out.back() + static_cast<int32_t>(random.below(static_cast<uint64_t>(most + 1))));
  }
  out.shrink_to_fit();
  return out;
}
std::vector<int32_t> nodes_of(int64_t count, int64_t nodes, arrays::Random& random) {
  std::vector<int32_t> out(index(count));
  for (int32_t& node : out) {
    node = static_cast<int32_t>(random.below(static_cast<uint64_t>(nodes)));
  }
  return out;
}

/// The run of each row, one step at a time.
std::vector<int64_t> runs_of(const std::vector<int32_t>& ptr) {
  std::vector<int64_t> out;
  for (std::size_t run = 0; run + 1 < ptr.size(); ++run) {
    out.insert(out.end(), index(ptr[run + 1] - ptr[run]), static_cast<int64_t>(run));
  }
  return out;
}

/// Numbers of things by the node of each.
struct ByNode {
  std::vector<int64_t> order;
  std::vector<int32_t> ptr{0};

  ByNode(const std::vector<int32_t>& node, int64_t nodes) {
    for (int32_t n = 0; n < nodes; ++n) {
      for (std::size_t k = 0; k < node.size(); ++k) {
        if (node[k] == n) order.push_back(static_cast<int64_t>(k));
      }
      ptr.push_back(static_cast<int32_t>(order.size()));
    }
    order.shrink_to_fit();
    ptr.shrink_to_fit();
  }
};

using Vector = std::array<double, 3>;
double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Vector crossed(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
double angle(const Vector& a, const Vector& b) {
  return std::atan2(std::sqrt(dot(crossed(a, b), crossed(a, b))), dot(a, b));
}

TEST_CASE("the geometry of paths by the card's kernels is that of their points", "[cuda]") {
  constexpr int64_t kNodes = 9;
  for (const int64_t arcs : {0, 1, 40}) {
    arrays::Random random(static_cast<uint64_t>(arcs) + 1);
    const auto pos = random_numbers<double>(3 * kNodes, 1, 1);
    const auto i = nodes_of(arcs, kNodes, random), j = nodes_of(arcs, kNodes, random);
    const auto triplet_ptr = run_starts(arcs, 4, random);
    const int64_t triplets = triplet_ptr.back();
    const auto k = nodes_of(triplets, kNodes, random);
    const auto path_ptr = run_starts(triplets, 5, random);
    const int64_t paths = path_ptr.back();
    const auto p = nodes_of(paths, kNodes, random);
    const int64_t size = arcs + 2 * triplets + 3 * paths;
    const auto out = in_every_order([&](Launcher& on) {
      std::vector<double> all(index(size), NAN);
      double* triplet = all.data() + arcs;
      double* path = triplet + 2 * triplets;
      path_geometry<double>(
          on, {arcs, triplets, paths, i.data(), j.data(), triplet_ptr.data(), k.data(),
               path_ptr.data(), p.data(), pos.data(), all.data(), triplet, triplet + triplets, path,
               path + paths, path + 2 * paths});
      return all;
    });
    const auto between = [&](int32_t from, int32_t to) {
      Vector d{};
      for (std::size_t x = 0; x < 3; ++x) d[x] = pos[index(3 * to) + x] - pos[index(3 * from) + x];
      return d;
    };
    std::vector<double> expected(index(size));
    for (int64_t arc = 0; arc < arcs; ++arc) {
      const Vector a = between(i[index(arc)], j[index(arc)]);
      expected[index(arc)] = std::sqrt(dot(a, a));
      for (int64_t t = triplet_ptr[index(arc)]; t < triplet_ptr[index(arc) + 1]; ++t) {
        const Vector b = between(j[index(arc)], k[index(t)]), n1 = crossed(a, b);
        expected[index(arcs + t)] = std::sqrt(dot(b, b));
        expected[index(arcs + triplets + t)] = angle(a, b);
        for (int64_t q = path_ptr[index(t)]; q < path_ptr[index(t) + 1]; ++q) {
          const Vector c = between(j[index(arc)], p[index(q)]), n2 = crossed(a, c);
          const int64_t first = arcs + 2 * triplets + q;
          expected[index(first)] = std::sqrt(dot(c, c));
          expected[index(first + paths)] = angle(a, c);
          expected[index(first + 2 * paths)] =
              std::atan2(std::sqrt(dot(a, a)) * dot(n1, c) + 0.0, dot(n1, n2));
        }
      }
    }
    CHECK(test::worst_of(out, expected) < 1e-9);
  }
}

TEST_CASE("points on a line have angles of exactly 0 and pi", "[cuda]") {
  arrays::Random random(3);
  for (int round = 0; round < 50; ++round) {
    std::vector<float> pos(9, 0.0F);  // a, then twice a: differences are exact, products are not
    for (std::size_t x = 0; x < 3; ++x) {
      pos[3 + x] = static_cast<float>(random.uniform() - 0.5);
      pos[6 + x] = 2 * pos[3 + x];
    }
    const std::vector<int32_t> i{0}, j{1}, ptr{0, 2}, k{2, 0}, path_ptr{0, 1, 2}, p{2, 0};
    std::vector<float> d(1), triplet(4), path(6);
    ShimLauncher on;
    path_geometry<float>(on, {1, 2, 2, i.data(), j.data(), ptr.data(), k.data(), path_ptr.data(),
                              p.data(), pos.data(), d.data(), triplet.data(), triplet.data() + 2,
                              path.data(), path.data() + 2, path.data() + 4});
    const auto pi = static_cast<float>(std::numbers::pi);
    CHECK(std::vector(triplet.begin() + 2, triplet.end()) == std::vector<float>{0, pi});
    CHECK(std::vector(path.begin() + 2, path.end()) == std::vector<float>{0, pi, 0, 0});
  }
}

TEST_CASE("Gaussians of the card's kernels equal their definition", "[cuda]") {
  constexpr int64_t kCentres = 7, kStride = 11;
  for (const int64_t count : {0, 1, 90}) {
    for (const double period : {0.0, 2 * std::numbers::pi}) {
      const auto x = random_numbers<double>(count, 4, 1);
      const auto out = in_every_order([&](Launcher& on) {
        std::vector<double> all(index(count * kStride), 5.0);
        smear<double>(on, {count, kCentres, kStride, 0.5, period, x.data(), all.data() + 2});
        return all;
      });
      std::vector<double> expected(index(count * kStride), 5.0);
      for (int64_t row = 0; row < count; ++row) {
        for (int64_t m = 0; m < kCentres; ++m) {
          double d = x[index(row)] - static_cast<double>(m) * 0.5;
          if (period > 0) d = std::remainder(d, period);
          expected[index(row * kStride + 2 + m)] = std::exp(-d * d / (2 * 0.25));
        }
      }
      CHECK(test::worst_of(out, expected) < 1e-12);
    }
  }
}

/// Runs of rows with a table, rows of which are `stride` apart.
struct RunCase {
  int64_t runs, columns, nodes = 6, stride = columns + 3;
  arrays::Random random{static_cast<uint64_t>(runs) + 1};
  std::vector<int32_t> ptr = run_starts(runs, 4, random);
  int64_t rows = ptr.back();
  std::vector<int32_t> node = nodes_of(rows, nodes, random);
  std::vector<double> x = random_numbers<double>(rows * columns, 1, 1);
  std::vector<double> of_run = random_numbers<double>(runs * columns, 1, 2);
  std::vector<double> table = random_numbers<double>((nodes - 1) * stride + columns, 1, 3);
  std::vector<double> out = random_numbers<double>(rows * columns, 1, 4);
  ByNode by_node{node, nodes};

  RunArgs<double> args(std::vector<double>& of, bool relu) const {
    RunArgs<double> a{};
    a.runs = runs;
    a.columns = columns;
    a.ptr = ptr.data();
    a.node = node.data();
    a.relu = relu;
    a.x = of.data();
    a.nodes = nodes;
    a.stride = stride;
    a.by_node = by_node.order.data();
    a.by_node_ptr = by_node.ptr.data();
    return a;
  }
};

template <class Body>
void for_runs(const Body& body) {
  for (const int64_t runs : {0, 1, 30}) {
    for (const int64_t columns : {1, 33, 64}) {
      for (const bool relu : {false, true}) {
        INFO(runs << " runs, " << columns << " columns, relu " << relu);
        body(RunCase{runs, columns}, relu);
      }
    }
  }
}

TEST_CASE("what runs and nodes add to rows is summed back by the card's kernels", "[cuda]") {
  for_runs([](RunCase r, bool relu) {
    const std::vector<int64_t> run = runs_of(r.ptr);
    const auto added = in_every_order([&](Launcher& on) {
      std::vector<double> x = r.x, table = r.table;
      RunArgs<double> args = r.args(x, relu);
      args.of_run = r.of_run.data();
      args.table = table.data();
      run_adds(on, args);
      return x;
    });
    std::vector<double> expected = r.x;
    for (int64_t i = 0; i < r.rows * r.columns; ++i) {
      const int64_t row = i / r.columns, c = i % r.columns;
      const double value = r.x[index(i)] + r.of_run[index(run[index(row)] * r.columns + c)] +
                           r.table[index(r.node[index(row)] * r.stride + c)];
      expected[index(i)] = relu ? std::max(value, 0.0) : value;
    }
    CHECK(test::worst_of(added, expected) < 1e-14);

    const auto summed = in_every_order([&](Launcher& on) {
      std::vector<double> all = r.x, table = r.table, sums(index(r.runs * r.columns), NAN);
      RunArgs<double> args = r.args(all, relu);
      args.out = r.out.data();
      args.table = table.data();
      args.sums = sums.data();
      run_sums(on, args);
      all.insert(all.end(), table.begin(), table.end());
      all.insert(all.end(), sums.begin(), sums.end());
      return all;
    });
    std::vector<double> x = r.x, table = r.table, sums(index(r.runs * r.columns), 0.0);
    for (int64_t i = 0; i < r.rows * r.columns; ++i) {
      const int64_t row = i / r.columns, c = i % r.columns;
      if (relu && r.out[index(i)] <= 0) x[index(i)] = 0;
      table[index(r.node[index(row)] * r.stride + c)] += x[index(i)];
      sums[index(run[index(row)] * r.columns + c)] += x[index(i)];
    }
    x.insert(x.end(), table.begin(), table.end());
    x.insert(x.end(), sums.begin(), sums.end());
    CHECK(test::worst_of(summed, x) < 1e-13);
  });
}

TEST_CASE("sums at the starts of runs by the card's kernels equal their definition", "[cuda]") {
  for_runs([](RunCase r, bool) {
    const std::vector<int64_t> run = runs_of(r.ptr);
    const auto start = nodes_of(r.runs, r.nodes, r.random);
    const ByNode by_start(start, r.nodes);
    const auto bias = random_numbers<double>(r.columns, 1, 5);
    const auto before = random_numbers<double>(r.nodes * r.columns, 1, 7);
    StartArgs<double> args{};
    args.runs = r.runs;
    args.columns = r.columns;
    args.nodes = r.nodes;
    args.ptr = r.ptr.data();
    args.node = start.data();
    args.by_node = by_start.order.data();
    args.by_node_ptr = by_start.ptr.data();
    args.bias = bias.data();
    args.x = r.x.data();
    const auto sums = in_every_order([&](Launcher& on) {
      std::vector<double> out = before;
      args.sums = out.data();
      start_sums(on, args);
      return out;
    });
    const auto grads = in_every_order([&](Launcher& on) {
      std::vector<double> x = r.x;
      args.x = x.data();
      args.grad_sums = before.data();
      start_grads(on, args);
      return x;
    });
    std::vector<double> expected = before, grad = r.x;
    for (int64_t i = 0; i < r.rows * r.columns; ++i) {
      const int64_t at = start[index(run[index(i / r.columns)])] * r.columns + i % r.columns;
      const double value = r.x[index(i)] + bias[index(i % r.columns)];
      expected[index(at)] += std::max(value, 0.0);
      grad[index(i)] = value > 0 ? before[index(at)] : 0;
    }
    CHECK(test::worst_of(sums, expected) < 1e-13);
    CHECK(test::worst_of(grads, grad) == 0);
  });
}

}  // namespace
}  // namespace kdgat::kernels::cuda
