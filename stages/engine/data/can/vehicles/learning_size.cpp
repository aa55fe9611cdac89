#include "engine/data/can/vehicles/learning_size.h"

#include <algorithm>
#include <array>
#include <string>

#include "engine/data/can/synthetic/attack_kinds.h"

namespace kdgat::data {
namespace {

/// Windows of an own beginning that profiles are made of: a vehicle never seen may have more or
/// fewer of its own, and each has what was learned of the nearest. Longer ones err less; training
/// logs have few that long.
constexpr std::array<int64_t, 3> kOwn = {30, 100, 300};
static_assert(kLeastAlone == 2 * kOwn.front());
constexpr int64_t kHalf = 40;              // windows: the least of one drive alone
constexpr int64_t kInjectedRows = 40'000;  // of one log, profile and kind of attack
constexpr int64_t kMostInjected = 20'000;  // windows of all logs, of one profile and kind of attack
/// Frames a second of a log's beginning.
double rate_of(const StoredLog& log) {
  constexpr int64_t kRows = 20'000;
  const int64_t rows = std::min(kRows, log.rows());
  const double seconds = log.seconds(0, rows);
  return seconds > 0 ? static_cast<double>(rows) / seconds : double{kAssumedRate};
}

/// Frames that attacks of a kind add to one that was there.
double added_to(const std::string& kind, double rate) {
  constexpr double kMostOfTraffic = 1;  // of kinds that send what is sent, or less, again
  const CanInjectOptions how = injection();
  const double attacked = how.min_attack_seconds + how.max_attack_seconds;
  const double share = attacked / (attacked + how.min_benign_seconds + how.max_benign_seconds);
  return share * std::max(kMostOfTraffic, attack_kind(kind).adds / rate);
}

/// Windows of pieces, without those ahead of `from`.
int64_t windows_in(const std::vector<WindowRange>& pieces, int64_t from) {
  int64_t out = 0;
  for (const WindowRange& piece : pieces) {
    out += std::max<int64_t>(0, piece.end - std::max(from, piece.begin));
  }
  return out;
}

}  // namespace

WindowCounts windows_of(const StoredLog& log, int64_t window) {
  return {log.rows() / window, log.first_attack() / window};
}

std::vector<ProfileSource> profile_sources(const WindowCounts& log, bool has_others) {
  std::vector<ProfileSource> out;
  if (has_others) {
    out.push_back({});
  } else if (log.benign / 2 >= kHalf) {
    // One drive alone: its first half says what is usual in the second.
    out.push_back({log.benign / 2, 0});
  }
  for (const int64_t own : kOwn) {
    const int64_t learned = std::min(own, log.benign / 2);
    if (learned < std::min(kHalf, own)) continue;
    out.push_back({learned, static_cast<int32_t>(own)});
  }
  return out;
}

std::vector<WindowRange> pieces_of(int64_t windows, int64_t from, int64_t all, int64_t most) {
  if (all <= most) return {{0, windows}};
  // Of so many stretches of equal length the first windows.
  const int64_t share = windows * most / all;
  const int64_t pieces = std::max<int64_t>(1, (share + kPieceWindows - 1) / kPieceWindows);
  const int64_t piece = std::max(kLeastPiece, share / pieces);
  std::vector<WindowRange> out;
  for (int64_t p = 0; p < pieces; ++p) {
    const int64_t first = from + p * (windows - from) / pieces;
    const int64_t next = from + (p + 1) * (windows - from) / pieces;
    if (first < next) out.push_back({first, std::min(next, first + piece)});
  }
  return out;
}

int64_t injected_windows(int64_t logs, int64_t window) {
  const int64_t share = kMostInjected / std::max<int64_t>(1, logs);
  return std::min(std::max(share, kLeastInjected), kInjectedRows / window);
}

CanInjectOptions injection() {
  CanInjectOptions out;
  out.keep_attacks = true;
  // Short ones: their beginnings and ends, hardest to tell, are seen more often.
  out.min_attack_seconds = 0.2;
  out.max_attack_seconds = 2;
  out.min_benign_seconds = 0.5;
  out.max_benign_seconds = 2;
  return out;
}

LearningSize learning_size(std::span<const StoredLog> logs, int64_t window,
                           const LearningOptions& options) {
  const bool has_others = logs.size() > 1;  // of another vehicle they only make it less
  const int64_t passes = options.forgotten > 0 ? 1 + kForgetful : 1;
  int64_t all = 0;
  for (const StoredLog& log : logs) all += log.rows() / window;
  LearningSize out;
  for (const StoredLog& log : logs) {
    const WindowCounts windows = windows_of(log, window);
    const auto taken = [&](int64_t from) {
      return windows_in(pieces_of(windows.all, from, all, options.most_windows), from);
    };
    out.windows += taken(0);
    int64_t attacked = 0, profiles = 0;
    for (const ProfileSource& source : profile_sources(windows, has_others)) {
      out.rows += passes * taken(source.learned);
      out.held += taken(source.learned);
      attacked = std::max(attacked, std::min(injected_windows(std::ssize(logs), window),
                                             windows.benign - source.learned));
      profiles = std::min<int64_t>(2, profiles + 1);  // see Learner::inject
    }
    if (attacked < kLeastInjected) continue;
    const double rate = rate_of(log);
    const int64_t frames = attacked * window;
    for (const std::string& kind : options.inject) {
      const auto added = static_cast<int64_t>(static_cast<double>(frames) * added_to(kind, rate));
      out.rows += profiles * (frames + added) / window;
      if (frames + added < out.attacked_frames + out.added_frames) continue;
      out.attacked_frames = frames;
      out.added_frames = added;
    }
  }
  return out;
}

}  // namespace kdgat::data
