// The runs below a root, of thousands in a moment: what was read of finished ones is kept in files
// of the user's cache folder and read again only where it is stale. The root itself is only read,
// and no file is locked, so that it may lie on any file system.
//
// A run is stale once run.json or labels.json have another size, inode, time of change or of their
// content; what a folder of a step says once its config.json or figures.json have. What has not
// ended, or is younger than two seconds and might be written again within the grain of the clock,
// is read again the next time. A file is replaced as a whole: of two who write it at once one is
// lost, and what that one knew is read again. One that is damaged is as good as none.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kdgat/result.h"
#include "pipeline/run/run_index_data.h"
#include "pipeline/run/run_record.h"

namespace kdgat {

/// What a run has for a key.
struct RunCell {
  std::string text;  ///< of an option its value as JSON; of a figure all but its value (result.h)
  double value = 0;  ///< of a figure
  /// The step that says it, by its place in RunRecord::steps; none: of the run as a whole.
  std::optional<std::size_t> step;
};
/// By place in RunIndex::runs(); none where a run has nothing for the key.
using RunColumn = std::vector<std::optional<RunCell>>;

class RunIndex {
 public:
  /// Nanoseconds since 1970, as files are dated.
  using Now = std::function<int64_t()>;

  /// Finds every run below `root`. Reads run.json of those that the index in `file`, and in
  /// values_file(file), does not know; with "" there is none. A root that is not there has no runs.
  RunIndex(std::filesystem::path root, std::filesystem::path file, Now now = system_now);
  /// With the index in file_of(), which is made for more runs than are read in a moment anyway.
  explicit RunIndex(const std::filesystem::path& root) : RunIndex(root, file_of(root)) {
    least_ = kWorthKeeping;
  }
  static int64_t system_now();
  /// In the user's cache folder; "" where there is none.
  static std::filesystem::path file_of(const std::filesystem::path& root);
  /// Next to the index with the runs, the one with what their folders say.
  static std::filesystem::path values_file(std::filesystem::path file);

  /// The newest first, as list_runs() has them, but without `data`, `requirements` and `git`, and
  /// of runs that have ended without notes.
  const std::vector<RunRecord>& runs() const { return runs_; }

  /// Reads options and figures that the index does not know, of steps and of those that they kept.
  void read_values();
  /// What the runs have for an option ("classifier.lr", "data.window", "seed") or a figure
  /// ("classifier.val_loss", "classifier.test_01.f1"); of several steps the first counts. Call
  /// read_values() first.
  const RunColumn& column(KeyOf of, const std::string& key) const;
  /// Every key that a run has, or had. Call read_values() first.
  std::set<std::string> keys(KeyOf of) const;

  /// Writes what is new into the files, or leaves them where they cannot be written. Never throws.
  void save();

 private:
  static constexpr std::size_t kWorthKeeping = 32;

  /// Files with the same text are those that were read.
  struct Stamp {
    std::string text;
    int64_t last = 0;  ///< when the last of them was written

    /// False, and a mark for it, where there is no such file.
    bool add(const std::string& file);
    /// The text, or "" while what was read at a time may be written again without another stamp.
    std::string lasting(int64_t read_at) const;
  };
  struct Place {
    std::string name;  ///< "dataset/id"
    std::string id;
    std::filesystem::path folder;
    Stamp stamp;
  };
  struct Folder;

  std::vector<Place> find_runs() const;
  void read_runs(std::vector<Place> places);
  std::vector<Folder> folders_of_runs();
  std::string folder_name(const std::filesystem::path& folder) const;
  void write(const std::filesystem::path& file, IndexTables& tables) const;

  std::filesystem::path root_, whole_root_, file_;
  Now now_;
  RunTables data_;
  std::optional<ValueTables> values_;
  std::vector<RunRecord> runs_;
  std::vector<Place> places_;  ///< of runs_
  /// Of runs_, the folder of the run and of each step: places in what folders_of_runs() gave, and
  /// then their numbers in values_.
  std::vector<std::vector<int64_t>> folders_;
  mutable std::map<std::pair<KeyOf, std::string>, RunColumn> columns_;
  bool has_news_ = false, has_new_values_ = false;
  std::size_t least_ = 0;  ///< runs for which a file is made
};

}  // namespace kdgat
