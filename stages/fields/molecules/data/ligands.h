// The catalogue of ligands that pockets are compared with: a name and a vector each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace kdgat::molecules {

class Ligands {
 public:
  Ligands() = default;
  /// A safetensors file with a vector of one width, F32 or F64, a key. A key is the name of a
  /// ligand, or ENTRY_LIGAND; of several of one ligand the first counts. Throws Error(kData) naming
  /// the key.
  explicit Ligands(const std::filesystem::path& path);

  /// -1 where it is not in the catalogue.
  int32_t find(const std::string& name) const;
  /// As find(), and added without a vector where it is not there and there are no vectors at all.
  int32_t find_or_add(const std::string& name);

  const std::vector<std::string>& names() const { return names_; }  ///< ascending, with vectors
  const std::vector<float>& vectors() const { return vectors_; }    ///< [L,width]
  int64_t width() const { return width_; }                          ///< 0 = no vectors

 private:
  std::vector<std::string> names_;
  std::map<std::string, int32_t> number_;
  std::vector<float> vectors_;
  int64_t width_ = 0;
};

}  // namespace kdgat::molecules
