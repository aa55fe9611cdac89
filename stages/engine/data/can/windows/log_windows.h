// The graphs of windows while frames come (FrameWindows) or a log is read (LogWindows), numbered by
// the vocabulary of a model. Know no model.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/data/can/frames/usual_window.h"
#include "engine/data/can/logs/can_log.h"
#include "engine/data/can/windows/windows.h"
#include "engine/graph/graph_arrays.h"

namespace kdgat::data {

/// Numbers of raw ids: their place in the vocabulary, and the last number (OOV) for all others.
class Vocabulary {
 public:
  explicit Vocabulary(std::span<const int64_t> ids);  ///< ascending
  float number(uint32_t id) const {
    if (id < small_.size()) return small_[id];
    const auto found = large_.find(id);
    return found == large_.end() ? unknown_ : found->second;
  }
  /// Fills column 0 of x of all nodes.
  void apply(std::span<const uint32_t> node_ids, graph::GraphStoreData& data) const;

 private:
  float unknown_;
  std::array<float, 2048> small_;
  std::unordered_map<uint32_t, float> large_;
};

/// Adds the frame that `log` gave last; windows do not cross captures.
inline void add_frame(const CanLog& log, const CanFrame& frame, WindowBuilder& windows) {
  if (log.restarted()) windows.finish();
  windows.add(frame);
}

/// What graphs are cut from rows by; as in ImportOptions.
struct WindowShape {
  int64_t window = kUsualWindow, stride = window, chunk_rows = 0;
};
/// What the options of an import say. Throws Error(kData) naming one that is missing or that no
/// import could have had.
WindowShape shape_of(const nlohmann::json& import);

/// Raw ids in a model's words. Throws Error(kData) unless they are ascending 32-bit numbers.
std::vector<int64_t> vocabulary_of(const nlohmann::json& ids);

/// The graphs of windows while frames come. Owns those that were completed since the last clear().
class FrameWindows {
 public:
  FrameWindows(const WindowShape& shape, Vocabulary vocabulary);
  FrameWindows(const FrameWindows&) = delete;  // the builder refers to the graphs
  FrameWindows& operator=(const FrameWindows&) = delete;

  /// The next frame; `restarts`: it begins another capture, and no window crosses into it.
  void add(const CanFrame& frame, bool restarts);
  /// The log has ended.
  void finish();
  /// Forgets the windows that are complete.
  void clear();

  /// Complete since clear().
  int64_t complete() const { return static_cast<int64_t>(data_.y.size()); }
  /// Their graphs, with the same numbers that an import would give; until the next call of another
  /// function.
  graph::GraphArrays graphs();
  int64_t row(int64_t graph) const { return data_.row_begin[static_cast<std::size_t>(graph)]; }
  int64_t ids(int64_t graph) const;  ///< distinct ids
  double time(int64_t graph) const { return time_[static_cast<std::size_t>(graph)]; }  ///< of row()
  double end(int64_t graph) const { return end_[static_cast<std::size_t>(graph)]; }    ///< last row

 private:
  void note(std::size_t before);

  Vocabulary vocabulary_;
  graph::GraphStoreData data_;
  arrays::Column<uint32_t> node_ids_;
  WindowBuilder windows_;
  arrays::Column<int32_t> target_order_;
  std::vector<double> time_, end_;
  std::deque<double> row_time_;  // of the rows from first_row_ on
  int64_t first_row_ = 0;
};

class LogWindows {
 public:
  /// `hear` is told of every row as it is read, and whether it begins another capture.
  using Hear = std::function<void(const CanFrame&, bool restarts)>;
  /// `log` must outlive it.
  LogWindows(CanLog& log, const WindowShape& shape, Vocabulary vocabulary, Hear hear = {});

  /// Reads on until `most` windows are complete or the log ends, and replaces the graphs by them;
  /// their number, 0 at the end. Reads no row beyond the one that completes the last window. Throws
  /// Error(kData).
  int64_t read(int64_t most);

  /// Of the last read().
  const FrameWindows& windows() const { return windows_; }
  const graph::GraphArrays& graphs() const { return arrays_; }
  int64_t row(int64_t graph) const { return windows_.row(graph); }
  int64_t ids(int64_t graph) const { return windows_.ids(graph); }
  double time(int64_t graph) const { return windows_.time(graph); }

 private:
  CanLog& log_;
  Hear hear_;
  FrameWindows windows_;
  graph::GraphArrays arrays_;
  bool ended_ = false;
};

}  // namespace kdgat::data
