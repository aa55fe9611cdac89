// Runs laid out by what they were asked and what they came to: `kdgat runs pivot rows=classifier.lr
// cols=seed value=classifier.test_01.f1`. Pure: reads no file.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "pipeline/run/run_query.h"

namespace kdgat {

/// The distinct results of the runs that have the same row and column.
struct PivotCell {
  double mean = 0;
  /// Of the index, a run for each result: that which made it, if it is in the cell. One that kept
  /// the step of another run has no result of its own.
  std::vector<std::size_t> runs;
};

struct Pivot {
  std::vector<RunKey> row_keys, col_keys;
  RunKey value_key;
  /// A value for each key; by number where all of a key are numbers, else by text. What a run does
  /// not have is "".
  std::vector<std::vector<std::string>> rows, cols;
  std::map<std::pair<std::size_t, std::size_t>, PivotCell> cells;  ///< by row and column
  std::size_t without_value = 0;                                   ///< runs that have none
};

/// `rows` and `cols` may be empty: one row, or one column. The mean of each cell is of numbers,
/// each result once; runs that have none for `value` are counted and left out. Values must have
/// been read. Throws as find_key().
Pivot make_pivot(const RunIndex& index, const std::vector<std::size_t>& runs,
                 const std::vector<std::string>& rows, const std::vector<std::string>& cols,
                 const std::string& value);

/// How a mean of the value is written: as the figure is elsewhere, or with four digits.
std::string pivot_text(const RunIndex& index, const Pivot& pivot, const PivotCell& cell);

/// The keys of options in which the runs are not all alike, as some have one that others have not.
std::vector<RunKey> differing_options(const RunIndex& index, const std::vector<std::size_t>& runs);

}  // namespace kdgat
