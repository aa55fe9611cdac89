// A table of results in the forms that people paste: aligned text, CSV, Markdown, LaTeX.
#pragma once

#include <string>
#include <vector>

namespace kdgat {

enum class TableFormat { kText, kCsv, kMarkdown, kLatex };

/// "text", "csv", "md" and "latex".
std::vector<std::string> table_formats();
/// Throws Error(kUsage) for a word that is none of them.
TableFormat table_format(const std::string& word);

struct MarkedCell {
  MarkedCell(std::string of = "", bool stands_out = false)
      : text(std::move(of)), is_best(stands_out) {}

  std::string text;      ///< "±" and "-" are set as the form has them
  bool is_best = false;  ///< bold, where the form has such
};

struct MarkedTable {
  std::vector<std::string> columns;
  std::size_t texts = 0;  ///< columns from the left that hold words; all others hold numbers
  std::vector<std::vector<MarkedCell>> rows;
};

/// As lines, each ended; "" of a table without rows. LaTeX is a tabular for booktabs.
std::string formatted(const MarkedTable& table, TableFormat format);

}  // namespace kdgat
