#include "detector/learning.h"

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "detector/learning_size.h"
#include "engine/arrays/random.h"
#include "engine/compare/rule.h"
#include "engine/data/can/synthetic/inject.h"
#include "engine/data/can/windows/relative_windows.h"

namespace kdgat::detector {
namespace {

using data::kRelativeColumns;
using data::RelativeWindow;
using data::RelativeWindows;

/// Windows of rows relative to a profile, with what the rule says of each. Refers to the profile.
class SeenWindows {
 public:
  SeenWindows(const data::VehicleProfile& profile, int64_t size)
      : windows_(profile, size), rule_(profile, size) {}

  void restart() {
    windows_.restart();
    rule_.restart();
  }
  bool add(const data::CanFrame& frame) {
    if (rule_.add(frame)) odd_.push_back(rule_.odd());
    return windows_.add(frame);
  }
  bool finish() { return windows_.finish(); }
  const RelativeWindow& window() const { return windows_.window(); }
  /// Of window(): each is asked once.
  float take_odd() {
    const float out = odd_.front();
    odd_.pop_front();
    return out;
  }

 private:
  RelativeWindows windows_;
  compare::RuleWindows rule_;
  std::deque<float> odd_;  // of windows that wait for the one behind them
};

class Learner {
 public:
  Learner(std::span<const decision::Log> logs, const DetectorOptions& options, int64_t seed)
      : logs_(logs), options_(options), random_(static_cast<uint64_t>(seed), 19) {
    out_.kinds = options.inject;
    for (const decision::Log& log : logs) out_.windows += log.rows() / options.window;
    reserve(learning_size(logs, options).rows);
  }

  /// `fold`: of this log of this vehicle, less than kFolds.
  void add(std::size_t index, const std::vector<std::size_t>& vehicle, int32_t fold) {
    const decision::Log& log = logs_[index];
    const LogWindows windows = windows_of(log, options_.window);
    log_ = index;
    fold_ = fold;
    half_ = logs_.size() > 1 ? windows.all : windows.all / 2;
    std::vector<Usual> profiles;
    for (const ProfileSource& source : profile_sources(windows, vehicle.size() > 1)) {
      data::VehicleProfile profile = source.learned == 0
                                         ? profile_without(index, vehicle)
                                         : decision::learn_profile(std::array{decision::Piece{
                                               &log, 0, source.learned * options_.window}});
      profiles.push_back({std::move(profile), source.learned, source.own});
    }
    for (const Usual& usual : profiles) {
      add_windows(log, usual, true);
      for (int pass = 0; options_.forgotten > 0 && pass < kForgetful; ++pass) {
        add_windows(log,
                    {decision::forget_moves(usual.profile, options_.forgotten, random_),
                     usual.first, usual.own},
                    false);
      }
    }
    if (!profiles.empty()) inject(log, profiles, windows.benign);
  }

  Learning take() { return std::move(out_); }

 private:
  struct Usual {
    data::VehicleProfile profile;
    int64_t first;  // window from which on it says something
    int32_t own;    // as in Held
  };

  /// Of a vehicle's other logs; of many logs all but every kFolds-th, which many have in common.
  data::VehicleProfile profile_without(std::size_t index, const std::vector<std::size_t>& vehicle) {
    constexpr std::size_t kMany = 24;
    if (vehicle.size() <= kMany) {
      return profile_of(vehicle, [&](std::size_t other) { return other != index; });
    }
    if (shared_.vehicle != vehicle.front()) shared_ = {vehicle.front(), {}};
    const std::size_t eighth = index % kFolds;
    const auto is_other = [&](std::size_t other) { return other % kFolds != eighth; };
    const auto [found, is_new] = shared_.without.try_emplace(eighth);
    if (is_new) found->second = profile_of(vehicle, is_other);
    return found->second;
  }

  template <class Takes>
  data::VehicleProfile profile_of(const std::vector<std::size_t>& vehicle, Takes takes) const {
    std::vector<decision::Piece> pieces;
    for (const std::size_t log : vehicle) {
      if (takes(log)) pieces.push_back({&logs_[log], 0, logs_[log].rows()});
    }
    return decision::learn_profile(pieces);
  }

  /// Vectors that grow hold what they held twice for a moment.
  void reserve(int64_t rows) {
    LearningSet& set = out_.rows;
    const auto count = static_cast<std::size_t>(rows);
    set.values.reserve(count * kRelativeColumns);
    set.labels.reserve(count);
    set.weights.reserve(count);
    for (std::vector<int32_t>* one : {&set.folds, &set.own}) one->reserve(count);
    for (std::vector<uint8_t>* one : {&set.plain, &set.forgetful, &set.begins}) one->reserve(count);
    set.kinds.reserve(count);
    set.rule.reserve(count);
  }

  int32_t fold_of(int64_t window) const { return window < half_ ? fold_ : fold_ + 1; }

  /// All windows that the profile says something of are learned from; thresholds follow from the
  /// benign ones of a profile that forgot nothing.
  void add_windows(const decision::Log& log, const Usual& usual, bool is_whole) {
    // Windows ahead of those of a piece are heard only.
    for (const WindowRange& piece : pieces_of(log.rows() / options_.window, usual.first,
                                              out_.windows, options_.most_windows)) {
      add_piece(log, usual, is_whole, piece.begin, piece.end);
    }
  }

  void add_piece(const decision::Log& log, const Usual& usual, bool is_whole, int64_t begin,
                 int64_t end) {
    constexpr int64_t kHeard = 30;  // windows: rarer ids have frames to be compared with
    const bool is_timeless = log.is_timeless();
    SeenWindows seen(usual.profile, options_.window);
    begins_ = true;
    std::map<int32_t, Held> held;
    bool was_attack = false;
    int64_t number = std::max<int64_t>(0, begin - kHeard);
    const int64_t first = std::max(usual.first, begin);
    const auto take = [&] {
      const RelativeWindow& window = seen.window();
      const float odd = seen.take_odd();
      const bool is_shadow = was_attack && !window.attack;
      was_attack = window.attack;
      const int64_t at = number++;
      if (at < first) return;
      const bool is_plain = is_whole && !window.attack && !is_shadow;
      if (!window.attack || options_.use_labels) {
        add_row(window, odd, {fold_of(at), usual.own, is_plain, !is_whole});
      }
      if (!is_plain) return;
      Held& back = held[fold_of(at)];
      back.values.insert(back.values.end(), window.x.begin(), window.x.end());
      back.seconds += is_timeless ? static_cast<double>(window.frames) / decision::kAssumedRate
                                  : window.seconds;
    };
    const int64_t from = number * options_.window;
    const int64_t to = end == log.rows() / options_.window ? log.rows() : end * options_.window;
    for (int64_t row = from; row < to; ++row) {
      if (log.restarts(row)) seen.restart();
      if (seen.add(log.frame(row))) take();
    }
    while (seen.finish()) take();
    for (auto& [fold, back] : held) {
      back.own = usual.own;
      back.fold = fold;
      back.log = log_;
      out_.held.push_back(std::move(back));
    }
  }

  struct Origin {
    int32_t fold, own;
    bool is_plain, is_forgetful;
    int8_t kind = -1;
  };

  void add_row(const RelativeWindow& window, float odd, const Origin& origin) {
    LearningSet& rows = out_.rows;
    rows.values.insert(rows.values.end(), window.x.begin(), window.x.end());
    rows.labels.push_back(window.attack ? 1 : 0);
    rows.folds.push_back(origin.fold);
    rows.own.push_back(origin.own);
    rows.plain.push_back(origin.is_plain ? 1 : 0);
    rows.forgetful.push_back(origin.is_forgetful ? 1 : 0);
    rows.begins.push_back(std::exchange(begins_, false) ? 1 : 0);
    rows.kinds.push_back(origin.kind);
    rows.rule.push_back(odd);
    rows.weights.push_back(window.attack ? 1 : static_cast<float>(options_.benign_weight));
  }

  /// Attacks of each kind in a part of the log's benign beginning, `benign` windows long; seen
  /// against the profile of other drives and against one of the log's own.
  void inject(const decision::Log& log, const std::vector<Usual>& profiles, int64_t benign) {
    const int64_t of_log = injected_windows(std::ssize(logs_), options_.window);
    const bool is_timeless = log.is_timeless();
    const data::CanInjectOptions how = injection();
    for (std::size_t k = 0; k < out_.kinds.size(); ++k) {
      const std::string& kind = out_.kinds[k];
      const std::size_t own = profiles.size() > 1 ? 1 + random_.below(profiles.size() - 1) : 0;
      const int64_t first = profiles[own].first;
      const int64_t most = std::min(of_log, benign - first);
      if (most < kLeastInjected) continue;
      const auto spare = static_cast<uint64_t>(benign - first - most + 1);
      const int64_t begin = first + static_cast<int64_t>(random_.below(spare));
      std::vector<data::CanFrame> frames;
      for (int64_t row = begin * options_.window; row < (begin + most) * options_.window; ++row) {
        frames.push_back(log.frame(row));
        frames.back().label = 0;
        if (is_timeless) frames.back().time = static_cast<double>(row) / decision::kAssumedRate;
      }
      try {
        frames = data::inject(frames, kind, how, random_).frames;
      } catch (const Error& error) {
        if (error.code() != ExitCode::kData) throw;
        continue;  // this log has nothing that the kind could attack
      }
      if (is_timeless) {
        for (data::CanFrame& frame : frames) {
          frame.time = std::numeric_limits<double>::quiet_NaN();
        }
      }
      Origin origin{fold_of(begin), profiles[own].own, false, false, static_cast<int8_t>(k)};
      add_injected(frames, profiles[own], origin);
      origin.own = profiles[0].own;
      if (own != 0) add_injected(frames, profiles[0], origin);
    }
  }

  void add_injected(const std::vector<data::CanFrame>& frames, const Usual& usual,
                    const Origin& origin) {
    constexpr int64_t kWarmUp = 2;  // the first windows have no frames ahead of them
    SeenWindows seen(usual.profile, options_.window);
    begins_ = true;
    int64_t number = 0;
    const auto take = [&] {
      const float odd = seen.take_odd();
      if (number++ >= kWarmUp) add_row(seen.window(), odd, origin);
    };
    for (const data::CanFrame& frame : frames) {
      if (seen.add(frame)) take();
    }
    while (seen.finish()) take();
  }

  std::span<const decision::Log> logs_;
  const DetectorOptions& options_;
  arrays::Random random_;
  Learning out_;
  std::size_t log_ = 0;  // that is read
  int32_t fold_ = 0;     // of it
  int64_t half_ = 0;     // its window from which on another fold begins
  bool begins_ = false;  // the next row is the first of some windows
  struct Shared {
    std::size_t vehicle = std::numeric_limits<std::size_t>::max();  // its first log
    std::map<std::size_t, data::VehicleProfile> without;            // each eighth of the logs
  } shared_;
};

}  // namespace

trees::Table LearningSet::table() const {
  return {values, static_cast<int64_t>(kRelativeColumns), labels, weights};
}

Learning learn(std::span<const decision::Log> logs,
               const std::vector<std::vector<std::size_t>>& vehicles,
               const DetectorOptions& options, int64_t seed,
               const std::function<void(double share)>& told) {
  if (!logs.empty() && std::all_of(logs.begin(), logs.end(), [](const decision::Log& log) {
        return log.benign_ids(log.rows()).size() == 1;
      })) {
    throw Error(ExitCode::kData, logs.front().name() + ": one id only, as in every training log",
                "what is usual on a bus is learned from logs with all of its ids");
  }
  Learner learner(logs, options, seed);
  std::size_t done = 0;
  for (std::size_t v = 0; v < vehicles.size(); ++v) {
    for (const std::size_t log : vehicles[v]) {
      told(static_cast<double>(done++) / static_cast<double>(logs.size()));
      const std::size_t left_out = vehicles.size() > 1 ? v : log;
      learner.add(log, vehicles[v], static_cast<int32_t>(left_out) % kFolds);
    }
  }
  return learner.take();
}

}  // namespace kdgat::detector
