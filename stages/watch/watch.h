// The watch stage: `kdgat watch` as a plugin. Judges a live bus, or a log that is played again,
// frame by frame, and says what it finds while it goes on. Writes no file but options.save.
#pragma once

#include "kdgat/stage.h"
#include "watch/watch_options.h"

namespace kdgat::watch {

struct Watch {
  using Options = WatchOptions;
  static StageInfo info();
  static nlohmann::json plan(const Options& options, const Request& request);
  /// Input "model" is a detector, or the model file of a network that is computed natively; "bus"
  /// one or several interfaces with commas between them, or with options.replay a log. Sends an
  /// event for each alarm (AlarmEvent), the same that `kdgat score` sends of the same frames; and
  /// {"event":"metrics","what":"traffic","index": number,"values"}, see TrafficReport::report(), at
  /// the start, every options.heartbeat seconds and at the end. Ends with the log, or when the host
  /// says so: an alarm that is open is closed then, and the code of the signal thrown.
  static nlohmann::json run(const Options& options, const Request& request, Host& host);
};

}  // namespace kdgat::watch
