// Columns of text, aligned by what is seen.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kdgat/result.h"

namespace kdgat {

class Table {
 public:
  enum class Align {
    kByContent,      ///< columns that have a number to the right, others to the left
    kRightButFirst,  ///< the first column to the left, all others to the right
  };
  explicit Table(Align align = Align::kByContent) : align_(align) {}

  /// Control bytes of a cell become '?', its lines one (see one_line()).
  void add(std::vector<std::string> row);
  /// A line that takes no part in the columns.
  void add_heading(const std::string& text);
  /// One line a row, two spaces between columns, nothing after the last; "" if empty.
  std::string text() const;

 private:
  struct Row {
    std::vector<std::string> cells;
    bool is_heading = false;
  };

  bool is_right(std::size_t column, bool has_numbers) const;

  Align align_;
  std::vector<Row> rows_;
};

/// The cells of rows of a stage's result: a text as it is, a number with three decimals, and whole
/// where all in its column are whole and not all of them 0 or 1.
std::vector<std::vector<std::string>> cells_in_words(const nlohmann::json& rows);

/// The tables of a stage's result, {"table":{"columns":[...],"rows":[[...]]}} or a list under
/// "tables"; "" if it has none.
std::string tables_text(const nlohmann::json& result);

struct NamedResult {
  std::string step;
  nlohmann::json result;
};

/// The tables of several results. Where more than one has a table, those of equal columns are one,
/// with the step in front of each row.
std::vector<ResultTable> joined_tables(const std::vector<NamedResult>& results);
std::string joined_tables_text(const std::vector<NamedResult>& results);

}  // namespace kdgat
