// CsvReader: rows of a table with a header. Fields may be quoted ("" is a quote); a row is a line,
// or where that is asked for as many as a quoted field goes over.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/file/line_reader.h"

namespace kdgat::file {

/// The fields of one line.
std::vector<std::string> csv_fields(std::string_view line, char separator = ',');
/// What separates the columns of a header: a tab or a semicolon where it has more of them than
/// commas.
char csv_separator(std::string_view header);

class CsvReader {
 public:
  /// Reads the header. With `multi_line` quoted fields may hold line ends, which come out as "\n".
  /// `separator` 0 = as csv_separator() finds. Throws Error(kData) if there is no header.
  explicit CsvReader(LineReader lines, bool multi_line = false, char separator = ',');

  const std::vector<std::string>& header() const { return header_; }
  std::optional<std::size_t> find(const std::string& column) const;
  /// Throws Error(kData) naming the columns that there are.
  std::size_t require(const std::string& column) const;

  /// The next row; false at the end. Empty lines are passed over. Throws Error(kData) if it has
  /// another number of fields than the header, or a quoted field does not end in it.
  bool next();
  const std::string& field(std::size_t column) const { return fields_[column]; }
  /// The same; throws Error(kData) where it is empty.
  const std::string& filled(std::size_t column) const;
  /// Throws Error(kData) unless the field is a finite number that a float holds.
  float number(std::size_t column) const;
  int64_t row() const { return row_; }     ///< from 0
  int64_t line() const { return first_; }  ///< of the row, its first, from 1
  std::string where() const;               ///< "file:line"
  const std::string& name() const { return lines_.name(); }
  int64_t bytes_read() const { return lines_.bytes_read(); }

 private:
  bool next_row(std::string_view& text);

  LineReader lines_;
  bool multi_line_;
  char separator_;
  std::string joined_;  // a row of several lines
  std::vector<std::string> header_, fields_;
  int64_t row_ = -1;
  int64_t first_ = 0;
};

}  // namespace kdgat::file
