// How a run tells what it is doing. Stages send numbers; only here are they made into text. Owns
// the pace of output, knows no plan and writes no file.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pipeline/show/problem.h"
namespace kdgat {

/// Where the work of a step stands (see Host::progress in kdgat/stage.h).
struct Progress {
  std::string step;
  std::string phase;            ///< "student", "import"; may be empty
  std::string unit;             ///< "epoch", "bytes"
  int64_t done = 0, total = 0;  ///< total 0 = unknown
  nlohmann::json metrics = nlohmann::json::object();
  uint64_t memory_bytes = 0;  ///< of the process that works; 0 = unknown
};

/// How a step ended.
struct StepEnd {
  std::string step;
  std::string outcome;  ///< "done", "kept", "failed", "skipped", "interrupted"
  std::string text;     ///< the stage's summary, or why
  double seconds = 0;
  uint64_t memory_bytes = 0;
};

class Status {
 public:
  virtual ~Status() = default;
  /// Names that will be reported, so that columns can be aligned.
  virtual void announce(const std::vector<std::string>& steps) = 0;
  virtual void begin(const std::string& step) = 0;
  /// As often as the caller likes; what is shown is paced.
  virtual void progress(const Progress& now) = 0;
  virtual void end(const StepEnd& end) = 0;
  /// `level`: "info", "note", "warning" or "error". May be of several lines.
  virtual void message(const std::string& level, const std::string& text) = 0;
  /// An error of which more is known than its text.
  virtual void failure(const Failure& one) { message("error", one.text()); }
};

/// What the standard error is, as the user's environment says it.
struct Terminal {
  bool moves = false;  ///< a bar can be drawn over itself
  bool colours = false;
  int columns = 100;
  int verbosity = 0;  ///< -1: errors and warnings only

  /// Looks at the file descriptor, NO_COLOR, CLICOLOR_FORCE, TERM and COLUMNS.
  static Terminal of(int fd, int verbosity);
};

/// Seconds since any fixed moment.
using Clock = std::function<double()>;
Clock steady_clock();

/// A bar with rate, time left and memory on a terminal; elsewhere lines, at most one each 10 s.
std::unique_ptr<Status> make_terminal_status(std::ostream& out, Terminal terminal, Clock clock);

/// One JSON object a line: {"event","step",...,"time"}.
std::unique_ptr<Status> make_jsonl_status(std::ostream& out, Clock clock);

/// "epoch 12/12  loss 0.0412  val AUC 0.941   38,200 graphs/s": a progress event in words.
std::string format_progress(const Progress& now);

}  // namespace kdgat
