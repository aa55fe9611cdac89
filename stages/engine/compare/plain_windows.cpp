#include "engine/compare/plain_windows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "engine/data/can/frames/can_frame.h"

namespace kdgat::compare {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

/// Half-way between the two in the middle; NaN of nothing.
double median(std::vector<double> values) {
  if (values.empty()) return kNoNumber;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// Median gap of each id with four frames or more, in the order of time.
void add_medians(const data::Piece& piece, std::unordered_map<uint32_t, std::vector<double>>& out) {
  constexpr std::size_t kFewest = 4;
  std::unordered_map<uint32_t, std::vector<double>> times;
  for (int64_t row = piece.begin; row < piece.end; ++row) {
    if (piece.log->is_attack(row)) continue;
    std::vector<double>& of_id = times[piece.log->id(row)];
    if (const double time = piece.log->time(row); !std::isnan(time)) of_id.push_back(time);
  }
  for (auto& [id, list] : times) {
    std::vector<double>& medians = out[id];
    if (list.size() < kFewest) continue;
    std::sort(list.begin(), list.end());
    std::vector<double> gaps;
    for (std::size_t i = 1; i < list.size(); ++i) gaps.push_back(list[i] - list[i - 1]);
    medians.push_back(median(std::move(gaps)));
  }
}

/// The numbers of one window while its frames come.
class PlainWindow {
 public:
  void add(const data::CanFrame& frame, double gap, double relative) {
    if (frames_++ == 0) begin_ = frame.time;
    end_ = frame.time;
    ++ids_[frame.id];
    if (!std::isnan(gap)) gaps_.push_back(gap);
    if (!std::isnan(relative)) relative_.push_back(relative);
    const auto payload = frame.payload.begin();
    zero_ += std::all_of(payload, payload + frame.length, [](uint8_t b) { return b == 0; }) ? 1 : 0;
    attack |= frame.label == 1;
  }
  int64_t frames() const { return frames_; }

  int64_t unknown = 0, changed = 0, new_pairs = 0;
  bool attack = false;

  void append_to(std::vector<float>& out) const {
    const auto share = [&](int64_t count) {
      return static_cast<double>(count) / static_cast<double>(frames_);
    };
    const auto count = [&](auto is) {
      return std::count_if(relative_.begin(), relative_.end(), is);
    };
    double entropy = 0, largest = 0, sum = 0;
    for (const auto& [id, frames] : ids_) {
      entropy -= share(frames) * std::log(share(frames));
      largest = std::max(largest, share(frames));
    }
    constexpr double kMostRelative = 5;
    for (const double one : relative_) sum += std::clamp(one, 0.0, kMostRelative);
    constexpr double kNoGap = 9;
    const auto least = [](const std::vector<double>& values, double otherwise) {
      return values.empty() ? otherwise : *std::min_element(values.begin(), values.end());
    };
    const double row[kPlainColumns] = {
        std::isnan(end_ - begin_) ? 0 : end_ - begin_,
        static_cast<double>(ids_.size()),
        largest,
        entropy,
        share(unknown),
        least(gaps_, kNoGap),
        gaps_.empty() ? kNoGap : median(gaps_),
        least(relative_, 0),
        share(count([](double one) { return one < 0.5; })),
        share(count([](double one) { return one > 2; })),
        relative_.empty() ? 0 : sum / static_cast<double>(relative_.size()),
        static_cast<double>(ids_.begin()->first),
        share(changed),
        share(zero_),
        share(new_pairs)};
    for (const double number : row) out.push_back(static_cast<float>(number));
  }

 private:
  int64_t frames_ = 0, zero_ = 0;
  double begin_ = 0, end_ = 0;
  std::map<uint32_t, int64_t> ids_;
  std::vector<double> gaps_, relative_;
};

bool same_payload(const data::CanFrame& a, const data::CanFrame& b) {
  return a.length == b.length &&
         std::equal(a.payload.begin(), a.payload.begin() + a.length, b.payload.begin());
}

}  // namespace

PlainProfile PlainProfile::learn(std::span<const data::Piece> pieces) {
  PlainProfile out;
  std::unordered_map<uint32_t, std::vector<double>> medians;
  for (const data::Piece& piece : pieces) {
    add_medians(piece, medians);
    bool has_last = false;
    uint32_t last = 0;
    for (int64_t row = piece.begin; row < piece.end; ++row) {
      if (piece.log->is_attack(row)) continue;
      const uint32_t id = piece.log->id(row);
      if (has_last) out.pairs_.insert(pair(last, id));
      has_last = true;
      last = id;
    }
  }
  for (auto& [id, list] : medians) out.period_[id] = median(std::move(list));
  return out;
}

double PlainProfile::period(uint32_t id) const {
  const auto found = period_.find(id);
  return found == period_.end() ? kNoNumber : found->second;
}

std::span<const float> PlainWindows::rows(int64_t begin, int64_t end) const {
  return std::span(values).subspan(static_cast<std::size_t>(begin) * kPlainColumns,
                                   static_cast<std::size_t>(end - begin) * kPlainColumns);
}

PlainWindows plain_windows(const data::StoredLog& log, const PlainProfile& profile,
                           int64_t window) {
  PlainWindows out;
  const auto windows = static_cast<std::size_t>(log.rows() / window);
  out.values.reserve(windows * kPlainColumns);
  out.labels.reserve(windows);
  std::unordered_map<uint32_t, data::CanFrame> last;
  PlainWindow now;
  uint32_t before = 0;
  for (int64_t row = 0; row < log.rows(); ++row) {
    const data::CanFrame frame = log.frame(row);
    if (log.restarts(row)) last.clear();
    const auto [past, is_first] = last.try_emplace(frame.id, frame);
    const double gap = is_first ? kNoNumber : frame.time - past->second.time;
    now.add(frame, gap, gap / profile.period(frame.id));
    now.unknown += profile.knows(frame.id) ? 0 : 1;
    now.changed += is_first || !same_payload(frame, past->second) ? 1 : 0;
    now.new_pairs += row > 0 && !profile.follows(frame.id, before) ? 1 : 0;
    past->second = frame;
    before = frame.id;
    if (now.frames() < window) continue;
    now.append_to(out.values);
    out.labels.push_back(now.attack ? 1 : 0);
    now = {};
  }
  return out;
}

}  // namespace kdgat::compare
