#include "fields/molecules/model/couplings.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

namespace kdgat::molecules {
namespace {

using Matrix = std::array<std::array<double, 3>, 3>;
using Degrees = std::array<std::size_t, 3>;

constexpr std::size_t kTensors = 5;
/// In the order of their weights.
constexpr std::array<Degrees, 11> kPaths = {{{0, 0, 0},
                                             {0, 1, 1},
                                             {0, 2, 2},
                                             {1, 0, 1},
                                             {1, 1, 0},
                                             {1, 1, 2},
                                             {1, 2, 1},
                                             {2, 0, 2},
                                             {2, 1, 1},
                                             {2, 2, 0},
                                             {2, 2, 2}}};

const std::array<Matrix, kTensors>& basis() {
  static const std::array<Matrix, kTensors> matrices = [] {
    const double s = std::sqrt(0.5), six = std::sqrt(6.0);
    std::array<Matrix, kTensors> m{};
    m[0][0][2] = m[0][2][0] = s;
    m[1][0][1] = m[1][1][0] = s;
    m[2][0][0] = -1 / six;
    m[2][1][1] = 2 / six;
    m[2][2][2] = -1 / six;
    m[3][1][2] = m[3][2][1] = s;
    m[4][0][0] = -s;
    m[4][2][2] = s;
    return m;
  }();
  return matrices;
}

double trace_of_product(const Matrix& a, const Matrix& b, const Matrix& c) {
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      for (std::size_t k = 0; k < 3; ++k) sum += a[i][j] * b[j][k] * c[k][i];
    }
  }
  return sum;
}

/// C[a][b][c] of degrees l1, l2, l3.
double value_of(const Degrees& l, std::size_t a, std::size_t b, std::size_t c) {
  const auto& m = basis();
  const double third = 1 / std::sqrt(3.0), fifth = 1 / std::sqrt(5.0);
  const double same = 1 / std::sqrt(static_cast<double>(Irreps::components(l[2])));
  if (l[0] == 0) return b == c ? same : 0;
  if (l[1] == 0) return a == c ? same : 0;
  if (l == Degrees{1, 1, 0}) return a == b ? third : 0;
  if (l == Degrees{1, 1, 2}) return m[c][a][b] * fifth;
  if (l == Degrees{1, 2, 1}) return m[b][a][c] * fifth;
  if (l == Degrees{2, 1, 1}) return m[a][b][c] * fifth;
  if (l == Degrees{2, 2, 0}) return a == b ? fifth : 0;
  return std::sqrt(12.0 / 35) * trace_of_product(m[a], m[b], m[c]);
}

}  // namespace

const std::vector<CouplingTerm>& coupling(std::size_t l1, std::size_t l2, std::size_t l3) {
  static const std::map<Degrees, std::vector<CouplingTerm>> all = [] {
    std::map<Degrees, std::vector<CouplingTerm>> out;
    const auto size = [](std::size_t l) { return static_cast<std::size_t>(Irreps::components(l)); };
    for (const Degrees& l : kPaths) {
      for (std::size_t a = 0; a < size(l[0]); ++a) {
        for (std::size_t b = 0; b < size(l[1]); ++b) {
          for (std::size_t c = 0; c < size(l[2]); ++c) {
            const double value = value_of(l, a, b, c);
            if (std::abs(value) < 1e-12) continue;
            out[l].push_back(
                {static_cast<int>(a), static_cast<int>(b), static_cast<int>(c), value});
          }
        }
      }
    }
    return out;
  }();
  const auto found = all.find({l1, l2, l3});
  if (found == all.end()) throw std::logic_error("no coupling of these degrees");
  return found->second;
}

std::array<double, 9> harmonics(const std::array<double, 3>& n) {
  const double three = std::sqrt(3.0), scale = std::sqrt(7.5);
  std::array<double, 9> out = {1, three * n[0], three * n[1], three * n[2]};
  for (std::size_t a = 0; a < kTensors; ++a) {
    double sum = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) sum += n[i] * basis()[a][i][j] * n[j];
    }
    out[kHarmonic[2] + a] = scale * sum;
  }
  return out;
}

std::vector<TensorPath> tensor_paths(const Irreps& irreps) {
  const std::array<int64_t, 3> out_mul = irreps.gated().mul;
  std::array<int64_t, 3> flow{};
  for (const Degrees& l : kPaths) flow[l[2]] += irreps.mul[l[0]];
  std::vector<TensorPath> out;
  int64_t first = 0;
  for (const Degrees& l : kPaths) {
    const int64_t u = irreps.mul[l[0]], w = out_mul[l[2]];
    const double scale = std::sqrt(static_cast<double>(Irreps::components(l[2])) /
                                   static_cast<double>(std::max<int64_t>(flow[l[2]], 1)));
    // At the source an edge costs w (2 l1 + 1), at the target u (2 l3 + 1), times the hidden width.
    const bool at_source = w * Irreps::components(l[0]) < u * Irreps::components(l[2]);
    out.push_back({l[0], l[1], l[2], u, w, first, scale, at_source});
    first += u * w;
  }
  return out;
}

int64_t edge_weights(const Irreps& irreps) {
  const std::vector<TensorPath> paths = tensor_paths(irreps);
  return paths.back().first + paths.back().in * paths.back().out;
}

}  // namespace kdgat::molecules
