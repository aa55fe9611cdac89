#include "engine/file/safetensors_header.h"

#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace kdgat::file {
namespace {

using nlohmann::json;

}  // namespace

std::string json_text(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::size_t tensor_bytes(DType dtype, const std::vector<int64_t>& shape) {
  int64_t bytes = static_cast<int64_t>(dtype_size(dtype));
  for (const int64_t dim : shape) {
    if (dim < 0 || __builtin_mul_overflow(bytes, dim, &bytes)) {
      throw std::logic_error("a tensor of impossible shape");
    }
  }
  return static_cast<std::size_t>(bytes);
}

void place_tensors(std::vector<TensorPlace>& tensors, bool pads) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    TensorPlace& tensor = tensors[i];
    tensor.offset = at;
    at += tensor.bytes;
    tensor.padding = pads && i + 1 < tensors.size()
                         ? (kTensorAlignment - at % kTensorAlignment) % kTensorAlignment
                         : 0;
    at += tensor.padding;
  }
}

std::string header_bytes(const std::vector<TensorPlace>& tensors,
                         const std::map<std::string, std::string>& metadata, bool hashes,
                         const std::string& path) {
  json header = json::object();
  json texts(metadata);
  texts.erase(kHeaderHash);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const TensorPlace& tensor = tensors[i];
    const std::size_t end = tensor.offset + tensor.bytes;
    header[tensor.name] = {{"dtype", dtype_name(tensor.dtype)},
                           {"shape", tensor.shape},
                           {"data_offsets", {tensor.offset, end}}};
    if (tensor.padding > 0) {
      header["_pad." + std::to_string(i)] = {{"dtype", dtype_name(DType::kU8)},
                                             {"shape", {static_cast<int64_t>(tensor.padding)}},
                                             {"data_offsets", {end, end + tensor.padding}}};
    }
    if (hashes) texts["hash." + tensor.name] = tensor.hash;
  }
  if (!texts.empty() || hashes) header["__metadata__"] = std::move(texts);
  if (hashes) {
    const std::string canonical = json_text(header);
    header["__metadata__"][kHeaderHash] = hash_bytes(canonical.data(), canonical.size());
  }
  std::string text = json_text(header);
  text.append((kTensorAlignment - (8 + text.size()) % kTensorAlignment) % kTensorAlignment, ' ');
  if (text.size() > kMaxHeader) {
    throw Error(ExitCode::kData, path + ": header would be longer than 100 MB");
  }
  const uint64_t length = text.size();
  std::string out(8, '\0');
  std::memcpy(out.data(), &length, 8);
  return out + text;
}

}  // namespace kdgat::file
