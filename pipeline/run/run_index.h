// The runs below a root, of thousands in a moment: what was read of finished ones is kept in a file
// (run_index_file.h) and read again only where it is stale.
//
// An entry is stale once run.json or labels.json of its run have another size, inode, time of
// change or of their content; what it says of a step's options and figures once config.json or
// metrics.json of that step have. Nothing is kept of a run that has not ended, nor of a file
// younger than two seconds, which might be written again within the grain of the clock. The file is
// replaced as a whole: of two who write it at once one is lost, and what that one knew is read
// again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "kdgat/result.h"
#include "pipeline/run/run_index_file.h"
#include "pipeline/run/run_record.h"

namespace kdgat {

/// Options and figures of one run, its kept steps among them.
struct RunValues {
  std::vector<OptionCell> options;  ///< "classifier.lr", "data.window", "seed"
  std::vector<FigureCell> figures;  ///< "classifier.val_loss", "classifier.test_01.f1"
  std::vector<uint32_t>
      step_of;  ///< of each figure, the step that says it: place in RunRecord::steps
};

class RunIndex {
 public:
  /// Nanoseconds since 1970, as files are dated.
  using Now = std::function<int64_t()>;

  /// Finds every run below `root`. Reads run.json of those that the index does not know. A root
  /// that is not there has none.
  explicit RunIndex(std::filesystem::path root, Now now = system_now);
  static int64_t system_now();

  /// The newest first, as list_runs() has them, but without `data`, `requirements` and `git`, and
  /// of runs that have ended without notes.
  const std::vector<RunRecord>& runs() const { return runs_; }

  /// What values() says, from then on. Reads what the index does not know of it.
  void read_values();
  /// Of runs()[run]. Call read_values() first.
  const RunValues& values(std::size_t run) const { return values_.at(run); }
  const TextPool& texts() const { return content_.texts; }

  /// Writes what is new into the file, or leaves it where it cannot be written. Never throws.
  void save();

 private:
  struct Place;

  std::vector<Place> find_runs() const;
  void read_runs(std::vector<Place> places);
  void join_values();

  std::filesystem::path root_;
  Now now_;
  IndexContent content_;  ///< of every run that is there, also those that work
  std::vector<RunRecord> runs_;
  std::vector<std::string> keys_;  ///< of runs_, in content_.entries
  std::vector<bool> is_lasting_;   ///< may be kept in the file
  std::vector<RunValues> values_;
  bool has_news_ = false;
};

/// A figure again from a cell.
Figure figure_of(const FigureCell& cell, const TextPool& texts);

}  // namespace kdgat
