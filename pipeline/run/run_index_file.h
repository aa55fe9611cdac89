// The index of the runs below a root as a file, <root>/.runs.index: what was read of finished runs,
// so that a list of thousands need not read them again. It may be deleted at any time, and one that
// is damaged or of another form is as good as none. Knows how it is written, not when an entry
// counts (run_index.h).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pipeline/run/run_record.h"

namespace kdgat {

inline constexpr const char* kIndexFile = ".runs.index";

/// Texts, each once and known by a number, as thousands of runs have the same names and values.
class TextPool {
 public:
  TextPool() = default;
  TextPool(TextPool&&) = default;
  TextPool& operator=(TextPool&&) = default;
  TextPool(const TextPool&) = delete;
  TextPool& operator=(const TextPool&) = delete;
  ~TextPool() = default;

  uint32_t id_of(std::string_view text);
  /// Throws std::out_of_range for a number that it did not give.
  const std::string& text(uint32_t id) const { return texts_.at(id); }
  std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  ///< which never moves one
  std::unordered_map<std::string_view, uint32_t> ids_;
};

/// What tells that a file is the one that was read: all zero where there is none.
struct FileStamp {
  int64_t modified = 0, changed = 0;  ///< nanoseconds since 1970
  int64_t size = 0;
  int64_t inode = 0;

  bool operator==(const FileStamp&) const = default;
};

/// Numbers of texts of a pool: an option by its dotted key, and its value as JSON.
struct OptionCell {
  uint32_t key = 0, value = 0;
};

/// A figure by its dotted key, and all but its value as JSON (kdgat/result.h).
struct FigureCell {
  uint32_t key = 0, kind = 0;
  double value = 0;
};

/// What a step left that its run made itself.
struct StepCells {
  std::string step;
  FileStamp config, metrics;
  std::vector<OptionCell> options;
  std::vector<FigureCell> figures;
};

struct IndexEntry {
  FileStamp run_file, labels_file;
  RunRecord record;  ///< as list_runs() has it, but for data, requirements, git and notes
  std::vector<OptionCell> options;              ///< of the run as a whole: data.*
  std::optional<std::vector<StepCells>> steps;  ///< none: they were not read yet
};

struct IndexContent {
  TextPool texts;
  std::map<std::string, IndexEntry> entries;  ///< by "dataset/id"
};

/// Of the entries and the texts that they use, not of others in the pool.
std::string index_bytes(const IndexContent& content);

/// nullopt for what index_bytes() of this version did not write, down to the bit. Of each record
/// the folders are missing that are those of its run: see run_index.cpp.
std::optional<IndexContent> read_index(std::string_view bytes);

}  // namespace kdgat
