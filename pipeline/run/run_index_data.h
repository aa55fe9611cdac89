// What the index of a root holds, as tables of SQLite in two files: records of runs, which every
// list reads, and the options and figures that the files of a folder say, ten times as much. Knows
// how they are kept, not when they count (run_index.h).
//
// A folder is that of a step, or that of a run for what concerns the run as a whole. It is named
// relative to the root where it lies below it: "hcrl_sa/01JD.../classifier".
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
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

/// Files with the same stamp are those that were read. With "" they are read again next time.
struct ReadFolder {
  std::string name, stamp;
  std::vector<ReadCell> options, figures;
};

struct KnownRun {
  int64_t id = 0;
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

/// The tables of a file, in memory, with the texts that many of their rows share.
class IndexTables {
 public:
  /// For a file that the constructor reads: without what was replaced. Throws std::runtime_error
  /// if no memory is left, or they are more than kLargestIndex.
  std::string bytes();

 protected:
  /// What the file holds; nothing of one that is not there, damaged or of another version. `tables`
  /// makes them.
  IndexTables(const std::filesystem::path& file, const std::string& tables);
  ~IndexTables() = default;
  IndexTables(IndexTables&&) = default;
  IndexTables& operator=(IndexTables&&) = default;

  int64_t text_id(int64_t role, const std::string& text);
  virtual void remove_garbage() = 0;

  Database data_;
  bool has_garbage_ = false;  ///< rows that belong to nothing any more

 private:
  bool read(const std::filesystem::path& file, int64_t form);
  std::unordered_map<std::string, int64_t> text_ids_;  ///< by role and text
};

class RunTables : public IndexTables {
 public:
  explicit RunTables(const std::filesystem::path& file);

  /// By "dataset/id", without ids and folders of runs. What a record does not know besides: see
  /// RunIndex::runs(). The folder of a step is "" where it is that of its run.
  std::unordered_map<std::string, KnownRun> runs() const;
  /// Of a run that is not there.
  void put(const std::string& place, const std::string& stamp, const RunRecord& run);
  void remove(int64_t id);

 private:
  void remove_garbage() override;
  std::vector<std::string> shared_texts() const;
};

class ValueTables : public IndexTables {
 public:
  explicit ValueTables(const std::filesystem::path& file);

  std::unordered_map<std::string, KnownFolder> folders() const;
  /// In the place of what was known of them; their numbers. Where one has a key twice, the
  /// first counts. One call for thousands takes less time per row.
  std::vector<int64_t> put(const std::vector<ReadFolder>& folders);
  void remove(const std::string& folder);

  std::set<std::string> keys(KeyOf of) const;
  /// What each folder has for a key.
  std::vector<KnownCell> cells(KeyOf of, const std::string& key) const;

 private:
  void remove_garbage() override;
};

}  // namespace kdgat
