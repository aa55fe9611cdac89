#include "engine/data/can/vehicles/learn_windows.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "engine/arrays/random.h"
#include "engine/data/can/synthetic/inject.h"
#include "engine/data/can/vehicles/learning_size.h"

namespace kdgat::data {

class WindowLearner::Learner {
 public:
  Learner(std::span<const StoredLog> logs, const std::vector<std::vector<std::size_t>>& vehicles,
          int64_t window, const LearningOptions& options, int64_t seed, BeginWindows begin,
          bool with_steps)
      : logs_(logs),
        vehicles_(vehicles),
        window_(window),
        options_(options),
        begin_(std::move(begin)),
        with_steps_(with_steps),
        random_(static_cast<uint64_t>(seed), 19) {
    for (const StoredLog& log : logs) all_ += log.rows() / window;
  }

  void learn(std::size_t index) {
    std::size_t v = 0;
    while (std::find(vehicles_[v].begin(), vehicles_[v].end(), index) == vehicles_[v].end()) ++v;
    const std::vector<std::size_t>& vehicle = vehicles_[v];
    const int32_t fold = static_cast<int32_t>(vehicles_.size() > 1 ? v : index) % kFolds;
    const StoredLog& log = logs_[index];
    const WindowCounts windows = windows_of(log, window_);
    log_ = index;
    fold_ = fold;
    half_ = logs_.size() > 1 ? windows.all : windows.all / 2;
    std::vector<Usual> profiles;
    for (const ProfileSource& source : profile_sources(windows, vehicle.size() > 1)) {
      VehicleProfile profile =
          source.learned == 0
              ? profile_without(index, vehicle)
              : learn_profile(std::array{Piece{&log, 0, source.learned * window_}}, with_steps_);
      profiles.push_back({std::move(profile), source.learned, source.own});
    }
    for (const Usual& usual : profiles) {
      add_windows(log, usual, true);
      for (int pass = 0; options_.forgotten > 0 && pass < kForgetful; ++pass) {
        add_windows(
            log, {forget_moves(usual.profile, options_.forgotten, random_), usual.first, usual.own},
            false);
      }
    }
    if (!profiles.empty()) inject(log, profiles, windows.benign);
  }

 private:
  struct Usual {
    VehicleProfile profile;
    int64_t first;  // window from which on it says something
    int32_t own;    // as in SeenWindow
  };

  /// Of a vehicle's other logs; of many logs all but every kFolds-th, which many have in common.
  VehicleProfile profile_without(std::size_t index, const std::vector<std::size_t>& vehicle) {
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
  VehicleProfile profile_of(const std::vector<std::size_t>& vehicle, Takes takes) const {
    std::vector<Piece> pieces;
    for (const std::size_t log : vehicle) {
      if (takes(log)) pieces.push_back({&logs_[log], 0, logs_[log].rows()});
    }
    return learn_profile(pieces, with_steps_);
  }

  int32_t fold_of(int64_t window) const { return window < half_ ? fold_ : fold_ + 1; }

  /// All windows that the profile says something of are learned from.
  void add_windows(const StoredLog& log, const Usual& usual, bool is_whole) {
    // Windows ahead of those of a piece are heard only.
    for (const WindowRange& piece :
         pieces_of(log.rows() / window_, usual.first, all_, options_.most_windows)) {
      add_piece(log, usual, is_whole, piece.begin, piece.end);
    }
  }

  void add_piece(const StoredLog& log, const Usual& usual, bool is_whole, int64_t begin,
                 int64_t end) {
    constexpr int64_t kHeard = 30;  // windows: rarer ids have frames to be compared with
    RelativeWindows windows(usual.profile, window_);
    const auto taker = begin_(usual.profile);
    SeenWindow seen{log_, 0, 0, 0, usual.own, !is_whole, false, true};
    bool was_attack = false;
    int64_t number = std::max<int64_t>(0, begin - kHeard);
    const int64_t first = std::max(usual.first, begin);
    const auto take = [&] {
      const bool is_attack = windows.window().attack;
      seen.is_shadow = std::exchange(was_attack, is_attack) && !is_attack;
      const int64_t at = number++;
      seen.fold = fold_of(at);
      seen.row = at * window_;
      seen.end = seen.row + window_;
      const bool is_taken = at >= first && (!is_attack || options_.use_labels);
      taker->take(windows, is_taken ? &seen : nullptr);
      if (is_taken) seen.begins = false;
    };
    const int64_t from = number * window_;
    const int64_t to = end == log.rows() / window_ ? log.rows() : end * window_;
    for (int64_t row = from; row < to; ++row) {
      if (log.restarts(row)) windows.restart();
      const CanFrame frame = log.frame(row);
      taker->add(frame, log.restarts(row));
      if (windows.add(frame)) take();
    }
    while (windows.finish()) take();
  }

  static bool restarts_within(const StoredLog& log, int64_t begin, int64_t end) {
    for (int64_t row = begin + 1; row < end; ++row) {
      if (log.restarts(row)) return true;
    }
    return false;
  }

  /// Attacks of each kind in a part of the log's benign beginning, `benign` windows long; seen
  /// against the profile of other drives and against one of the log's own.
  void inject(const StoredLog& log, const std::vector<Usual>& profiles, int64_t benign) {
    const int64_t of_log = injected_windows(std::ssize(logs_), window_);
    const bool is_timeless = log.is_timeless();
    const CanInjectOptions how = injection();
    for (std::size_t k = 0; k < options_.inject.size(); ++k) {
      const std::size_t own = profiles.size() > 1 ? 1 + random_.below(profiles.size() - 1) : 0;
      const int64_t first = profiles[own].first;
      const int64_t most = std::min(of_log, benign - first);
      if (most < kLeastInjected) continue;
      const auto spare = static_cast<uint64_t>(benign - first - most + 1);
      const int64_t begin = first + static_cast<int64_t>(random_.below(spare));
      // Of a stretch of several captures no step is known.
      if (with_steps_ && restarts_within(log, begin * window_, (begin + most) * window_)) continue;
      std::vector<CanFrame> frames;
      for (int64_t row = begin * window_; row < (begin + most) * window_; ++row) {
        frames.push_back(log.frame(row));
        frames.back().label = 0;
        if (is_timeless) frames.back().time = static_cast<double>(row) / kAssumedRate;
      }
      const std::vector<CanFrame> recorded = frames;
      try {
        frames = data::inject(frames, options_.inject[k], how, random_).frames;
      } catch (const Error& error) {
        if (error.code() != ExitCode::kData) throw;
        continue;  // this log has nothing that the kind could attack
      }
      Injected of{begin, static_cast<int8_t>(k), {}, rows_of(frames, recorded, begin * window_)};
      if (is_timeless) {
        for (CanFrame& frame : frames) frame.time = std::numeric_limits<double>::quiet_NaN();
      }
      of.frames = std::move(frames);
      add_injected(of, profiles[own]);
      if (own != 0) add_injected(of, profiles[0]);
    }
  }

  struct Injected {
    int64_t begin;  // window of the log
    int8_t kind;
    std::vector<CanFrame> frames;
    std::vector<std::pair<int64_t, int64_t>> rows;  // of each window, by its first frame
  };

  /// Of each window of `frames` the rows of the log, from `first` on, that were sent meanwhile, and
  /// a window's more on both sides: an attack holds frames up.
  std::vector<std::pair<int64_t, int64_t>> rows_of(const std::vector<CanFrame>& frames,
                                                   const std::vector<CanFrame>& recorded,
                                                   int64_t first) const {
    std::vector<double> times;
    times.reserve(recorded.size());
    for (const CanFrame& frame : recorded) {
      times.push_back(times.empty() ? frame.time : std::max(times.back(), frame.time));
    }
    std::vector<std::pair<int64_t, int64_t>> out;
    for (std::size_t at = 0; at < frames.size(); at += static_cast<std::size_t>(window_)) {
      const std::size_t last = std::min(at + static_cast<std::size_t>(window_), frames.size()) - 1;
      const auto begin = std::lower_bound(times.begin(), times.end(), frames[at].time);
      const auto end = std::upper_bound(begin, times.end(), frames[last].time);
      const int64_t from = begin - times.begin() - window_, to = end - times.begin() + window_;
      out.emplace_back(first + std::max<int64_t>(0, from), first + std::min(std::ssize(times), to));
    }
    return out;
  }

  void add_injected(const Injected& of, const Usual& usual) {
    constexpr int64_t kWarmUp = 2;  // the first windows have no frames ahead of them
    RelativeWindows windows(usual.profile, window_);
    const auto taker = begin_(usual.profile);
    SeenWindow seen{log_, 0, 0, fold_of(of.begin), usual.own, false, false, true, of.kind};
    int64_t number = 0;
    const auto take = [&] {
      std::tie(seen.row, seen.end) = of.rows[static_cast<std::size_t>(number)];
      const bool is_taken = number++ >= kWarmUp;
      taker->take(windows, is_taken ? &seen : nullptr);
      if (is_taken) seen.begins = false;
    };
    for (const CanFrame& frame : of.frames) {
      taker->add(frame, false);
      if (windows.add(frame)) take();
    }
    while (windows.finish()) take();
  }

  std::span<const StoredLog> logs_;
  const std::vector<std::vector<std::size_t>>& vehicles_;
  int64_t window_;
  const LearningOptions& options_;
  BeginWindows begin_;
  bool with_steps_;
  arrays::Random random_;
  int64_t all_ = 0;      // windows of all logs
  std::size_t log_ = 0;  // that is read
  int32_t fold_ = 0;     // of it
  int64_t half_ = 0;     // its window from which on another fold begins
  struct Shared {
    std::size_t vehicle = std::numeric_limits<std::size_t>::max();  // its first log
    std::map<std::size_t, VehicleProfile> without;                  // each eighth of the logs
  } shared_;
};

WindowLearner::WindowLearner(std::span<const StoredLog> logs,
                             const std::vector<std::vector<std::size_t>>& vehicles, int64_t window,
                             const LearningOptions& options, int64_t seed, BeginWindows begin,
                             bool with_steps) {
  if (!logs.empty() && std::all_of(logs.begin(), logs.end(), [](const StoredLog& log) {
        return log.benign_ids(log.rows()).size() == 1;
      })) {
    throw Error(ExitCode::kData, logs.front().name() + ": one id only, as in every training log",
                "what is usual on a bus is learned from logs with all of its ids");
  }
  learner_ = std::make_unique<Learner>(logs, vehicles, window, options, seed, std::move(begin),
                                       with_steps);
}

WindowLearner::~WindowLearner() = default;

void WindowLearner::learn(std::size_t log) { learner_->learn(log); }

}  // namespace kdgat::data
