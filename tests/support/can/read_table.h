// The frames of a table in memory, and what its reader reports.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/data/can/logs/can_log.h"

namespace kdgat::test {

using data::CanFrame;
using data::CanLog;
using data::kAllChannels;
using data::LogReading;

struct ReadTable {
  std::vector<CanFrame> frames;
  std::string format, problems;
  int64_t malformed = 0;
};

inline ReadTable read_bytes(file::ByteReader bytes, const std::string& format = "auto",
                            const LogReading& reading = {}) {
  CanLog log(std::move(bytes), format, false, kAllChannels, reading);
  ReadTable out;
  CanFrame frame;
  while (log.next(frame)) out.frames.push_back(frame);
  out.format = log.format();
  out.malformed = log.malformed();
  for (const Diagnostic& one : log.problems()) out.problems += one.text() + "\n";
  return out;
}

inline ReadTable read_table(const std::string& text, const std::string& format = "auto",
                            const LogReading& reading = {}) {
  ReadTable out = read_bytes(file::ByteReader("log", text), format, reading);
  UNSCOPED_INFO(out.problems);
  return out;
}

}  // namespace kdgat::test
