// CsvReader: rows of a table with a header. Fields may be quoted ("" is a quote); a row is a line.
// No LibTorch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/line_reader.h"

namespace kdgat::graph {

/// The fields of one line.
std::vector<std::string> csv_fields(std::string_view line);

class CsvReader {
 public:
  /// Reads the header. Throws Error(kData) if there is none.
  explicit CsvReader(LineReader lines);

  const std::vector<std::string>& header() const { return header_; }
  std::optional<std::size_t> find(const std::string& column) const;
  /// Throws Error(kData) naming the columns that there are.
  std::size_t require(const std::string& column) const;

  /// The next row; false at the end. Empty lines are passed over. Throws Error(kData) if it has
  /// another number of fields than the header.
  bool next();
  const std::string& field(std::size_t column) const { return fields_[column]; }
  /// Throws Error(kData) unless the field is a finite number that a float holds.
  float number(std::size_t column) const;
  int64_t row() const { return row_; }  ///< from 0
  std::string where() const;            ///< "file:line"
  const std::string& name() const { return lines_.name(); }
  int64_t bytes_read() const { return lines_.bytes_read(); }

 private:
  LineReader lines_;
  std::vector<std::string> header_, fields_;
  int64_t row_ = -1;
};

}  // namespace kdgat::graph
