// TreeSHAP: algorithm 2 of Lundberg, Erion and Lee, "Consistent individualized feature attribution
// for tree ensembles", arXiv 1802.03888.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/trees/boosted_trees.h"

namespace kdgat::trees {

namespace {

/// A column on the way to a node. Of the sets of columns on the way, by size: `weight` is the share
/// of their orders in which the row comes here, when those in the set are known.
struct PathPart {
  int32_t column = -1;
  double zero = 1;  ///< share of the cover that takes this branch
  double one = 1;   ///< 1 if the row takes it, else 0
  double weight = 0;
};

/// The way from the root to a node, each column once.
class Path {
 public:
  explicit Path(PathPart* parts) : parts_(parts) {}

  /// A copy behind this one; there is room, as a way is no longer than its tree is deep.
  Path copy() const {
    Path out(parts_ + size_);
    std::copy_n(parts_, size_, out.parts_);
    out.size_ = size_;
    return out;
  }
  std::size_t size() const { return size_; }
  const PathPart& operator[](std::size_t i) const { return parts_[i]; }
  std::size_t find(int32_t column) const {
    std::size_t i = 1;  // the first stands for the root
    while (i < size_ && parts_[i].column != column) ++i;
    return i;
  }

  void extend(double zero, double one, int32_t column) {
    parts_[size_] = {column, zero, one, size_ == 0 ? 1.0 : 0.0};
    const auto length = static_cast<double>(size_ + 1);
    for (std::size_t i = size_; i-- > 0;) {
      parts_[i + 1].weight += one * parts_[i].weight * static_cast<double>(i + 1) / length;
      parts_[i].weight *= zero * static_cast<double>(size_ - i) / length;
    }
    ++size_;
  }
  /// Undoes an extension, whichever it was.
  void remove(std::size_t at) {
    const std::vector<double> weights = without(at);
    for (std::size_t i = at; i + 1 < size_; ++i) parts_[i] = parts_[i + 1];
    --size_;
    for (std::size_t i = 0; i < size_; ++i) parts_[i].weight = weights[i];
  }
  /// The sum of the weights if an extension were undone.
  double sum_without(std::size_t at) const {
    double sum = 0;
    each_without(at, [&sum](std::size_t, double weight) { sum += weight; });
    return sum;
  }

 private:
  template <class F>
  void each_without(std::size_t at, F visit) const {
    const double zero = parts_[at].zero, one = parts_[at].one;
    const auto length = static_cast<double>(size_);
    double next = parts_[size_ - 1].weight;
    for (std::size_t i = size_ - 1; i-- > 0;) {
      const auto behind = static_cast<double>(size_ - 1 - i);
      if (one != 0) {
        const double weight = next * length / static_cast<double>(i + 1);
        visit(i, weight);
        next = parts_[i].weight - weight * zero * behind / length;
      } else {
        visit(i, parts_[i].weight * length / (zero * behind));
      }
    }
  }
  std::vector<double> without(std::size_t at) const {
    std::vector<double> out(size_ - 1);
    each_without(at, [&out](std::size_t i, double weight) { out[i] = weight; });
    return out;
  }

  PathPart* parts_;
  std::size_t size_ = 0;
};

class TreeShap {
 public:
  TreeShap(const FlatTrees& trees, std::span<const float> row, std::vector<double>& out)
      : trees_(trees), row_(row), out_(out) {}

  void add(int32_t root) {
    const auto depth = static_cast<std::size_t>(depth_below(root));
    room_.resize((depth + 2) * (depth + 3));
    Path path(room_.data());
    path.extend(1, 1, -1);
    follow(root, path);
  }

 private:
  int32_t depth_below(int32_t at) const {
    const TreeNode& node = trees_.nodes[static_cast<std::size_t>(at)];
    return node.is_leaf() ? 0 : 1 + std::max(depth_below(node.left), depth_below(node.left + 1));
  }

  void follow(int32_t at, const Path& path) {
    const TreeNode& node = trees_.nodes[static_cast<std::size_t>(at)];
    if (node.is_leaf()) {
      for (std::size_t i = 1; i < path.size(); ++i) {
        const PathPart& part = path[i];
        out_[static_cast<std::size_t>(part.column)] +=
            path.sum_without(i) * (part.one - part.zero) * static_cast<double>(node.number);
      }
      return;
    }
    const int32_t taken = node.child(row_[static_cast<std::size_t>(node.column)]);
    for (const int32_t child : {node.left, node.left + 1}) {
      Path way = path.copy();
      double zero = trees_.cover[static_cast<std::size_t>(child)] /
                    trees_.cover[static_cast<std::size_t>(at)];
      double one = child == taken ? 1 : 0;
      if (const std::size_t before = way.find(node.column); before < way.size()) {
        zero *= way[before].zero;
        one *= way[before].one;
        way.remove(before);
      }
      way.extend(zero, one, node.column);
      follow(child, way);
    }
  }

  const FlatTrees& trees_;
  std::span<const float> row_;
  std::vector<double>& out_;
  std::vector<PathPart> room_;
};

}  // namespace

std::vector<double> BoostedTrees::contributions(std::span<const float> row) const {
  check_width(row, columns_);
  std::vector<double> out(static_cast<std::size_t>(columns_), 0);
  TreeShap shap(trees_, row, out);
  for (const int32_t root : trees_.roots) shap.add(root);
  return out;
}

}  // namespace kdgat::trees
