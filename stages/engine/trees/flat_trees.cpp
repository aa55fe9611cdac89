#include "engine/trees/flat_trees.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "kdgat/error.h"

namespace kdgat::trees {

using nlohmann::json;

namespace {

constexpr double kMostFloat = std::numeric_limits<float>::max();
constexpr float kAnyNumber = std::numeric_limits<float>::infinity();

bool is_integer_in(const json& entry, int64_t low, int64_t high) {
  if (entry.is_number_unsigned()) {  // one above 2^63 would be compared as a negative number
    return entry.get<uint64_t>() <= static_cast<uint64_t>(high) && entry >= low;
  }
  return entry.is_number_integer() && entry >= low && entry <= high;
}

/// A number that is written with the few digits that a float has, and read as the same float; what
/// is no finite one is written as the largest.
double in_few_digits(float number) {
  if (!(std::abs(number) < std::numeric_limits<float>::max())) {
    return std::clamp(static_cast<double>(number), -kMostFloat, kMostFloat);
  }
  char digits[32];
  const auto [end, error] = std::to_chars(digits, digits + sizeof(digits), number);
  double out = static_cast<double>(number);
  if (error == std::errc()) std::from_chars(digits, end, out);
  return out;
}

/// Reads the trees of a file and says where one is wrong.
class TreeReader {
 public:
  TreeReader(std::string name, int64_t columns) : name_(std::move(name)), columns_(columns) {}

  void read(const json& in, std::size_t number, FlatTrees& out) {
    where_ = name_ + ": tree " + std::to_string(number) + ": ";
    if (!in.is_object()) refuse("not an object");
    const json& column = list(in, "column");
    const std::size_t nodes = column.size(), splits = nodes / 2;
    if (nodes % 2 == 0) refuse(std::to_string(nodes) + " nodes make no binary tree");
    if (splits >= static_cast<std::size_t>(kMostLeaves)) {
      refuse("more than " + std::to_string(kMostLeaves) + " leaves");
    }
    const json& threshold = list(in, "threshold", splits, "splits");
    const json& missing = list(in, "missing_right", splits, "splits");
    const json& cover = list(in, "cover", splits + 1, "leaves");
    const json& value = list(in, "value", splits + 1, "leaves");
    if (in.size() != 5) refuse("an entry too many");

    tree_.assign(nodes, {});
    cover_.assign(nodes, 0);
    std::size_t split = 0, leaf = 0;
    for (std::size_t n = 0; n < nodes; ++n) {
      TreeNode& node = tree_[n];
      node.column = static_cast<int32_t>(integer(column, "column", n, -1, columns_ - 1));
      if (node.is_leaf()) {
        if (leaf > splits) refuse("more leaves than one for each split, and one");
        node.number = finite(value, "value", leaf);
        cover_[n] = static_cast<double>(finite(cover, "cover", leaf));
        if (!(cover_[n] > 0)) refuse("cover " + std::to_string(leaf) + " is not positive");
        ++leaf;
      } else {
        if (n > 2 * split) refuse("node " + std::to_string(n) + " is no child of any split");
        if (split == splits) refuse("more splits than thresholds");
        node.number = finite(threshold, "threshold", split);
        if (static_cast<double>(node.number) == kMostFloat) node.number = kAnyNumber;
        node.missing_right = static_cast<uint32_t>(integer(missing, "missing_right", split, 0, 1));
        node.left = static_cast<int32_t>(2 * split + 1);
        ++split;
      }
    }
    out.add(tree_, cover_);
  }

 private:
  [[noreturn]] void refuse(const std::string& reason) const {
    throw Error(ExitCode::kData, where_ + reason);
  }
  const json& list(const json& in, const char* key) const {
    const auto found = in.find(key);
    if (found == in.end() || !found->is_array()) {
      refuse(std::string(key) + " is missing or not a list");
    }
    return *found;
  }
  const json& list(const json& in, const char* key, std::size_t size, const char* of) const {
    const json& found = list(in, key);
    if (found.size() != size) {
      refuse(std::string(key) + " has " + std::to_string(found.size()) + " entries for " +
             std::to_string(size) + " " + of);
    }
    return found;
  }
  int64_t integer(const json& in, const char* key, std::size_t at, int64_t low,
                  int64_t high) const {
    const json& entry = in[at];
    if (!is_integer_in(entry, low, high)) {
      refuse(std::string(key) + " " + std::to_string(at) + " is no integer from " +
             std::to_string(low) + " to " + std::to_string(high));
    }
    return entry.get<int64_t>();
  }
  float finite(const json& in, const char* key, std::size_t at) const {
    const json& entry = in[at];
    if (!entry.is_number() || !(std::abs(entry.get<double>()) <= kMostFloat)) {
      refuse(std::string(key) + " " + std::to_string(at) + " is not a finite float");
    }
    return static_cast<float>(entry.get<double>());
  }

  std::string name_, where_;
  int64_t columns_;
  std::vector<TreeNode> tree_;
  std::vector<double> cover_;
};

}  // namespace

void FlatTrees::add(std::span<const TreeNode> tree, std::span<const double> cover_of_leaves) {
  const auto root = static_cast<int32_t>(nodes.size());
  roots.push_back(root);
  std::vector<std::size_t> queue{0};
  queue.reserve(tree.size());
  for (std::size_t at = 0; at < queue.size(); ++at) {
    TreeNode node = tree[queue[at]];
    cover.push_back(node.is_leaf() ? cover_of_leaves[queue[at]] : 0);
    if (!node.is_leaf()) {
      const auto left = static_cast<std::size_t>(node.left);
      node.left = root + static_cast<int32_t>(queue.size());
      queue.push_back(left);
      queue.push_back(left + 1);
    }
    nodes.push_back(node);
  }
  for (std::size_t n = nodes.size(); n-- > static_cast<std::size_t>(root);) {
    const auto left = static_cast<std::size_t>(nodes[n].left);
    if (!nodes[n].is_leaf()) cover[n] = cover[left] + cover[left + 1];
  }
}

void FlatTrees::truncate(int64_t count) {
  if (count >= trees()) return;
  const auto end = static_cast<std::size_t>(roots[static_cast<std::size_t>(count)]);
  nodes.resize(end);
  cover.resize(end);
  roots.resize(static_cast<std::size_t>(count));
}

json dump_trees(const FlatTrees& trees) {
  json out = json::array();
  for (std::size_t t = 0; t < trees.roots.size(); ++t) {
    const auto begin = static_cast<std::size_t>(trees.roots[t]);
    const auto end = t + 1 < trees.roots.size() ? static_cast<std::size_t>(trees.roots[t + 1])
                                                : trees.nodes.size();
    json tree = {{"column", json::array()},
                 {"threshold", json::array()},
                 {"missing_right", json::array()},
                 {"cover", json::array()},
                 {"value", json::array()}};
    for (std::size_t n = begin; n < end; ++n) {
      const TreeNode& node = trees.nodes[n];
      tree["column"].push_back(node.column);
      if (node.is_leaf()) {
        tree["value"].push_back(in_few_digits(node.number));
        tree["cover"].push_back(trees.cover[n]);
      } else {
        tree["threshold"].push_back(in_few_digits(node.number));
        tree["missing_right"].push_back(node.missing_right);
      }
    }
    out.push_back(std::move(tree));
  }
  return out;
}

FlatTrees load_trees(const json& in, int64_t columns, const std::string& name) {
  if (!in.is_array() || in.size() > static_cast<std::size_t>(kMostTrees)) {
    throw Error(ExitCode::kData,
                name + ": trees is no list of at most " + std::to_string(kMostTrees) + " trees");
  }
  FlatTrees out;
  TreeReader reader(name, columns);
  for (std::size_t t = 0; t < in.size(); ++t) reader.read(in[t], t, out);
  return out;
}

void check_header(const json& in, const std::string& format, const std::vector<std::string>& keys) {
  const auto refuse = [&format](const std::string& reason) {
    throw Error(ExitCode::kData, format + ": " + reason);
  };
  if (!in.is_object() || in.value("format", json()) != format) refuse("not such a model");
  if (in.value("version", json()) != 1) {
    refuse("format version " + in.value("version", json()).dump() + ", this program reads 1");
  }
  for (const std::string& key : keys) {
    if (!in.contains(key)) refuse(key + " is missing");
  }
  if (in.size() != keys.size() + 2) refuse("an entry too many");
}

int64_t load_count(const json& in, const std::string& format, const char* key, int64_t low,
                   int64_t high) {
  const json& entry = in.at(key);
  if (!is_integer_in(entry, low, high)) {
    throw Error(ExitCode::kData, format + ": " + key + " is no integer from " +
                                     std::to_string(low) + " to " + std::to_string(high));
  }
  return entry.get<int64_t>();
}

}  // namespace kdgat::trees
