// DbcNames: what a DBC file calls messages and their signals, for whoever tells people of ids and
// bytes. Keeps no scale, unit or value: nothing is decoded with it. Knows no log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/file/line_reader.h"
#include "kdgat/error.h"

namespace kdgat::data {

struct DbcSignal {
  std::string name;
  /// As the file has it: of a big-endian signal the highest bit, else the lowest; bit 8 k is the
  /// lowest of byte k.
  int64_t start = 0;
  int64_t length = 0;  ///< bits
  bool is_big_endian = false;
  bool is_multiplexer = false;            ///< its value says which of the others are there
  std::optional<int64_t> multiplexed_by;  ///< the value with which it is there
  bool is_unknown_when = false;           ///< it is multiplexed, by which value is not said

  int64_t first_byte() const { return start / 8; }
  int64_t last_byte() const;
};

struct DbcMessage {
  uint32_t id = 0;  ///< 11 or 29 bits
  bool extended = false;
  std::string name;
  int64_t length = 0;  ///< bytes
  std::vector<DbcSignal> signals;

  /// Names of those of which a bit lies in this byte, in the order of the file.
  std::vector<std::string> signals_at(int64_t byte) const;
};

class DbcNames {
 public:
  /// Knows no names.
  DbcNames() = default;
  /// Of lines BO_ and SG_; those of other keywords are counted. What is no UTF-8 is read as
  /// Latin-1. A line that cannot be read is a warning. Throws Error(kData) with file and line where
  /// no message can be read.
  explicit DbcNames(file::LineReader lines);

  /// nullptr: none has this id.
  const DbcMessage* find(uint32_t id, bool extended) const;
  /// Of CanFrame::key(), whatever its bus is. An id of 29 bits is also one of another priority, and
  /// one whose PGN is that of a message from source 254, by which files of J1939 mean any source.
  const DbcMessage* of_key(uint32_t key) const;

  /// In the order of the file.
  const std::vector<DbcMessage>& messages() const { return messages_; }
  bool is_empty() const { return messages_.empty(); }
  /// Lines that could not be read, or only by a guess, with file and line: the first ones.
  const std::vector<Diagnostic>& warnings() const { return warnings_; }
  /// What was passed over and means no names.
  const std::vector<Diagnostic>& notes() const { return notes_; }

 private:
  void add(DbcMessage message, const std::string& where);

  std::vector<DbcMessage> messages_;
  std::unordered_map<uint32_t, std::size_t> places_;           // by id, bit 31: extended
  std::unordered_map<uint32_t, std::size_t> any_priority_;     // by id without it
  std::unordered_map<uint32_t, std::size_t> from_any_source_;  // by j1939_message()
  std::vector<Diagnostic> warnings_, notes_;
};

}  // namespace kdgat::data
