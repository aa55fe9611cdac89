// FrameTrees: which frames of a window that is flagged were injected. Trees over the numbers of
// each frame (engine/data/can/windows/frame_columns.h). It says nothing of windows that are not
// flagged: there all frames are taken for true ones.
//
// Injected is what an attacker sent. True frames that come late, early or to nobody because of it
// are not, however odd they are; nor is what stays away where an id is silent.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/data/can/windows/relative_windows.h"
#include "engine/trees/boosted_trees.h"

namespace kdgat::decision {

struct InjectedFrame {
  int64_t row = 0;   ///< of the log
  uint32_t key = 0;  ///< CanFrame::key()
  double time = 0;   ///< ComparedFrame::time
  double score = 0;  ///< log-odds, above 0
};

class FrameTrees {
 public:
  /// `trees`: over data::frame_column_names().
  explicit FrameTrees(trees::BoostedTrees trees) : trees_(std::move(trees)) {}

  /// Of windows.window(), in the order of its rows.
  std::vector<InjectedFrame> injected(const data::RelativeWindows& windows) const;

  nlohmann::json json() const;
  /// Throws Error(kData): `file` holds it, in messages.
  static FrameTrees from_json(const nlohmann::json& in, const std::string& file);

 private:
  trees::BoostedTrees trees_;
};

}  // namespace kdgat::decision
