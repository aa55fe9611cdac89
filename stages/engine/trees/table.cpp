#include "engine/trees/table.h"

#include <cmath>
#include <limits>

#include "engine/arrays/threads.h"
#include "kdgat/error.h"

namespace kdgat::trees {

namespace {

constexpr int64_t kRowsAtOnce = 256;

}  // namespace

void check_table(const Table& table, bool needs_labels, const std::string& name) {
  const auto refuse = [&name](const std::string& reason) {
    throw Error(ExitCode::kData, name + ": " + reason);
  };
  const auto rows = static_cast<std::size_t>(table.rows());
  if (table.columns < 1) refuse("a table without columns");
  if (rows == 0) refuse("a table without rows");
  if (rows > std::numeric_limits<int32_t>::max()) refuse("more than 2^31 - 1 rows");
  if (rows * static_cast<std::size_t>(table.columns) != table.values.size()) {
    refuse(std::to_string(table.values.size()) + " numbers are no whole rows of " +
           std::to_string(table.columns) + " columns");
  }
  if (table.labels.size() != rows && (needs_labels || !table.labels.empty())) {
    refuse(std::to_string(table.labels.size()) + " labels for " + std::to_string(rows) + " rows");
  }
  for (std::size_t r = 0; r < table.labels.size(); ++r) {
    if (table.labels[r] != 0 && table.labels[r] != 1) {
      refuse("label " + std::to_string(table.labels[r]) + " of row " + std::to_string(r) +
             " is neither 0 nor 1");
    }
  }
  if (table.weights.empty()) return;
  if (table.weights.size() != rows) {
    refuse(std::to_string(table.weights.size()) + " weights for " + std::to_string(rows) + " rows");
  }
  double sum = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    if (!(table.weights[r] >= 0) || std::isinf(table.weights[r])) {
      refuse("the weight of row " + std::to_string(r) + " is negative or not finite");
    }
    sum += static_cast<double>(table.weights[r]);
  }
  if (sum == 0) refuse("every weight is 0");
}

void check_width(std::span<const float> row, int64_t columns) {
  if (static_cast<int64_t>(row.size()) == columns) return;
  throw Error(ExitCode::kData, "a row of " + std::to_string(row.size()) +
                                   " columns for a model of " + std::to_string(columns));
}

std::vector<double> scores_of_rows(const Table& table, int64_t threads,
                                   const std::function<double(std::span<const float>)>& score) {
  std::vector<double> out(static_cast<std::size_t>(table.rows()));
  const auto run = [&](int, int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) out[static_cast<std::size_t>(r)] = score(table.row(r));
  };
  arrays::for_chunks(0, table.rows(), kRowsAtOnce, arrays::thread_count(threads), run);
  return out;
}

}  // namespace kdgat::trees
