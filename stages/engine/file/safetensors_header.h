// The header of a safetensors file, for those who write one: SafetensorsWriter, which has all
// tensors in memory, and SafetensorsStream.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/file/safetensors.h"

namespace kdgat::file {

inline constexpr std::size_t kTensorAlignment = 64;
inline constexpr std::size_t kMaxHeader = 100'000'000;  // the official reader's bound
inline constexpr const char* kHeaderHash = "hash.header";

/// A tensor's place in a file.
struct TensorPlace {
  std::string name;
  DType dtype = DType::kU8;
  std::vector<int64_t> shape;
  std::size_t bytes = 0;
  std::size_t offset = 0;   ///< behind the header
  std::size_t padding = 0;  ///< bytes behind it
  std::string hash{};       ///< of its data; empty = none is written
};

/// Bytes of a tensor. Throws std::logic_error if a dimension is negative or the product overflows.
std::size_t tensor_bytes(DType dtype, const std::vector<int64_t>& shape);

/// Places tensors one behind the other, each aligned unless none is to be padded.
void place_tensors(std::vector<TensorPlace>& tensors, bool pads = true);

/// JSON without blanks; bytes that are no UTF-8 are replaced.
std::string json_text(const nlohmann::json& value);

/// What stands before the first tensor: the length and the header. With `hashes`, those of the
/// tensors and the header's own are in the metadata; the length does not depend on them. Throws
/// Error(kData) naming `path` if it is longer than readers take.
std::string header_bytes(const std::vector<TensorPlace>& tensors,
                         const std::map<std::string, std::string>& metadata, bool hashes,
                         const std::string& path);

}  // namespace kdgat::file
