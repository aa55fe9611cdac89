#include "engine/data/can/windows/vehicle_profile.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <tuple>

#include "engine/data/can/frames/protocol_ids.h"
#include "kdgat/error.h"

namespace kdgat::data {
namespace {

using nlohmann::json;

constexpr float kMostBits = 14;
constexpr double kMostSeconds = 1e9, kMostRatio = 1e12;
constexpr int64_t kMostCount = int64_t{1} << 50, kMostId = (int64_t{1} << 29) - 1;

std::string hex_text(uint64_t name) {
  char text[16];
  const auto end = std::to_chars(text, text + sizeof text, name, 16).ptr;
  return {text, end};
}

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
  /// 0 where none is named.
  uint8_t channel_of(const json& in) const {
    if (!in.is_object() || !in.contains("channel")) return 0;
    return static_cast<uint8_t>(whole(in, "channel", kMostChannels - 1));
  }
  /// Of an object's member, or of `in` itself where it is no object.
  uint64_t hex(const json& in, const char* key) const {
    const json& value = in.is_object() ? member(in, key) : in;
    const std::string text = value.is_string() ? value.get<std::string>() : "";
    uint64_t out = 0;
    const char* end = text.data() + text.size();
    const auto [at, failure] = std::from_chars(text.data(), end, out, 16);
    if (failure != std::errc() || at != end) {
      fail(std::string("\"") + key + "\" is no hexadecimal number");
    }
    return out;
  }
  PayloadLaws laws(const json& in, std::size_t bytes) const {
    constexpr std::size_t kMostSums = 64;
    PayloadLaws out;
    out.bytes = static_cast<uint8_t>(whole(in, "bytes", KDGAT_LAW_BYTES));
    if (out.bytes != bytes) fail("\"laws\" are not of the id's payload");
    out.payload = hex(in, "payload");
    out.still = hex(in, "still");
    out.slow = hex(in, "slow");
    out.counters = hex(in, "counters");
    out.counter_ends = hex(in, "counter_ends");
    out.counter_tops = hex(in, "counter_tops");
    for (const json& one : list(in, "slow_sums", kMostSums)) out.sums.push_back(hex(one, "sums"));
    out.slow_sums = static_cast<uint32_t>(out.sums.size());
    for (const json& one : list(in, "checks", kMostSums)) out.sums.push_back(hex(one, "checks"));
    return out;
  }
  std::vector<IdStep> steps(const json& in) const {
    constexpr int64_t kMostKey = (int64_t{1} << 32) - 1;
    std::vector<IdStep> out;
    for (const json& row : list(in, "steps", StepCounter::kMostSteps)) {
      if (!row.is_array() || row.size() != 4) fail("\"steps\" has a row that is no step");
      IdStep& one = out.emplace_back();
      one.from = static_cast<uint32_t>(whole(row[0], "steps", kMostKey));
      one.to = static_cast<uint32_t>(whole(row[1], "steps", kMostKey));
      one.frames = whole(row[2], "steps", kMostCount);
      one.gap = number({{"gap", row[3]}}, "gap", kMostSeconds);
      if (out.size() < 2) continue;
      const IdStep& last = out[out.size() - 2];
      if (std::tie(last.from, last.to) >= std::tie(one.from, one.to)) fail("steps do not ascend");
    }
    return out;
  }
  const json& list(const json& in, const char* key, std::size_t most) const {
    const json& value = member(in, key);
    if (!value.is_array() || value.size() > most) {
      fail(std::string("\"") + key + "\" is no list of at most " + std::to_string(most));
    }
    return value;
  }
};

/// Random ids come once or twice each, and are many; rare ones of a vehicle are few.
void leave_out_rare(VehicleProfile& profile) {
  constexpr int64_t kRare = 3, kEnough = 1000;
  const auto is_rare = [](const IdProfile& one) { return one.frames <= kRare; };
  const auto rare = std::count_if(profile.ids.begin(), profile.ids.end(), is_rare);
  if (profile.frames < kEnough || 2 * rare <= std::ssize(profile.ids)) return;
  for (const IdProfile& one : profile.ids) profile.outliers += is_rare(one) ? one.frames : 0;
  std::erase_if(profile.ids, is_rare);
}

}  // namespace

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

const IdProfile* VehicleProfile::find(uint32_t key) const {
  const auto at =
      std::lower_bound(ids.begin(), ids.end(), key,
                       [](const IdProfile& one, uint32_t of) { return one.key() < of; });
  return at != ids.end() && at->key() == key ? &*at : nullptr;
}

BusActivity::Rates VehicleProfile::rates() const {
  BusActivity::Rates out{};
  if (!(seconds > 0)) return out;
  for (const IdProfile& one : ids) out[one.channel] += static_cast<double>(one.frames) / seconds;
  return out;
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

void ProfileBuilder::forget_last() {
  for (auto& [key, state] : ids_) {
    learn_held(state);
    state.begin_anew();
  }
  activity_.restart();
  if (steps_) steps_->restart();
}

void ProfileBuilder::restart() {
  forget_last();
  kdgat_clock_init(&clock_);
}

void ProfileBuilder::add(const CanFrame& frame) {
  ++frames_;
  const double before = clock_.now;
  if (kdgat_read_clock(&clock_, frame.time) != 0) forget_last();
  const double now = clock_.now;
  seconds_ += listened(before, now);
  activity_.add(frame.channel, now);
  if (steps_) steps_->add(frame, now);
  const uint32_t key = frame.key();
  if (ids_.size() >= kMostIds && !ids_.contains(key)) {
    ++dropped_;
    return;
  }
  if (kdgat_is_claim(frame.id) != 0) {
    names_[{frame.channel, j1939_source(frame.id)}] =
        kdgat_claim_name(frame.length, frame.payload.data());
  }
  State& state = ids_[key];
  state.out.id = frame.id;
  state.out.channel = frame.channel;
  Seen next{true,
            now,
            activity_.asleep(frame.channel),
            attacks_,
            std::min<std::size_t>(frame.length, kMostPayload),
            frame.payload};
  if (state.held.is && is_outlier(state, next)) {
    ++outliers_;
    ++state.outliers;
  } else {
    learn_held(state);
  }
  state.held = next;
}

bool ProfileBuilder::is_outlier(const State& state, const Seen& next) const {
  constexpr double kLeast = 0.75, kMost = 1.25;  // of the period
  constexpr int64_t kFirst = 16, kHabit = 8;
  constexpr float kJump = 8;  // bits: one frame in 256 jumps so far
  const Seen &last = state.last, &held = state.held;
  const double usual = state.period;
  if (!last.is || state.out.frames <= kFirst || !(usual > 0)) return false;
  if (kHabit * state.outliers > state.out.frames) return false;
  // Without it there would be one usual gap.
  const double whole = (next.time - last.time) / usual;
  if (!(whole > kLeast && whole < kMost) || next.length != last.length) return false;
  if (held.length != last.length) return true;
  float there = 0, back = 0, without = 0;
  for (std::size_t i = 0; i < held.length; ++i) {
    const ByteMoves& byte = state.out.bytes[i];
    there += byte.measure(ByteMoves::bin(last.payload[i], held.payload[i]));
    back += byte.measure(ByteMoves::bin(held.payload[i], next.payload[i]));
    without += byte.measure(ByteMoves::bin(last.payload[i], next.payload[i]));
  }
  return std::min(there, back) - without > kJump;
}

void ProfileBuilder::learn_held(State& state) const {
  if (!state.held.is) return;
  const Seen& held = state.held;
  ++state.out.frames;
  state.out.lengths.set(held.length);
  if (state.out.bytes.size() < held.length) state.out.bytes.resize(held.length);
  if (held.attacks != state.last.attacks) state.last.is = false;
  if (state.last.is && kdgat_was_asleep(held.asleep - state.last.asleep) != 0) {
    state.begin_anew();
  }
  if (state.last.is) {
    add_gap(state, held.time - state.last.time, held.time);
    if (state.last.length == held.length) add_move(state);
  }
  state.last = held;
  state.held.is = false;
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
    state.period = std::max<double>(state.gaps.quantile(0.5), kShortestPeriod);
    state.times.start(state.period, kWide);
    state.gaps_at_start = seen;
  }
  if (state.gaps_at_start == 0) return;
  float distance = 0;
  state.times.add(time, distance);
  state.distances.add(distance);
}

void ProfileBuilder::add_move(State& state) {
  constexpr int64_t kFirst = 16;
  kdgat_move_bits sum{0, 0};
  const bool known = state.out.frames > kFirst;
  for (std::size_t i = 0; i < state.last.length; ++i) {
    const int bin = ByteMoves::bin(state.last.payload[i], state.held.payload[i]);
    // How surprising was it for what had been learned until then: honest for the frames to come.
    const ByteMoves& byte = state.out.bytes[i];
    if (known && bin > 0) kdgat_add_bits(&sum, byte.measure(bin), byte.measure(1));
    state.out.bytes[i].count(bin);
  }
  if (known) state.surprises.add(sum.moving + sum.still);
}

VehicleProfile ProfileBuilder::profile() const {
  VehicleProfile out;
  out.frames = frames_;
  out.seconds = seconds_;
  out.dropped = dropped_;
  for (const auto& [at, name] : names_) out.names.push_back({at.first, at.second, name});
  out.outliers = outliers_;
  for (const auto& [id, seen] : ids_) {
    State state = seen;
    learn_held(state);
    IdProfile one = std::move(state.out);
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
  leave_out_rare(out);
  if (steps_) out.steps = steps_->steps();
  std::sort(out.ids.begin(), out.ids.end(),
            [](const IdProfile& a, const IdProfile& b) { return a.key() < b.key(); });
  return out;
}

nlohmann::json PayloadLaws::json() const {
  nlohmann::json lists[2] = {nlohmann::json::array(), nlohmann::json::array()};
  for (std::size_t i = 0; i < sums.size(); ++i) {
    lists[i < slow_sums ? 0 : 1].push_back(hex_text(sums[i]));
  }
  return {{"bytes", bytes},
          {"payload", hex_text(payload)},
          {"still", hex_text(still)},
          {"slow", hex_text(slow)},
          {"counters", hex_text(counters)},
          {"counter_ends", hex_text(counter_ends)},
          {"counter_tops", hex_text(counter_tops)},
          {"slow_sums", lists[0]},
          {"checks", lists[1]}};
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
    if (one.channel != 0) list.back()["channel"] = one.channel;
    if (one.laws) list.back()["laws"] = one.laws->json();
    if (is_diagnostic(one.id)) list.back()["diagnostic"] = true;  // for people: the id says it
  }
  nlohmann::json out = {{"frames", frames}, {"seconds", seconds}, {"ids", std::move(list)}};
  if (dropped > 0) out["dropped"] = dropped;
  if (outliers > 0) out["outliers"] = outliers;
  for (const IdStep& one : steps) {
    out["steps"].push_back({one.from, one.to, one.frames, one.gap});
  }
  for (const AddressName& one : names) {
    out["names"].push_back(
        {{"channel", one.channel}, {"address", one.address}, {"name", hex_text(one.name)}});
  }
  return out;
}

VehicleProfile VehicleProfile::from_json(const nlohmann::json& json, const std::string& file) {
  const Reader in{file};
  VehicleProfile out;
  out.frames = in.whole(json, "frames", kMostCount);
  out.seconds = in.number(json, "seconds", kMostSeconds);
  for (const nlohmann::json& item : in.list(json, "ids", ProfileBuilder::kMostIds)) {
    IdProfile one;
    one.id = static_cast<uint32_t>(in.whole(item, "id", kMostId));
    one.channel = in.channel_of(item);
    if (!out.ids.empty() && one.key() <= out.ids.back().key()) in.fail("ids do not ascend");
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
    if (item.contains("laws")) one.laws = in.laws(item.at("laws"), one.bytes.size());
    out.ids.push_back(std::move(one));
  }
  if (json.contains("dropped")) out.dropped = in.whole(json, "dropped", kMostCount);
  if (json.contains("outliers")) out.outliers = in.whole(json, "outliers", kMostCount);
  if (json.contains("steps")) out.steps = in.steps(json);
  if (!json.contains("names")) return out;
  for (const nlohmann::json& item : in.list(json, "names", std::size_t{256} * kMostChannels)) {
    AddressName& one = out.names.emplace_back();
    one.channel = in.channel_of(item);
    one.address = static_cast<uint8_t>(in.whole(item, "address", 255));
    one.name = in.hex(item, "name");
  }
  return out;
}

VehicleProfile profile_of(std::span<const CanFrame> frames) {
  ProfileBuilder builder;
  for (const CanFrame& frame : frames) {
    if (frame.label == 1) {
      builder.pass_over_attack();
    } else {
      builder.add(frame);
    }
  }
  return builder.profile();
}

}  // namespace kdgat::data
