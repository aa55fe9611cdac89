// RelativeWindows: windows of a log in numbers that mean the same on every vehicle, because each is
// relative to what the vehicle's profile says is usual (features v3). Bounded state whatever ids
// come: unknown ids are counted, never kept. What is computed is in
// engine/portable/windows.h, which an exported detector has as well.
//
// A frame is compared with up to four frames of its id before it and four after it, as far as the
// end of the window that follows its own: whether an injected frame or the true one beside it is
// the odd one shows in what comes next. So a window is complete one window later.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/data/can/frames/can_frame.h"
#include "engine/data/can/windows/relative_graph.h"
#include "engine/data/can/windows/relative_window.h"
#include "engine/data/can/windows/vehicle_profile.h"
#include "engine/data/can/windows/vehicle_tables.h"
#include "engine/portable/windows.h"

namespace kdgat::data {

class RelativeWindows {
 public:
  /// `window`: frames, from 1 to kMostWindow. `with_graphs`: windows have their graphs; for a
  /// profile with steps.
  RelativeWindows(const VehicleProfile& profile, int64_t window, bool with_graphs = false);

  /// Another capture begins: no frame is compared across. Windows go on.
  void restart();
  /// Returns whether window() is a new complete one.
  bool add(const CanFrame& frame);
  /// The log has ended: the last window, if one is complete but not yet given; false at the end.
  bool finish();
  const RelativeWindow& window() const { return window_; }

  // Of window(), until the next one is given.
  /// In the order of its rows.
  std::span<const ComparedFrame> frames() const { return frames_; }
  /// Of ids whose silence says something, see IdProfile::is_missed().
  std::span<const Silence> silences() const { return kept_[given_slot_].silences; }
  /// window() without frames of these keys, and as if nobody waited for them; it still counts as so
  /// many frames, so that no column is larger than before. No edge leads across them.
  RelativeWindow without(std::span<const uint32_t> keys) const;
  /// The same without all other keys.
  RelativeWindow only(std::span<const uint32_t> keys) const;
  /// Of its frames, see frame_columns.h.
  std::vector<float> frame_columns() const;
  /// Its graph, of a profile with steps.
  RelativeGraph graph() const { return graph_.of(window_, frames_, silences()); }

 private:
  /// Of a row, beyond what is compared.
  struct Extra {
    uint32_t key = 0;
    float gap = 0, distance = 0;  // see ComparedFrame
    double time = 0;
    bool restarts = false;
    bool attack = false, is_labelled = false;
  };
  /// What is kept of a window until it is given, by its number % 3.
  struct Kept {
    double begin = 0, end = 0, seconds = 0;
    std::vector<Silence> silences;
  };

  void complete(int64_t number);
  template <class Stays>
  RelativeWindow with_columns(Stays stays) const;
  template <class Stays>
  std::shared_ptr<const RelativeGraph> graph_of(Stays stays) const;
  void listen_for_silence(std::vector<Silence>& out) const;

  VehicleTables tables_;
  const kdgat_vehicle& vehicle_;  // their view
  GraphMaker graph_;
  bool with_graphs_;
  int64_t size_;
  std::vector<kdgat_sender> senders_;  // these six are what state_ points at
  std::vector<kdgat_bus> buses_;
  std::vector<kdgat_row> rows_;
  std::vector<int16_t> former_;
  std::vector<uint8_t> payloads_;
  std::vector<kdgat_law_state> laws_;
  kdgat_windows state_{};
  bool restarts_ = false;      // the next frame begins another capture
  std::vector<Extra> extras_;  // as rows_
  std::array<Kept, 3> kept_;
  std::size_t given_slot_ = 0;         // in kept_, of window_
  std::vector<ComparedFrame> frames_;  // of window_
  int64_t given_ = 0;                  // windows
  RelativeWindow window_;
};

}  // namespace kdgat::data
