#include "engine/file/csv.h"

#include <algorithm>
#include <cmath>

#include "engine/file/number_text.h"
#include "kdgat/error.h"

namespace kdgat::file {
namespace {

/// Whether a row that comes in pieces is inside of a quoted field, by the rules of csv_fields().
class OpenQuote {
 public:
  explicit OpenQuote(char separator) : separator_(separator) {}
  void read(std::string_view piece) {
    for (const char c : piece) {
      if (c == '"' && (is_open_ || is_empty_ || was_closed_)) {
        was_closed_ = is_open_;  // a quote right after this one opens again: both are one quote
        is_open_ = !is_open_;
      } else {
        was_closed_ = false;
        is_empty_ = c == separator_ && !is_open_;
      }
    }
  }
  bool is_open() const { return is_open_; }

 private:
  char separator_;
  bool is_open_ = false, was_closed_ = false;
  bool is_empty_ = true;  // the field, so far
};

}  // namespace

std::vector<std::string> csv_fields(std::string_view line, char separator) {
  std::vector<std::string> out(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      out.back() += line[++i];
    } else if (c == '"' && (quoted || out.back().empty())) {
      quoted = !quoted;
    } else if (c == separator && !quoted) {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

char csv_separator(std::string_view header) {
  const auto count = [&](char c) { return std::count(header.begin(), header.end(), c); };
  if (count('\t') > count(',')) return '\t';
  return count(';') > count(',') ? ';' : ',';
}

CsvReader::CsvReader(LineReader lines, bool multi_line, char separator)
    : lines_(std::move(lines)), multi_line_(multi_line), separator_(separator) {
  std::string_view line;
  if (!next_row(line)) throw Error(ExitCode::kData, "the file is empty", "", lines_.name());
  if (line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  if (separator_ == 0) separator_ = csv_separator(line);
  header_ = csv_fields(line, separator_);
}

std::optional<std::size_t> CsvReader::find(const std::string& column) const {
  const auto found = std::find(header_.begin(), header_.end(), column);
  if (found == header_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - header_.begin());
}

std::size_t CsvReader::require(const std::string& column) const {
  if (const auto found = find(column)) return *found;
  std::string names;
  for (const std::string& name : header_) names += (names.empty() ? "" : ", ") + shown(name);
  throw Error(ExitCode::kData, "no column '" + column + "'", "its columns: " + names,
              lines_.name() + ":1");
}

bool CsvReader::next_row(std::string_view& text) {
  if (!lines_.next(text)) return false;
  first_ = lines_.line_number();
  OpenQuote quote(separator_);
  if (text.find('"') != std::string_view::npos) quote.read(text);
  if (!quote.is_open()) return true;
  if (!multi_line_) {
    throw Error(ExitCode::kData, "a quoted field does not end in its line", "", where());
  }
  joined_ = text;
  while (quote.is_open()) {
    if (!lines_.next(text)) {
      throw Error(ExitCode::kData, "a quoted field does not end", "", where());
    }
    quote.read("\n");
    quote.read(text);
    joined_ += '\n';
    joined_ += text;
    if (joined_.size() > kLongestLine) {
      throw Error(ExitCode::kData,
                  "a row longer than " + std::to_string(kLongestLine >> 20) + " MiB",
                  "a quoted field that does not end?", where());
    }
  }
  text = joined_;
  return true;
}

bool CsvReader::next() {
  std::string_view line;
  do {
    if (!next_row(line)) return false;
  } while (line.empty());
  ++row_;
  fields_ = csv_fields(line, separator_);
  if (fields_.size() != header_.size()) {
    throw Error(ExitCode::kData,
                std::to_string(fields_.size()) + " fields, the header has " +
                    std::to_string(header_.size()),
                "", where());
  }
  return true;
}

const std::string& CsvReader::filled(std::size_t column) const {
  const std::string& text = field(column);
  if (!text.empty()) return text;
  throw Error(ExitCode::kData, "no " + shown(header_[column]), "", where());
}

float CsvReader::number(std::size_t column) const {
  const std::optional<double> value = number_in(field(column));
  if (!value || !std::isfinite(static_cast<float>(*value))) {
    throw Error(ExitCode::kData,
                shown(header_[column]) + " is not a number: " + shown(field(column)), "", where());
  }
  return static_cast<float>(*value);
}

std::string CsvReader::where() const { return lines_.name() + ":" + std::to_string(first_); }

}  // namespace kdgat::file
