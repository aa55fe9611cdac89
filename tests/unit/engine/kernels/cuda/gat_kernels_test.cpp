#include <algorithm>
#include <limits>

#include "engine/kernels/cuda/launch/gat_launches.h"
#include "support/cards/cuda_cases.h"

// Kernels of the card, run on the CPU.
namespace kdgat::kernels::cuda {
namespace {

using test::CardGraphs;
using test::in_every_order;
using test::random_numbers;

double relu_leaking(double x) { return x > 0 ? x : 0.2 * x; }

template <class T>
double number(const std::vector<T>& values, int64_t at) {
  return static_cast<double>(values.at(static_cast<std::size_t>(at)));
}

/// out = bias + sum of softmax(scores) * rows over the edges into a node and its own loop, whose
/// number is edges + node.
template <class T, class Score>
std::vector<double> attention_of(const CardGraphs& graphs, int64_t heads, int64_t channels,
                                 const std::vector<T>& rows, const std::vector<T>& bias,
                                 const Score& score) {
  const int64_t width = heads * channels;
  std::vector<double> out(rows.size());
  for (int64_t i = 0; i < graphs.nodes(); ++i) {
    for (int64_t k = 0; k < heads; ++k) {
      std::vector<double> sum(static_cast<std::size_t>(channels), 0.0);
      double weights = 0;
      const auto add = [&](int64_t source, int64_t edge) {
        const double weight = std::exp(score(source, i, edge, k));
        weights += weight;
        for (int64_t c = 0; c < channels; ++c) {
          sum[static_cast<std::size_t>(c)] +=
              weight * number(rows, source * width + k * channels + c);
        }
      };
      add(i, graphs.size() + i);
      graphs.for_sources(i, add);
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t at = k * channels + c;
        out[static_cast<std::size_t>(i * width + at)] =
            sum[static_cast<std::size_t>(c)] / weights + number(bias, at);
      }
    }
  }
  return out;
}

template <class T>
struct Attention {
  CardGraphs graphs;
  int64_t heads, channels, width = heads * channels, nodes = graphs.nodes();
  std::vector<T> h = random_numbers<T>(nodes * width, 1, 1);
  std::vector<T> att_src = random_numbers<T>(width, 1, 2), att_dst = random_numbers<T>(width, 1, 3);
  std::vector<T> bias = random_numbers<T>(width, 1, 4);
  std::vector<T> alpha_src = std::vector<T>(static_cast<std::size_t>(nodes * heads));
  std::vector<T> alpha_dst = alpha_src, log_sum = alpha_src, out = h;

  GatArgs<T> args() {
    return {graphs.edges(), heads,          channels,    T(0.2),           h.data(),
            att_src.data(), att_dst.data(), bias.data(), alpha_src.data(), alpha_dst.data(),
            log_sum.data(), out.data()};
  }
  std::vector<T> forward(Launcher& on) {
    gat_forward(on, args());
    return out;
  }
  std::vector<double> expected() const {
    const auto product = [&](int64_t node, int64_t head, const std::vector<T>& att) {
      double sum = 0;
      for (int64_t c = head * channels; c < (head + 1) * channels; ++c) {
        sum += number(h, node * width + c) * number(att, c);
      }
      return sum;
    };
    return attention_of(
        graphs, heads, channels, h, bias,
        [&](int64_t source, int64_t target, int64_t, int64_t head) {
          return relu_leaking(product(source, head, att_src) + product(target, head, att_dst));
        });
  }
};

template <class T>
struct Attention2 {
  CardGraphs graphs;
  int64_t heads, channels, features, width = heads * channels, nodes = graphs.nodes();
  std::vector<T> l = random_numbers<T>(nodes * width, 1, 1);
  std::vector<T> r = random_numbers<T>(nodes * width, 1, 2);
  std::vector<T> attr = random_numbers<T>(graphs.size() * features, 1, 3);
  std::vector<T> lin = random_numbers<T>(features * width, 1, 4);
  std::vector<T> att = random_numbers<T>(width, 1, 5), bias = random_numbers<T>(width, 1, 7);
  std::vector<T> loop = std::vector<T>(static_cast<std::size_t>(nodes * features));
  std::vector<T> alpha = std::vector<T>(static_cast<std::size_t>((graphs.size() + nodes) * heads));
  std::vector<T> out = l;

  Gatv2Args<T> args() {
    return {graphs.edges(), heads,       channels,     features,   T(0.2),
            l.data(),       r.data(),    attr.data(),  lin.data(), att.data(),
            bias.data(),    loop.data(), alpha.data(), out.data()};
  }
  std::vector<T> forward(Launcher& on) {
    gatv2_forward(on, args());
    return out;
  }
  /// Of an edge, or the mean of a node's own loop.
  double attr_of(int64_t edge, int64_t feature) const {
    if (edge < graphs.size()) return number(attr, edge * features + feature);
    double sum = 0, count = 0;
    graphs.for_sources(edge - graphs.size(), [&](int64_t, int64_t e) {
      sum += number(attr, e * features + feature);
      ++count;
    });
    return count > 0 ? sum / count : 0;
  }
  std::vector<double> expected() const {
    return attention_of(graphs, heads, channels, l, bias,
                        [&](int64_t source, int64_t target, int64_t edge, int64_t head) {
                          double score = 0;
                          for (int64_t c = head * channels; c < (head + 1) * channels; ++c) {
                            double sum =
                                number(l, source * width + c) + number(r, target * width + c);
                            for (int64_t d = 0; d < features; ++d) {
                              sum += attr_of(edge, d) * number(lin, d * width + c);
                            }
                            score += relu_leaking(sum) * number(att, c);
                          }
                          return score;
                        });
  }
};

const std::vector<std::pair<int64_t, int64_t>> kHeads = {{1, 1},  {1, 64}, {4, 10},
                                                         {3, 33}, {8, 6},  {17, 2}};

template <class Case>
double difference(Case&& one) {
  return test::worst_of(in_every_order([&](Launcher& on) { return one.forward(on); }),
                        one.expected());
}

TEST_CASE("attention by the card's kernels equals its definition", "[cuda]") {
  uint64_t seed = 1;
  for (const auto& sizes : test::kCardSizes) {
    const CardGraphs graphs = test::card_graphs(sizes, seed++);
    for (const auto& [heads, channels] : kHeads) {
      INFO(graphs.nodes() << " nodes, " << heads << " heads of " << channels << " channels");
      CHECK(difference(Attention<float>{graphs, heads, channels}) < 2e-5);
      CHECK(difference(Attention<double>{graphs, heads, channels}) < 1e-12);
      for (const int64_t features : {1, 5}) {
        CHECK(difference(Attention2<float>{graphs, heads, channels, features}) < 5e-5);
        CHECK(difference(Attention2<double>{graphs, heads, channels, features}) < 1e-12);
      }
    }
  }
}

TEST_CASE("weights of attention stay numbers where scores are large", "[cuda]") {
  Attention<float> a{test::card_graphs({20}, 3), 2, 8};
  for (float& value : a.att_src) value *= 1000;
  ShimLauncher on;
  for (const float value : a.forward(on)) CHECK(std::isfinite(value));
}

TEST_CASE("weights of attention lose no more than the rounding of their logarithm", "[cuda]") {
  for (const float scale : {1.0F, 10.0F, 60.0F}) {
    Attention<float> a{test::card_graphs({60}, 3), 3, 16};
    for (float& value : a.att_src) value *= scale;
    ShimLauncher on;
    const std::vector<float> out = a.forward(on);
    double top = 0, most = 0;
    for (const float value : a.log_sum) top = std::max(top, std::abs(static_cast<double>(value)));
    for (const float value : a.h) most = std::max(most, std::abs(static_cast<double>(value)));
    // The scores as they are in 32 bits; all else exact.
    const std::vector<double> expected = attention_of(
        a.graphs, a.heads, a.channels, a.h, a.bias,
        [&](int64_t source, int64_t target, int64_t, int64_t head) {
          const float raw = a.alpha_src[static_cast<std::size_t>(source * a.heads + head)] +
                            a.alpha_dst[static_cast<std::size_t>(target * a.heads + head)];
          return static_cast<double>(raw > 0 ? raw : raw * 0.2F);
        });
    constexpr double kUnit = 1.2e-7, kSums = 50;
    INFO(scale << ": sums up to " << top);
    CHECK(test::worst_of(out, expected) < (top + kSums) * kUnit * most);
  }
}

TEST_CASE("edges from a node to itself have no gradient, not even an infinite one", "[cuda]") {
  const CardGraphs graphs = test::card_graphs({3, 17}, 2);
  const float huge = std::numeric_limits<float>::max();
  ShimLauncher on;
  const auto check = [&](const std::vector<float>& change, int64_t heads) {
    int loops = 0;
    for (std::size_t e = 0; e < graphs.in_source.size(); ++e) {
      if (graphs.in_source[e] != graphs.target[e]) continue;
      ++loops;
      for (int64_t k = 0; k < heads; ++k)
        CHECK(number(change, static_cast<int64_t>(e) * heads + k) == 0);
    }
    CHECK(loops > 0);
  };
  Attention<float> a{graphs, 2, 4};
  a.forward(on);
  const std::vector<float> probe(a.out.size(), huge);
  std::vector<float> mean(a.alpha_src.size()), from = mean, to = mean, grad = a.h;
  std::vector<float> weight(static_cast<std::size_t>((graphs.size() + a.nodes) * 2)),
      change = weight;
  std::vector<float> partials(static_cast<std::size_t>(row_blocks(a.nodes) * 2 * a.width));
  gat_backward<float>(on, {a.args(), probe.data(), mean.data(), weight.data(), change.data(),
                           from.data(), to.data(), grad.data(), partials.data()});
  check(change, 2);
  Attention2<float> b{graphs, 2, 4, 3};
  b.forward(on);
  std::vector<float> grad_r = grad;
  partials.resize(static_cast<std::size_t>(row_blocks(graphs.size() + b.nodes) * 4 * b.width));
  gatv2_backward<float>(on, {b.args(), probe.data(), mean.data(), change.data(), grad.data(),
                             grad_r.data(), partials.data()});
  check(change, 2);
}

/// The sums of the blocks of rows.
std::vector<double> sum_blocks(const std::vector<double>& partials, int64_t size) {
  std::vector<double> out(static_cast<std::size_t>(size), 0.0);
  for (std::size_t i = 0; i < partials.size(); ++i) out[i % out.size()] += partials[i];
  return out;
}

/// The sum of out * probe.
template <class Case>
double value_of(Case& one, Launcher& on, const std::vector<double>& probe) {
  const std::vector<double> out = one.forward(on);
  double sum = 0;
  for (std::size_t i = 0; i < out.size(); ++i) sum += out[i] * probe[i];
  return sum;
}

/// All of them, in a row.
std::vector<double> joined(const std::vector<const std::vector<double>*>& parts) {
  std::vector<double> out;
  for (const auto* part : parts) out.insert(out.end(), part->begin(), part->end());
  return out;
}

TEST_CASE("gradients of attention by the card's kernels agree with differences", "[cuda]") {
  uint64_t seed = 1;
  for (const auto& sizes : test::kCardSizes) {
    const CardGraphs graphs = test::card_graphs(sizes, seed++);
    for (const auto& [heads, channels] : kHeads) {
      INFO(graphs.nodes() << " nodes, " << heads << " heads of " << channels << " channels");
      Attention<double> a{graphs, heads, channels};
      const auto probe = random_numbers<double>(static_cast<int64_t>(a.out.size()), 1, 5);
      ShimLauncher on;
      a.forward(on);
      const auto edges = static_cast<std::size_t>((graphs.size() + a.nodes) * heads);
      const auto blocks = static_cast<std::size_t>(row_blocks(a.nodes));
      std::vector<double> grad_h, partials;
      in_every_order([&](Launcher& launcher) {
        std::vector<double> mean(a.alpha_src.size(), NAN), weight(edges, NAN), change = weight;
        std::vector<double> from = mean, to = mean;
        grad_h.assign(a.h.size(), NAN);
        partials.assign(blocks * 2 * static_cast<std::size_t>(a.width), NAN);
        gat_backward<double>(launcher,
                             {a.args(), probe.data(), mean.data(), weight.data(), change.data(),
                              from.data(), to.data(), grad_h.data(), partials.data()});
        return joined({&grad_h, &partials});
      });
      const std::vector<double> sums = sum_blocks(partials, 2 * a.width);
      const auto value = [&] { return value_of(a, on, probe); };
      test::check_direction("h", a.h, grad_h.data(), value);
      test::check_direction("att_src", a.att_src, sums.data(), value);
      test::check_direction("att_dst", a.att_dst, sums.data() + a.width, value);
    }
  }
}

TEST_CASE("gradients of the second attention by the card's kernels agree with differences",
          "[cuda]") {
  uint64_t seed = 1;
  for (const auto& sizes : test::kCardSizes) {
    const CardGraphs graphs = test::card_graphs(sizes, seed++);
    for (const auto& pair : kHeads) {
      const int64_t heads = pair.first, channels = pair.second;
      for (const int64_t features : {1, 3, 9}) {
        INFO(graphs.nodes() << " nodes, " << heads << " heads of " << channels << " channels, "
                            << features << " features");
        Attention2<double> a{graphs, heads, channels, features};
        const auto probe = random_numbers<double>(static_cast<int64_t>(a.out.size()), 1, 8);
        ShimLauncher on;
        a.forward(on);
        const auto blocks = static_cast<std::size_t>(row_blocks(graphs.size() + a.nodes));
        std::vector<double> grad_l, grad_r, partials;
        in_every_order([&](Launcher& launcher) {
          std::vector<double> mean(static_cast<std::size_t>(a.nodes * heads), NAN);
          std::vector<double> change(a.alpha.size(), NAN);
          grad_l.assign(a.l.size(), NAN);
          grad_r = grad_l;
          partials.assign(blocks * static_cast<std::size_t>((1 + features) * a.width), NAN);
          gatv2_backward<double>(launcher, {a.args(), probe.data(), mean.data(), change.data(),
                                            grad_l.data(), grad_r.data(), partials.data()});
          return joined({&grad_l, &grad_r, &partials});
        });
        const std::vector<double> sums = sum_blocks(partials, (1 + features) * a.width);
        const auto value = [&] { return value_of(a, on, probe); };
        test::check_direction("l", a.l, grad_l.data(), value);
        test::check_direction("r", a.r, grad_r.data(), value);
        test::check_direction("att", a.att, sums.data(), value);
        test::check_direction("lin_edge", a.lin, sums.data() + a.width, value);
      }
    }
  }
}

}  // namespace
}  // namespace kdgat::kernels::cuda
