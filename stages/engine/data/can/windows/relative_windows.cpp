#include "engine/data/can/windows/relative_windows.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kdgat::data {
namespace {

constexpr float kMost = 20;  // no column is larger
// Of a period: from drive to drive gaps are shorter by less, and no injected frame comes so late.
constexpr float kSlack = 0.05F;
constexpr std::size_t kWindows = 3;  // kept at once
// An id that was silent for so long is switched off, as happens in any drive: until it sends again
// its silence says no more.
constexpr double kSwitchedOff = 3;  // seconds

float part(float value) { return std::clamp(value, 0.0F, 1.0F); }

/// -log10 P(N >= count) of a Poisson variable with a small mean: the first term is nearly all.
float rareness(int64_t count, double mean) {
  if (count == 0) return 0;
  const auto n = static_cast<double>(count);
  const double rare = (std::lgamma(n + 1) - n * std::log(mean)) / std::log(10.0);
  return std::clamp(static_cast<float>(rare), 0.0F, kMost);
}

/// Of the next frames as large a share has an id never seen as so far had an id seen once (Good,
/// Biometrika 40, 1953): little in a profile of hours, much in one of seconds.
double expected_unknown(const VehicleProfile& profile) {
  const auto once = std::count_if(profile.ids.begin(), profile.ids.end(),
                                  [](const IdProfile& id) { return id.frames == 1; });
  return (static_cast<double>(once) + 0.5) /
         static_cast<double>(std::max<int64_t>(profile.frames, 1));
}

}  // namespace

std::vector<std::string> relative_names() {
  return {"unknown",    "length",    "crowd",      "crowd_share", "crowd_off",
          "crowd_off2", "off_share", "crowd_back", "crowd_new",   "off_new",
          "off_back",   "new",       "back",       "late",        "silence"};
}

UsualTimes usual_times(const IdProfile& id) {
  constexpr float kLeastTolerance = 0.02F, kMostTolerance = 0.25F, kMargin = 1.5F;
  UsualTimes out;
  out.longest = id.period * std::max(id.late, id.silence);
  out.late = std::max(id.late, 1.0F);
  out.pause = id.period * out.late;
  out.early = id.early - kSlack;
  out.tolerance = std::clamp(kMargin * id.jitter, kLeastTolerance, kMostTolerance);
  out.trust = 1 - part(2 * id.jitter);
  return out;
}

std::vector<float> unknown_columns(const VehicleProfile& profile, int64_t window) {
  const double usual = expected_unknown(profile) * static_cast<double>(window);
  std::vector<float> out;
  for (int64_t count = 0; count <= window; ++count) out.push_back(rareness(count, usual));
  return out;
}

int64_t most_excused(int64_t window) {
  return static_cast<int64_t>(kMostExcused * static_cast<float>(window));
}

std::map<uint8_t, J1939Senders> j1939_senders(const VehicleProfile& profile) {
  std::array<std::vector<uint32_t>, kMostChannels> ids;
  for (const IdProfile& one : profile.ids) ids[one.channel].push_back(one.id);
  std::map<uint8_t, J1939Senders> out;
  for (std::size_t channel = 0; channel < ids.size(); ++channel) {
    if (speaks_j1939(ids[channel])) out[static_cast<uint8_t>(channel)];
  }
  for (std::size_t i = 0; i < profile.ids.size(); ++i) {
    const IdProfile& one = profile.ids[i];
    const auto bus = out.find(one.channel);
    if (bus == out.end()) continue;
    const auto [at, is_new] = bus->second.emplace(j1939_message(one.id), static_cast<int32_t>(i));
    const auto other = static_cast<std::size_t>(at->second);
    if (!is_new && profile.ids[other].frames < one.frames) at->second = static_cast<int32_t>(i);
  }
  return out;
}

RelativeWindows::RelativeWindows(const VehicleProfile& profile, int64_t window)
    : profile_(profile),
      size_(window),
      unknown_(unknown_columns(profile, window)),
      senders_(profile.ids.size()),
      rows_(kWindows * static_cast<std::size_t>(window)),
      begins_(kWindows),
      ends_(kWindows),
      seconds_(kWindows),
      silences_(kWindows),
      clock_(profile.rules.clock),
      activity_(profile.rates()) {
  place_small_.fill(-1);
  for (std::size_t i = 0; i < senders_.size(); ++i) {
    const IdProfile& usual = profile.ids[i];
    Sender& sender = senders_[i];
    sender.usual = &usual;
    sender.keeps_times = usual.period > 0;
    sender.usual_times = usual_times(usual);
    if (sender.keeps_times) sender.times.start(usual.period, sender.usual_times.tolerance);
    if (usual.key() < place_small_.size()) {
      place_small_[usual.key()] = static_cast<int32_t>(i);
    } else {
      place_[usual.key()] = static_cast<int32_t>(i);
    }
  }
  if (profile.rules.j1939) find_networks();
}

void RelativeWindows::find_networks() {
  for (auto& [channel, messages] : j1939_senders(profile_)) {
    networks_[channel] = std::make_unique<Network>();
    networks_[channel]->messages = std::move(messages);
  }
  for (const AddressName& one : profile_.names) {
    if (networks_[one.channel]) networks_[one.channel]->claims.know(one.address, one.name);
  }
}

int32_t RelativeWindows::sender_of(const CanFrame& frame) {
  if (profile_.rules.diagnostic && is_diagnostic(frame.id)) return kExcused;
  const uint32_t key = profile_.rules.channels ? frame.key() : frame.id;
  if (key < place_small_.size()) return place_small_[key];
  Network* network = networks_[key >> 29].get();
  if (network != nullptr && is_address_claim(frame.id)) {
    const uint8_t address = j1939_source(frame.id);
    network->claims.claim(address, j1939_name(frame));
    const int former = network->claims.former(address);
    if (former != address && former != AddressClaims::kNewcomer) {
      // Claiming takes a while, in which the unit sends nothing else.
      for (Sender& sender : senders_) {
        if (sender.usual->channel == frame.channel && j1939_source(sender.usual->id) == former) {
          sender.begin_anew();
        }
      }
    }
  }
  const auto at = place_.find(key);
  if (at != place_.end()) return at->second;
  return network == nullptr || frame.id < place_small_.size() ? kUnknownId
                                                              : j1939_sender(*network, frame);
}

int32_t RelativeWindows::j1939_sender(Network& network, const CanFrame& frame) {
  if (is_address_claim(frame.id) || is_claim_request(frame.id)) return kExcused;
  const uint32_t message = j1939_message(frame.id);
  if (const auto at = network.messages.find(message); at != network.messages.end()) {
    return at->second;  // another priority, or another receiver
  }
  const int former = network.claims.former(j1939_source(frame.id));
  if (former == AddressClaims::kUnclaimed) return kUnknownId;
  const auto at = network.messages.find(from_source(message, static_cast<uint8_t>(former)));
  return former >= 0 && at != network.messages.end() ? at->second : kExcused;
}

void RelativeWindows::begin_anew() {
  activity_.restart();
  for (Sender& sender : senders_) sender.begin_anew();
}

void RelativeWindows::restart() {
  clock_.restart();
  begin_anew();
}

bool RelativeWindows::add(const CanFrame& frame) {
  const int64_t number = count_++;
  if (clock_.read(frame.time)) begin_anew();
  const double now = clock_.now();
  activity_.add(frame.channel, now);
  Row& row = this->row(number);
  row = Row();
  row.attack = frame.label == 1;
  row.sender = sender_of(frame);
  row.key = frame.key();
  if (row.sender >= 0) {
    Sender& sender = senders_[static_cast<std::size_t>(row.sender)];
    row.key = sender.usual->key();
    const std::size_t length = std::min<std::size_t>(frame.length, kMostPayload);
    row.wrong_length = !sender.usual->lengths.test(length);
    const double asleep = activity_.asleep(frame.channel);
    if (profile_.rules.quiet && sender.frames > 0 && was_asleep(asleep - sender.asleep) &&
        now - sender.last().time > sender.usual_times.pause) {
      sender.begin_anew();
    }
    add_times(sender, row, now);
    add_payload(sender, row, number, frame);
    Past& past = sender.past[static_cast<std::size_t>(sender.frames % kNear)];
    past.row = number;
    past.time = now;
    past.length = length;
    past.changed = row.changed;
    std::copy_n(frame.payload.begin(), length, past.payload.begin());
    ++sender.frames;
    sender.bus_frames = activity_.frames(frame.channel);
    sender.asleep = asleep;
  }
  const auto slot = static_cast<std::size_t>(number / size_) % kWindows;
  if (number % size_ == 0) {
    begins_[slot] = now;
    seconds_[slot] = 0;
  } else {
    seconds_[slot] += clock_.passed();
  }
  if (count_ % size_ != 0) return false;
  ends_[slot] = now;
  listen_for_silence(silences_[slot]);
  if (count_ < 2 * size_) return false;
  complete(count_ / size_ - 2);
  return true;
}

bool RelativeWindows::finish() {
  if (given_ >= count_ / size_) return false;
  complete(given_);
  return true;
}

void RelativeWindows::add_times(Sender& sender, Row& row, double time) const {
  if (!sender.keeps_times || std::isnan(time)) return;
  const IdProfile& usual = *sender.usual;
  const float off = sender.times.add(time, row.distance);
  const UsualTimes& times = sender.usual_times;
  row.off = off >= 1 ? times.trust : part(off - 2 * times.tolerance) * times.trust;
  if (sender.frames == 0) return;
  const Past& last = sender.last();
  row.gap = static_cast<float>(time - last.time);
  const auto gap = static_cast<float>((time - last.time) / usual.period);
  if (std::isnan(gap)) return;
  row.early = part(times.early - gap);
  row.late = std::clamp(gap / times.late, 0.0F, kMost);
}

void RelativeWindows::add_payload(Sender& sender, Row& row, int64_t number, const CanFrame& frame) {
  const IdProfile& usual = *sender.usual;
  const int64_t most = std::min<int64_t>(kNear, sender.frames);
  const std::size_t length = std::min<std::size_t>(frame.length, kMostPayload);
  const int64_t window = number / size_;
  int changes = 0;
  float two_back = 0;
  for (int64_t j = 1; j <= most; ++j) {
    const Past& past = sender.past[static_cast<std::size_t>((sender.frames - j) % kNear)];
    const std::size_t common = std::min(length, past.length);
    const float change = std::min(
        kMost, usual.surprise(past.payload.data(), frame.payload.data(), common) / usual.change);
    if (j == 1) {
      row.changed = usual.rare_change(past.payload.data(), frame.payload.data(), common);
      row.last_change = change;
    }
    if (j == 2) two_back = change;
    if (j < kNear && past.changed) ++changes;
    row.least_change = row.compared == 0 ? change : std::min(row.least_change, change);
    ++row.compared;
    // The frames before are seen again from here, where their window still waits.
    if (past.row / size_ + 1 < window) continue;
    Row& before = this->row(past.row);
    before.least_change = before.compared == 0 ? change : std::min(before.least_change, change);
    ++before.compared;
    if (j == 1) before.next = number;
  }
  if (most >= 2) {
    const Past& last = sender.last();
    if (last.row / size_ + 1 >= window) {
      Row& before = this->row(last.row);
      before.back =
          std::clamp(std::min(before.last_change, row.last_change) - two_back, 0.0F, kMost);
    }
  }
  row.lone_change = changes + (row.changed ? 1 : 0) == 1;
}

bool RelativeWindows::explained(const Row& row) {
  return row.lone_change && (row.next < 0 || !this->row(row.next).changed);
}

ComparedFrame RelativeWindows::compared(const Row& row) {
  using Kind = ComparedFrame::Kind;
  ComparedFrame out;
  out.key = row.key;
  out.kind = row.sender >= 0          ? Kind::kKnown
             : row.sender == kExcused ? Kind::kExcused
                                      : Kind::kUnknown;
  if (row.sender < 0) return out;
  out.wrong_length = row.wrong_length;
  out.gap = row.gap;
  out.distance = row.distance;
  out.early = explained(row) ? 0 : row.early;
  out.crowd = out.early;
  if (row.next >= 0) {
    const Row& next = this->row(row.next);
    if (!explained(next)) out.crowd = std::max(out.crowd, next.early);
  }
  out.off = row.off;
  out.fresh = row.compared >= 2 ? row.least_change : 0;
  out.back = row.back;
  out.late = row.late;
  return out;
}

void RelativeWindows::complete(int64_t number) {
  const auto slot = static_cast<std::size_t>(number) % kWindows;
  const int64_t first = number * size_;
  window_ = {first, begins_[slot], ends_[slot], seconds_[slot], static_cast<int32_t>(size_), false,
             {}};
  frames_.clear();
  for (int64_t i = first; i < first + size_; ++i) {
    const Row& row = this->row(i);
    window_.attack = window_.attack || row.attack;
    frames_.push_back(compared(row));
  }
  silences_at_ = slot;
  window_.x = columns([](uint32_t) { return true; });
  given_ = number + 1;
}

template <class Stays>
std::array<float, kRelativeColumns> RelativeWindows::columns(Stays stays) const {
  constexpr float kEarly = 0.4F, kOff = 0.1F;
  std::array<float, kRelativeColumns> out{};
  const auto column = [&](Relative which) -> float& {
    return out[static_cast<std::size_t>(which)];
  };
  const auto raise = [&](Relative which, float value) {
    column(which) = std::max(column(which), value);
  };
  const float one = 1.0F / static_cast<float>(size_);
  int64_t excused = 0, unknown = 0;
  for (const ComparedFrame& frame : frames_) {
    if (!stays(frame.key)) continue;
    if (frame.kind != ComparedFrame::Kind::kKnown) {
      ++(frame.kind == ComparedFrame::Kind::kExcused ? excused : unknown);
      continue;
    }
    if (frame.wrong_length) column(Relative::kLength) += one;
    const float crowd_off = std::min(frame.crowd, frame.off);
    raise(Relative::kCrowd, frame.crowd);
    if (frame.early >= kEarly) column(Relative::kCrowdShare) += one;
    if (frame.off > kOff) column(Relative::kOffShare) += one;
    if (crowd_off > column(Relative::kCrowdOff)) {
      column(Relative::kCrowdOff2) = std::exchange(column(Relative::kCrowdOff), crowd_off);
    } else {
      raise(Relative::kCrowdOff2, crowd_off);
    }
    raise(Relative::kCrowdBack, std::min(frame.crowd, frame.back));
    raise(Relative::kCrowdNew, std::min(frame.crowd, frame.fresh));
    raise(Relative::kOffNew, std::min(frame.off, frame.fresh));
    raise(Relative::kOffBack, std::min(frame.off, frame.back));
    raise(Relative::kNew, frame.fresh);
    raise(Relative::kBack, frame.back);
    raise(Relative::kLate, frame.late);
  }
  if (excused > most_excused(size_)) unknown += excused;
  column(Relative::kUnknown) = unknown_[static_cast<std::size_t>(unknown)];
  for (const Silence& silence : silences()) {
    if (stays(silence.key)) raise(Relative::kSilence, silence.ratio);
  }
  column(Relative::kSilence) = std::min(column(Relative::kSilence), kMost);
  return out;
}

RelativeWindow RelativeWindows::without(std::span<const uint32_t> keys) const {
  RelativeWindow out = window_;
  out.x =
      columns([&](uint32_t key) { return std::find(keys.begin(), keys.end(), key) == keys.end(); });
  return out;
}

RelativeWindow RelativeWindows::only(std::span<const uint32_t> keys) const {
  RelativeWindow out = window_;
  out.x =
      columns([&](uint32_t key) { return std::find(keys.begin(), keys.end(), key) != keys.end(); });
  return out;
}

void RelativeWindows::listen_for_silence(std::vector<Silence>& out) const {
  out.clear();
  for (const Sender& sender : senders_) {
    if (sender.frames == 0 || !sender.usual->regular()) continue;
    const IdProfile& usual = *sender.usual;
    const double seconds = clock_.now() - sender.last().time;
    const double asleep =
        profile_.rules.quiet ? activity_.asleep(usual.channel) - sender.asleep : 0;
    const double longest_usual = sender.usual_times.longest;
    if (seconds - asleep > longest_usual + kSwitchedOff) continue;
    const auto silent = static_cast<float>((seconds - asleep) / longest_usual);
    if (!(silent > 0)) continue;  // nor without times
    // That the bus fell asleep is known some periods of its fastest ids later.
    const bool with_bus = silent > 1 && profile_.rules.quiet &&
                          activity_.quiet(usual.channel, sender.bus_frames, seconds);
    if (!with_bus) out.push_back({usual.key(), silent, static_cast<float>(seconds - asleep)});
  }
}

}  // namespace kdgat::data
