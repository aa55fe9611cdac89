// What the index of a root holds, as tables of SQLite in memory: records of runs, and the options
// and figures that the files of a folder say. Knows how they are kept, not when they count
// (run_index.h).
//
// A folder is that of a step, or that of a run for what concerns the run as a whole. It is named
// relative to the root where it lies below it: "hcrl_sa/01JD.../classifier".
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pipeline/run/run_record.h"
#include "pipeline/system/database.h"

namespace kdgat {

/// An option, or a figure, as a folder says it.
struct ReadCell {
  std::string key;   ///< "classifier.lr", "classifier.test_01.f1"
  std::string text;  ///< of an option its value as JSON; of a figure all but its value (result.h)
  double value = 0;  ///< of a figure
};

/// A stamp tells that files are those that were read. With "" they are read again next time.
struct ReadFolder {
  std::string stamp;
  std::vector<ReadCell> options, figures;
};

struct KnownRun {
  std::string stamp;
  RunRecord record;
};
struct KnownFolder {
  std::string stamp;
  int64_t id = 0;
};
struct KnownCell {
  int64_t folder = 0;
  std::string text;  ///< as in ReadCell
  double value = 0;
};

enum class KeyOf { kOption, kFigure };

class IndexData {
 public:
  IndexData();
  /// Of bytes(), down to the bit, and of this version. Throws std::runtime_error for any other.
  explicit IndexData(std::string_view bytes);

  /// By "dataset/id", without ids and folders of runs. What a record does not know besides: see
  /// RunIndex::runs(). The folder of a step is "" where it is that of its run.
  std::map<std::string, KnownRun> runs() const;
  /// Of a run that is not there.
  void put_run(const std::string& place, const std::string& stamp, const RunRecord& run);
  /// With what its folders say.
  void remove_run(const std::string& place);

  std::unordered_map<std::string, KnownFolder> folders() const;
  /// In the place of what was known of it. Where a key stands twice, the first counts.
  int64_t put_folder(const std::string& folder, const ReadFolder& read);

  std::set<std::string> keys(KeyOf of) const;
  /// What each folder has for a key.
  std::vector<KnownCell> cells(KeyOf of, const std::string& key) const;

  /// Of the runs that are there and their folders, not of what was replaced.
  std::string bytes();

 private:
  int64_t text_id(int64_t role, const std::string& text);
  std::vector<std::string> shared_texts() const;

  Database data_;
  bool has_garbage_ = false;  ///< cells of folders that were replaced or removed
  std::map<std::pair<int64_t, std::string>, int64_t> text_ids_;
};

}  // namespace kdgat
