// Logs of which each line is a row by itself, and how the form of such a log is told.
//
//   can-train-and-test  timestamp,arbitration_id,data_field[,attack]   header; hexadecimal
//   can-table           any names of can_columns.h, in any order      header; comma, semicolon, tab
//   hcrl                timestamp,id,dlc,b0,..,R|T|0|1                 DLC+4 fields, hexadecimal
//   candump             (1.0) can0 1A0#0011                            candump -L; also 29-bit ids,
//                                                                      FD `##`, remote `#R`
//   candump-screen      (1.0)  can0  1A0   [2]  00 11                  the time may be missing
//   road                id,b0,..,b7,label                              decimal, no time
//   daga                timestamp,CAN_ID,DLC,PAYLOAD_HEX,              DLC in bits
//                       PAYLOAD_BIN,ANOMALY
//   otids               Time,IntID1,IntID2,DLC,IntData1..8,Label       decimal
//   crysys              (1.0) can0 1A0#0011 False<TAB>False            either True is an attack
//   hcrl-text           Timestamp: 1.0  ID: 0316  000  DLC: 8  05 ..  attack-free logs of HCRL
//   recan               timestamp,interface,id,dlc,01010101..          payload in binary digits
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "engine/data/can/frames/can_frame.h"
#include "engine/data/can/frames/channel_names.h"
#include "engine/data/can/logs/can_table.h"
#include "engine/data/can/logs/forms/frame_reader.h"
#include "engine/data/can/logs/log_reading.h"
#include "engine/file/byte_reader.h"

namespace kdgat::data {

struct LogLayout;
/// Reads one row. Gives nullptr, or what is wrong with the row; the frame is then unspecified.
using RowParser = const char* (*)(const LogLayout& layout, std::string_view line, CanFrame& frame);

/// How the rows of a file are written.
struct LogLayout {
  const char* format = "";
  RowParser parse = nullptr;
  bool has_header = false;
  /// can-train-and-test: positions of time, id, payload and label (-1: no label).
  std::array<int, 4> column = {0, 1, 2, 3};
  int columns = 4;
  /// can-table: how its columns are read.
  std::shared_ptr<CanTable> table = nullptr;
  /// Of the log that is read; nullptr: nobody asks which bus a frame is of. Not owned.
  ChannelNames* channels = nullptr;
};

/// The names of these forms: the one list of them.
std::span<const char* const> text_formats();

/// The form of a file that starts with `lines` (about ten, none blank), or the form named `format`
/// unless that is "auto". Throws Error(kData) naming `file` if no form or more than one fits or if
/// the header misses a column.
LogLayout recognise_log(const std::string& file, std::span<const std::string> lines,
                        const std::string& format, const LogReading& reading = {});

/// Whether a file with this beginning is such a log, in a form that can be told from it.
bool is_text_log(const std::string& file, std::string_view head);

/// `format` as in recognise_log(). Throws Error(kData), also for a file without any line.
std::unique_ptr<FrameReader> open_text_log(file::ByteReader bytes, const std::string& format,
                                           const LogReading& reading);

}  // namespace kdgat::data
