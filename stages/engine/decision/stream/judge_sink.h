// JudgeSink: where it goes what is found in a stream of frames.
#pragma once

#include <functional>
#include <string>

#include "kdgat/error.h"
#include "kdgat/event.h"
#include "kdgat/stage.h"

namespace kdgat::decision {

/// Called in the order of the stream, from the thread that judges.
struct JudgeSink {
  std::function<void(const WindowEvent&)> window;  ///< empty: nobody asks for windows
  std::function<void(const AlarmEvent&)> alarm;
  /// `level`: "info" or "warning".
  std::function<void(const std::string& level, const std::string& message)> log;
  std::function<ExitCode()> cancelled;  ///< kOk: go on
};

/// All of it to the host, which must outlive it.
inline JudgeSink sink_to(const Host& host) {
  return {
      [&host](const WindowEvent& window) { host.emit(window); },
      [&host](const AlarmEvent& alarm) { host.emit(alarm); },
      [&host](const std::string& level, const std::string& message) { host.log(level, message); },
      [&host] { return host.cancelled(); }};
}

}  // namespace kdgat::decision
