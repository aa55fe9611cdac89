// WindowScorer: judges a log while it streams, in training's tests and live alike. It listens to
// the beginning, finds the vehicle among those of the model or learns the log's own profile, and
// then gives every window its score, those of the beginning first. Knows no files.
//
// What a vehicle never seen is learned from ends ahead of the first row that is labelled as an
// attack. In a log without labels nobody says where that is: from kMatchWindows windows on each
// further one is compared with what was learned so far, and the first of kOddWindows odd ones that
// are near one another ends the beginning. A single odd one teaches little.
//
// Bounded state whatever ids come: the frames of the beginning, at most kMostOwnFrames, then those
// of the last windows, to say what made one odd, and what RelativeWindows keeps.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/data/can/logs/dbc.h"
#include "engine/data/can/vehicles/learn_profile.h"
#include "engine/data/can/vehicles/vehicles.h"
#include "engine/data/can/windows/relative_windows.h"
#include "engine/decision/detector/detector_model.h"
#include "engine/decision/detector/reasons.h"

namespace kdgat::decision {

/// So many odd windows of the last kOddOf end the beginning of a log without labels.
inline constexpr int64_t kOddWindows = 3, kOddOf = 20;

/// Windows ahead of one whose frames are kept, so that payloads of rarer ids can be compared.
inline constexpr int64_t kKeptAhead = 14;

/// Why a window scores what it scores: the reasons' scores and `rest` add up to `score`.
struct Reasons {
  double score = 0;             ///< JudgedWindow::alone
  std::vector<Reason> reasons;  ///< as Blame::parts
  double rest = 0;              ///< of everything else
  std::vector<uint32_t> keys;   ///< of all reasons, in their order
};

struct JudgedWindow {
  int64_t number = 0;  ///< in its log, from 0
  data::RelativeWindow relative;
  double time = 0;   ///< of its first row as the log has it; NaN where it has none
  double until = 0;  ///< the same of the window behind it; NaN where there is none
  int64_t ids = 0;   ///< distinct, on each bus
  /// DetectorModel::score() by its alarm rule, of this window and those judged ahead of it; of one
  /// that the profile was learned from, alone.
  float score = 0;
  float alone =
      0;  ///< DetectorModel::score() of this window; the same where each stands for itself
  bool is_own = false;  ///< the profile was learned from it: it says nothing of the window
};

class WindowScorer {
 public:
  using Sink = std::function<void(const JudgedWindow&)>;

  /// `model` must outlive this. `name`: of the log, for messages. `own_windows`: so many windows
  /// its own profile is learned from, see own_windows_of(); 0: those of model.own_seconds. `sink`
  /// is called for one window after another, each when the one behind it is complete.
  WindowScorer(const DetectorModel& model, std::string name, int64_t own_windows, Sink sink);
  WindowScorer(const WindowScorer&) = delete;  // windows refer to the profile
  WindowScorer& operator=(const WindowScorer&) = delete;

  /// The log is of this vehicle of the model: nothing is listened to. Before any frame.
  void take(const data::Vehicle& vehicle) { begin(vehicle.profile, &vehicle, 0); }

  /// reasons() come with the names that these know; they must outlive this.
  void name_by(const data::DbcNames& names) { names_ = &names; }

  /// `restarts`: the frame begins another capture. Throws Error(kData) where a vehicle never seen
  /// has fewer than kLeastOwn windows ahead of its first row that is labelled as an attack.
  void add(const data::CanFrame& frame, bool restarts);
  /// The log has ended: gives the windows that are left. Throws Error(kData) as add(), where a
  /// vehicle never seen has fewer windows in all.
  void finish();

  /// Whether it still listens to the beginning: no window was given.
  bool is_listening() const { return !windows_; }
  /// Not while it listens. nullptr: none of the model's.
  const data::Vehicle* vehicle() const { return vehicle_; }
  /// Not while it listens: the windows that the log's own profile was learned from, 0 of a vehicle
  /// of the model.
  int64_t own() const { return own_; }
  /// Not while it listens: what windows are relative to.
  const data::VehicleProfile& profile() const {
    return vehicle_ != nullptr ? vehicle_->profile : *learned_;
  }
  const KOfN& alarm_rule() const { return model_.alarm_rule; }
  /// Not while it listens: odd windows ended the beginning of a log without labels.
  bool ended_early() const { return own_ > 0 && own_ == odd_; }
  /// From within the sink alone: of its window.
  std::span<const data::ComparedFrame> frames() const { return windows_->frames(); }
  /// The same that were injected; of a model with `frames`.
  std::vector<InjectedFrame> injected() const { return model_.frames->injected(*windows_); }
  /// From within the sink alone: at most `most` reasons for its window's score, see blame.h.
  Reasons reasons(std::size_t most) const;

 private:
  void listen(bool is_end);
  int64_t most_own() const;
  void try_on(const LogRow& row);
  data::VehicleProfile learned_from(int64_t rows) const;
  void begin(const data::VehicleProfile& profile, const data::Vehicle* vehicle, int64_t own);
  void judge(const LogRow& row);
  void give();

  const DetectorModel& model_;
  std::string name_;
  int64_t own_windows_;
  Sink sink_;
  const data::DbcNames* names_ = nullptr;

  // While it listens.
  data::HeardTime heard_time_;
  std::deque<LogRow> heard_;   // grows without a copy
  int64_t first_attack_ = -1;  // row
  bool is_labelled_ = false;
  bool is_unknown_ = false;                            // it is none of the model's vehicles
  int64_t odd_ = std::numeric_limits<int64_t>::max();  // windows ahead of the first odd one
  std::optional<data::VehicleProfile> trial_profile_;  // of the first data::kMatchWindows
  std::optional<data::RelativeWindows> trial_;
  std::deque<int64_t> trial_odd_;  // the odd ones of the last kOddOf windows

  const data::Vehicle* vehicle_ = nullptr;
  std::optional<data::VehicleProfile> learned_;
  const Decision* decision_ = nullptr;
  std::optional<data::RelativeWindows> windows_;
  PartFilter filter_;
  int64_t own_ = 0;
  JudgedWindow next_;
  std::vector<LogRow> recent_;  // the last ones of those judged, by number % size()
  int64_t judged_ = 0;          // rows
  double time_ = 0;             // of the first row of the window that is read
  std::vector<uint32_t> keys_;  // of its rows
  struct Facts {
    double time;
    int64_t ids;
  };
  std::deque<Facts> facts_;  // of windows that are complete and not yet given
};

}  // namespace kdgat::decision
