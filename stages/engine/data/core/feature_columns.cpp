#include "engine/data/core/feature_columns.h"

#include <algorithm>

#include "engine/file/number_text.h"

namespace kdgat::data {
namespace {

constexpr int64_t kLeastRows = 8;  // fewer may rise by chance

bool has_no_name(const std::string& name) {
  return name.find_first_not_of(" \t") == std::string::npos || name.starts_with("Unnamed: ");
}

template <class T>
void erase(std::vector<T>& values, std::size_t width, const std::vector<std::size_t>& out) {
  std::size_t to = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::binary_search(out.begin(), out.end(), i % width)) continue;
    if (to != i) values[to] = std::move(values[i]);
    ++to;
  }
  values.resize(to);
}

}  // namespace

void report_unused_columns(const file::CsvReader& table,
                           const std::vector<std::optional<std::size_t>>& used, Notes& notes,
                           bool is_usual) {
  for (std::size_t c = 0; c < table.header().size(); ++c) {
    if (std::find(used.begin(), used.end(), c) != used.end()) continue;
    const std::string& name = table.header()[c];
    const std::string shown =
        name.empty() ? std::to_string(c + 1) + " (without a name)" : file::shown(name);
    notes.push_back({table.name(), "column " + shown + " is not used", "", "column", 1, is_usual});
  }
}

FeatureColumns::FeatureColumns(const file::CsvReader& table, const std::vector<std::size_t>& known,
                               Notes& notes)
    : file_(table.name()) {
  for (std::size_t c = 0; c < table.header().size(); ++c) {
    if (std::find(known.begin(), known.end(), c) != known.end()) continue;
    if (has_no_name(table.header()[c])) {
      notes.push_back(
          {file_ + ":1", "column " + std::to_string(c + 1) + " has no name and is not used",
           "a feature needs a name; pandas leaves out its index with index=False", "column", 1});
      continue;
    }
    columns_.push_back(c);
    names_.push_back(table.header()[c]);
  }
  last_.resize(columns_.size());
  counts_.assign(columns_.size(), true);
}

void FeatureColumns::append(const file::CsvReader& table, std::vector<float>& out) {
  for (std::size_t f = 0; f < columns_.size(); ++f) {
    const float value = table.number(columns_[f]);
    counts_[f] = counts_[f] && (rows_ == 0 || value == last_[f] + 1);
    last_[f] = value;
    out.push_back(value);
  }
  ++rows_;
}

std::vector<std::size_t> FeatureColumns::counters(std::size_t groups, Notes& notes) const {
  std::vector<std::size_t> out;
  if (groups < 2 || rows_ < kLeastRows) return out;
  for (std::size_t f = 0; f < columns_.size(); ++f) {
    if (!counts_[f]) continue;
    out.push_back(f);
    notes.push_back({file_, "column " + file::shown(names_[f]) + " counts the rows and is not used",
                     "the number of a row is no feature: it would tell the graph", "column", 1});
  }
  return out;
}

void erase_columns(std::vector<float>& values, std::size_t width,
                   const std::vector<std::size_t>& out) {
  if (!out.empty()) erase(values, width, out);
}

void erase_columns(std::vector<std::string>& names, const std::vector<std::size_t>& out) {
  if (!out.empty()) erase(names, names.size(), out);
}

}  // namespace kdgat::data
