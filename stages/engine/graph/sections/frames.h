// Frames: the rows of the logs that graphs were cut from, as they came, for what compares them with
// what is usual on a vehicle. A section of a store, see sections.h.
//
// R rows in all, those of the first source ahead of those of the second; W payload bytes each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/arrays/column.h"
#include "engine/file/safetensors.h"
#include "engine/graph/sections/common_arrays.h"

namespace kdgat::graph {

struct Frames {
  static constexpr const char* kName = "frames of logs";
  static constexpr const char* kHint =
      "import the logs with their frames: data.features=v3, or kdgat data import --features v3";

  /// Bits of a row's flags.
  enum Flag : uint8_t { kAttack = 1, kUnlabelled = 2, kRestart = 4, kExtended = 8, kRemote = 16 };
  /// Above them the bus of the log that the row is of, 0 to 7. Stores made before have 0 there.
  static constexpr int kChannelShift = 5;

  struct Data {
    std::vector<int64_t> source_ptr{0};
    arrays::Column<double> time;
    arrays::Column<int32_t> id;
    arrays::Column<uint8_t> length, flags, payload;
    int64_t width = 8;  ///< W

    void spill_to(const std::filesystem::path& folder);  ///< see Column
  };
  std::span<const int64_t> source_ptr;  ///< [S+1] first row of each source
  std::span<const double> time;         ///< [R] seconds; NaN = none
  std::span<const int32_t> id;          ///< [R] raw, at most 29 bits
  std::span<const uint8_t> length;      ///< [R] payload bytes, at most W
  std::span<const uint8_t> flags;       ///< [R]
  std::span<const uint8_t> payload;     ///< [R,W] bytes past the length are 0
  int64_t width = 0;                    ///< W, 8 or 64

  int64_t rows() const { return static_cast<int64_t>(id.size()); }
  int64_t sources() const { return static_cast<int64_t>(source_ptr.size()) - 1; }

  static std::string fault(const Data& data, const CommonArrays& graphs);
  static std::optional<Frames> read(const file::SafetensorsFile& file, const CommonArrays& graphs);
  /// Of all rows: graphs have no part in them.
  std::string fault() const;
  void write(file::SafetensorsWriter& writer) const;
  /// Their views.
  static Frames of(const Data& data);
};

}  // namespace kdgat::graph
