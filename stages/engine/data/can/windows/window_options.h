// Which rows of a log are a window, as options.
#pragma once

#include <cstdint>
#include <tuple>

#include "engine/data/can/frames/usual_window.h"
#include "kdgat/options.h"

namespace kdgat::data {

struct WindowOptions {
  int64_t window = kUsualWindow;
  int64_t stride = 0;  ///< 0 only before settle()
  int64_t chunk_rows = 0;

  static auto table() {
    using O = WindowOptions;
    return std::tuple{
        field("window", &O::window, "Rows of one graph.").alias("window_size").range(2, 1 << 20),
        field("stride", &O::stride,
              "Rows between the starts of two windows; 0: as many as a window has.")
            .range(0, 1 << 20),
        field("chunk_rows", &O::chunk_rows,
              "Published chunk rule: the last row of every so many rows is dropped; 0 = off.")
            .range(0, 1 << 30)};
  }

  void settle() {
    if (stride == 0) stride = window;
  }
};

}  // namespace kdgat::data
