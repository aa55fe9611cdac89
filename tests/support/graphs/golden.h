// Golden values in double precision, for tests of the engine.
#pragma once

#include <torch/torch.h>

#include <optional>
#include <string>

#include "support/graphs/batches.h"

namespace kdgat::test {

/// The tensor as it stands, in double or int64.
inline torch::Tensor exact_of(const file::SafetensorsFile& file, const std::string& name) {
  const file::TensorView& view = file.tensor(name);
  const auto type = view.dtype == file::DType::kI64   ? torch::kLong
                    : view.dtype == file::DType::kI32 ? torch::kInt
                    : view.dtype == file::DType::kF32 ? torch::kFloat
                                                      : torch::kDouble;
  return torch::from_blob(const_cast<std::byte*>(view.data), view.shape, type).clone();
}

/// The largest difference over the largest absolute value of `wanted`, at least 1.
inline double relative_error(const torch::Tensor& found, const torch::Tensor& wanted) {
  if (wanted.numel() == 0) return found.numel() == 0 ? 0 : 1;
  const double most = std::max(1.0, wanted.abs().max().item<double>());
  return (found.to(wanted.scalar_type()) - wanted).abs().max().item<double>() / most;
}

}  // namespace kdgat::test
