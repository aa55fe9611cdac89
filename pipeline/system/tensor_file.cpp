#include "pipeline/system/tensor_file.h"

#include <array>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>

#include "kdgat/parse_json.h"
#include "kdgat/small_file.h"

namespace kdgat {

std::string tensor_metadata(const std::filesystem::path& file, const std::string& key) {
  constexpr uint64_t kLargest = uint64_t{100} << 20;  // the format's own bound
  std::ifstream in = regular_file(file);
  std::array<unsigned char, 8> bytes{};
  if (!in.read(reinterpret_cast<char*>(bytes.data()), bytes.size())) return "";
  uint64_t length = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) length |= uint64_t{bytes[i]} << (8 * i);
  std::error_code failed;
  const uint64_t size = std::filesystem::file_size(file, failed);
  if (failed || length > kLargest || length + bytes.size() > size) return "";
  std::string text(length, '\0');
  if (!in.read(text.data(), static_cast<std::streamsize>(length))) return "";
  JsonFault ignored;  // what reads the tensors says what is wrong with it
  const auto head = strict_json(text, ignored, kDeepestJson, kLargest);
  if (!head || !head->is_object()) return "";
  const auto found = head->find("__metadata__");
  if (found == head->end() || !found->is_object()) return "";
  const auto entry = found->find(key);
  return entry != found->end() && entry->is_string() ? entry->get<std::string>() : "";
}

}  // namespace kdgat
