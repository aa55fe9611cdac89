// The score stage: `kdgat score` as a plugin. Gives each window of raw logs a score and a decision
// with nothing but a model file, which names vocabulary, features and windows, or is a detector
// with its profiles. Writes no file: what it finds it sends to the host.
#pragma once

#include "engine/decision/stream/score_options.h"
#include "kdgat/stage.h"

namespace kdgat::score {

struct Score {
  using Options = decision::ScoreOptions;
  static StageInfo info();
  static nlohmann::json plan(const Options& options, const Request& request);
  /// Input "model" is a model file, a detector file, or a folder with a model file; "log" a log, a
  /// folder of logs or "-".
  /// Sends an event for each window, in order: {"event":"window","file","window" (in its log, from
  /// 0), "time" (of its first row, null where the log has none),"row" (its first, from 0),"ids"
  /// (distinct),"score","decision" ("attack", "benign", or "calibration" for a window that was
  /// taken as benign),"reasons" (texts)}. Of a detector also for each alarm, see AlarmEvent; a
  /// window is sent when the one behind it is complete. A detector that gives reasons says ahead of
  /// the windows how many one has at most: {"event":"metrics","what":"reasons","index"}. With
  /// options.explain see Explanations::send(). The result counts windows, attacks and a detector's
  /// alarms.
  static nlohmann::json run(const Options& options, const Request& request, Host& host);
};

}  // namespace kdgat::score
