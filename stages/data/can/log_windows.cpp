#include "data/can/log_windows.h"

#include <algorithm>
#include <utility>

namespace kdgat::graph {

Vocabulary::Vocabulary(std::span<const int64_t> ids) : unknown_(static_cast<float>(ids.size())) {
  small_.fill(unknown_);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto id = static_cast<uint32_t>(ids[i]);
    (id < small_.size() ? small_[id] : large_[id]) = static_cast<float>(i);
  }
}

void Vocabulary::apply(std::span<const uint32_t> node_ids, GraphStoreData& data) const {
  const auto width = static_cast<std::size_t>(data.node_features);
  for (std::size_t node = 0; node < node_ids.size(); ++node) {
    data.x[node * width] = number(node_ids[node]);
  }
}

LogWindows::LogWindows(CanLog log, const WindowShape& shape, Vocabulary vocabulary)
    : log_(std::move(log)),
      vocabulary_(std::move(vocabulary)),
      windows_(shape.window, shape.stride, shape.chunk_rows, data_, node_ids_) {
  data_.node_features = kWindowNodeFeatures;
  data_.edge_features = kWindowEdgeFeatures;
  windows_.start(0);
}

int64_t LogWindows::ids(int64_t graph) const {
  const auto g = static_cast<std::size_t>(graph);
  return data_.node_ptr[g + 1] - data_.node_ptr[g];
}

int64_t LogWindows::read(int64_t most) {
  clear();
  CanFrame frame;
  const auto wanted = static_cast<std::size_t>(most);
  while (data_.y.size() < wanted && !ended_) {
    const std::size_t before = data_.y.size();
    if (log_.next(frame)) {
      add_frame(log_, frame, windows_);
      row_time_.push_back(frame.time);
    } else {
      windows_.finish();
      ended_ = true;
    }
    if (data_.y.size() == before) continue;
    // Windows begin in order, so earlier times are not asked for again.
    const int64_t row = data_.row_begin.back();
    row_time_.erase(row_time_.begin(), row_time_.begin() + (row - first_row_));
    first_row_ = row;
    time_.push_back(row_time_.front());
  }
  vocabulary_.apply(node_ids_, data_);
  target_order_ = target_order_of(data_);
  return static_cast<int64_t>(data_.y.size());
}

void LogWindows::clear() {
  for (auto* list : {&data_.x, &data_.edge_attr}) list->clear();
  for (auto* list : {&data_.edge_source, &data_.edge_target, &data_.y, &data_.source_of})
    list->clear();
  for (auto* list : {&data_.row_begin, &data_.row_end}) list->clear();
  for (auto* list : {&data_.node_ptr, &data_.edge_ptr}) list->assign(1, 0);
  node_ids_.clear();
  time_.clear();
}

}  // namespace kdgat::graph
