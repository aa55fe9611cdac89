// Somewhere the numbers of a run go beside its journals, and the table of all such places. A sink
// is a function of the journals: what it missed, or what was lost, its next update brings.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "pipeline/records/record_targets.h"

namespace kdgat {

class RecordSink {
 public:
  virtual ~RecordSink() = default;

  /// Brings it up to date while the run goes on; may put off what failed a moment ago. Returns how
  /// many numbers left this machine. Throws Error with the reason if not everything is there.
  virtual int64_t update() = 0;
  /// The same with nothing put off: the run has ended, or somebody waits.
  virtual int64_t finish() { return update(); }
};

struct SinkKind {
  const char* name;   ///< as the option `records` has it
  const char* label;  ///< stands before what is said of its problems
  /// `seconds`: the most one request may take. Null if it is not among the targets.
  std::unique_ptr<RecordSink> (*make)(const std::filesystem::path& run,
                                      const RecordTargets& targets, double seconds);
};

/// In the order in which they are brought up to date.
std::span<const SinkKind> sink_kinds();

}  // namespace kdgat
