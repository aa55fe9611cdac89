// The forms of logs that have a reader of their own: the one list of them. Those of which each line
// is a row by itself stand in log_layout.h.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "engine/data/can/logs/forms/frame_reader.h"
#include "engine/file/byte_reader.h"

namespace kdgat::data {

struct LogForm {
  const char* name;
  /// Whether a file that begins like this is one: its first kFormHead bytes, or all there are.
  bool (*fits)(std::string_view head);
  /// From the first byte on. Throws Error(kData).
  std::unique_ptr<FrameReader> (*open)(file::ByteReader bytes);
};

/// As many as tell a form; a pipe that says nothing more is not waited for.
inline constexpr std::size_t kFormHead = 8;

std::span<const LogForm> log_forms();

bool is_blf(std::string_view head);
bool is_pcap(std::string_view head);
bool is_pcapng(std::string_view head);
bool is_mf4(std::string_view head);
std::unique_ptr<FrameReader> open_blf(file::ByteReader bytes);
std::unique_ptr<FrameReader> open_pcap(file::ByteReader bytes);
std::unique_ptr<FrameReader> open_pcapng(file::ByteReader bytes);
std::unique_ptr<FrameReader> open_mf4(file::ByteReader bytes);

bool is_asc(std::string_view head);
bool is_trc(std::string_view head);
std::unique_ptr<FrameReader> open_asc(file::ByteReader bytes);
std::unique_ptr<FrameReader> open_trc(file::ByteReader bytes);

}  // namespace kdgat::data
