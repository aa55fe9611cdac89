#include "engine/trees/boosted_trees.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "engine/arrays/random.h"
#include "engine/arrays/threads.h"
#include "engine/trees/bins.h"
#include "engine/trees/split_search.h"
#include "engine/trees/tree_grower.h"
#include "kdgat/error.h"

namespace kdgat::trees {

using nlohmann::json;

namespace {

constexpr const char* kBoostedFormat = "kdgat.boosted_trees";
constexpr double kRarest = 1e-6;  // share of a class without rows

void check_options(const BoostedTreesOptions& o, int64_t columns) {
  const auto require = [](bool holds, const char* what) {
    if (!holds) throw Error(ExitCode::kUsage, std::string("boosted trees: ") + what);
  };
  const auto is_share = [](double v) { return v > 0 && v <= 1; };
  const auto is_penalty = [](double v) { return v >= 0 && std::isfinite(v); };
  require(o.trees >= 1 && o.trees <= kMostTrees, "trees is outside [1, 100000]");
  require(is_share(o.learning_rate), "learning_rate is outside (0, 1]");
  require(o.max_leaves >= 2 && o.max_leaves <= kMostLeaves, "max_leaves is outside [2, 1024]");
  require(is_penalty(o.l2), "l2 is negative or not finite");
  require(is_penalty(o.min_hessian) && o.min_hessian > 0, "min_hessian is not positive");
  require(o.min_rows >= 1, "min_rows is below 1");
  require(is_penalty(o.min_gain), "min_gain is negative or not finite");
  require(o.bins >= 2 && o.bins <= BinnedTable::kMostBins, "bins is outside [2, 255]");
  require(is_share(o.row_fraction), "row_fraction is outside (0, 1]");
  require(is_share(o.column_fraction), "column_fraction is outside (0, 1]");
  require(o.patience >= 1, "patience is below 1");
  require(o.threads >= 0, "threads is negative");
  require(columns <= kMostColumns, "more columns than 2^20");
  require(o.monotone.empty() || static_cast<int64_t>(o.monotone.size()) == columns,
          "monotone has another number of entries than the table columns");
  require(
      std::all_of(o.monotone.begin(), o.monotone.end(), [](int s) { return s >= -1 && s <= 1; }),
      "monotone has an entry other than -1, 0 and 1");
}

struct Drawn {
  std::vector<int32_t> items, others;
};

/// A fraction of the items, at least one, each set of that size as likely as any; both parts in
/// their order.
Drawn draw(const std::vector<int32_t>& items, double fraction, arrays::Random& random) {
  if (fraction >= 1) return {items, {}};
  auto wanted = static_cast<std::size_t>(
      std::max<double>(1, std::round(fraction * static_cast<double>(items.size()))));
  Drawn out;
  out.items.reserve(wanted);
  out.others.reserve(items.size() - wanted);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const bool is_drawn = wanted > 0 && random.below(items.size() - i) < wanted;
    (is_drawn ? out.items : out.others).push_back(items[i]);
    wanted -= is_drawn ? 1 : 0;
  }
  return out;
}

/// log(1 + exp(-s)) without overflow, s the score times +1 for label 1 and -1 for label 0.
double logistic_loss(double s) { return std::max(-s, 0.0) + std::log1p(std::exp(-std::abs(s))); }

double mean_loss(const Table& table, const std::vector<double>& scores) {
  double loss = 0, weights = 0;
  for (int64_t r = 0; r < table.rows(); ++r) {
    const auto at = static_cast<std::size_t>(r);
    loss += table.weight(r) * logistic_loss(table.labels[at] == 1 ? scores[at] : -scores[at]);
    weights += table.weight(r);
  }
  return loss / weights;
}

/// The validation rows, whose loss says which number of trees is best.
class EarlyStop {
 public:
  EarlyStop(const Table* table, double base, int64_t patience)
      : table_(table), patience_(patience) {
    if (table_ == nullptr) return;
    scores_.assign(static_cast<std::size_t>(table_->rows()), base);
    lowest_ = mean_loss(*table_, scores_);
  }
  /// Whether training ends with the last of these trees.
  bool after(const FlatTrees& trees) {
    if (table_ == nullptr) return false;
    for (int64_t r = 0; r < table_->rows(); ++r) {
      const int32_t leaf = trees.leaf(trees.roots.back(), table_->row(r).data());
      scores_[static_cast<std::size_t>(r)] += trees.nodes[static_cast<std::size_t>(leaf)].number;
    }
    const double loss = mean_loss(*table_, scores_);
    if (loss < lowest_) {
      lowest_ = loss;
      best_ = trees.trees();
    }
    return trees.trees() - best_ >= patience_;
  }
  void drop_the_rest(FlatTrees& trees) const {
    if (table_ != nullptr) trees.truncate(best_);
  }

 private:
  const Table* table_;
  int64_t patience_;
  std::vector<double> scores_;
  double lowest_ = 0;
  int64_t best_ = 0;
};

}  // namespace

BoostedTrees::BoostedTrees(int64_t columns, double base, FlatTrees trees)
    : columns_(columns), trees_(std::move(trees)), ranked_(trees_, columns, base) {}

BoostedTrees BoostedTrees::fit(const Table& table, const BoostedTreesOptions& options,
                               const Table* validation) {
  check_table(table, true, "training rows");
  check_options(options, table.columns);
  if (validation != nullptr) {
    check_table(*validation, true, "validation rows");
    if (validation->columns != table.columns) {
      throw Error(ExitCode::kData, "validation rows: " + std::to_string(validation->columns) +
                                       " columns, the training rows have " +
                                       std::to_string(table.columns));
    }
  }
  std::vector<int32_t> all_rows, all_columns(static_cast<std::size_t>(table.columns));
  std::iota(all_columns.begin(), all_columns.end(), 0);
  all_rows.reserve(static_cast<std::size_t>(table.rows()));
  double weights = 0, positive = 0;
  for (int64_t r = 0; r < table.rows(); ++r) {
    if (table.weight(r) == 0) continue;
    all_rows.push_back(static_cast<int32_t>(r));
    weights += table.weight(r);
    if (table.labels[static_cast<std::size_t>(r)] == 1) positive += table.weight(r);
  }
  const double share = std::clamp(positive / weights, kRarest, 1 - kRarest);
  const double base = std::log(share / (1 - share));

  // |g| <= w and h < w, so no sum of either leaves 63 bits.
  const double per_unit = std::exp2(std::floor(std::log2(0x1p62 / weights)));
  const SplitRules rules{1 / per_unit, options.l2, options.min_hessian, options.min_gain,
                         options.min_rows};
  const int threads = arrays::thread_count(options.threads);
  const BinnedTable binned(table, options.bins, threads);
  TreeGrower grower(binned, rules, options.monotone, options.max_leaves, options.learning_rate,
                    threads);
  EarlyStop stop(validation, base, options.patience);
  const bool draws = options.row_fraction < 1 || options.column_fraction < 1;
  arrays::Random random(static_cast<uint64_t>(options.seed));

  std::vector<double> scores(static_cast<std::size_t>(table.rows()), base);
  std::vector<Gradient> gradients;
  FlatTrees trees;
  for (int64_t t = 0; t < options.trees; ++t) {
    auto [rows, others] = draw(all_rows, options.row_fraction, random);
    const std::vector<int32_t> columns = draw(all_columns, options.column_fraction, random).items;
    gradients.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto row = static_cast<std::size_t>(rows[i]);
      const double p = 1 / (1 + std::exp(-scores[row]));
      const double weight = table.weight(rows[i]) * per_unit;
      gradients[i] = {static_cast<int64_t>(weight * (p - static_cast<double>(table.labels[row]))),
                      static_cast<int64_t>(weight * p * (1 - p))};
    }
    const GrownTree tree = grower.grow(rows, gradients, others, columns);
    if (tree.nodes.size() == 1) {  // other rows and columns may still gain something
      if (draws) continue;
      break;
    }
    std::vector<double> cover(tree.nodes.size(), 0);
    for (const GrownLeaf& leaf : tree.leaves) {
      const auto value = static_cast<double>(tree.nodes[leaf.node].number);
      for (std::size_t i = leaf.begin; i < leaf.end; ++i) {
        const auto row = static_cast<std::size_t>(rows[i]);
        scores[row] += value;
        cover[leaf.node] += table.weight(rows[i]);
      }
      for (std::size_t i = leaf.others_begin; i < leaf.others_end; ++i) {
        scores[static_cast<std::size_t>(others[i])] += value;
      }
      // As a file keeps it, so that a model does not change by being written.
      cover[leaf.node] = static_cast<double>(static_cast<float>(cover[leaf.node]));
    }
    trees.add(tree.nodes, cover);
    if (stop.after(trees)) break;
  }
  stop.drop_the_rest(trees);
  return BoostedTrees(table.columns, base, std::move(trees));
}

double BoostedTrees::score(std::span<const float> row) const {
  check_width(row, columns_);
  return ranked_.score(row);
}

json BoostedTrees::to_json() const {
  return {{"format", kBoostedFormat},
          {"version", 1},
          {"columns", columns_},
          {"base", base()},
          {"trees", dump_trees(trees_)}};
}

BoostedTrees BoostedTrees::from_json(const json& in) {
  check_header(in, kBoostedFormat, {"columns", "base", "trees"});
  const int64_t columns = load_count(in, kBoostedFormat, "columns", 1, kMostColumns);
  const json& base = in.at("base");
  if (!base.is_number() || !std::isfinite(base.get<double>())) {
    throw Error(ExitCode::kData, std::string(kBoostedFormat) + ": base is not a finite number");
  }
  return {columns, base.get<double>(), load_trees(in.at("trees"), columns, kBoostedFormat)};
}

}  // namespace kdgat::trees
