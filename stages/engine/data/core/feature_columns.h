// FeatureColumns: which columns of a table are features. A column without a name and one that
// counts the rows are none: pandas and spreadsheets write them, and they would tell the graph.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/data/core/note.h"
#include "engine/file/csv.h"

namespace kdgat::data {

/// Notes each column of `table` that is none of `used`, by name. `is_usual`: such tables have more
/// columns than one training uses.
void report_unused_columns(const file::CsvReader& table,
                           const std::vector<std::optional<std::size_t>>& used, Notes& notes,
                           bool is_usual = false);

class FeatureColumns {
 public:
  /// All columns of `table` but those of `known` and those without a name, which `notes` report.
  FeatureColumns(const file::CsvReader& table, const std::vector<std::size_t>& known, Notes& notes);

  std::size_t size() const { return columns_.size(); }
  const std::vector<std::string>& names() const { return names_; }
  /// The features of the row that the table is at, put to `out`. Throws Error(kData).
  void append(const file::CsvReader& table, std::vector<float>& out);

  /// Once all rows are read: the places of columns that count them, reported to `notes`. `groups`
  /// is the number of graphs that the rows belong to: within one graph a count may mean something.
  std::vector<std::size_t> counters(std::size_t groups, Notes& notes) const;

 private:
  std::string file_;
  std::vector<std::size_t> columns_;
  std::vector<std::string> names_;
  std::vector<float> last_;
  std::vector<bool> counts_;  // so far each row has one more than the row before
  int64_t rows_ = 0;
};

/// `values` [rows, width] without the columns `out`, which are ascending.
void erase_columns(std::vector<float>& values, std::size_t width,
                   const std::vector<std::size_t>& out);
void erase_columns(std::vector<std::string>& names, const std::vector<std::size_t>& out);

}  // namespace kdgat::data
