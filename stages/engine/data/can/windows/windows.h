// WindowBuilder: the frames of one log, in order, into the graphs of its windows. Appends to arrays
// of a GraphStoreData; column 0 of x stays 0 until the vocabulary is known, the raw id of each node
// goes to `node_ids`. Knows nothing about files or formats.
//
// A row is a frame and the id of the frame after it. Nodes of a window are the ids it names, edges
// the (id, next id) pairs; their features are those of engine/portable/window_graph.h.
//
// Which rows share a node or an edge is found here and, in an exported network, by
// runtime/windows.c. Both take about 300 instructions a row in windows of 100 frames (callgrind,
// hcrl_sa). The C keeps its ids in order by insertion, in a small fixed memory: its work grows with
// the square of the ids. This one takes 420 a row in windows of 10,000 frames of 2,000 ids. A test
// compares their bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "engine/data/can/frames/can_frame.h"
#include "engine/graph/graph_store.h"
#include "engine/portable/window_graph.h"

namespace kdgat::data {

inline constexpr int64_t kWindowNodeFeatures = 11;
inline constexpr int64_t kWindowEdgeFeatures = 11;
std::vector<std::string> node_feature_names();
std::vector<std::string> edge_feature_names();

/// Raw CAN ids seen; 11-bit ids cost one table look-up.
class IdSet {
 public:
  void insert(uint32_t id) {
    if (id < small_.size()) {
      small_[id] = true;
    } else {
      large_.insert(id);
    }
  }
  std::vector<int64_t> sorted() const;

 private:
  std::array<bool, 2048> small_{};
  std::unordered_set<uint32_t> large_;
};

class WindowBuilder {
 public:
  /// `chunk_rows` > 0: the last row of every so many frames is dropped (the published loader read
  /// files in chunks). Appends to `out` and `node_ids` (one id a node of `out`), which must outlive
  /// the builder.
  WindowBuilder(int64_t window, int64_t stride, int64_t chunk_rows, graph::GraphStoreData& out,
                arrays::Column<uint32_t>& node_ids);

  /// A new log begins; its graphs get `source` in source_of.
  void start(int32_t source);
  void add(const CanFrame& frame);
  /// The log, or one capture of it, ends: its last frame has no successor and is dropped. Rows that
  /// fill no window are left out, unless there was no window at all: then they make one short
  /// window. Another capture of the same log may follow; positions go on.
  void finish();
  /// Attack rows that are in no window, of all logs: behind the last full one.
  int64_t lost_attacks() const { return lost_attacks_; }
  int64_t attacks() const { return attacks_; }  ///< attack rows of all logs

 private:
  struct Row {
    uint32_t source, target;
    int64_t position;  // of the frame in its log
    std::array<uint8_t, 8> payload;
    int8_t label;
  };
  /// Appends the graph of one window.
  void emit(std::span<const Row> rows);
  /// The sorted distinct ids are the nodes, in ids_.
  void number_nodes(std::span<const Row> rows);
  void forget_nodes();
  int32_t node_of(uint32_t id);
  /// Fills keys_ and sums_; returns the label of the window.
  int32_t sum_rows(std::span<const Row> rows);
  void add_nodes(std::size_t window);
  void add_edges(std::size_t window);
  /// `rows`: the keys of one edge.
  void add_edge(std::span<const uint64_t> rows, uint32_t window);

  int64_t window_, stride_, chunk_rows_;
  graph::GraphStoreData& out_;
  arrays::Column<uint32_t>& node_ids_;

  int32_t source_ = 0;
  int64_t frames_ = 0;
  int64_t skip_ = 0;  // rows to leave out before the next window (stride > window)
  int64_t attacks_ = 0, lost_attacks_ = 0;
  bool has_last_ = false, emitted_ = false;
  Row last_{};
  std::vector<Row> rows_;

  // Scratch of emit(), kept between windows.
  std::vector<uint32_t> ids_;
  std::vector<kdgat_sums> sums_;
  std::vector<uint64_t> keys_;               // of each row: source, target, number
  std::array<int32_t, 2048> node_of_small_;  // -1 between windows
};

}  // namespace kdgat::data
