// CanLog: the frames of one CAN log, whatever form it is written in: text rows (log_layout.h) or a
// form of its own (forms/forms.h). Owns the reader and the count of what could not be read. Knows
// nothing about windows or graphs.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/data/can/frames/can_frame.h"
#include "engine/data/can/frames/channel_choice.h"
#include "engine/data/can/logs/forms/frame_reader.h"
#include "engine/data/can/logs/time_reading.h"
#include "engine/data/core/note.h"
#include "engine/file/byte_reader.h"

namespace kdgat::data {

/// A fall of the clock by so many seconds begins another capture.
inline constexpr double kClockRestart = 1.0;

/// The names of all forms.
std::span<const char* const> log_formats();
/// What an option that names a form may be: "auto", then log_formats().
std::vector<std::string> log_format_choices();

/// Whether a file with this beginning is a log, in a form that can be told from it.
bool is_can_log(const std::string& file, std::string_view head);

class CanLog {
 public:
  /// `format`: "auto" or one of log_formats(). With `strict` a malformed row ends the reading.
  /// `channel`: see ChannelChoice; frames of buses that are not read are as if they were not there.
  /// Throws Error(kData), also for a file without any line.
  CanLog(file::ByteReader bytes, const std::string& format, bool strict,
         const std::string& channel = kAllChannels, const LogReading& reading = {});

  /// The next readable frame; false at the end. Throws Error(kData), also at the end of a log
  /// without a frame of the bus that is to be read.
  bool next(CanFrame& frame);

  const char* format() const { return reader_->format(); }
  int64_t rows() const { return rows_; }            ///< frames given so far
  int64_t malformed() const { return malformed_; }  ///< rows counted and skipped
  int64_t bytes_read() const { return reader_->bytes_read(); }
  const ChannelNames& channel_names() const { return reader_->channel_names(); }
  /// The last frame starts another capture: time fell by a second or more before it.
  bool restarted() const { return restarted_; }
  /// Steps back in time shorter than 8 ms; published logs have them, nothing is wrong with them.
  int64_t small_steps_back() const { return small_steps_back_; }
  /// Call at the end: the first malformed rows, their number, time going backwards.
  Notes problems() const;

 private:
  void refuse_row();
  void check_time(double time);

  std::string name_;
  std::shared_ptr<std::string> cut_ = std::make_shared<std::string>();  // packed data that is cut
  std::unique_ptr<FrameReader> reader_;
  bool strict_;
  ChannelChoice channel_;
  TimeReading times_;
  std::string unused_label_;  // what the options say of labels that this form has not
  int64_t rows_ = 0, malformed_ = 0;
  double last_time_ = -std::numeric_limits<double>::infinity();
  bool restarted_ = false;
  int64_t small_steps_back_ = 0, steps_back_ = 0, restarts_ = 0;
  Notes problems_;
};

}  // namespace kdgat::data
