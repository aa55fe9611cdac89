// Columns of text, aligned by what is seen: numbers to the right, words to the left.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kdgat {

class Table {
 public:
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  /// One line a row, two spaces between columns, nothing after the last; "" if empty.
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// Columns a text takes on a terminal: bytes that continue a UTF-8 character take none.
std::size_t text_width(const std::string& text);

/// A cell of a table in a stage's result: a text as it is, a number with three decimals.
std::string cell_text(const nlohmann::json& cell);

/// The tables of a stage's result, {"table":{"columns":[...],"rows":[[...]]}} or a list under
/// "tables"; "" if it has none.
std::string tables_text(const nlohmann::json& result);

struct NamedResult {
  std::string step;
  nlohmann::json result;
};

/// The tables of several results. Where more than one has a table, those of equal columns are one,
/// with the step in front of each row.
std::vector<nlohmann::json> joined_tables(const std::vector<NamedResult>& results);
std::string joined_tables_text(const std::vector<NamedResult>& results);

}  // namespace kdgat
