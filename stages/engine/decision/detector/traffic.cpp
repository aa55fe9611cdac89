#include "engine/decision/detector/traffic.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>

#include "engine/arrays/random.h"
#include "kdgat/text.h"

namespace kdgat::decision {
namespace {

bool same_row(const data::CanFrame& a, const data::CanFrame& b) {
  return a.id == b.id && a.length == b.length && a.label == b.label && a.payload == b.payload;
}

/// FNV-1a over what same_row() compares.
uint64_t content_hash(const Log& log) {
  constexpr uint64_t kPrime = 0x100000001b3;
  uint64_t out = 0xcbf29ce484222325;
  const auto add = [&](uint64_t number) { out = (out ^ number) * kPrime; };
  for (int64_t row = 0; row < log.rows(); ++row) {
    const data::CanFrame frame = log.frame(row);
    add(frame.id);
    add(frame.length);
    add(static_cast<uint8_t>(frame.label));
    for (std::size_t i = 0; i < frame.length; ++i) add(frame.payload[i]);
  }
  return out;
}

/// Equal hashes are looked at row by row.
bool is_copy(const Log& a, const Log& b) {
  if (a.rows() != b.rows()) return false;
  int64_t row = 0;
  while (row < a.rows() && same_row(a.frame(row), b.frame(row))) ++row;
  return row == a.rows();
}

}  // namespace

std::string counted(int64_t count, const char* of) {
  return grouped(count) + " " + of + (count == 1 ? "" : "s");
}

std::string id_text(uint32_t key) {
  constexpr uint32_t kId = (uint32_t{1} << 29) - 1;
  char text[16];
  std::snprintf(text, sizeof text, "%03X", static_cast<unsigned>(key & kId));
  const uint32_t bus = key >> 29;
  return bus == 0 ? text : std::to_string(bus) + ":" + text;
}

bool Log::is_timeless() const {
  const auto times =
      frames_->time.subspan(static_cast<std::size_t>(begin_), static_cast<std::size_t>(rows_));
  return std::all_of(times.begin(), times.end(), [](double time) { return std::isnan(time); });
}

double Log::seconds(int64_t begin, int64_t end) const {
  double out = 0;
  for (int64_t row = begin + 1; row < end; ++row) {
    const double gap = time(row) - time(row - 1);
    if (gap > 0) out += std::min(gap, 1.0);
  }
  return out;
}

int64_t Log::unlabelled() const {
  const auto flags =
      frames_->flags.subspan(static_cast<std::size_t>(begin_), static_cast<std::size_t>(rows_));
  return std::count_if(flags.begin(), flags.end(),
                       [](uint8_t flag) { return (flag & graph::Frames::kUnlabelled) != 0; });
}

void LogProblems::add(uint32_t key, double time, bool is_attack, bool restarts) {
  constexpr double kLongPause = 3600;
  timeless_ += std::isnan(time) ? 1 : 0;
  if (!restarts && time - last_ > kLongPause) {
    ++jumps_;
    longest_ = std::max(longest_, time - last_);
  }
  last_ = time;
  if (!is_attack && !beyond_) ids_.insert(key);
  if (!beyond_ && ids_.size() > data::ProfileBuilder::kMostIds) beyond_ = rows_;
  ++rows_;
}

std::vector<std::string> LogProblems::sentences() const {
  std::vector<std::string> out;
  if (rows_ > 0 && timeless_ == rows_) {
    out.push_back("no times: ids, lengths and payloads are looked at, and " +
                  grouped(kAssumedRate) + " frames a second assumed");
  } else if (timeless_ > 0) {
    out.push_back(counted(timeless_, "row") + " of " + grouped(rows_) + " without a time");
  }
  if (jumps_ > 0) {
    out.push_back(counted(jumps_, "jump") + " of the clock by over an hour, the largest by " +
                  format_number("%.0f", longest_) + " s: ids begin anew behind them");
  }
  if (ids_.size() == 1) {
    out.push_back("one id only, " + id_text(*ids_.begin()) +
                  ": no attack can be told by how it differs from the rest of a bus");
  }
  if (beyond_) {
    out.push_back("more than " + grouped(static_cast<int64_t>(data::ProfileBuilder::kMostIds)) +
                  " benign ids, which a profile holds: others, from row " + grouped(*beyond_ + 1) +
                  " on, are unknown to it");
  }
  return out;
}

std::vector<std::string> Log::problems() const {
  LogProblems problems;
  for (int64_t row = 0; row < rows_; ++row) {
    problems.add(data::key_of(*frames_, begin_ + row),
                 frames_->time[static_cast<std::size_t>(begin_ + row)], is_attack(row),
                 restarts(row));
  }
  std::vector<std::string> out = problems.sentences();
  for (std::string& sentence : out) sentence.insert(0, name() + ": ");
  return out;
}

int64_t Log::first_attack() const {
  int64_t row = 0;
  while (row < rows_ && !is_attack(row)) ++row;
  return row;
}

void Log::make_monotonic() {
  std::vector<double> times;
  times.reserve(static_cast<std::size_t>(rows_));
  double latest = std::numeric_limits<double>::quiet_NaN();
  for (int64_t row = 0; row < rows_; ++row) {
    const double now = time(row);
    if (restarts(row) || !(now <= latest)) latest = now;
    times.push_back(std::isnan(now) ? now : latest);
  }
  times_ = std::make_shared<const std::vector<double>>(std::move(times));
}

std::vector<uint32_t> Log::benign_ids(int64_t end) const {
  std::unordered_set<uint32_t> seen;
  for (int64_t row = 0; row < std::min(end, rows_); ++row) {
    if (is_attack(row) || data::is_diagnostic(id(row))) continue;
    seen.insert(key(row));
  }
  std::vector<uint32_t> out(seen.begin(), seen.end());
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<Log> logs_of(const graph::GraphStore& store) {
  const auto& frames = store.need<graph::Frames>();
  if (frames.sources() != static_cast<int64_t>(store.sources().size())) {
    throw Error(ExitCode::kData, store.path().string() + ": the frames are not of its sources");
  }
  std::vector<Log> out;
  for (std::size_t i = 0; i < store.sources().size(); ++i) {
    out.emplace_back(store.sources()[i], frames, i);
  }
  return out;
}

std::vector<SameContent> same_content(std::span<const Log> logs) {
  std::vector<SameContent> out;
  std::map<uint64_t, std::vector<std::size_t>> seen;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    std::vector<std::size_t>& alike = seen[content_hash(logs[i])];
    const auto twin = std::find_if(alike.begin(), alike.end(), [&](std::size_t other) {
      return is_copy(logs[i], logs[other]);
    });
    if (twin == alike.end()) {
      alike.push_back(i);
    } else if (logs[i].trains() != logs[*twin].trains() ||
               (!logs[i].trains() && logs[i].part() != logs[*twin].part())) {
      out.push_back({logs[*twin].name(), logs[i].name()});
    }
  }
  return out;
}

data::VehicleProfile learn_profile(std::span<const Piece> pieces) {
  data::ProfileBuilder builder;
  for (const Piece& piece : pieces) {
    builder.restart();
    for (int64_t row = piece.begin; row < piece.end; ++row) {
      learn_row(piece.log->frame(row), piece.log->restarts(row), builder);
    }
  }
  return builder.profile();
}

int64_t own_windows_in(const Log& log, int64_t window, double seconds) {
  HeardTime heard;
  int64_t rows = 0;
  while (rows < log.rows() && rows < kMostOwnFrames && heard.seconds() < seconds) {
    heard.add(log.time(rows++));
  }
  return std::min(own_windows_of((rows + window - 1) / window, window), log.rows() / window);
}

OwnBeginning learn_own(const Log& log, int64_t window, int64_t windows) {
  OwnBeginning out;
  out.windows = std::min(own_windows_of(windows, window), log.first_attack() / window);
  if (out.windows >= kLeastOwn) {
    out.profile = learn_profile(std::array{Piece{&log, 0, out.windows * window}});
  }
  return out;
}

double overlap(std::span<const uint32_t> a, std::span<const uint32_t> b) {
  std::vector<uint32_t> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  const std::size_t either = a.size() + b.size() - both.size();
  return either == 0 ? 0 : static_cast<double>(both.size()) / static_cast<double>(either);
}

bool are_alike(const data::VehicleProfile& some, const data::VehicleProfile& more) {
  constexpr int64_t kFew = 8;  // frames
  constexpr double kNear = 1.25;
  const auto is_near = [](double a, double b) { return a < kNear * b && b < kNear * a; };
  // Of times that a logger rounds the median gap may be wrong, not the number of frames.
  const auto rate = [](const data::IdProfile& id, const data::VehicleProfile& of) {
    return of.seconds > 0 ? static_cast<double>(id.frames) / of.seconds : 0;
  };
  int64_t compared = 0, others = 0;
  for (const data::IdProfile& one : some.ids) {
    const data::IdProfile* other = more.find(one.key());
    if (other == nullptr || std::min(one.frames, other->frames) < kFew) continue;
    ++compared;
    const bool has_times = one.period > 0 && other->period > 0;
    const bool is_as_often = !has_times || is_near(one.period, other->period) ||
                             is_near(rate(one, some), rate(*other, more));
    others += is_as_often && (one.lengths & ~other->lengths).none() ? 0 : 1;
  }
  return 4 * others <= compared;
}

std::vector<std::vector<std::size_t>> group_by_vehicle(std::span<const Log> logs) {
  std::vector<std::vector<std::size_t>> out;
  std::vector<std::vector<uint32_t>> ids;
  std::map<std::size_t, data::VehicleProfile> profiles;  // of those that were asked for
  const auto profile = [&](std::size_t i) -> const data::VehicleProfile& {
    const auto found = profiles.find(i);
    if (found != profiles.end()) return found->second;
    return profiles[i] = learn_profile(std::array{Piece{&logs[i], 0, logs[i].rows()}});
  };
  for (std::size_t i = 0; i < logs.size(); ++i) {
    ids.push_back(logs[i].benign_ids(logs[i].rows()));
    const auto same = std::find_if(out.begin(), out.end(), [&](const auto& group) {
      const std::size_t first = group.front();
      if (overlap(ids[first], ids[i]) <= kSameVehicle) return false;
      return are_alike(profile(i), profile(first)) || are_alike(profile(first), profile(i));
    });
    if (same == out.end()) {
      out.push_back({i});
    } else {
      same->push_back(i);
      profiles.erase(i);
    }
  }
  return out;
}

data::VehicleProfile forget_moves(data::VehicleProfile profile, double share,
                                  arrays::Random& random) {
  constexpr int64_t kFewFrames = 4;
  constexpr double kOfRareIds = 0.5;
  constexpr double kOfBytes = 0.6;  // a signal rests as a whole, counters beside it do not
  // A beginning of some seconds does not know ids that are sent more rarely.
  std::erase_if(profile.ids, [&](const data::IdProfile& id) {
    return id.frames <= kFewFrames && random.uniform() < kOfRareIds;
  });
  for (data::IdProfile& id : profile.ids) {
    if (random.uniform() >= share) continue;
    for (data::ByteMoves& byte : id.bytes) {
      if (random.uniform() >= kOfBytes) continue;
      byte.set_counts({byte.total()});
      byte.settle();
    }
    id.change = data::IdProfile::kLeastChange;
  }
  return profile;
}

}  // namespace kdgat::decision
