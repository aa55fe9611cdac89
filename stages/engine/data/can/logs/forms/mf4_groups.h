// Groups of channels of a measurement file that hold frames of a bus: where in a record what
// stands.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "engine/data/can/logs/forms/mf4_blocks.h"

namespace kdgat::data::mf4 {

/// A number in a record.
struct Field {
  uint32_t byte = 0;  ///< where it begins
  uint8_t bit = 0;    ///< in that byte
  uint8_t bits = 0;   ///< 0: the record has no such number
  bool is_big = false;

  explicit operator bool() const { return bits != 0; }
  /// Reads 8 bytes from byte() on, which may lie behind the record.
  uint64_t of(const uint8_t* record) const {
    auto word = file::little<uint64_t>(record + byte);
    if (is_big) word = __builtin_bswap64(word) >> (64 - bits);
    word >>= bit;
    return bits == 64 ? word : word & ((uint64_t{1} << bits) - 1);
  }
};

/// The time of a record: seconds = offset + factor * number.
struct Clock {
  enum class Kind : uint8_t { kUnsigned, kSigned, kFloat, kDouble };

  Field number;
  Kind kind = Kind::kDouble;
  double factor = 1, offset = 0;

  double of(const uint8_t* record) const;
};

struct Group {
  enum class Kind : uint8_t { kOther, kFrames, kRemote, kErrors, kPayloads };

  Kind kind = Kind::kOther;
  uint64_t at = 0;  ///< of its block
  uint64_t record_id = 0;
  uint64_t records = 0;  ///< how many, where the recorder counted them
  uint32_t bytes = 0;    ///< of a record behind its id; kPayloads: each says its own
  Clock clock;
  Field bus, id, is_extended, code, length, is_fd, is_fast, is_passive, is_sent;
  Field payload_offset;       ///< where payloads stand apart: which one
  uint64_t payload_link = 0;  ///< to the group of this data that holds them, or to a block of data
  uint32_t payload_byte = 0, payload_bytes = 0;  ///< where they stand in the record
};

struct DataGroup {
  uint64_t data = 0;     ///< link to the data; 0: none
  uint8_t id_bytes = 0;  ///< of the number that each record begins with
  std::vector<Group> groups;
};

/// Start of the measurement, seconds since 1970, and the data groups in which frames stand. Throws
/// Error(kData), also if there is none.
struct Measurement {
  double start = 0;
  std::vector<DataGroup> data;
  uint64_t last_data = 0;  ///< the link to data that lies nearest to the end of the file
};
Measurement read_measurement(const File& file);

}  // namespace kdgat::data::mf4
