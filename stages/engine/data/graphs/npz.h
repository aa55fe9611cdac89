// NpzFile: the arrays of a file that numpy.savez or savez_compressed wrote: a zip archive of .npy
// files, stored or deflated. Owns the arrays that it read.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/file/safetensors.h"

namespace kdgat::data {

class NpzFile {
 public:
  /// Reads every array; of none larger than `most_bytes` is more than its size read. Throws
  /// Error(kData) naming file and member: what is no zip archive, cut, encrypted, packed in another
  /// way, with a wrong checksum; arrays of objects, of big-endian numbers, of types without a
  /// DType.
  static NpzFile open(const std::filesystem::path& path, std::size_t most_bytes);
  /// The same of bytes in memory, which may go afterwards; called `name` in messages.
  static NpzFile parse(std::string_view bytes, const std::string& name, std::size_t most_bytes);

  /// Views of arrays in C order, whatever order the file has. Valid while this or a copy lives.
  const std::map<std::string, file::TensorView>& numbers() const { return numbers_; }
  /// Of arrays of texts ('<U8').
  const std::map<std::string, std::vector<std::string>>& texts() const { return texts_; }

 private:
  void add(const std::string& member, std::vector<std::byte> content, const std::string& where);

  std::map<std::string, file::TensorView> numbers_;
  std::map<std::string, std::vector<std::string>> texts_;
  std::vector<std::shared_ptr<const std::vector<std::byte>>> kept_;  // what the views show
};

}  // namespace kdgat::data
