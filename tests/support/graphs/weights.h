// The weights a stage left, and how far those of two runs are apart.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "engine/file/safetensors.h"

namespace kdgat::test {

using Weights = std::map<std::string, std::vector<float>>;

inline Weights weights_in(const std::filesystem::path& folder) {
  const file::SafetensorsFile file = file::SafetensorsFile::open(folder / "model.safetensors");
  Weights out;
  for (const auto& [name, tensor] : file.tensors()) {
    std::vector<float>& values = out[name];
    values.resize(tensor.bytes / sizeof(float));
    std::memcpy(values.data(), tensor.data, values.size() * sizeof(float));
  }
  return out;
}

/// Largest difference; infinity if the two are not of one model. A bias ahead of a norm has no
/// gradient but for rounding, of which Adam makes steps of their own: it is left out.
inline double difference(const Weights& a, const Weights& b) {
  double worst = 0;
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  for (const auto& [name, values] : a) {
    if (name.find("coder") != std::string::npos && name.ends_with("conv.bias")) continue;
    const auto found = b.find(name);
    if (found == b.end() || found->second.size() != values.size()) {
      return std::numeric_limits<double>::infinity();
    }
    const std::vector<float>& others = found->second;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (std::memcmp(&values[i], &others[i], sizeof(float)) == 0) continue;
      worst = std::max(worst, static_cast<double>(std::abs(values[i] - others[i])));
    }
  }
  return worst;
}

}  // namespace kdgat::test
