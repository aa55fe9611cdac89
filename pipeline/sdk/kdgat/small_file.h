// Files that are read as a whole because they are meant to be small. Each kind has a largest size,
// so that what is no such file is refused with words instead of filling the memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "kdgat/error.h"

namespace kdgat {

// The largest sizes, in bytes. Files that are read line by line have none: their lines have one.
inline constexpr std::size_t kMegabyte = 1'000'000;
inline constexpr std::size_t kLargestJson = 32 * kMegabyte;    ///< detectors, records, descriptions
inline constexpr std::size_t kLargestProfile = 4 * kMegabyte;  ///< of runs and of sites
inline constexpr std::size_t kLargestNotes = kMegabyte;        ///< text that a report shows
inline constexpr std::size_t kLargestIndex = 512 * kMegabyte;  ///< the index of all runs of a root

/// "is 45.1 MB; at most 32 MB are read"
inline std::string larger_than(std::uintmax_t bytes, std::size_t largest) {
  const std::uintmax_t tenths = (bytes * 10 + kMegabyte - 1) / kMegabyte;
  return "is " + std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " MB; at most " +
         std::to_string(largest / kMegabyte) + " MB are read";
}

/// A regular file, open for reading; else not open and with its failbit set: there is none, it
/// cannot be opened, or it is a pipe, which would be waited for, or a device, which has no end.
inline std::ifstream regular_file(const std::filesystem::path& file) {
  std::error_code none;
  std::ifstream in;
  if (std::filesystem::is_regular_file(file, none)) {
    in.open(file, std::ios::binary);
  } else {
    in.setstate(std::ios::failbit);
  }
  return in;
}

/// The bytes of a regular file. Throws Error(kData) if it cannot be read or is larger than
/// `largest`.
inline std::string small_file(const std::filesystem::path& file, std::size_t largest,
                              const std::string& hint = "") {
  std::error_code failure;
  std::ifstream in = regular_file(file);
  if (!in.is_open()) {
    const bool is_there = std::filesystem::exists(file, failure);
    throw Error(ExitCode::kData, is_there ? "cannot be read" : "no such file", hint, file.string());
  }
  std::string out;
  char block[1 << 14];
  while (in.read(block, sizeof block), in.gcount() > 0) {
    out.append(block, static_cast<std::size_t>(in.gcount()));
    if (out.size() <= largest) continue;
    const auto size = std::filesystem::file_size(file, failure);
    throw Error(ExitCode::kData, larger_than(failure ? out.size() : size, largest), hint,
                file.string());
  }
  if (in.bad()) throw Error(ExitCode::kData, "cannot be read", hint, file.string());
  return out;
}

}  // namespace kdgat
