#include "engine/data/can/vehicles/stored_log.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>

#include "engine/data/can/windows/vehicle_profile.h"
#include "kdgat/text.h"

namespace kdgat::data {
namespace {

bool same_row(const CanFrame& a, const CanFrame& b) {
  return a.id == b.id && a.length == b.length && a.label == b.label && a.payload == b.payload;
}

/// FNV-1a over what same_row() compares.
uint64_t content_hash(const StoredLog& log) {
  constexpr uint64_t kPrime = 0x100000001b3;
  uint64_t out = 0xcbf29ce484222325;
  const auto add = [&](uint64_t number) { out = (out ^ number) * kPrime; };
  for (int64_t row = 0; row < log.rows(); ++row) {
    const CanFrame frame = log.frame(row);
    add(frame.id);
    add(frame.length);
    add(static_cast<uint8_t>(frame.label));
    for (std::size_t i = 0; i < frame.length; ++i) add(frame.payload[i]);
  }
  return out;
}

/// Equal hashes are looked at row by row.
bool is_copy(const StoredLog& a, const StoredLog& b) {
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

bool StoredLog::is_timeless() const {
  const auto times =
      frames_->time.subspan(static_cast<std::size_t>(begin_), static_cast<std::size_t>(rows_));
  return std::all_of(times.begin(), times.end(), [](double time) { return std::isnan(time); });
}

double StoredLog::seconds(int64_t begin, int64_t end) const {
  double out = 0;
  for (int64_t row = begin + 1; row < end; ++row) {
    const double gap = time(row) - time(row - 1);
    if (gap > 0) out += std::min(gap, 1.0);
  }
  return out;
}

int64_t StoredLog::unlabelled() const {
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
  if (!beyond_ && ids_.size() > ProfileBuilder::kMostIds) beyond_ = rows_;
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
    out.push_back("more than " + grouped(static_cast<int64_t>(ProfileBuilder::kMostIds)) +
                  " benign ids, which a profile holds: others, from row " + grouped(*beyond_ + 1) +
                  " on, are unknown to it");
  }
  return out;
}

std::vector<std::string> StoredLog::problems() const {
  LogProblems problems;
  for (int64_t row = 0; row < rows_; ++row) {
    problems.add(key_of(*frames_, begin_ + row),
                 frames_->time[static_cast<std::size_t>(begin_ + row)], is_attack(row),
                 restarts(row));
  }
  std::vector<std::string> out = problems.sentences();
  for (std::string& sentence : out) sentence.insert(0, name() + ": ");
  return out;
}

int64_t StoredLog::first_attack() const {
  int64_t row = 0;
  while (row < rows_ && !is_attack(row)) ++row;
  return row;
}

void StoredLog::make_monotonic() {
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

std::vector<uint32_t> StoredLog::benign_ids(int64_t end) const {
  std::unordered_set<uint32_t> seen;
  for (int64_t row = 0; row < std::min(end, rows_); ++row) {
    if (is_attack(row) || is_diagnostic(id(row))) continue;
    seen.insert(key(row));
  }
  std::vector<uint32_t> out(seen.begin(), seen.end());
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<StoredLog> stored_logs(const graph::GraphStore& store) {
  const auto& frames = store.need<graph::Frames>();
  if (frames.sources() != static_cast<int64_t>(store.sources().size())) {
    throw Error(ExitCode::kData, store.path().string() + ": the frames are not of its sources");
  }
  std::vector<StoredLog> out;
  for (std::size_t i = 0; i < store.sources().size(); ++i) {
    out.emplace_back(store.sources()[i], frames, i);
  }
  return out;
}

std::vector<SameContent> same_content(std::span<const StoredLog> logs) {
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

}  // namespace kdgat::data
