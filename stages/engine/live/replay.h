// Replay: the frames of a log, at the pace of its own clock, faster, or as fast as they are taken.
// Owns the log while it is read. Loses no frame: a consumer that is too slow is waited for.
#pragma once

#include <atomic>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "engine/data/can/logs/log_reading.h"
#include "engine/file/byte_reader.h"
#include "engine/live/frame_source.h"
#include "kdgat/error.h"

namespace kdgat::live {

/// A speed: as fast as the consumer takes frames.
inline constexpr double kMostSpeed = std::numeric_limits<double>::infinity();

/// "max", or a number of seconds of the log in one of ours. Throws Error(kUsage).
double speed_of(std::string_view text);

struct ReplayOptions {
  double speed = 1;             ///< as speed_of() gives it
  std::string format = "auto";  ///< as of data::CanLog
  bool strict = false;          ///< the same
  std::size_t queue_frames = kQueueFrames;
  data::LogReading reading{};  ///< as of data::CanLog
};

class Replay final : public FrameSource {
 public:
  /// `file`: "-" is standard input. Throws Error(kData) if it cannot be opened; that it is no log
  /// is thrown by next().
  explicit Replay(const std::string& file, ReplayOptions options = {});
  ~Replay() override { finish(); }

  std::string name() const override { return name_; }
  std::vector<BusCounts> counts() const override;

  /// When is_ended(): what graph::CanLog::problems() says of what was read.
  const std::vector<Diagnostic>& problems() const { return problems_; }

 private:
  void run() override;
  void wake() override { stopped_.ring(); }
  /// Asked by the reader of bytes whenever it may have to wait.
  bool is_cancelled();

  ReplayOptions options_;
  std::string path_;  // "-": standard input, which has no table of labels next to it
  file::ByteReader bytes_;
  std::string name_;
  Bell stopped_;
  std::atomic<int64_t> frames_{0}, malformed_{0};
  std::vector<Diagnostic> problems_;  // written before the queue is closed
};

}  // namespace kdgat::live
