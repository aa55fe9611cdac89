#include "data/can/vehicle_profile.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "kdgat/error.h"

namespace kdgat::graph {
namespace {

using nlohmann::json;

constexpr float kMostBits = 14;
constexpr double kMostSeconds = 1e9, kMostRatio = 1e12;
constexpr int64_t kMostCount = int64_t{1} << 50, kMostId = (int64_t{1} << 29) - 1;
constexpr double kShortestPeriod = 1e-4;  // a bus of 1 Mbit/s carries no frame in less

/// Numbers of a profile that is read, each in its range.
struct Reader {
  const std::string& file;

  [[noreturn]] void fail(const std::string& why) const {
    throw Error(ExitCode::kData, file + ": not a vehicle profile: " + why);
  }
  const json& member(const json& in, const char* key) const {
    if (!in.is_object() || !in.contains(key)) fail(std::string("no \"") + key + "\"");
    return in.at(key);
  }
  /// Of an object's member, or of `in` itself where it is no object. From 0 to `most`.
  int64_t whole(const json& in, const char* key, int64_t most) const {
    const json& value = in.is_object() ? member(in, key) : in;
    const bool whole = value.is_number_integer() && (value.is_number_unsigned() || value >= 0);
    if (!whole || value.get<uint64_t>() > static_cast<uint64_t>(most)) {
      fail(std::string("\"") + key + "\" is no whole number from 0 to " + std::to_string(most));
    }
    return value.get<int64_t>();
  }
  double number(const json& in, const char* key, double most) const {
    const json& value = member(in, key);
    const double number = value.is_number() ? value.get<double>() : -1;
    if (!(number >= 0 && number <= most)) {
      fail(std::string("\"") + key + "\" is no number in its range");
    }
    return number;
  }
  const json& list(const json& in, const char* key, std::size_t most) const {
    const json& value = member(in, key);
    if (!value.is_array() || value.size() > most) {
      fail(std::string("\"") + key + "\" is no list of at most " + std::to_string(most));
    }
    return value;
  }
};

}  // namespace

int ByteMoves::bin(uint8_t from, uint8_t to) {
  const int up = static_cast<uint8_t>(to - from);
  const int move = std::min(up, 256 - up);
  return static_cast<int>(std::bit_width(static_cast<unsigned>(move)));
}

int64_t ByteMoves::total() const {
  int64_t sum = 0;
  for (const int64_t count : counts_) sum += count;
  return sum;
}

float ByteMoves::measure(int bin) const {
  if (bin == 0) return 0;
  int64_t at_least = 0, beyond = 0;
  int largest = kBins - 1;
  while (largest > 0 && counts_[static_cast<std::size_t>(largest)] == 0) --largest;
  for (int b = std::min(bin, std::max(largest, 1)); b < kBins; ++b) {
    at_least += counts_[static_cast<std::size_t>(b)];
  }
  beyond = std::max(0, bin - std::max(largest, 1));
  const double share = (static_cast<double>(at_least) + 0.5) / (static_cast<double>(total()) + 1);
  return std::min(kMostBits, static_cast<float>(-std::log2(share)) + static_cast<float>(beyond));
}

void ByteMoves::settle() {
  for (int b = 0; b < kBins; ++b) surprise_[static_cast<std::size_t>(b)] = measure(b);
}

float SendingTimes::add(double time, float& distance) {
  if (std::isnan(due_)) {
    due_ = time;
    distance = 0;
    return 0;
  }
  const double periods = (time - due_) / period_;
  const double nearest = std::round(periods);
  const double rest = periods - nearest;
  distance = static_cast<float>(std::abs(rest));
  if (distance <= tolerance_ && nearest >= 1) {
    due_ += (nearest + rest / 2) * period_;  // follows slowly: jitter is not drift
    run_ = 0;
    return 0;
  }
  const float off = nearest < 1 && (periods < 0 || distance <= tolerance_) ? 1 : 2 * distance;
  others_[static_cast<std::size_t>(run_ % kAgree)] = time;
  if (++run_ >= kAgree) {
    bool agree = true;
    for (int i = 1; i < kAgree; ++i) {
      const double gap = others_[static_cast<std::size_t>((run_ - i) % kAgree)] -
                         others_[static_cast<std::size_t>((run_ - i - 1) % kAgree)];
      agree = agree && std::abs(gap / period_ - 1) <= 2 * tolerance_;
    }
    if (agree || run_ >= kMostOff) {
      due_ = time;
      run_ = 0;
    }
  }
  return std::min(1.0F, off);
}

float IdProfile::surprise(const uint8_t* from, const uint8_t* to, std::size_t length) const {
  float bits = 0;
  for (std::size_t i = 0; i < std::min(length, bytes.size()); ++i) {
    if (from[i] != to[i]) bits += bytes[i].surprise(ByteMoves::bin(from[i], to[i]));
  }
  return bits;
}

bool IdProfile::rare_change(const uint8_t* from, const uint8_t* to, std::size_t length) const {
  constexpr float kRareBits = 3;
  for (std::size_t i = 0; i < std::min(length, bytes.size()); ++i) {
    if (from[i] != to[i] && bytes[i].surprise(1) > kRareBits) return true;
  }
  return false;
}

const IdProfile* VehicleProfile::find(uint32_t id) const {
  const auto at = std::lower_bound(ids.begin(), ids.end(), id,
                                   [](const IdProfile& one, uint32_t key) { return one.id < key; });
  return at != ids.end() && at->id == id ? &*at : nullptr;
}

void Sample::add(float value) {
  if (seen_++ % stride_ != 0) return;
  if (kept_.size() == kMost) {
    for (std::size_t i = 0; 2 * i < kMost; ++i) kept_[i] = kept_[2 * i];
    kept_.resize(kMost / 2);
    stride_ *= 2;
    if ((seen_ - 1) % stride_ != 0) return;
  }
  kept_.push_back(value);
}

float Sample::quantile(double share) const {
  if (kept_.empty()) return 0;
  std::vector<float> sorted = kept_;
  std::sort(sorted.begin(), sorted.end());
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  const auto part = static_cast<float>(at - static_cast<double>(low));
  return sorted[low] + part * (sorted[high] - sorted[low]);
}

void ProfileBuilder::restart() {
  for (auto& [id, state] : ids_) {
    state.has_last = false;
    state.gaps_at_start = 0;
  }
  now_ = kNoTime;
}

void ProfileBuilder::add(const CanFrame& frame) {
  ++frames_;
  constexpr double kLongestPause = 1;  // a longer one is no traffic that was listened to
  if (frame.time > now_) seconds_ += std::min(kLongestPause, frame.time - now_);
  if (!(frame.time < now_)) now_ = frame.time;
  if (ids_.size() >= kMostIds && !ids_.contains(frame.id)) {
    ++dropped_;
    return;
  }
  State& state = ids_[frame.id];
  state.out.id = frame.id;
  ++state.out.frames;
  const std::size_t length = std::min<std::size_t>(frame.length, kMostPayload);
  state.out.lengths.set(length);
  if (state.out.bytes.size() < length) state.out.bytes.resize(length);
  if (state.has_last) {
    add_gap(state, now_ - state.last_time, now_);
    if (state.last_length == length) add_move(state, frame);
  }
  state.has_last = true;
  state.last_time = now_;
  state.last_length = length;
  std::copy_n(frame.payload.begin(), kMostPayload, state.last.begin());
}

void ProfileBuilder::add_gap(State& state, double gap, double time) {
  if (std::isnan(gap)) return;  // a log without times
  state.gaps.add(static_cast<float>(gap));
  state.silence = std::max(state.silence, static_cast<float>(gap));
  // The period is known the better the longer: times are followed anew whenever gaps have doubled.
  constexpr int64_t kFirst = 8;
  constexpr float kWide = 0.25F;
  const int64_t seen = state.gaps.seen();
  if (seen >= std::max(kFirst, 2 * state.gaps_at_start)) {
    state.times.start(std::max<double>(state.gaps.quantile(0.5), kShortestPeriod), kWide);
    state.gaps_at_start = seen;
  }
  if (state.gaps_at_start == 0) return;
  float distance = 0;
  state.times.add(time, distance);
  state.distances.add(distance);
}

void ProfileBuilder::add_move(State& state, const CanFrame& frame) {
  constexpr int64_t kFirst = 16;
  float bits = 0;
  const bool known = state.out.frames > kFirst;
  for (std::size_t i = 0; i < state.last_length; ++i) {
    const int bin = ByteMoves::bin(state.last[i], frame.payload[i]);
    // How surprising was it for what had been learned until then: honest for the frames to come.
    if (known && bin > 0) bits += state.out.bytes[i].measure(bin);
    state.out.bytes[i].count(bin);
  }
  if (known) state.surprises.add(bits);
}

VehicleProfile ProfileBuilder::profile() const {
  VehicleProfile out;
  out.frames = frames_;
  out.seconds = seconds_;
  for (const auto& [id, state] : ids_) {
    IdProfile one = state.out;
    if (state.gaps.seen() >= 4) {
      const float period = std::max(state.gaps.quantile(0.5), static_cast<float>(kShortestPeriod));
      one.period = period;
      one.early = state.gaps.quantile(0.01) / period;
      one.late = state.gaps.quantile(0.99) / period;
      one.silence = state.silence / period;
      one.jitter = state.distances.seen() > 0 ? state.distances.quantile(0.99) : 0.5F;
    }
    one.change = std::max(IdProfile::kLeastChange, state.surprises.quantile(0.999));
    for (ByteMoves& byte : one.bytes) byte.settle();
    out.ids.push_back(std::move(one));
  }
  std::sort(out.ids.begin(), out.ids.end(),
            [](const IdProfile& a, const IdProfile& b) { return a.id < b.id; });
  return out;
}

nlohmann::json VehicleProfile::json() const {
  nlohmann::json list = nlohmann::json::array();
  for (const IdProfile& one : ids) {
    nlohmann::json lengths = nlohmann::json::array(), moves = nlohmann::json::array();
    for (std::size_t i = 0; i <= kMostPayload; ++i) {
      if (one.lengths.test(i)) lengths.push_back(i);
    }
    for (const ByteMoves& byte : one.bytes) {
      const auto& counts = byte.counts();
      std::size_t used = counts.size();
      while (used > 1 && counts[used - 1] == 0) --used;
      moves.push_back(
          std::vector<int64_t>(counts.begin(), counts.begin() + static_cast<int>(used)));
    }
    list.push_back({{"id", one.id},
                    {"frames", one.frames},
                    {"period", one.period},
                    {"early", one.early},
                    {"late", one.late},
                    {"silence", one.silence},
                    {"jitter", one.jitter},
                    {"change", one.change},
                    {"lengths", std::move(lengths)},
                    {"moves", std::move(moves)}});
  }
  return {{"frames", frames}, {"seconds", seconds}, {"ids", std::move(list)}};
}

VehicleProfile VehicleProfile::from_json(const nlohmann::json& json, const std::string& file) {
  const Reader in{file};
  VehicleProfile out;
  out.frames = in.whole(json, "frames", kMostCount);
  out.seconds = in.number(json, "seconds", kMostSeconds);
  for (const nlohmann::json& item : in.list(json, "ids", ProfileBuilder::kMostIds)) {
    IdProfile one;
    one.id = static_cast<uint32_t>(in.whole(item, "id", kMostId));
    if (!out.ids.empty() && one.id <= out.ids.back().id) in.fail("ids do not ascend");
    one.frames = in.whole(item, "frames", kMostCount);
    one.period = in.number(item, "period", kMostSeconds);
    one.early = static_cast<float>(in.number(item, "early", kMostRatio));
    one.late = static_cast<float>(in.number(item, "late", kMostRatio));
    one.silence = static_cast<float>(in.number(item, "silence", kMostRatio));
    one.jitter = static_cast<float>(in.number(item, "jitter", 0.5));
    one.change = static_cast<float>(in.number(item, "change", kMostRatio));
    if (!(one.change > 0)) in.fail("\"change\" is not above 0");
    for (const nlohmann::json& length : in.list(item, "lengths", kMostPayload + 1)) {
      one.lengths.set(static_cast<std::size_t>(in.whole(length, "lengths", kMostPayload)));
    }
    for (const nlohmann::json& row : in.list(item, "moves", kMostPayload)) {
      if (!row.is_array() || row.size() > ByteMoves::kBins)
        in.fail("\"moves\" has a row of no byte");
      std::array<int64_t, ByteMoves::kBins> counts{};
      for (std::size_t i = 0; i < row.size(); ++i)
        counts[i] = in.whole(row[i], "moves", kMostCount);
      one.bytes.emplace_back().set_counts(counts);
      one.bytes.back().settle();
    }
    out.ids.push_back(std::move(one));
  }
  return out;
}

VehicleProfile profile_of(std::span<const CanFrame> frames) {
  ProfileBuilder builder;
  for (const CanFrame& frame : frames) {
    if (frame.label != 1) builder.add(frame);
  }
  return builder.profile();
}

}  // namespace kdgat::graph
