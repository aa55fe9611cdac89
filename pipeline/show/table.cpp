#include "pipeline/show/table.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

#include "kdgat/text.h"
#include "pipeline/show/json_lookup.h"
#include "pipeline/show/line_width.h"
#include "pipeline/show/table_fit.h"
#include "pipeline/show/text.h"

namespace kdgat {
namespace {

bool is_number(const std::string& text) {
  if (text.empty()) return false;
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return *end == '\0';
}

/// "12", "1,024", "0.01 s", "-3 %": a figure in words, too.
bool begins_as_number(const std::string& text) {
  const std::size_t digit = text.find_first_not_of("+-<~ ");
  return digit != std::string::npos && text[digit] >= '0' && text[digit] <= '9';
}

std::string cell_text(const nlohmann::json& cell, bool is_whole) {
  if (cell.is_null()) return "";
  if (cell.is_string()) return cell.get<std::string>();
  if (!cell.is_number_float()) return cell.dump();
  const double value = cell.get<double>();
  if (is_whole || std::abs(value) >= 1e6) return short_number(value);
  const bool is_plain = std::isfinite(value) && std::abs(value) >= 0.001;
  return format_number(is_plain || value == 0 ? "%.3f" : "%.3g", value);
}

/// Whether the numbers of a column are counts: whole, all of them, and no shares of one.
bool holds_counts(const nlohmann::json& rows, std::size_t column) {
  double most = 0;
  for (const nlohmann::json& row : rows) {
    if (!row.is_array() || column >= row.size() || !row[column].is_number_float()) continue;
    const double value = row[column].get<double>();
    if (value != std::floor(value)) return false;
    most = std::max(most, std::abs(value));
  }
  return most > 1;
}

std::string table_text(const ResultTable& of) {
  Table table;
  table.add(of.columns);
  for (std::vector<std::string>& row : cells_in_words(of.rows)) table.add(std::move(row));
  return "\n" + table.text() + "\n";
}

std::size_t& most_columns() {
  static std::size_t most = 0;
  return most;
}

/// The tables that can be shown: the one that is joined with those of other steps, and the others.
struct ShownTables {
  std::optional<ResultTable> main;
  std::vector<ResultTable> all;  ///< `main` first
};

bool is_table(const ResultTable& table) {
  return !table.columns.empty() &&
         std::all_of(table.rows.begin(), table.rows.end(),
                     [](const nlohmann::json& row) { return row.is_array(); });
}

ShownTables tables_of(const nlohmann::json& json) {
  const auto result = json.get<StageResult>();
  ShownTables out;
  if (result.table && is_table(*result.table)) {
    out.main = result.table;
    out.all.push_back(*out.main);
  }
  std::copy_if(result.tables.begin(), result.tables.end(), std::back_inserter(out.all), is_table);
  return out;
}

}  // namespace

void Table::add(std::vector<std::string> row) {
  for (std::string& cell : row) cell = one_line(cell);
  rows_.push_back({std::move(row)});
}

void Table::add_heading(const std::string& text) { rows_.push_back({{one_line(text)}, true}); }

bool Table::is_right(std::size_t column, bool has_numbers) const {
  return align_ == Align::kByContent ? has_numbers : column > 0;
}

std::string Table::text() const {
  std::vector<std::size_t> widths;
  std::vector<bool> has_numbers, has_figures;
  for (const Row& row : rows_) {
    if (row.is_heading) continue;
    widths.resize(std::max(widths.size(), row.cells.size()));
    has_numbers.resize(widths.size());
    has_figures.resize(widths.size());
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      widths[i] = std::max(widths[i], text_width(row.cells[i]));
      if (is_number(row.cells[i])) has_numbers[i] = true;
      if (begins_as_number(row.cells[i])) has_figures[i] = true;
    }
  }
  std::vector<std::size_t> all(widths.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::vector<std::vector<std::size_t>> blocks = {all};
  if (const std::size_t most = most_columns(); most > 0) {
    std::vector<bool> may_wrap;
    may_wrap.reserve(has_numbers.size());
    for (const bool has : has_numbers) may_wrap.push_back(!has);
    widths = narrowed(std::move(widths), may_wrap, most);
    const std::size_t keys = key_columns(has_figures);
    widths = narrowed_keys(std::move(widths), keys, most);
    blocks = blocks_of(widths, keys, most);
    if (blocks.empty()) blocks = {{}};
  }
  std::string out;
  for (const std::vector<std::size_t>& block : blocks) {
    if (!out.empty()) out += "\n";
    for (const Row& row : rows_) {
      if (row.is_heading) {
        const std::size_t most = most_columns();
        out += (most > 0 ? wrapped(row.cells.front(), 0, most) : row.cells.front()) + "\n";
        continue;
      }
      std::vector<std::vector<std::string>> cells;
      std::size_t lines = 1;
      for (const std::size_t i : block) {
        if (i >= row.cells.size()) break;
        cells.push_back(cell_lines(row.cells[i], widths[i]));
        lines = std::max(lines, cells.back().size());
      }
      for (std::size_t at = 0; at < lines; ++at) {
        std::string line;
        for (std::size_t k = 0; k < cells.size(); ++k) {
          const std::string cell = at < cells[k].size() ? cells[k][at] : "";
          const std::string pad(widths[block[k]] - text_width(cell), ' ');
          line += (k == 0 ? "" : "  ") +
                  (is_right(block[k], has_numbers[block[k]]) ? pad + cell : cell + pad);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + "\n";
      }
    }
  }
  return out;
}

void limit_tables(std::size_t columns) { most_columns() = columns; }

std::vector<std::vector<std::string>> cells_in_words(const nlohmann::json& rows) {
  std::vector<std::vector<std::string>> out;
  std::vector<bool> is_whole;  // of each column
  for (const nlohmann::json& row : rows) {
    std::vector<std::string>& cells = out.emplace_back();
    for (const nlohmann::json& cell : row) {
      if (cells.size() == is_whole.size()) is_whole.push_back(holds_counts(rows, is_whole.size()));
      cells.push_back(cell_text(cell, is_whole[cells.size()]));
    }
  }
  return out;
}

std::string tables_text(const nlohmann::json& result) {
  std::string out;
  for (const ResultTable& table : tables_of(result).all) out += table_text(table);
  return out;
}

std::vector<ResultTable> joined_tables(const std::vector<NamedResult>& results) {
  std::vector<std::pair<std::string, ShownTables>> with_tables;  // by step
  for (const NamedResult& one : results) {
    ShownTables tables = tables_of(one.result);
    if (!tables.all.empty()) with_tables.emplace_back(one.step, std::move(tables));
  }
  if (with_tables.size() == 1) return with_tables.front().second.all;
  std::vector<ResultTable> joined, others;
  for (const auto& [step, tables] : with_tables) {
    if (!tables.main) {
      others.insert(others.end(), tables.all.begin(), tables.all.end());
      continue;
    }
    std::vector<std::string> columns = tables.main->columns;
    columns.insert(columns.begin(), "step");
    if (joined.empty() || joined.back().columns != columns) joined.push_back({columns, {}});
    bool is_first = true;
    for (const nlohmann::json& row : tables.main->rows) {
      nlohmann::json cells = {is_first ? step : ""};
      for (const nlohmann::json& cell : row) cells.push_back(cell);
      joined.back().rows.push_back(std::move(cells));
      is_first = false;
    }
  }
  joined.insert(joined.end(), others.begin(), others.end());
  return joined;
}

std::string joined_tables_text(const std::vector<NamedResult>& results) {
  std::string out;
  for (const ResultTable& table : joined_tables(results)) out += table_text(table);
  return out;
}

}  // namespace kdgat
