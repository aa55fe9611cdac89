// FrameWriter: the bytes of a log, frame by frame, in the form that the ending of its name says.
// Owns what is not yet handed out.
#pragma once

#include <memory>
#include <string>

#include "engine/data/can/frames/can_frame.h"
#include "engine/data/can/logs/form_facts.h"

namespace kdgat::data {

class FrameWriter {
 public:
  FrameWriter() = default;
  FrameWriter(const FrameWriter&) = delete;
  FrameWriter& operator=(const FrameWriter&) = delete;
  virtual ~FrameWriter() = default;

  /// Appends to `out` what the frame adds. Times are numbers. Throws Error(kData) for a time that
  /// the form cannot hold.
  virtual void add(const CanFrame& frame, std::string& out) = 0;
  /// What the log ends with; once, at the end.
  virtual void finish(std::string& out) = 0;
  /// What stands at the very beginning, known at the end only; "" where nothing changes. As long as
  /// what stands there.
  virtual std::string beginning() const { return ""; }
};

/// By ending: .log candump, .csv can-train-and-test, .asc, .blf, .pcapng. Throws Error(kUsage) for
/// another.
std::unique_ptr<FrameWriter> frame_writer(const std::string& file_name);
const FormFacts& form_written(const std::string& file_name);

}  // namespace kdgat::data
