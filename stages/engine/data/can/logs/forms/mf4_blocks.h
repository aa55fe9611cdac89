// Blocks of a measurement file (ASAM MDF 4): what refers to what, and the bytes of data that lists
// of blocks hold. Reads a file; knows no channel. Layouts: ASAM MDF 4.1 and its blocks of values of
// 4.2 (DV, listed in LD), as asammdf documents them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/file/byte_cursor.h"
#include "engine/file/random_bytes.h"

namespace kdgat::data::mf4 {

/// Blocks of a list that a file may hold: more are a circle.
inline constexpr int kMostBlocks = 1 << 20;

struct Block {
  uint64_t at = 0;      ///< in the file
  uint64_t length = 0;  ///< with its header
  std::string id;       ///< "DT", "CG"
  std::vector<uint64_t> links;
  std::vector<uint8_t> data;  ///< of blocks that describe: at most 64 KiB of it

  uint64_t link(std::size_t i) const { return i < links.size() ? links[i] : 0; }
  /// Throws Error(kData) if the block is too short.
  template <typename T>
  T at_byte(std::size_t i) const {
    if (i + sizeof(T) > data.size()) refuse();
    return file::little<T>(data.data() + i);
  }
  std::size_t header_bytes() const { return 24 + 8 * links.size(); }
  [[noreturn]] void refuse() const;
};

/// What a recorder did not bring to its end: bits of the file's identification.
struct Unfinished {
  bool counts = false;           ///< how many records a group has
  bool last_length = false;      ///< the last block of data reaches to the end of the file
  bool payload_offsets = false;  ///< payloads belong to frames by their order
};

class File {
 public:
  explicit File(file::ByteReader bytes);

  /// The block at `at`, of the kind `id` unless that is empty. Throws Error(kData).
  Block block(uint64_t at, const char* id = "") const;
  /// "" for link 0.
  std::string text(uint64_t at) const;
  const file::RandomBytes& bytes() const { return bytes_; }
  const Unfinished& unfinished() const { return unfinished_; }
  [[noreturn]] void fail(uint64_t at, const std::string& what, const std::string& hint = "") const;

 private:
  file::RandomBytes bytes_;
  Unfinished unfinished_;
};

/// Whether a link to data is one to blocks of values (DV), in which records stand without the bits
/// that say what is invalid: those are in blocks of their own.
bool holds_values(const File& file, uint64_t at);

/// The bytes that a link to data stands for: one block, packed or not, or lists of them.
class Data {
 public:
  /// `is_last`: nothing follows it in the file.
  Data(const File& file, uint64_t at, bool is_last);
  /// At least one byte, at most `room`; 0 at the end. Throws Error(kData).
  std::size_t read(uint8_t* to, std::size_t room);
  /// Of the file, where the block begins that was read last.
  uint64_t at() const { return at_; }
  /// The file ends inside it.
  bool is_cut() const { return is_cut_; }

 private:
  bool next_block();
  void open(uint64_t at, bool is_end);
  void unpack(const Block& block);

  const File& file_;
  bool is_last_ = false;
  std::vector<uint64_t> blocks_;  // of the list that is read, [next_, ..)
  std::size_t next_ = 0;
  uint64_t next_list_ = 0;
  int lists_ = 0;
  uint64_t stored_ = 0;                    // bytes of the blocks that were opened
  uint64_t at_ = 0, from_ = 0, left_ = 0;  // of a block that is not packed
  std::vector<uint8_t> unpacked_;          // from used_ on not yet read
  std::size_t used_ = 0;
  bool is_cut_ = false;
};

}  // namespace kdgat::data::mf4
