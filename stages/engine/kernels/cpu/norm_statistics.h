// What batch norms on the CPU compute of columns: mean and variance of rows that come in pieces,
// what a norm does to a column, and to its gradient. Knows no threads and no autograd.
#pragma once

#include <ATen/core/Tensor.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "engine/kernels/batch_tensors.h"

namespace kdgat::kernels::cpu {

/// Sums over the rows of this process's batch become those of the whole step; returns its rows.
double join(graph::Exchange* exchange, int64_t rows, std::vector<double>& sums);

/// Mean and squares around it, by column. Pieces are joined in double precision, in the order in
/// which they come (Chan, Golub, LeVeque 1979).
class Moments {
 public:
  explicit Moments(int64_t columns)
      : mean_(static_cast<std::size_t>(columns)), squares_(mean_.size()) {}

  /// A piece of so many rows: what its rows have in the mean, and the squares around that.
  template <class T>
  void add(const T* mean, const T* squares, int64_t rows) {
    if (rows == 0) return;
    const auto more = static_cast<double>(rows), share = more / (rows_ + more);
    for (std::size_t c = 0; c < mean_.size(); ++c) {
      const double apart = static_cast<double>(mean[c]) - mean_[c];
      squares_[c] += static_cast<double>(squares[c]) + apart * apart * rows_ * share;
      mean_[c] += apart * share;
    }
    rows_ += more;
  }
  void add(const Moments& other) {
    add(other.mean_.data(), other.squares_.data(), static_cast<int64_t>(other.rows_));
  }

  /// Mean and variance of the rows of all processes, as many as it returns.
  template <class T>
  double of_all(graph::Exchange* exchange, T* mean, T* variance) const {
    const auto rows = static_cast<int64_t>(rows_);
    std::vector<double> sums = mean_;
    for (double& sum : sums) sum *= rows_;
    double all = join(exchange, rows, sums);
    const std::vector<double> mine = mean_;
    std::vector<double> squares = squares_;
    for (std::size_t c = 0; c < sums.size(); ++c) {
      sums[c] /= all;
      squares[c] += rows_ * (mine[c] - sums[c]) * (mine[c] - sums[c]);
    }
    all = join(exchange, rows, squares);
    for (std::size_t c = 0; c < sums.size(); ++c) {
      mean[c] = static_cast<T>(sums[c]);
      variance[c] = static_cast<T>(squares[c] / all);
    }
    return all;
  }

 private:
  std::vector<double> mean_, squares_;
  double rows_ = 0;
};

/// A norm by column: x * gain + shift.
template <class T>
struct NormLine {
  NormLine(const at::Tensor& weight, const at::Tensor& bias, const T* mean, const T* variance,
           double eps)
      : gain(static_cast<std::size_t>(weight.numel())), shift(gain.size()) {
    for (std::size_t c = 0; c < gain.size(); ++c) {
      gain[c] = weight.const_data_ptr<T>()[c] / std::sqrt(variance[c] + static_cast<T>(eps));
      shift[c] = bias.const_data_ptr<T>()[c] - mean[c] * gain[c];
    }
  }
  std::vector<T> gain, shift;
};

/// Its gradient by column: g * a - (x - mean) * b - c, and those of weight and bias. `sums`: of g
/// over this process's rows, and behind them of g * (x - mean). Statistics of a batch depend on x;
/// those of a norm in eval mode, not `training`, do not.
template <class T>
struct NormSlopes {
  NormSlopes(const at::Tensor& weight, const T* variance, double eps, bool training,
             graph::Exchange* exchange, int64_t rows, const std::vector<double>& sums)
      : a(static_cast<std::size_t>(weight.numel())),
        b(a.size()),
        c(a.size()),
        grad_weight(at::empty_like(weight)),
        grad_bias(at::empty_like(weight)) {
    const std::size_t width = a.size();
    std::vector<double> all = sums;
    const double n = training ? join(exchange, rows, all) : static_cast<double>(rows);
    for (std::size_t k = 0; k < width; ++k) {
      const double inverse = 1 / std::sqrt(static_cast<double>(variance[k]) + eps);
      const double gain = static_cast<double>(weight.const_data_ptr<T>()[k]) * inverse;
      a[k] = static_cast<T>(gain);
      if (training) {
        b[k] = static_cast<T>(gain * inverse * inverse * all[width + k] / n);
        c[k] = static_cast<T>(gain * all[k] / n);
      }
      grad_weight.data_ptr<T>()[k] = static_cast<T>(sums[width + k] * inverse);
      grad_bias.data_ptr<T>()[k] = static_cast<T>(sums[k]);
    }
  }
  std::vector<T> a, b, c;
  at::Tensor grad_weight, grad_bias;
};

}  // namespace kdgat::kernels::cpu
