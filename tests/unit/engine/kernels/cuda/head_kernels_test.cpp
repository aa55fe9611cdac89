#include <set>

#include "engine/kernels/cuda/launch/head_launches.h"
#include "support/cards/cuda_cases.h"

// Kernels of the card, run on the CPU.
namespace kdgat::kernels::cuda {
namespace {

using test::CardGraphs;
using test::in_every_order;
using test::random_numbers;

template <class T>
struct HeadCase {
  CardGraphs graphs;
  int64_t outputs;
  bool softmax, of_neighbours;
  double scale = 2;
  int64_t nodes = graphs.nodes();
  std::vector<T> logits = random_numbers<T>(nodes * outputs, scale, 1);
  std::vector<int32_t> id = ids();

  std::vector<int32_t> ids() const {
    arrays::Random random(9);
    std::vector<int32_t> out(static_cast<std::size_t>(nodes));
    for (int32_t& value : out) {
      value = static_cast<int32_t>(random.below(static_cast<uint64_t>(outputs)));
    }
    return out;
  }
  /// Rows [first, nodes): losses, then cells.
  std::vector<T> run(Launcher& on, int64_t first, bool with_grad) const {
    const auto begin = logits.begin() + first * outputs;
    std::vector<T> cells(begin, logits.end()), loss(static_cast<std::size_t>(nodes - first));
    head_rows<T>(on, {first, nodes - first, outputs, softmax, of_neighbours, with_grad, id.data(),
                      graphs.edges(), cells.data(), loss.data()});
    loss.insert(loss.end(), cells.begin(), cells.end());
    return loss;
  }
  std::set<int64_t> wanted(int64_t row) const {
    const auto of = [&](int64_t node) { return id[static_cast<std::size_t>(node)]; };
    if (!of_neighbours) return {of(row)};
    std::set<int64_t> out;
    for (std::size_t e = 0; e < graphs.in_source.size(); ++e) {
      if (graphs.in_source[e] == row) out.insert(of(graphs.target[e]));
    }
    return out;
  }
  std::vector<double> expected(int64_t first) const {
    std::vector<double> loss, grad;
    for (int64_t row = first; row < nodes; ++row) {
      const auto cell = [&](int64_t v) {
        return static_cast<double>(logits[static_cast<std::size_t>(row * outputs + v)]);
      };
      double sum = 0, wants = 0;
      for (int64_t v = 0; v < outputs; ++v) {
        sum += softmax ? std::exp(cell(v))
                       : std::log1p(std::exp(-std::abs(cell(v)))) + std::max(cell(v), 0.0);
      }
      const std::set<int64_t> ids = wanted(row);
      for (const int64_t v : ids) wants += cell(v);
      loss.push_back((softmax ? std::log(sum) : sum) - wants);
      for (int64_t v = 0; v < outputs; ++v) {
        const double share = softmax ? std::exp(cell(v)) / sum : 1 / (1 + std::exp(-cell(v)));
        grad.push_back(share - (ids.contains(v) ? 1 : 0));
      }
    }
    loss.insert(loss.end(), grad.begin(), grad.end());
    return loss;
  }
};

template <class T>
void check_head(const HeadCase<T>& head, int64_t first) {
  const auto with_grad = in_every_order([&](Launcher& on) { return head.run(on, first, true); });
  CHECK(test::worst_of(with_grad, head.expected(first)) <
        (sizeof(T) == 4 ? 5e-6 : 2e-14) * static_cast<double>(head.outputs + 500));
  const auto losses = in_every_order([&](Launcher& on) { return head.run(on, first, false); });
  const auto rows = static_cast<std::size_t>(head.nodes - first);
  for (std::size_t i = 0; i < losses.size(); ++i) {
    CHECK(losses[i] ==
          (i < rows ? with_grad[i]
                    : head.logits[static_cast<std::size_t>(first * head.outputs) + i - rows]));
  }
}

TEST_CASE("losses of wide heads by the card's kernels equal their definition", "[cuda]") {
  uint64_t seed = 1;
  for (const auto& sizes : std::vector<std::vector<int64_t>>{{}, {1}, {0, 1, 5, 0}, {3, 17}}) {
    const CardGraphs graphs = test::card_graphs(sizes, seed++);
    for (const int64_t outputs : {1, 2, 70, 257, 1000}) {
      for (const bool softmax : {false, true}) {
        for (const bool of_neighbours : {false, true}) {
          INFO(graphs.nodes() << " rows, " << outputs << " outputs, softmax " << softmax
                              << ", neighbours " << of_neighbours);
          const int64_t first = graphs.nodes() / 3;
          check_head(HeadCase<float>{graphs, outputs, softmax, of_neighbours}, first);
          check_head(HeadCase<double>{graphs, outputs, softmax, of_neighbours}, 0);
        }
      }
    }
  }
}

TEST_CASE("neighbours of a wide head are wanted once, however many bits tell them apart",
          "[cuda]") {
  const CardGraphs graphs = test::card_graphs({0, 5}, 7);
  for (const int64_t outputs : {32 * kThreads, 32 * kThreads + 1, 20000}) {
    HeadCase<double> head{graphs, outputs, false, true};
    // The last of a range, the first of the next; some nodes have one id.
    head.id = {0, 32 * kThreads - 1, static_cast<int32_t>(outputs - 1), 0, kThreads};
    check_head(head, 0);
  }
}

TEST_CASE("losses stay numbers where logits are large", "[cuda]") {
  for (const bool softmax : {false, true}) {
    const HeadCase<float> head{test::card_graphs({9}, 2), 300, softmax, false, 5000};
    ShimLauncher on;
    for (const float value : head.run(on, 0, true)) CHECK(std::isfinite(value));
  }
}

}  // namespace
}  // namespace kdgat::kernels::cuda
