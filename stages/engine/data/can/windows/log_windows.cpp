#include "engine/data/can/windows/log_windows.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "engine/data/can/windows/window_options.h"

namespace kdgat::data {

WindowShape shape_of(const nlohmann::json& import) {
  static const nlohmann::json schema = options_schema<WindowOptions>().at("properties");
  const auto number = [&](const char* name) {
    const nlohmann::json value =
        import.is_object() ? import.value(name, nlohmann::json()) : nullptr;
    const nlohmann::json& range = schema.at(name);
    // A stride of 0 is the window's in options; an import has stored the number that it took.
    const auto least = std::string(name) == "stride" ? 1 : range.at("minimum").get<int64_t>();
    if (value.is_number_integer() && value >= least && value <= range.at("maximum")) {
      return value.get<int64_t>();
    }
    throw Error(ExitCode::kData, std::string("import.") + name + " is " +
                                     value.dump().substr(0, 40) + ", not a number from " +
                                     std::to_string(least) + " to " + range.at("maximum").dump());
  };
  return {number("window"), number("stride"), number("chunk_rows")};
}

std::vector<int64_t> vocabulary_of(const nlohmann::json& ids) {
  constexpr int64_t kLargest = std::numeric_limits<uint32_t>::max();
  const auto is_id = [](const nlohmann::json& id) {
    return id.is_number_integer() && id >= 0 && id <= kLargest;
  };
  std::vector<int64_t> out;
  if (ids.is_array() && std::all_of(ids.begin(), ids.end(), is_id)) ids.get_to(out);
  const bool is_ascending =
      std::adjacent_find(out.begin(), out.end(), std::greater_equal<>()) == out.end();
  if (ids.is_array() && out.size() == ids.size() && is_ascending) return out;
  throw Error(ExitCode::kData, "vocabulary is not a list of ascending ids");
}

Vocabulary::Vocabulary(std::span<const int64_t> ids) : unknown_(static_cast<float>(ids.size())) {
  small_.fill(unknown_);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto id = static_cast<uint32_t>(ids[i]);
    (id < small_.size() ? small_[id] : large_[id]) = static_cast<float>(i);
  }
}

void Vocabulary::apply(std::span<const uint32_t> node_ids, graph::GraphStoreData& data) const {
  const auto width = static_cast<std::size_t>(data.node_features);
  for (std::size_t node = 0; node < node_ids.size(); ++node) {
    data.x[node * width] = number(node_ids[node]);
  }
}

FrameWindows::FrameWindows(const WindowShape& shape, Vocabulary vocabulary)
    : vocabulary_(std::move(vocabulary)),
      windows_(shape.window, shape.stride, shape.chunk_rows, data_, node_ids_) {
  data_.node_features = kWindowNodeFeatures;
  data_.edge_features = kWindowEdgeFeatures;
  windows_.start(0);
}

void FrameWindows::add(const CanFrame& frame, bool restarts) {
  const std::size_t before = data_.y.size();
  if (restarts) windows_.finish();
  windows_.add(frame);
  row_time_.push_back(frame.time);
  if (data_.y.size() != before) note(before);
}

void FrameWindows::finish() {
  const std::size_t before = data_.y.size();
  windows_.finish();
  if (data_.y.size() != before) note(before);
}

/// The times of the windows that were completed behind the first `before` ones.
void FrameWindows::note(std::size_t before) {
  for (std::size_t g = before; g < data_.y.size(); ++g) {
    // Windows begin in order, so earlier times are not asked for again.
    const int64_t row = data_.row_begin[g];
    row_time_.erase(row_time_.begin(), row_time_.begin() + (row - first_row_));
    first_row_ = row;
    time_.push_back(row_time_.front());
    end_.push_back(row_time_[static_cast<std::size_t>(data_.row_end[g] - 1 - row)]);
  }
}

int64_t FrameWindows::ids(int64_t graph) const {
  const auto g = static_cast<std::size_t>(graph);
  return data_.node_ptr[g + 1] - data_.node_ptr[g];
}

graph::GraphArrays FrameWindows::graphs() {
  vocabulary_.apply(node_ids_, data_);
  target_order_ = graph::target_order_of(data_);
  return graph::arrays_of(data_, target_order_);
}

void FrameWindows::clear() {
  for (auto* list : {&data_.x, &data_.edge_attr}) list->clear();
  for (auto* list : {&data_.edge_source, &data_.edge_target}) list->clear();
  for (auto* list : {&data_.y, &data_.source_of}) list->clear();
  for (auto* list : {&data_.row_begin, &data_.row_end}) list->clear();
  for (auto* list : {&data_.node_ptr, &data_.edge_ptr}) list->assign(1, 0);
  node_ids_.clear();
  time_.clear();
  end_.clear();
}

LogWindows::LogWindows(CanLog& log, const WindowShape& shape, Vocabulary vocabulary, Hear hear)
    : log_(log), hear_(std::move(hear)), windows_(shape, std::move(vocabulary)) {}

int64_t LogWindows::read(int64_t most) {
  windows_.clear();
  CanFrame frame;
  while (windows_.complete() < most && !ended_) {
    if (log_.next(frame)) {
      if (hear_) hear_(frame, log_.restarted());
      windows_.add(frame, log_.restarted());
    } else {
      windows_.finish();
      ended_ = true;
    }
  }
  arrays_ = windows_.graphs();
  return windows_.complete();
}

}  // namespace kdgat::data
