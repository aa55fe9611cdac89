#include "fields/ratings/graphsage/rating_data.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "engine/arrays/index.h"
#include "engine/arrays/random.h"
#include "kdgat/error.h"

namespace kdgat::graphsage {
namespace {

enum : uint64_t { kValStream = 0x7A1, kNegativeStream = 0x4E6 };
constexpr int kTries = 100;

using arrays::at;

}  // namespace

void Pairs::add(const ratings::RatingStore& store, int32_t r) {
  user.push_back(store.user()[at(r)]);
  item.push_back(static_cast<int32_t>(store.users()) + store.item()[at(r)]);
  rating.push_back(store.rating()[at(r)]);
  number.push_back(r);
}

RatingData make_rating_data(ratings::RatingStore store, double val_ratio, uint64_t seed) {
  RatingData out{std::move(store), {}, {}, {}, 0, 0, 0};
  std::vector<int32_t> order(out.store.train().begin(), out.store.train().end());
  arrays::Random(seed, kValStream).shuffle(order);
  const auto n = static_cast<double>(order.size());
  const auto kept = std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(val_ratio * n)));
  if (kept >= order.size()) {
    throw Error(ExitCode::kData, "no rating is left to train on beside those for validation",
                "lower val_ratio, or bring more ratings");
  }
  const float first = out.store.rating()[at(order.front())];
  out.low = out.high = first;
  for (std::size_t i = 0; i < order.size(); ++i) {
    (i < kept ? out.val : out.fit).add(out.store, order[i]);
    const float rating = out.store.rating()[at(order[i])];
    out.low = std::min(out.low, rating);
    out.high = std::max(out.high, rating);
  }
  for (const int32_t r : out.store.test()) out.test.add(out.store, r);
  for (const float r : out.fit.rating) out.train_mean += static_cast<double>(r);
  out.train_mean /= static_cast<double>(out.fit.size());
  return out;
}

namespace {

at::Tensor features_of(const ratings::RatingStore& store) {
  // from_blob wants a pointer it could write through; it is only read.
  auto* x = const_cast<float*>(store.x().data());
  if (store.features() == 0) return at::empty({store.nodes(), 0});
  const std::shared_ptr<const void> mapping = store.mapping();
  return at::from_blob(
      x, {store.nodes(), store.features()}, [mapping](void*) {}, at::kFloat);
}

}  // namespace

ratings::SageGraph whole_graph(const ratings::RatingStore& store) {
  const std::span<const int32_t> rows = store.row_ptr();
  return {rows.first(rows.size() - 1), rows.subspan(1), store.col(), features_of(store)};
}

void draw_negatives(const ratings::RatingStore& store, std::span<const int32_t> users,
                    uint64_t seed, uint64_t stream, std::vector<int32_t>& to) {
  arrays::Random random(arrays::Random(seed, kNegativeStream).next(), stream);
  const auto items = static_cast<uint64_t>(store.items());
  to.clear();
  for (const int32_t user : users) {
    const auto first = store.col().begin() + store.row_ptr()[at(user)];
    const auto last = store.col().begin() + store.row_ptr()[at(user) + 1];
    int32_t node = 0;
    for (int i = 0; i < kTries; ++i) {
      node = static_cast<int32_t>(store.users()) + static_cast<int32_t>(random.below(items));
      if (!std::binary_search(first, last, node)) break;
    }
    to.push_back(node);
  }
}

ReducedGraph::ReducedGraph(const ratings::RatingStore& store)
    : store_(store),
      base_col_(store.col().begin(), store.col().end()),
      base_end_(store.row_ptr().begin() + 1, store.row_ptr().end()),
      col_(base_col_),
      end_(base_end_) {}

void ReducedGraph::filter(int32_t node, std::span<const int32_t> without) {
  const int32_t first = store_.row_ptr()[at(node)];
  int32_t to = first;
  for (int32_t e = first; e < base_end_[at(node)]; ++e) {
    const int32_t other = base_col_[at(e)];
    if (!std::binary_search(without.begin(), without.end(), other)) col_[at(to++)] = other;
  }
  end_[at(node)] = to;
  changed_.push_back(node);
}

void ReducedGraph::leave_out_of(std::span<const int32_t> node, std::span<const int32_t> other) {
  sorted_.clear();
  for (std::size_t p = 0; p < node.size(); ++p) sorted_.emplace_back(node[p], other[p]);
  std::sort(sorted_.begin(), sorted_.end());
  std::vector<int32_t> without;
  for (std::size_t p = 0; p < sorted_.size();) {
    const int32_t v = sorted_[p].first;
    without.clear();
    for (; p < sorted_.size() && sorted_[p].first == v; ++p) without.push_back(sorted_[p].second);
    filter(v, without);
  }
}

void ReducedGraph::leave_out(std::span<const int32_t> user, std::span<const int32_t> item) {
  for (const int32_t v : changed_) {
    const int32_t first = store_.row_ptr()[at(v)];
    std::copy(base_col_.begin() + first, base_col_.begin() + base_end_[at(v)],
              col_.begin() + first);
    end_[at(v)] = base_end_[at(v)];
  }
  changed_.clear();
  leave_out_of(user, item);
  leave_out_of(item, user);
}

void ReducedGraph::drop(const Pairs& pairs) {
  leave_out(pairs.user, pairs.item);
  base_col_ = col_;
  base_end_ = end_;
  changed_.clear();
}

ratings::SageGraph ReducedGraph::graph() const {
  const std::span<const int32_t> rows = store_.row_ptr();
  return {rows.first(rows.size() - 1), end_, col_, features_of(store_)};
}

int64_t ReducedGraph::bytes() const {
  return static_cast<int64_t>((base_col_.size() + base_end_.size() + col_.size() + end_.size()) *
                              sizeof(int32_t));
}

}  // namespace kdgat::graphsage
