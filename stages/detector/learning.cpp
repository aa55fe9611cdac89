#include "detector/learning.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "data/can/inject.h"
#include "data/can/relative_windows.h"
#include "graph/random.h"

namespace kdgat::detector {
namespace {

using graph::kRelativeColumns;
using graph::RelativeWindow;
using graph::RelativeWindows;

/// Windows of an own beginning that profiles are made of, beside the most that an option says.
constexpr int64_t kShort = 100, kShortest = 40;
/// Longer ones err less: what is learned of these holds for them. Training logs have few that long.
constexpr int64_t kLongest = 300;
constexpr int64_t kInjectedRows = 40'000;  // of one log, profile and kind of attack

class Learner {
 public:
  Learner(std::span<const Log> logs, const DetectorOptions& options, int64_t seed)
      : logs_(logs), options_(options), random_(static_cast<uint64_t>(seed), 19) {}

  void add(std::size_t index, const std::vector<std::size_t>& vehicle) {
    const Log& log = logs_[index];
    const int64_t size = options_.window, windows = log.rows() / size;
    const int64_t benign = log.first_attack() / size;  // windows ahead of the first attack
    fold_ = static_cast<int32_t>(index) % kFolds;
    half_ = logs_.size() > 1 ? windows : windows / 2;
    std::vector<Usual> profiles;
    if (vehicle.size() > 1) {
      std::vector<Piece> others;
      for (const std::size_t other : vehicle) {
        if (other != index) others.push_back({&logs_[other], 0, logs_[other].rows()});
      }
      profiles.push_back({learn_profile(others), 0, 0});
    } else if (benign / 2 >= kShortest) {
      // One drive alone: its first half says what is usual in the second.
      const int64_t half = benign / 2;
      profiles.push_back({learn_profile(std::array{Piece{&log, 0, half * size}}), half, 0});
    }
    const int64_t longest = std::min(kLongest, options_.own_windows);
    for (const int64_t own : {std::min(kShort, longest), longest}) {
      const int64_t first = std::min(own, benign / 2);
      if (first < kShortest) continue;
      profiles.push_back({learn_profile(std::array{Piece{&log, 0, first * size}}), first,
                          static_cast<int32_t>(own)});
    }
    for (const Usual& usual : profiles) {
      add_windows(log, usual, true);
      if (options_.forgotten > 0) {
        add_windows(
            log, {forget_moves(usual.profile, options_.forgotten, random_), usual.first, usual.own},
            false);
      }
    }
    if (!profiles.empty()) inject(log, profiles, benign);
  }

  Learning take() { return std::move(out_); }

 private:
  struct Usual {
    graph::VehicleProfile profile;
    int64_t first;  // window from which on it says something
    int32_t own;    // as in Held
  };

  int32_t fold_of(int64_t window) const { return window < half_ ? fold_ : fold_ + 1; }

  /// All windows that the profile says something of are learned from; thresholds follow from the
  /// benign ones of a profile that forgot nothing.
  void add_windows(const Log& log, const Usual& usual, bool is_whole) {
    RelativeWindows windows(usual.profile, options_.window);
    std::map<int32_t, Held> held;
    const bool is_timeless = log.is_timeless();
    bool was_attack = false;
    int64_t number = 0;
    const auto take = [&] {
      const RelativeWindow& window = windows.window();
      const bool is_shadow = was_attack && !window.attack;
      was_attack = window.attack;
      const int64_t at = number++;
      if (at < usual.first) return;
      const bool is_plain = is_whole && !window.attack && !is_shadow;
      if (!window.attack || options_.use_labels) add_row(window, fold_of(at), usual.own, is_plain);
      if (!is_plain) return;
      Held& back = held[fold_of(at)];
      back.values.insert(back.values.end(), window.x.begin(), window.x.end());
      back.seconds +=
          is_timeless ? static_cast<double>(window.frames) / kAssumedRate : window.seconds;
    };
    for (int64_t row = 0; row < log.rows(); ++row) {
      if (log.restarts(row)) windows.restart();
      if (windows.add(log.frame(row))) take();
    }
    while (windows.finish()) take();
    for (auto& [fold, back] : held) {
      back.own = usual.own;
      back.fold = fold;
      out_.held.push_back(std::move(back));
    }
  }

  void add_row(const RelativeWindow& window, int32_t fold, int32_t own, bool is_plain) {
    LearningSet& rows = out_.rows;
    rows.values.insert(rows.values.end(), window.x.begin(), window.x.end());
    rows.labels.push_back(window.attack ? 1 : 0);
    rows.folds.push_back(fold);
    rows.own.push_back(own);
    rows.plain.push_back(is_plain ? 1 : 0);
    rows.weights.push_back(window.attack ? 1 : static_cast<float>(options_.benign_weight));
  }

  /// Attacks of each kind in a part of the log's benign beginning, `benign` windows long; seen
  /// against the profile of other drives and against one of the log's own.
  void inject(const Log& log, const std::vector<Usual>& profiles, int64_t benign) {
    constexpr int64_t kLeast = 20;
    const bool is_timeless = log.is_timeless();
    graph::CanInjectOptions how;
    how.keep_attacks = true;
    for (const std::string& kind : options_.inject) {
      const std::size_t own = profiles.size() > 1 ? 1 + random_.below(profiles.size() - 1) : 0;
      const int64_t first = profiles[own].first;
      const int64_t most = std::min(kInjectedRows / options_.window, benign - first);
      if (most < kLeast) continue;
      const auto spare = static_cast<uint64_t>(benign - first - most + 1);
      const int64_t begin = first + static_cast<int64_t>(random_.below(spare));
      std::vector<graph::CanFrame> frames;
      for (int64_t row = begin * options_.window; row < (begin + most) * options_.window; ++row) {
        frames.push_back(log.frame(row));
        frames.back().label = 0;
        if (is_timeless) frames.back().time = static_cast<double>(row) / kAssumedRate;
      }
      try {
        frames = graph::inject(frames, kind, how, random_).frames;
      } catch (const Error& error) {
        if (error.code() != ExitCode::kData) throw;
        continue;  // this log has nothing that the kind could attack
      }
      if (is_timeless) {
        for (graph::CanFrame& frame : frames) {
          frame.time = std::numeric_limits<double>::quiet_NaN();
        }
      }
      add_injected(frames, profiles[own], fold_of(begin));
      if (own != 0) add_injected(frames, profiles[0], fold_of(begin));
    }
  }

  void add_injected(const std::vector<graph::CanFrame>& frames, const Usual& usual, int32_t fold) {
    constexpr int64_t kWarmUp = 2;  // the first windows have no frames ahead of them
    RelativeWindows windows(usual.profile, options_.window);
    int64_t number = 0;
    const auto take = [&] {
      if (number++ < kWarmUp) return;
      add_row(windows.window(), fold, usual.own, false);
      ++out_.rows.injected;
    };
    for (const graph::CanFrame& frame : frames) {
      if (windows.add(frame)) take();
    }
    while (windows.finish()) take();
  }

  std::span<const Log> logs_;
  const DetectorOptions& options_;
  graph::Random random_;
  Learning out_;
  int32_t fold_ = 0;  // of the log that is read
  int64_t half_ = 0;  // its window from which on another fold begins
};

}  // namespace

trees::Table LearningSet::table() const {
  return {values, static_cast<int64_t>(kRelativeColumns), labels, weights};
}

Learning learn(std::span<const Log> logs, const std::vector<std::vector<std::size_t>>& vehicles,
               const DetectorOptions& options, int64_t seed,
               const std::function<void(double share)>& told) {
  if (!logs.empty() && std::all_of(logs.begin(), logs.end(), [](const Log& log) {
        return log.benign_ids(log.rows()).size() == 1;
      })) {
    throw Error(ExitCode::kData, logs.front().name() + ": one id only, as in every training log",
                "what is usual on a bus is learned from logs with all of its ids");
  }
  Learner learner(logs, options, seed);
  std::size_t done = 0;
  for (const std::vector<std::size_t>& vehicle : vehicles) {
    for (const std::size_t log : vehicle) {
      told(static_cast<double>(done++) / static_cast<double>(logs.size()));
      learner.add(log, vehicle);
    }
  }
  return learner.take();
}

}  // namespace kdgat::detector
