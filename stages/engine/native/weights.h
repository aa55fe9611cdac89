// Weights: the tensors of a model file by name, each with the shape that the model needs. Owns the
// file while a model is built, and notes what was asked for, so that nothing of the file is left
// over.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/file/safetensors.h"

namespace kdgat::native {

class Weights {
 public:
  /// `file` must outlive it.
  explicit Weights(const file::SafetensorsFile& file) : file_(file) {}

  /// The values of a tensor of exactly this shape, a view into the file; finite where they are
  /// floats. Throws Error(kData) naming file and tensor.
  std::span<const float> floats(const std::string& name, const std::vector<int64_t>& shape);
  std::span<const int64_t> integers(const std::string& name, const std::vector<int64_t>& shape);
  /// Throws Error(kData) naming each tensor of the file that nobody asked for.
  void finish() const;

 private:
  const file::SafetensorsFile& file_;
  std::set<std::string> read_;
};

}  // namespace kdgat::native
