#include "engine/kernels/cuda/launch/sums_launches.h"
#include "support/cards/cuda_cases.h"

// Kernels of the card, run on the CPU.
namespace kdgat::kernels::cuda {
namespace {

using test::CardGraphs;
using test::in_every_order;
using test::random_numbers;

template <class T>
void check_sums(const CardGraphs& graphs, int64_t columns) {
  const auto x = random_numbers<T>(graphs.nodes() * columns, 1, 1);
  for (const bool back : {false, true}) {
    const auto out = in_every_order([&](Launcher& on) {
      std::vector<T> sums(x.size(), T(NAN));
      neighbour_sum<T>(on, {graphs.edges(), columns, x.data(), sums.data()}, back);
      return sums;
    });
    std::vector<double> expected(x.size(), 0.0);
    for (int64_t i = 0; i < graphs.nodes(); ++i) {
      graphs.for_sources(i, [&](int64_t source, int64_t) {
        const int64_t from = back ? i : source, to = back ? source : i;
        for (int64_t c = 0; c < columns; ++c) {
          expected[static_cast<std::size_t>(to * columns + c)] +=
              static_cast<double>(x[static_cast<std::size_t>(from * columns + c)]);
        }
      });
    }
    CHECK(test::worst_of(out, expected) < 1e-5);
  }
}

TEST_CASE("sums over neighbours by the card's kernels equal their definition", "[cuda]") {
  uint64_t seed = 1;
  for (const auto& sizes : test::kCardSizes) {
    const CardGraphs graphs = test::card_graphs(sizes, seed++);
    for (const int64_t columns : {1, 7, 33, 64}) {
      INFO(graphs.nodes() << " nodes, " << columns << " columns");
      check_sums<float>(graphs, columns);
      check_sums<double>(graphs, columns);
    }
  }
}

TEST_CASE("a race between threads is found", "[cuda]") {
  // The shim itself: what it is for is seen here alone.
  shim::Block& block = shim::block();
  block.kernel = "made up";
  block.order = {0, 1};
  const auto said = [] {
    const std::vector<std::string> problems = ShimLauncher::problems();
    return problems.empty() ? std::string() : problems.front();
  };
  {
    shim::Shared<float, 2> shared;
    for (const int t : shim::Phase()) shared[t] = 1;
    for (const int t : shim::Phase()) shared[t] += shared[t];
    CHECK(said().empty());
    for (const int t : shim::Phase()) {
      if (t == 0) shared[0] = shared[1];
      if (t == 1) shared[1] = 2;
    }
    CHECK(said() == "made up: a thread writes what another one reads in the same phase");
  }
  {
    shim::Shared<float, 2> shared;
    for (const int t : shim::Phase()) {
      shared[t] = 1;
      if (t == 1) shared[t] += shared[0];
    }
    CHECK(said() == "made up: a thread reads what another one writes in the same phase");
  }
  {
    shim::Shared<float, 2> shared;
    for (const int t : shim::Phase()) shared[0] = static_cast<float>(t);
    CHECK(said() == "made up: two threads write the same number in one phase");
  }
  {
    shim::Shared<float, 2> shared;
    for (const int t : shim::Phase()) shared[t] += 1;
    CHECK(said() == "made up: shared memory is read before it is written");
    for (const int t : shim::Phase()) shared[t + 1] = 1;
    CHECK(said() == "made up: shared memory at 2 of 2");
  }
}

}  // namespace
}  // namespace kdgat::kernels::cuda
