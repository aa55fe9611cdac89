#include "engine/trees/tree_grower.h"

#include <algorithm>
#include <array>
#include <limits>

#include "engine/arrays/threads.h"

namespace kdgat::trees {

namespace {

/// Numbers that a thread must have to count, or starting it takes longer than it saves.
constexpr std::size_t kWorkOfThread = 200000;

}  // namespace

TreeGrower::TreeGrower(const BinnedTable& table, const SplitRules& rules,
                       std::span<const int> signs, int64_t max_leaves, double learning_rate,
                       int threads)
    : table_(table),
      rules_(rules),
      signs_(signs.begin(), signs.end()),
      max_leaves_(max_leaves),
      learning_rate_(learning_rate),
      threads_(threads) {
  signs_.resize(static_cast<std::size_t>(table.columns()), 0);
  first_bin_.push_back(0);
  for (int64_t c = 0; c < table.columns(); ++c) {
    first_bin_.push_back(first_bin_.back() + static_cast<std::size_t>(table.bins(c)) + 1);
  }
}

bool TreeGrower::may_split(const Leaf& leaf) const {
  return leaf.sum.rows >= 2 * rules_.min_rows &&
         static_cast<double>(leaf.sum.second) * rules_.unit >= 2 * rules_.min_hessian;
}

int TreeGrower::threads_for(std::size_t rows, std::size_t columns) const {
  const std::size_t useful = 1 + rows * columns / kWorkOfThread;
  return static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(threads_), useful));
}

void TreeGrower::count(Histogram& histogram, const Leaf& leaf, int64_t column) const {
  const auto c = static_cast<std::size_t>(column);
  Bin* bins = histogram.data() + first_bin_[c];
  std::fill(bins, histogram.data() + first_bin_[c + 1], Bin{});
  const uint8_t* codes = table_.codes(column);
  const int32_t* rows = rows_->data();
  const Gradient* gradients = gradients_->data();
  for (std::size_t i = leaf.begin; i < leaf.end; ++i) bins[codes[rows[i]]].add(gradients[i]);
}

void TreeGrower::search(Leaf& counted, Leaf* rest, std::span<const int32_t> columns) {
  const bool wants_counted = may_split(counted), wants_rest = rest != nullptr && may_split(*rest);
  if (!wants_counted && !wants_rest) return;
  std::vector<Split> of_counted(columns.size()), of_rest(wants_rest ? columns.size() : 0);
  const auto search_column = [&](std::size_t at) {
    const int64_t column = columns[at];
    const auto c = static_cast<std::size_t>(column);
    Histogram& mine = histograms_[counted.histogram];
    const auto find = [&](const Histogram& bins, const Leaf& leaf, Split& best) {
      find_split(bins.data() + first_bin_[c], table_.bins(column), leaf.sum, column, signs_[c],
                 leaf.bounds, rules_, best);
    };
    count(mine, counted, column);
    if (wants_counted) find(mine, counted, of_counted[at]);
    if (!wants_rest) return;
    Histogram& whole = histograms_[rest->histogram];
    for (std::size_t b = first_bin_[c]; b < first_bin_[c + 1]; ++b) whole[b] = whole[b] - mine[b];
    find(whole, *rest, of_rest[at]);
  };
  arrays::for_chunks(
      0, static_cast<int64_t>(columns.size()), 1, threads_for(counted.size(), columns.size()),
      [&](int, int64_t at, int64_t) { search_column(static_cast<std::size_t>(at)); });
  for (const Split& split : of_counted) {
    if (split.gain > counted.split.gain) counted.split = split;
  }
  for (const Split& split : of_rest) {
    if (split.gain > rest->split.gain) rest->split = split;
  }
}

std::pair<std::size_t, std::size_t> TreeGrower::part(const Leaf& leaf) {
  std::array<uint8_t, 256> right;
  for (std::size_t code = 0; code < right.size(); ++code) {
    right[code] = static_cast<int64_t>(code) > leaf.split.bin ? 1 : 0;
  }
  right[static_cast<std::size_t>(table_.bins(leaf.split.column))] =
      leaf.split.missing_right ? 1 : 0;
  const uint8_t* codes = table_.codes(leaf.split.column);
  std::vector<int32_t>& rows = *rows_;
  std::vector<Gradient>& gradients = *gradients_;
  std::size_t kept = leaf.begin, moved = 0;
  for (std::size_t i = leaf.begin; i < leaf.end; ++i) {
    // Written to both places and counted in one: which it is cannot be foreseen.
    const int32_t row = rows[i];
    const Gradient gradient = gradients[i];
    const std::size_t is_right = right[codes[row]];
    rows[kept] = moved_rows_[moved] = row;
    gradients[kept] = moved_gradients_[moved] = gradient;
    kept += 1 - is_right;
    moved += is_right;
  }
  std::copy_n(moved_rows_.begin(), moved, rows.begin() + static_cast<std::ptrdiff_t>(kept));
  std::copy_n(moved_gradients_.begin(), moved,
              gradients.begin() + static_cast<std::ptrdiff_t>(kept));
  std::vector<int32_t>& others = *others_;
  std::size_t others_kept = leaf.others_begin, others_moved = 0;
  for (std::size_t i = leaf.others_begin; i < leaf.others_end; ++i) {
    const int32_t row = others[i];
    const std::size_t is_right = right[codes[row]];
    others[others_kept] = moved_rows_[others_moved] = row;
    others_kept += 1 - is_right;
    others_moved += is_right;
  }
  std::copy_n(moved_rows_.begin(), others_moved,
              others.begin() + static_cast<std::ptrdiff_t>(others_kept));
  return {kept, others_kept};
}

GrownTree TreeGrower::grow(std::vector<int32_t>& rows, std::vector<Gradient>& gradients,
                           std::vector<int32_t>& others, std::span<const int32_t> columns) {
  rows_ = &rows;
  gradients_ = &gradients;
  others_ = &others;
  moved_rows_.resize(std::max(rows.size(), others.size()));
  moved_gradients_.resize(rows.size());
  const auto histogram = [this](std::size_t number) {
    if (number == histograms_.size()) histograms_.emplace_back(first_bin_.back());
    return number;
  };

  Leaf root{0, 0, rows.size(), 0, others.size(), {}, {}, {}, histogram(0)};
  for (const Gradient& g : gradients) root.sum.add(g);
  search(root, nullptr, columns);
  GrownTree tree;
  tree.nodes.resize(1);
  std::vector<Leaf> leaves{root};
  while (static_cast<int64_t>(leaves.size()) < max_leaves_) {
    const auto best = static_cast<std::size_t>(
        std::max_element(leaves.begin(), leaves.end(),
                         [](const Leaf& a, const Leaf& b) { return a.split.gain < b.split.gain; }) -
        leaves.begin());
    const Leaf parent = leaves[best];
    if (!parent.split.found()) break;
    const Split& split = parent.split;
    const auto [middle, others_middle] = part(parent);
    const std::size_t first = tree.nodes.size();
    const auto cuts = table_.cuts_of(split.column);
    const auto cut = static_cast<std::size_t>(split.bin);
    TreeNode& node = tree.nodes[parent.node];
    node.column = static_cast<int32_t>(split.column);
    node.number = cut < cuts.size() ? cuts[cut] : std::numeric_limits<float>::infinity();
    node.missing_right = split.missing_right ? 1 : 0;
    node.left = static_cast<int32_t>(first);
    tree.nodes.resize(first + 2);

    Leaf left = parent, right = parent;
    left.split = right.split = {};
    left.node = first;
    left.end = middle;
    left.others_end = others_middle;
    left.sum = split.left;
    right.node = first + 1;
    right.begin = middle;
    right.others_begin = others_middle;
    right.sum = split.right;
    const int sign = cut < cuts.size() ? signs_[static_cast<std::size_t>(split.column)] : 0;
    if (sign != 0) {
      const double between =
          (rules_.value(split.left, parent.bounds) + rules_.value(split.right, parent.bounds)) / 2;
      (sign > 0 ? left.bounds.high : left.bounds.low) = between;
      (sign > 0 ? right.bounds.low : right.bounds.high) = between;
    }
    const bool is_last = static_cast<int64_t>(leaves.size()) + 1 == max_leaves_;
    Leaf &smaller = left.size() < right.size() ? left : right,
         &larger = left.size() < right.size() ? right : left;
    larger.histogram = parent.histogram;
    smaller.histogram = histogram(leaves.size());
    if (!is_last) search(smaller, &larger, columns);
    leaves[best] = left;
    leaves.push_back(right);
  }
  for (const Leaf& leaf : leaves) {
    tree.nodes[leaf.node].number =
        static_cast<float>(learning_rate_ * rules_.value(leaf.sum, leaf.bounds));
    tree.leaves.push_back({leaf.node, leaf.begin, leaf.end, leaf.others_begin, leaf.others_end});
  }
  return tree;
}

}  // namespace kdgat::trees
