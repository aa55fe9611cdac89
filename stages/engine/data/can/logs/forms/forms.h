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
  /// Whether a file that begins like this is one.
  bool (*fits)(std::string_view head);
  /// From the first byte on. Throws Error(kData).
  std::unique_ptr<FrameReader> (*open)(file::ByteReader bytes);
};

std::span<const LogForm> log_forms();

/// The form that a file with this beginning has; nullptr: none of these.
const LogForm* form_of(std::string_view head);
/// The same of a file of which nothing was read yet. A pipe is waited for until it has said its
/// first two lines, or so much that the form is known.
const LogForm* form_of(file::ByteReader& bytes);

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
bool is_busmaster(std::string_view head);
bool is_crtd(std::string_view head);
std::unique_ptr<FrameReader> open_asc(file::ByteReader bytes);
std::unique_ptr<FrameReader> open_trc(file::ByteReader bytes);
std::unique_ptr<FrameReader> open_busmaster(file::ByteReader bytes);
std::unique_ptr<FrameReader> open_crtd(file::ByteReader bytes);

}  // namespace kdgat::data
