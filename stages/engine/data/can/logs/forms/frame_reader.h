// FrameReader: the frames of one log in one form. What every form of a log implements; forms.h
// lists them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/data/can/frames/can_frame.h"
#include "engine/data/can/frames/channel_names.h"
#include "engine/data/core/note.h"

namespace kdgat::data {

class FrameReader {
 public:
  enum class Got { kFrame, kFault, kEnd };

  FrameReader() = default;
  FrameReader(const FrameReader&) = delete;
  FrameReader& operator=(const FrameReader&) = delete;
  virtual ~FrameReader() = default;

  /// The next frame; `frame` is as CanFrame() before. kFault: a row or an object that is no
  /// readable frame, about which fault() tells; the reading may go on. Throws Error(kData) where it
  /// may not.
  virtual Got next(CanFrame& frame) = 0;
  virtual const char* format() const = 0;
  /// What is wrong with the last row or object.
  virtual std::string fault() const = 0;
  /// Where the last row or object stands: "a.log:12", "a.blf at byte 4096".
  virtual std::string where() const = 0;
  virtual int64_t bytes_read() const = 0;  ///< of the file as stored, packed or not
  /// The buses that were named so far; none in a form that does not tell them apart.
  virtual const ChannelNames& channel_names() const = 0;
  /// Of the times of its frames: 1 where the reader gives seconds, 0 where numbers alone tell.
  virtual double units_a_second() const { return 1; }
  /// The beginning looks as if its times were gaps between frames.
  virtual bool times_look_like_gaps() const { return false; }
  /// Whether a column of labels can be named, as in a table with a header.
  virtual bool has_label_column() const { return false; }
  /// At the end: what else is to be said of the log, such as error frames that it counts.
  virtual Notes notes() const { return {}; }
};

/// What a log holds beside frames of data: counted, reported once.
class Passed {
 public:
  enum class Say : uint8_t { kAlways, kWithOthers };

  int64_t error_frames = 0;
  int64_t others = 0;  ///< of no CAN bus, or of a kind that is not read

  /// Counts a record of another kind. `kind` is a name that lives as long as the program.
  /// kWithOthers: nothing that a bus carries, such as a comment; alone it is not worth a warning.
  void count(const char* kind, Say say = Say::kAlways);
  void tell(const std::string& file, Notes& notes) const;

 private:
  struct Kind {
    std::string_view name;
    Say say;
    int64_t count;
  };
  std::vector<Kind> kinds_;
};

}  // namespace kdgat::data
