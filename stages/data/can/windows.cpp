#include "data/can/windows.h"

#include <algorithm>
#include <cmath>

namespace kdgat::graph {

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
                             GraphStoreData& out, std::vector<uint32_t>& node_ids)
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
        emit(rows_.data(), window_);
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
  has_last_ = true;
}

void WindowBuilder::finish() {
  if (!emitted_ && !rows_.empty()) emit(rows_.data(), static_cast<int64_t>(rows_.size()));
  rows_.clear();
  skip_ = 0;
  has_last_ = emitted_ = false;
}

int32_t WindowBuilder::node_of(uint32_t id) {
  if (id < node_of_small_.size()) return node_of_small_[id];
  return static_cast<int32_t>(std::lower_bound(ids_.begin(), ids_.end(), id) - ids_.begin());
}

void WindowBuilder::emit(const Row* rows, int64_t count) {
  const auto w = static_cast<std::size_t>(count);

  // Nodes: the sorted distinct ids.
  ids_.clear();
  const auto note = [this](uint32_t id) {
    if (id < node_of_small_.size()) {
      if (node_of_small_[id] >= 0) return;
      node_of_small_[id] = 0;
    }
    ids_.push_back(id);
  };
  for (std::size_t r = 0; r < w; ++r) {
    note(rows[r].source);
    if (r + 1 == w || rows[r].target != rows[r + 1].source) note(rows[r].target);
  }
  std::sort(ids_.begin(), ids_.end());
  ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
  const auto n = ids_.size();
  for (std::size_t i = 0; i < n && ids_[i] < node_of_small_.size(); ++i) {
    node_of_small_[ids_[i]] = static_cast<int32_t>(i);
  }

  // Node features: sums first, in whole numbers.
  keys_.resize(w);
  const std::size_t first_node = node_ids_.size();
  node_ids_.insert(node_ids_.end(), ids_.begin(), ids_.end());
  out_.x.resize((first_node + n) * kWindowNodeFeatures, 0.0F);
  float* x = out_.x.data() + first_node * kWindowNodeFeatures;
  std::vector<NodeSums>& sums = sums_;
  sums.assign(n, NodeSums{});
  bool attack = false, unlabelled = false;
  for (std::size_t r = 0; r < w; ++r) {
    const int32_t s = node_of(rows[r].source), t = node_of(rows[r].target);
    // Sorting these orders edges by (source, target) and the rows of an edge by time.
    keys_[r] = (static_cast<uint64_t>(s) * n + static_cast<uint64_t>(t)) << 20 | r;
    NodeSums& node = sums[static_cast<std::size_t>(s)];
    for (int b = 0; b < 8; ++b) node.bytes[b] += rows[r].payload[static_cast<std::size_t>(b)];
    ++node.as_source;
    node.last = static_cast<uint32_t>(r);
    ++sums[static_cast<std::size_t>(t)].as_target;
    attack |= rows[r].label == 1;
    unlabelled |= rows[r].label < 0;
  }
  uint32_t least = ~0U, most = 0;
  for (const NodeSums& node : sums) {
    least = std::min(least, node.as_source);
    most = std::max(most, node.as_source);
  }
  for (std::size_t i = 0; i < n; ++i) {
    float* row = x + i * kWindowNodeFeatures;
    const NodeSums& node = sums[i];
    if (node.as_source > 0) {
      const double scale = 1.0 / (255.0 * node.as_source);
      for (int b = 0; b < 8; ++b) row[1 + b] = static_cast<float>(node.bytes[b] * scale);
      row[10] = w > 1 ? static_cast<float>(node.last / static_cast<double>(w - 1)) : 0.0F;
    }
    row[9] = most > least
                 ? static_cast<float>((node.as_source - least) / static_cast<double>(most - least))
                 : static_cast<float>(node.as_source);
  }

  // Edges: runs of equal keys.
  std::sort(keys_.begin(), keys_.end());
  const double width = static_cast<double>(w);
  constexpr uint64_t kRowMask = (1U << 20) - 1;
  for (std::size_t from = 0; from < w;) {
    const uint64_t key = keys_[from] >> 20;
    std::size_t to = from + 1;
    while (to < w && keys_[to] >> 20 == key) ++to;
    const auto row_at = [&](std::size_t k) { return static_cast<double>(keys_[k] & kRowMask); };
    const double c = static_cast<double>(to - from), first = row_at(from), last = row_at(to - 1);
    double mean = 0, std = 0;
    if (to - from > 1) {
      mean = (last - first) / (c - 1);
      for (std::size_t k = from + 1; k < to; ++k) {
        const double off = row_at(k) - row_at(k - 1) - mean;
        std += off * off;
      }
      std = std::sqrt(std / (c - 1));
    }
    const double regularity = to - from == 1 ? 0.0 : (std == 0 ? 1.0 : 1.0 / (1.0 + std));
    const auto s = static_cast<std::size_t>(key / n), t = static_cast<std::size_t>(key % n);
    const double ds = sums[s].as_source + sums[s].as_target,
                 dt = sums[t].as_source + sums[t].as_target;
    // Is there a row of the reverse edge? The first key not less than it tells.
    const uint64_t reverse = (static_cast<uint64_t>(t) * n + s) << 20;
    const auto found = std::lower_bound(keys_.begin(), keys_.end(), reverse);
    const bool has_reverse = found != keys_.end() && *found >> 20 == reverse >> 20;
    out_.edge_source.push_back(static_cast<int32_t>(s));
    out_.edge_target.push_back(static_cast<int32_t>(t));
    const float features[kWindowEdgeFeatures] = {static_cast<float>(c),
                                                 static_cast<float>(c / width),
                                                 static_cast<float>(mean),
                                                 static_cast<float>(std),
                                                 static_cast<float>(regularity),
                                                 static_cast<float>(first / width),
                                                 static_cast<float>(last / width),
                                                 static_cast<float>((last - first) / width),
                                                 has_reverse ? 1.0F : 0.0F,
                                                 static_cast<float>(ds * dt),
                                                 static_cast<float>(ds / dt)};
    out_.edge_attr.insert(out_.edge_attr.end(), features, features + kWindowEdgeFeatures);
    from = to;
  }

  for (std::size_t i = 0; i < n && ids_[i] < node_of_small_.size(); ++i) {
    node_of_small_[ids_[i]] = -1;
  }

  out_.y.push_back(attack ? 1 : (unlabelled ? -1 : 0));
  out_.source_of.push_back(source_);
  out_.node_ptr.push_back(static_cast<int64_t>(node_ids_.size()));
  out_.edge_ptr.push_back(static_cast<int64_t>(out_.edge_source.size()));
  out_.row_begin.push_back(rows[0].position);
  out_.row_end.push_back(rows[w - 1].position + 1);
}

}  // namespace kdgat::graph
