#include "engine/export/c/rounded_model.h"

#include <span>

namespace kdgat::exporting {

void write_rounded(const file::SafetensorsFile& file, const model::ModelHeader& header,
                   const NetworkCode& code, const std::filesystem::path& path) {
  constexpr const char* kEmbedding = "input.embedding.weight";
  const auto is_hash = [](const std::string& key) { return key.starts_with("hash."); };
  nlohmann::json config = header.config;
  const int64_t ids = config.at("num_ids"), width = config.at("embedding_dim");
  config["id_embedding"] = "table";
  file::SafetensorsWriter writer;
  for (const auto& [key, value] : file.metadata()) {
    if (!is_hash(key)) writer.metadata(key, key == "config" ? config.dump() : value);
  }
  for (const auto& [name, view] : file.tensors()) {
    const auto found = code.rounded.find(name);
    if (name == kEmbedding && !code.rounded_embedding.empty()) {
      writer.add(name, {ids, width}, std::span<const float>(code.rounded_embedding));
    } else if (found != code.rounded.end()) {
      writer.add(name, view.shape, std::span<const float>(found->second));
    } else if (name != "input.bucket") {
      writer.add(name, view.dtype, view.shape, view.data);
    }
  }
  writer.write(path, true);
}

}  // namespace kdgat::exporting
