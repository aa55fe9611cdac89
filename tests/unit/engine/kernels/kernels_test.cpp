
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "engine/kernels/cpu/isa/level.h"
#include "support/graphs/directions.h"

namespace kdgat::kernels {
namespace {

template <class Body>
void at_every_level(const Body& body) {
  const std::string before(isa_level());
  for (const std::string& level : isa_levels_available()) {
    INFO(level);
    set_isa_level(level);
    body();
  }
  set_isa_level(before);
}

using test::random_numbers;

/// Nodes in one graph; node i has i % 4 incoming edges, node 5 one from itself, node 0 very many.
struct Edges {
  std::vector<int32_t> in_ptr{0}, in_source;

  explicit Edges(int32_t nodes) {
    for (int32_t i = 0; i < nodes; ++i) {
      const int32_t degree = i == 0 ? 600 : i % 4;
      for (int32_t e = 0; e < degree; ++e)
        in_source.push_back(i == 5 ? i : (i * 7 + e * 3) % nodes);
      in_ptr.push_back(static_cast<int32_t>(in_source.size()));
    }
  }
};

template <class T>
struct Attention {
  int64_t nodes, heads, channels;
  Edges edges{static_cast<int32_t>(nodes)};
  std::vector<T> h, att_src, att_dst, bias, scores, out;

  Attention(int64_t n, int64_t k, int64_t c) : nodes(n), heads(k), channels(c) {
    const auto width = static_cast<std::size_t>(k * c), rows = static_cast<std::size_t>(n);
    h = random_numbers<T>(n * k * c, 1, 1);
    att_src = random_numbers<T>(k * c, 1, 2);
    att_dst = random_numbers<T>(k * c, 1, 3);
    bias = random_numbers<T>(k * c, 1, 4);
    scores.resize(3 * rows * static_cast<std::size_t>(k));
    out.resize(rows * width);
  }

  isa::GatArgs<T> args() {
    T* score = scores.data();
    return {h.data(),
            att_src.data(),
            att_dst.data(),
            bias.data(),
            edges.in_ptr.data(),
            edges.in_source.data(),
            heads,
            channels,
            T(0.2),
            score,
            score + nodes * heads,
            score + 2 * nodes * heads,
            out.data()};
  }

  /// Softmax over incoming edges and the node itself, in double and one step at a time.
  double expected(int64_t node, int64_t head, int64_t channel) const {
    const auto row = [&](int64_t i) { return h.data() + (i * heads + head) * channels; };
    const auto product = [&](int64_t i, const std::vector<T>& att) {
      double sum = 0;
      for (int64_t c = 0; c < channels; ++c) {
        sum += static_cast<double>(row(i)[c]) *
               static_cast<double>(att[static_cast<std::size_t>(head * channels + c)]);
      }
      return sum;
    };
    double weights = 0, sum = 0;
    const auto add = [&](int64_t source) {
      const double raw = product(source, att_src) + product(node, att_dst);
      const double weight = std::exp(raw > 0 ? raw : 0.2 * raw);
      weights += weight;
      sum += weight * static_cast<double>(row(source)[channel]);
    };
    add(node);
    const auto at = static_cast<std::size_t>(node);
    for (int32_t e = edges.in_ptr[at]; e < edges.in_ptr[at + 1]; ++e) {
      const int32_t source = edges.in_source[static_cast<std::size_t>(e)];
      if (source != node) add(source);
    }
    return sum / weights +
           static_cast<double>(bias[static_cast<std::size_t>(head * channels + channel)]);
  }
};

const std::vector<std::pair<int64_t, int64_t>> kShapes = {
    {1, 1},  {1, 16},  {1, 17},  {1, 80}, {1, 128}, {1, 129}, {1, 240}, {4, 10},  {4, 24},
    {4, 60}, {4, 120}, {4, 130}, {8, 5},  {8, 48},  {8, 100}, {3, 24},  {17, 24}, {64, 3}};

TEST_CASE("attention kernels equal their definition for every number of channels", "[kernels]") {
  at_every_level([] {
    for (const auto& [heads, channels] : kShapes) {
      Attention<float> a(21, heads, channels);
      loops<float>().gat.forward(a.args(), 0, a.nodes);
      double worst = 0;
      for (int64_t i = 0; i < a.nodes; ++i) {
        for (int64_t k = 0; k < heads; ++k) {
          const int64_t c = (i + k) % channels;
          const auto at = static_cast<std::size_t>((i * heads + k) * channels + c);
          worst = std::max(worst, std::abs(static_cast<double>(a.out[at]) - a.expected(i, k, c)));
        }
      }
      INFO(heads << " heads of " << channels << " channels");
      CHECK(worst < 1e-5);
    }
  });
}

TEST_CASE("gradients of attention kernels agree with differences of the output", "[kernels]") {
  at_every_level([] {
    for (const auto& [heads, channels] : kShapes) {
      Attention<double> a(21, heads, channels);
      const isa::GatTable<double>& table = loops<double>().gat;
      const auto width = static_cast<std::size_t>(heads * channels);
      const std::vector<double> probe =
          random_numbers<double>(static_cast<int64_t>(a.out.size()), 1, 5);
      const auto value = [&] {
        table.forward(a.args(), 0, a.nodes);
        double sum = 0;
        for (std::size_t i = 0; i < probe.size(); ++i) sum += probe[i] * a.out[i];
        return sum;
      };
      value();
      std::vector<double> grad_h(a.h.size()), workspace(2 * a.scores.size()), partial(3 * width);
      isa::GatGradArgs<double> args{a.args(), probe.data(), grad_h.data(), workspace.data(),
                                    workspace.data() + a.scores.size()};
      table.backward(args, 0, a.nodes, partial.data());
      const std::string shape =
          ", " + std::to_string(heads) + " heads of " + std::to_string(channels) + " channels";
      const auto check = [&](std::vector<double>& input, const double* grad, const char* name) {
        test::check_direction(name + shape, input, grad, value);
      };
      check(a.h, grad_h.data(), "h");
      check(a.att_src, partial.data(), "att_src");
      check(a.att_dst, partial.data() + width, "att_dst");
      check(a.bias, partial.data() + 2 * width, "bias");
    }
  });
}

/// Gradients of h, att_src, att_dst and bias, one after the other, of sums that `probe` weighs.
template <class T>
std::vector<T> gradients_of(Attention<T>& a, const std::vector<T>& probe) {
  const isa::GatTable<T>& table = loops<T>().gat;
  table.forward(a.args(), 0, a.nodes);
  const auto numbers = a.h.size(), width = static_cast<std::size_t>(a.heads * a.channels);
  std::vector<T> out(numbers + 3 * width), workspace(2 * a.scores.size());
  table.backward(
      {a.args(), probe.data(), out.data(), workspace.data(), workspace.data() + a.scores.size()}, 0,
      a.nodes, out.data() + numbers);
  return out;
}

TEST_CASE("gradients of attention kernels in float are those in double", "[kernels]") {
  at_every_level([] {
    for (const auto& [heads, channels] : kShapes) {
      Attention<float> in_float(21, heads, channels);
      Attention<double> in_double(21, heads, channels);
      const auto probe = random_numbers<double>(21 * heads * channels, 1, 5);
      const auto copy = [](const auto& from, auto& to) { to.assign(from.begin(), from.end()); };
      copy(in_float.h, in_double.h);
      copy(in_float.att_src, in_double.att_src);
      copy(in_float.att_dst, in_double.att_dst);
      copy(in_float.bias, in_double.bias);
      const std::vector<float> got = gradients_of(in_float, {probe.begin(), probe.end()});
      const std::vector<double> wanted = gradients_of(in_double, probe);
      double worst = 0, largest = 0;
      for (std::size_t i = 0; i < got.size(); ++i) {
        worst = std::max(worst, std::abs(static_cast<double>(got[i]) - wanted[i]));
        largest = std::max(largest, std::abs(wanted[i]));
      }
      INFO(heads << " heads of " << channels << " channels");
      CHECK(worst < 1e-5 * largest);
    }
  });
}

TEST_CASE("rows of sigmoids and softmaxes equal their definition", "[kernels]") {
  at_every_level([] {
    for (const int64_t columns : {64, 2112, 9024}) {
      for (const double scale : {0.01, 3.0, 60.0}) {
        INFO(columns << " columns up to " << scale);
        const auto x = random_numbers<float>(2 * columns, scale, 7);
        auto cells = x, shares = x;
        float softplus[2], log_sum[2], inverse[2];
        loops<float>().head.sigmoid_rows(cells.data(), 2, columns, softplus);
        loops<float>().head.softmax_rows(shares.data(), 2, columns, log_sum, inverse);
        double worst = 0, off = 0;
        for (std::size_t r = 0; r < 2; ++r) {
          double soft = 0, sum = 0;
          const auto first = r * static_cast<std::size_t>(columns);
          for (std::size_t c = first; c < first + static_cast<std::size_t>(columns); ++c) {
            const auto v = static_cast<double>(x[c]);
            soft += std::log1p(std::exp(-std::abs(v))) + std::max(v, 0.0);
            sum += std::exp(v);
            const double sigmoid = 1 / (1 + std::exp(-v));
            worst = std::max(worst, std::abs(static_cast<double>(cells[c]) - sigmoid));
            if (v > -87) {  // the least that exp takes
              off = std::max(off, std::abs(static_cast<double>(cells[c]) / sigmoid - 1));
            }
          }
          CHECK(static_cast<double>(softplus[r]) == Approx(soft).epsilon(2e-6));
          CHECK(static_cast<double>(log_sum[r]) == Approx(std::log(sum)).epsilon(2e-6));
          for (std::size_t c = first; c < first + static_cast<std::size_t>(columns); ++c) {
            worst = std::max(worst, std::abs(static_cast<double>(shares[c] * inverse[r]) -
                                             std::exp(static_cast<double>(x[c])) / sum));
          }
        }
        CHECK(worst < 1e-6);
        CHECK(off < 6e-7);
      }
    }
  });
}

TEST_CASE("what is no number in a row of a head stays none", "[kernels]") {
  at_every_level([] {
    auto cells = random_numbers<float>(128, 1, 7);
    cells[77] = std::numeric_limits<float>::quiet_NaN();
    auto shares = cells;
    float softplus = 0, log_sum = 0, inverse = 0;
    loops<float>().head.sigmoid_rows(cells.data(), 1, 128, &softplus);
    CHECK(std::isnan(cells[77]));
    CHECK_FALSE(std::isnan(cells[76]));
    loops<float>().head.softmax_rows(shares.data(), 1, 128, &log_sum, &inverse);
    CHECK(std::isnan(inverse));
  });
}

TEST_CASE("gradients of a head's rows add up for every number of rows and inputs", "[kernels]") {
  at_every_level([] {
    constexpr int64_t kColumns = 192;
    for (const int64_t rows : {1, 3, 4, 7}) {
      for (const int64_t inputs : {1, 2, 5, 6, 7, 16, 23}) {
        const auto weight = random_numbers<float>(inputs * kColumns, 1, 8);
        const auto cells = random_numbers<float>(rows * kColumns, 1, 9);
        std::vector<float> grad(static_cast<std::size_t>(rows * inputs));
        loops<float>().head.grad_rows(cells.data(), weight.data(), rows, inputs, kColumns,
                                      grad.data());
        double worst = 0;
        for (int64_t r = 0; r < rows; ++r) {
          for (int64_t k = 0; k < inputs; ++k) {
            double sum = 0;
            for (int64_t c = 0; c < kColumns; ++c) {
              sum += static_cast<double>(cells[static_cast<std::size_t>(r * kColumns + c)]) *
                     static_cast<double>(weight[static_cast<std::size_t>(k * kColumns + c)]);
            }
            const auto got = static_cast<double>(grad[static_cast<std::size_t>(r * inputs + k)]);
            worst = std::max(worst, std::abs(got - sum));
          }
        }
        INFO(rows << " rows, " << inputs << " inputs");
        CHECK(worst < 1e-4);
      }
    }
  });
}

TEST_CASE("gradients of a head's weights add up for every number of inputs", "[kernels]") {
  at_every_level([] {
    constexpr int64_t kColumns = 128, kRows = 7;
    for (const int64_t inputs : {1, 4, 5, 6, 17, 49}) {
      const auto z = random_numbers<double>(kRows * inputs, 1, 8);
      const auto cells = random_numbers<double>(kRows * kColumns, 1, 9);
      std::vector<double> sums(static_cast<std::size_t>(inputs * kColumns), 0.5);
      loops<double>().head.grad_weights(cells.data(), z.data(), kRows, inputs, kColumns,
                                        sums.data());
      double worst = 0;
      for (int64_t k = 0; k < inputs; ++k) {
        for (int64_t c = 0; c < kColumns; ++c) {
          double sum = 0.5;
          for (int64_t r = 0; r < kRows; ++r) {
            sum += z[static_cast<std::size_t>(r * inputs + k)] *
                   cells[static_cast<std::size_t>(r * kColumns + c)];
          }
          worst = std::max(worst, std::abs(sum - sums[static_cast<std::size_t>(k * kColumns + c)]));
        }
      }
      INFO(inputs << " inputs");
      CHECK(worst < 1e-12);
    }
  });
}

}  // namespace
}  // namespace kdgat::kernels
