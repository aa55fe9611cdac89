// TensorBoard's event files, written without protobuf: each record is
//   length (8 bytes), masked CRC32C of it (4), data, masked CRC32C of the data (4)
// little-endian, and the data one message Event of tensorflow/core/util/event.proto. Owns no file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "pipeline/records/records.h"

namespace kdgat {

/// CRC-32C (Castagnoli), as of iSCSI.
uint32_t crc32c(std::string_view bytes);

/// The first record of a file: its version.
std::string event_file_start(double unix);
/// One record: an Event with a Summary of scalars. All points have the first one's step and time.
std::string scalars_record(std::span<const Point> points);

}  // namespace kdgat
