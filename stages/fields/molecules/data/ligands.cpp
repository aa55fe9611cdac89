#include "fields/molecules/data/ligands.h"

#include <cmath>

#include "engine/file/number_text.h"
#include "engine/file/safetensors.h"
#include "kdgat/error.h"

namespace kdgat::molecules {

Ligands::Ligands(const std::filesystem::path& path) {
  const file::SafetensorsFile file = file::SafetensorsFile::open(path);
  const auto fail = [&path](const std::string& key, const std::string& what) {
    throw Error(ExitCode::kData, "'" + file::shown(key) + "' " + what,
                "embeddings are one vector a ligand, all of one width", path.string());
  };
  std::map<std::string, const file::TensorView*> found;  // by ligand, in order
  for (const auto& [key, view] : file.tensors()) {
    found.emplace(key.substr(key.rfind('_') + 1), &view);
    const int64_t width = view.elements();
    if (width < 1) fail(key, "is empty");
    if (width_ == 0) width_ = width;
    if (width != width_) {
      fail(key, "has " + std::to_string(width) + " values, others have " + std::to_string(width_));
    }
    const bool is_float = view.dtype == file::DType::kF32 || view.dtype == file::DType::kF64;
    if (!is_float)
      fail(key, std::string("is of ") + file::dtype_name(view.dtype) + ", not F32 or F64");
  }
  if (found.empty()) throw Error(ExitCode::kData, "no embeddings in this file", "", path.string());
  for (const auto& [name, view] : found) {
    number_.emplace(name, static_cast<int32_t>(names_.size()));
    names_.push_back(name);
    const auto take = [&, &key = name](const auto& values) {
      for (const auto value : values) {
        if (!std::isfinite(value)) fail(key, "has a value that is not finite");
        vectors_.push_back(static_cast<float>(value));
      }
    };
    if (view->dtype == file::DType::kF32) {
      take(view->as<float>());
    } else {
      take(view->as<double>());
    }
  }
}

int32_t Ligands::find(const std::string& name) const {
  const auto found = number_.find(name);
  return found == number_.end() ? -1 : found->second;
}

int32_t Ligands::find_or_add(const std::string& name) {
  const auto [found, is_new] = number_.emplace(name, static_cast<int32_t>(names_.size()));
  if (!is_new) return found->second;
  if (width_ > 0) {
    number_.erase(found);
    return -1;
  }
  names_.push_back(name);
  return found->second;
}

}  // namespace kdgat::molecules
