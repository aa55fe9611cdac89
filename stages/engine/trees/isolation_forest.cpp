#include "engine/trees/isolation_forest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "engine/arrays/random.h"
#include "kdgat/error.h"

namespace kdgat::trees {

namespace {

struct Range {
  float low = std::numeric_limits<float>::infinity(), high = -low;
};

/// Grows one tree on a sample of rows.
class IsolationTree {
 public:
  IsolationTree(const Table& table, int64_t sample, arrays::Random& random)
      : table_(table), random_(random) {
    while ((int64_t{1} << most_cuts_) < sample) ++most_cuts_;
  }

  void grow(std::vector<int32_t> rows, FlatTrees& out) {
    nodes_.assign(1, {});
    cover_.assign(1, 0);
    grow_below(0, rows, 0);
    out.add(nodes_, cover_);
  }

 private:
  void grow_below(std::size_t node, std::span<int32_t> rows, int64_t depth) {
    cover_[node] = static_cast<double>(rows.size());
    if (rows.size() < 2 || depth == most_cuts_) return;
    const std::vector<Range> ranges = ranges_of(rows);
    const auto varies = [](const Range& range) { return range.low < range.high; };
    const auto varying = std::count_if(ranges.begin(), ranges.end(), varies);
    if (varying == 0) return;
    auto skip = random_.below(static_cast<uint64_t>(varying));
    std::size_t column = 0;
    while (!varies(ranges[column]) || skip-- > 0) ++column;

    constexpr float kMost = std::numeric_limits<float>::max();
    const double low = std::max(ranges[column].low, -kMost);
    const double high = std::min(ranges[column].high, kMost);
    auto cut = static_cast<float>(low + random_.uniform() * (high - low));
    if (cut >= static_cast<float>(high)) cut = static_cast<float>(low);  // it was rounded up
    const auto value = [&](int32_t row) { return table_.row(row)[column]; };
    const auto lower =
        std::count_if(rows.begin(), rows.end(), [&](int32_t r) { return value(r) <= cut; });
    const auto higher =
        std::count_if(rows.begin(), rows.end(), [&](int32_t r) { return value(r) > cut; });
    const std::size_t left = nodes_.size();
    const TreeNode split{static_cast<int32_t>(column), cut, static_cast<int32_t>(left),
                         higher > lower ? 1U : 0U};
    const auto middle = std::stable_partition(
        rows.begin(), rows.end(), [&](int32_t r) { return split.child(value(r)) == split.left; });
    nodes_[node] = split;
    nodes_.resize(left + 2);
    cover_.resize(left + 2);
    const auto on_left = static_cast<std::size_t>(middle - rows.begin());
    grow_below(left, rows.first(on_left), depth + 1);
    grow_below(left + 1, rows.subspan(on_left), depth + 1);
  }

  std::vector<Range> ranges_of(std::span<const int32_t> rows) const {
    std::vector<Range> out(static_cast<std::size_t>(table_.columns));
    for (const int32_t r : rows) {
      const std::span<const float> row = table_.row(r);
      for (std::size_t c = 0; c < out.size(); ++c) {
        out[c].low = row[c] < out[c].low ? row[c] : out[c].low;  // false for what is missing
        out[c].high = row[c] > out[c].high ? row[c] : out[c].high;
      }
    }
    return out;
  }

  const Table& table_;
  arrays::Random& random_;
  int64_t most_cuts_ = 0;
  std::vector<TreeNode> nodes_;
  std::vector<double> cover_;
};

}  // namespace

double mean_path_length(int64_t n) {
  if (n < 2) return 0;
  constexpr double kEuler = 0.57721566490153286;
  const auto m = static_cast<double>(n - 1);
  double harmonic = 0;
  if (n <= 1000) {
    for (int64_t i = 1; i < n; ++i) harmonic += 1 / static_cast<double>(i);
  } else {
    harmonic = std::log(m) + kEuler + 1 / (2 * m) - 1 / (12 * m * m);
  }
  return 2 * harmonic - 2 * m / static_cast<double>(n);
}

IsolationForest::IsolationForest(int64_t columns, int64_t sample, FlatTrees trees)
    : columns_(columns), sample_(sample), trees_(std::move(trees)) {
  std::vector<int32_t> depth(trees_.nodes.size(), 0);
  for (std::size_t n = 0; n < depth.size(); ++n) {
    TreeNode& node = trees_.nodes[n];
    if (node.is_leaf()) {
      const auto left_together = static_cast<int64_t>(trees_.cover[n]);
      node.number = static_cast<float>(depth[n] + mean_path_length(left_together));
    } else {
      const auto left = static_cast<std::size_t>(node.left);
      depth[left] = depth[left + 1] = depth[n] + 1;
    }
  }
}

IsolationForest IsolationForest::fit(const Table& table, const IsolationForestOptions& options) {
  const auto require = [](bool holds, const char* what) {
    if (!holds) throw Error(ExitCode::kUsage, std::string("isolation forest: ") + what);
  };
  require(options.trees >= 1 && options.trees <= kMostTrees, "trees is outside [1, 100000]");
  require(options.sample >= 2 && options.sample <= kMostLeaves, "sample is outside [2, 1024]");
  require(table.columns <= kMostColumns, "more columns than 2^20");
  check_table(table, false, "rows of an isolation forest");
  if (table.rows() < 2) {
    throw Error(ExitCode::kData, "rows of an isolation forest: one row is apart from nothing");
  }
  const int64_t sample = std::min(options.sample, table.rows());
  arrays::Random random(static_cast<uint64_t>(options.seed));
  std::vector<int32_t> rows(static_cast<std::size_t>(table.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  IsolationTree tree(table, sample, random);
  FlatTrees trees;
  for (int64_t t = 0; t < options.trees; ++t) {
    // The first steps of a shuffle; where it begins does not matter.
    for (std::size_t i = 0; i < static_cast<std::size_t>(sample); ++i) {
      std::swap(rows[i], rows[i + random.below(rows.size() - i)]);
    }
    tree.grow({rows.begin(), rows.begin() + sample}, trees);
  }
  return {table.columns, sample, std::move(trees)};
}

double IsolationForest::score(std::span<const float> row) const {
  check_width(row, columns_);
  double length = 0;
  for (const int32_t root : trees_.roots) {
    length += static_cast<double>(
        trees_.nodes[static_cast<std::size_t>(trees_.leaf(root, row.data()))].number);
  }
  const double mean = length / static_cast<double>(trees_.trees());
  return std::exp2(-mean / mean_path_length(sample_));
}

}  // namespace kdgat::trees
