#include "engine/data/can/windows/windows.h"

#include <algorithm>

namespace kdgat::data {

namespace {

static_assert(KDGAT_NODE_COLUMNS + 1 == kWindowNodeFeatures);  // its id comes first
static_assert(KDGAT_EDGE_COLUMNS == kWindowEdgeFeatures);

constexpr int kRowBits = 20;  // the option `window` allows no more rows than 2^20
constexpr uint64_t kRowMask = (1U << kRowBits) - 1;

/// The key of row 0 if it goes from node `s` to node `t` of `n`. With the number of the row added,
/// sorting orders edges by (source, target) and the rows of an edge by time.
uint64_t pair_key(std::size_t s, std::size_t t, std::size_t n) {
  return (static_cast<uint64_t>(s) * n + static_cast<uint64_t>(t)) << kRowBits;
}

}  // namespace

std::vector<std::string> node_feature_names() {
  return {"id",         "byte0_mean", "byte1_mean", "byte2_mean",   "byte3_mean",   "byte4_mean",
          "byte5_mean", "byte6_mean", "byte7_mean", "source_count", "last_position"};
}

std::vector<std::string> edge_feature_names() {
  return {"count",        "share",          "gap_mean",      "gap_std",
          "regularity",   "first_position", "last_position", "span",
          "reverse_edge", "degree_product", "degree_ratio"};
}

std::vector<int64_t> IdSet::sorted() const {
  std::vector<int64_t> out;
  for (std::size_t id = 0; id < small_.size(); ++id) {
    if (small_[id]) out.push_back(static_cast<int64_t>(id));
  }
  const std::size_t small = out.size();
  out.insert(out.end(), large_.begin(), large_.end());
  std::sort(out.begin() + static_cast<std::ptrdiff_t>(small), out.end());
  return out;
}

WindowBuilder::WindowBuilder(int64_t window, int64_t stride, int64_t chunk_rows,
                             graph::GraphStoreData& out, arrays::Column<uint32_t>& node_ids)
    : window_(window), stride_(stride), chunk_rows_(chunk_rows), out_(out), node_ids_(node_ids) {
  rows_.reserve(static_cast<std::size_t>(window));
  node_of_small_.fill(-1);
}

void WindowBuilder::start(int32_t source) {
  source_ = source;
  frames_ = 0;
  skip_ = 0;
  has_last_ = emitted_ = false;
  rows_.clear();
}

void WindowBuilder::add(const CanFrame& frame) {
  // The frame before gets its target now; at the end of a chunk it has none and is dropped.
  const bool chunk_ends = chunk_rows_ > 0 && frames_ % chunk_rows_ == 0;
  if (has_last_ && !chunk_ends) {
    if (skip_ > 0) {
      --skip_;
    } else {
      last_.target = frame.id;
      rows_.push_back(last_);
      if (static_cast<int64_t>(rows_.size()) == window_) {
        emit(rows_);
        emitted_ = true;
        const int64_t gone = std::min(stride_, window_);
        skip_ = stride_ - gone;
        rows_.erase(rows_.begin(), rows_.begin() + gone);
      }
    }
  }
  last_.source = frame.id;
  last_.position = frames_++;
  std::copy_n(frame.payload.begin(), 8, last_.payload.begin());
  last_.label = frame.label;
  attacks_ += frame.label == 1 ? 1 : 0;
  has_last_ = true;
}

void WindowBuilder::finish() {
  if (!emitted_ && !rows_.empty()) {
    emit(rows_);
  } else if (emitted_) {
    // With a stride below the window the first rows were in a window already.
    const auto seen = std::clamp<int64_t>(window_ - stride_, 0, std::ssize(rows_));
    lost_attacks_ += std::count_if(rows_.begin() + seen, rows_.end(),
                                   [](const Row& row) { return row.label == 1; });
  }
  lost_attacks_ += has_last_ && last_.label == 1 ? 1 : 0;
  rows_.clear();
  skip_ = 0;
  has_last_ = emitted_ = false;
}

int32_t WindowBuilder::node_of(uint32_t id) {
  if (id < node_of_small_.size()) return node_of_small_[id];
  return static_cast<int32_t>(std::lower_bound(ids_.begin(), ids_.end(), id) - ids_.begin());
}

void WindowBuilder::number_nodes(std::span<const Row> rows) {
  ids_.clear();
  const auto note = [this](uint32_t id) {
    if (id < node_of_small_.size()) {
      if (node_of_small_[id] >= 0) return;
      node_of_small_[id] = 0;
    }
    ids_.push_back(id);
  };
  for (std::size_t r = 0; r < rows.size(); ++r) {
    note(rows[r].source);
    if (r + 1 == rows.size() || rows[r].target != rows[r + 1].source) note(rows[r].target);
  }
  std::sort(ids_.begin(), ids_.end());
  ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
  for (std::size_t i = 0; i < ids_.size() && ids_[i] < node_of_small_.size(); ++i) {
    node_of_small_[ids_[i]] = static_cast<int32_t>(i);
  }
}

void WindowBuilder::forget_nodes() {
  for (std::size_t i = 0; i < ids_.size() && ids_[i] < node_of_small_.size(); ++i) {
    node_of_small_[ids_[i]] = -1;
  }
}

int32_t WindowBuilder::sum_rows(std::span<const Row> rows) {
  const std::size_t n = ids_.size();
  keys_.resize(rows.size());
  sums_.assign(n, kdgat_sums{});
  bool attack = false, unlabelled = false;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto s = static_cast<std::size_t>(node_of(rows[r].source));
    const auto t = static_cast<std::size_t>(node_of(rows[r].target));
    keys_[r] = pair_key(s, t, n) | r;
    kdgat_sums_add(&sums_[s], rows[r].payload.data(), static_cast<uint32_t>(r));
    ++sums_[t].as_target;
    attack |= rows[r].label == 1;
    unlabelled |= rows[r].label < 0;
  }
  return attack ? 1 : (unlabelled ? -1 : 0);
}

void WindowBuilder::add_nodes(std::size_t window) {
  const std::size_t first = node_ids_.size(), n = ids_.size();
  node_ids_.append(ids_);
  out_.x.resize((first + n) * kWindowNodeFeatures, 0.0F);
  float* row = out_.x.data() + first * kWindowNodeFeatures;
  uint32_t least = ~0U, most = 0;
  for (const kdgat_sums& node : sums_) {
    least = std::min(least, node.as_source);
    most = std::max(most, node.as_source);
  }
  for (const kdgat_sums& node : sums_) {
    kdgat_node_features(&node, static_cast<uint32_t>(window), least, most, row + 1);
    row += kWindowNodeFeatures;
  }
}

void WindowBuilder::add_edge(std::span<const uint64_t> rows, uint32_t window) {
  const auto row_at = [&](std::size_t k) { return static_cast<uint32_t>(rows[k] & kRowMask); };
  const std::size_t n = ids_.size(), count = rows.size();
  const uint64_t pair = rows.front() >> kRowBits;
  const auto s = static_cast<std::size_t>(pair / n), t = static_cast<std::size_t>(pair % n);
  kdgat_edge edge = kdgat_edge_of(static_cast<uint32_t>(count), row_at(0), row_at(count - 1));
  for (std::size_t k = 1; k < count; ++k) kdgat_edge_add(&edge, row_at(k), row_at(k - 1));
  // Is there a row of the reverse edge? The first key not less than it tells.
  const uint64_t reverse = pair_key(t, s, n);
  const auto found = std::lower_bound(keys_.begin(), keys_.end(), reverse);
  const bool has_reverse = found != keys_.end() && *found >> kRowBits == reverse >> kRowBits;
  out_.edge_source.push_back(static_cast<int32_t>(s));
  out_.edge_target.push_back(static_cast<int32_t>(t));
  float features[kWindowEdgeFeatures];
  kdgat_edge_features(&edge, window, &sums_[s], &sums_[t], has_reverse ? 1 : 0, features);
  out_.edge_attr.append(features);
}

void WindowBuilder::add_edges(std::size_t window) {
  std::sort(keys_.begin(), keys_.end());
  const std::span<const uint64_t> keys(keys_);
  for (std::size_t from = 0, to = 0; from < window; from = to) {  // runs of equal pairs
    const uint64_t pair = keys[from] >> kRowBits;
    for (to = from + 1; to < window && keys[to] >> kRowBits == pair;) ++to;
    add_edge(keys.subspan(from, to - from), static_cast<uint32_t>(window));
  }
}

void WindowBuilder::emit(std::span<const Row> rows) {
  number_nodes(rows);
  out_.y.push_back(sum_rows(rows));
  add_nodes(rows.size());
  add_edges(rows.size());
  forget_nodes();
  out_.source_of.push_back(source_);
  out_.node_ptr.push_back(static_cast<int64_t>(node_ids_.size()));
  out_.edge_ptr.push_back(static_cast<int64_t>(out_.edge_source.size()));
  out_.row_begin.push_back(rows.front().position);
  out_.row_end.push_back(rows.back().position + 1);
}

}  // namespace kdgat::data
