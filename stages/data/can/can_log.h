// CanLog: the frames of one CAN log, whatever form it is written in. Owns the open file, the form
// and the count of what could not be read. Knows nothing about windows or graphs. No LibTorch.
//
//   can-train-and-test  timestamp,arbitration_id,data_field[,attack]   header; hexadecimal
//   hcrl                timestamp,id,dlc,b0,..,R|T                     DLC+4 fields, hexadecimal
//   candump             (1.0) can0 1A0#0011                            candump -L; also 29-bit ids,
//                                                                      FD `##`, remote `#R`
//   candump-screen      (1.0)  can0  1A0   [2]  00 11                  the time may be missing
//   road                id,b0,..,b7,label                              decimal, no time
//   daga                timestamp,CAN_ID,DLC,PAYLOAD_HEX,              DLC in bits
//                       PAYLOAD_BIN,ANOMALY
//   otids               Time,IntID1,IntID2,DLC,IntData1..8,Label       decimal
//   crysys              (1.0) can0 1A0#0011 False<TAB>False            either True is an attack
//   recan               timestamp,interface,id,dlc,01010101..          payload in binary digits
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/can/can_frame.h"
#include "data/can/channel_names.h"
#include "file/line_reader.h"
#include "kdgat/error.h"

namespace kdgat::graph {

struct LogLayout;
/// Reads one row. Gives nullptr, or what is wrong with the row; the frame is then unspecified.
using RowParser = const char* (*)(const LogLayout& layout, std::string_view line, CanFrame& frame);

/// A fall of the clock by so many seconds begins another capture.
inline constexpr double kClockRestart = 1.0;

/// How the rows of a file are written.
struct LogLayout {
  const char* format = "";
  RowParser parse = nullptr;
  bool has_header = false;
  /// can-train-and-test: positions of time, id, payload and label (-1: no label).
  std::array<int, 4> column = {0, 1, 2, 3};
  int columns = 4;
  /// Of the log that is read; nullptr: nobody asks which bus a frame is of. Not owned.
  ChannelNames* channels = nullptr;
};

/// The names of the forms: the one list of them.
std::span<const char* const> log_formats();
/// What an option that names a form may be: "auto", then log_formats().
std::vector<std::string> log_format_choices();

/// The form of a file that starts with `lines` (about ten, none blank), or the form named `format`
/// unless that is "auto". Throws Error(kData) naming `file` if no form or more than one fits or if
/// the header misses a column.
LogLayout recognise_log(const std::string& file, std::span<const std::string> lines,
                        const std::string& format);

/// Whether a file with this beginning is a log, in a form that can be told from it.
bool is_can_log(const std::string& file, std::string_view head);

class CanLog {
 public:
  /// Opens `path` ("-" is standard input). `format` as in recognise_log(). With `strict` a
  /// malformed row ends the reading. Throws Error(kData), also for a file without any line.
  CanLog(LineReader reader, const std::string& format, bool strict);

  /// The next readable frame; false at the end. Throws Error(kData).
  bool next(CanFrame& frame);

  const char* format() const { return layout_.format; }
  int64_t rows() const { return rows_; }            ///< frames given so far
  int64_t malformed() const { return malformed_; }  ///< rows counted and skipped
  int64_t bytes_read() const { return reader_.bytes_read(); }
  /// The last frame starts another capture: time fell by a second or more before it.
  bool restarted() const { return restarted_; }
  /// Steps back in time shorter than 8 ms; published logs have them, nothing is wrong with them.
  int64_t small_steps_back() const { return small_steps_back_; }
  /// Call at the end: the first malformed rows, their number, time going backwards.
  std::vector<Diagnostic> problems() const;

 private:
  bool next_line(std::string_view& line);
  void refuse_row(const char* fault, std::string_view line);
  void check_time(double time);
  std::string where() const { return reader_.name() + ":" + std::to_string(line_number_); }

  LineReader reader_;
  LogLayout layout_;
  ChannelNames channels_;
  bool strict_;
  std::vector<std::pair<int64_t, std::string>> first_lines_;  // read to recognise the form
  std::size_t first_used_ = 0;
  int64_t line_number_ = 0;
  int64_t rows_ = 0, malformed_ = 0;
  double last_time_ = -std::numeric_limits<double>::infinity();
  bool restarted_ = false;
  int64_t small_steps_back_ = 0, steps_back_ = 0, restarts_ = 0;
  std::vector<Diagnostic> problems_;
};

}  // namespace kdgat::graph
