#include "engine/native/weights.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kdgat/error.h"

namespace kdgat::native {

std::span<const float> Weights::floats(const std::string& name, const std::vector<int64_t>& shape) {
  const std::span<const float> values = file_.require<float>(name, shape);
  read_.insert(name);
  if (std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); })) {
    return values;
  }
  throw Error(ExitCode::kData,
              file_.path().string() + ": tensor '" + name + "' holds a number that is not finite",
              "the training has diverged, or the file was changed: train the model again");
}

std::span<const int64_t> Weights::integers(const std::string& name,
                                           const std::vector<int64_t>& shape) {
  read_.insert(name);
  return file_.require<int64_t>(name, shape);
}

void Weights::finish() const {
  std::vector<Diagnostic> wrong;
  for (const auto& [name, view] : file_.tensors()) {
    if (read_.contains(name)) continue;
    wrong.push_back({file_.path().string(), "tensor '" + name + "' is not part of the model", ""});
  }
  if (!wrong.empty()) throw Error(ExitCode::kData, std::move(wrong));
}

}  // namespace kdgat::native
