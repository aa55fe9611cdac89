// VectorText: vectors.h, the frames that check.c gives to a detector and what it is to say.
#pragma once

#include <cstdint>
#include <string>

#include "engine/data/can/frames/can_frame.h"

namespace kdgat::exporting {

class VectorText {
 public:
  /// The next frame.
  void add(const data::CanFrame& frame);
  /// What the call behind the frames so far says: bits KDGAT_*, and the score of the last window.
  void expect(int bits, float score);
  /// The whole file.
  std::string text() const;

 private:
  int64_t frames_ = 0, bytes_ = 0, events_ = 0;
  std::string frame_lines_, byte_lines_, event_lines_;
};

}  // namespace kdgat::exporting
