#include "support/catch_torch.h"
// Catch first: see catch_torch.h.
#include <limits>
#include <string>

#include "engine/kernels/cpu/isa/level.h"
#include "fields/texts/model/sparse_product.h"
#include "kdgat/error.h"
#include "support/fields/texts/sparse_graphs.h"
#include "support/graphs/gradients.h"

using namespace kdgat;
using texts::NodeMask;
using texts::SparseProduct;

namespace {

template <class Body>
void at_every_level(const Body& body) {
  const std::string before(kernels::isa_level());
  for (const std::string& level : kernels::isa_levels_available()) {
    INFO(level);
    kernels::set_isa_level(level);
    body();
  }
  kernels::set_isa_level(before);
}

}  // namespace

TEST_CASE("sparse products are those of the dense matrix, at every level and width", "[sparse]") {
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    const test::SparseGraph g = test::sparse_graph(30, 40, 0.3, type);
    const NodeMask all = test::all_of(70);
    const SparseProduct product(g.matrix, all, all);
    for (const int64_t columns : {1, 3, 7, 16, 17, 33, 64, 65, 130, 200}) {
      const at::Tensor x = torch::sin(torch::arange(70 * columns, type)).view({70, columns});
      const at::Tensor expected = g.dense_NN.mm(x);
      at_every_level([&] {
        INFO(columns << " columns of " << type);
        const double tolerance = type == at::kFloat ? 1e-5 : 1e-12;
        CHECK(torch::allclose(product(x), expected, tolerance, tolerance));
        CHECK(torch::allclose(product.backward(x), expected, tolerance, tolerance));
      });
    }
  }
}

TEST_CASE("a product without columns or without rows that are wanted is empty or zero",
          "[sparse]") {
  const test::SparseGraph g = test::sparse_graph(4, 5, 0.5);
  const NodeMask all = test::all_of(9), none(9, false);
  CHECK(SparseProduct(g.matrix, all, all)(torch::zeros({9, 0}, at::kDouble)).sizes() ==
        at::IntArrayRef({9, 0}));
  const SparseProduct nothing(g.matrix, none, none);
  CHECK(nothing.nonzeros() == 0);
  CHECK(nothing(torch::ones({9, 3}, at::kDouble)).abs().max().item<double>() == 0);
}

TEST_CASE("rows that are not wanted are 0, and their gradient enters nothing", "[sparse]") {
  const test::SparseGraph g = test::sparse_graph(20, 25, 0.4);
  const NodeMask some = test::span_of(45, 0, 12);
  const NodeMask read = texts::neighbours(g.matrix, some);
  const at::Tensor rows = test::column_of(some), inputs = test::column_of(read);
  const SparseProduct product(g.matrix, some, read);
  const at::Tensor x = torch::cos(torch::arange(45 * 19, at::kDouble)).view({45, 19});
  CHECK(torch::allclose(product(x), rows * g.dense_NN.mm(x)));
  // Of all rows of the gradient, also those that no output has.
  CHECK(torch::allclose(product.backward(x), inputs * g.dense_NN.t().mm(rows * x)));
  // Fewer multiply-adds than all rows take.
  CHECK(product.nonzeros() < SparseProduct(g.matrix, test::all_of(45), read).nonzeros());
}

TEST_CASE("neighbours of documents are their words and themselves", "[sparse]") {
  const test::SparseGraph g = test::sparse_graph(6, 8, 0.5);
  const NodeMask some = test::span_of(14, 1, 3);
  const at::Tensor reached = g.dense_NN.mm(test::column_of(some)).gt(0).to(at::kDouble);
  CHECK(torch::equal(test::column_of(texts::neighbours(g.matrix, some)), reached));
  CHECK(reached.slice(0, 3, 6).sum().item<double>() == 0);  // no other document
}

TEST_CASE("gradients of sparse products agree with finite differences", "[sparse]") {
  const test::SparseGraph g = test::sparse_graph(5, 7, 0.5);
  const NodeMask some = test::span_of(12, 0, 4);
  const SparseProduct whole(g.matrix, test::all_of(12), test::all_of(12));
  const SparseProduct part(g.matrix, some, texts::neighbours(g.matrix, some));
  const std::vector<at::Tensor> x = {torch::sin(torch::arange(36, at::kDouble)).view({12, 3})};
  at_every_level([&] {
    test::check_gradients({x[0].clone()},
                          [&](const std::vector<at::Tensor>& in) { return whole(in[0]); });
    test::check_gradients({x[0].clone()}, [&](const std::vector<at::Tensor>& in) {
      return part(whole(in[0]).tanh());
    });
  });
}

TEST_CASE("rows with many nonzeros are read block by block, to the same sums", "[sparse]") {
  // More nodes than a block has columns; words have many neighbours, documents few.
  const test::SparseGraph g = test::sparse_graph(1100, 1200, 0.06, at::kFloat);
  const NodeMask all = test::all_of(2300), some = test::span_of(2300, 5, 1700);
  const at::Tensor x = torch::sin(torch::arange(2300 * 21, at::kFloat)).view({2300, 21});
  const SparseProduct whole(g.matrix, all, all), part(g.matrix, some, some);
  at_every_level([&] {
    CHECK(torch::allclose(whole(x), g.dense_NN.mm(x), 1e-4, 1e-4));
    const at::Tensor rows = test::column_of(some, at::kFloat);
    CHECK(torch::allclose(part(x), rows * g.dense_NN.mm(x), 1e-4, 1e-4));
    CHECK(torch::allclose(part.backward(x), rows * g.dense_NN.mm(rows * x), 1e-4, 1e-4));
  });
}

TEST_CASE("sparse products do not depend on the number of threads", "[sparse]") {
  const test::SparseGraph g = test::sparse_graph(300, 500, 0.4, at::kFloat);
  const NodeMask all = test::all_of(800);
  const SparseProduct product(g.matrix, all, all);
  const at::Tensor x = torch::sin(torch::arange(800 * 70, at::kFloat)).view({800, 70});
  const int before = torch::get_num_threads();
  torch::set_num_threads(1);
  const at::Tensor alone = product(x);
  torch::set_num_threads(3);
  CHECK(torch::equal(product(x), alone));
  torch::set_num_threads(before);
}

TEST_CASE("sizes beyond 32-bit indices are refused before memory is taken", "[sparse]") {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  CHECK_NOTHROW(texts::require_sparse_sizes(kMost - 1, kMost, 200));
  const auto message = [](int64_t nodes, int64_t nonzeros, int64_t columns) -> std::string {
    try {
      texts::require_sparse_sizes(nodes, nonzeros, columns);
    } catch (const Error& e) {
      CHECK(e.code() == ExitCode::kData);
      return e.what();
    }
    return "";
  };
  CHECK_THAT(message(kMost, 5, 1), Catch::Contains("nodes: 2147483647 are more than"));
  CHECK_THAT(message(5, kMost + 1, 1), Catch::Contains("nonzeros: 2147483648 are more than"));
  CHECK_THAT(message(kMost - 1, 5, int64_t{1} << 40), Catch::Contains("columns of 2147483646"));
}
