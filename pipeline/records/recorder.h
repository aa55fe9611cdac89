// The records of a run: everything derived from its journals, brought up to date. Owns the lock
// under which it is done; what is written where its sinks know (record_sink.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kdgat/error.h"
#include "pipeline/records/record_sink.h"
#include "pipeline/records/record_targets.h"
#include "pipeline/system/owned_fd.h"
#include "pipeline/system/subprocess.h"

namespace kdgat {

class RunRecords {
 public:
  struct Outcome {
    int64_t sent = 0;                  ///< numbers, to MLflow
    std::vector<Diagnostic> problems;  ///< what could not be written or sent, and why
  };

  /// `seconds`: the most one request to a server may take.
  RunRecords(const std::filesystem::path& run, const RecordTargets& targets, double seconds);

  /// Does nothing if nothing changed since the last time it all went well. Never throws for what
  /// disk and network do. A server that does not answer is asked ever less often, and what another
  /// process is at is left to it; `now`: asked at once, and waited for.
  Outcome update(bool now);

 private:
  struct Sink {
    std::string label;
    std::unique_ptr<RecordSink> sink;
  };

  bool lock(double seconds);
  std::string size_of_journals() const;

  std::filesystem::path run_;
  std::vector<Sink> sinks_;
  OwnedFd lock_;
  std::string done_;  ///< sizes of the journals when all went well
};

/// Keeps the records of a run up to date while it runs, in a process of its own: nothing that
/// happens to it, or to the network, happens to the run. If the run's process dies, it ends by
/// itself.
class Recorder {
 public:
  /// Starts the process, if there is anything to write.
  Recorder(const std::filesystem::path& run, const RecordTargets& targets);
  /// The run has ended: waits some seconds for the last numbers, or until `hurry`. Returns what is
  /// to be said, at most one line for each target.
  std::vector<std::string> finish(const std::function<bool()>& hurry);
  /// Processor time the records took, in seconds; 0 before finish().
  double cpu_seconds() const { return cpu_seconds_; }

 private:
  std::optional<Subprocess> process_;
  std::vector<std::string> problems_;
  double cpu_seconds_ = 0;
};

/// The process of a Recorder: reads from standard input what to do, until that ends.
int record_from_input(std::istream& in, std::ostream& out);

}  // namespace kdgat
