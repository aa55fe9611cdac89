#include "engine/data/can/windows/vehicle_tables.h"

#include <algorithm>
#include <cmath>

#include "engine/data/can/frames/protocol_ids.h"

namespace kdgat::data {
namespace {

constexpr float kMost = 20;  // no column is larger
// Of a period: from drive to drive gaps are shorter by less, and no injected frame comes so late.
constexpr float kSlack = 0.05F;

/// r / (1 + r / kMost) of r = -log10 P(N >= count) of a Poisson variable with a small mean: the
/// first term is nearly all. A flood is rarer than the ids of another mode, of which five frames
/// may have an r of 20.
float rareness(int64_t count, double mean) {
  if (count == 0) return 0;
  const auto n = static_cast<double>(count);
  const double rare = (std::lgamma(n + 1) - n * std::log(mean)) / std::log(10.0);
  return rare > 0 ? static_cast<float>(rare / (1 + rare / kMost)) : 0;
}

/// Of the next frames as large a share has an id never seen as so far had an id seen once (Good,
/// Biometrika 40, 1953): little in a profile of hours, much in one of seconds.
double expected_unknown(const VehicleProfile& profile) {
  const auto once = std::count_if(profile.ids.begin(), profile.ids.end(),
                                  [](const IdProfile& id) { return id.frames == 1; });
  return (static_cast<double>(once) + 0.5) /
         static_cast<double>(std::max<int64_t>(profile.frames, 1));
}

/// kdgat_vehicle.rare: for each number of frames that a window may have.
std::vector<float> rare_of(const VehicleProfile& profile, int64_t window) {
  const double usual = expected_unknown(profile) * static_cast<double>(window);
  std::vector<float> out;
  for (int64_t count = 0; count <= window; ++count) out.push_back(rareness(count, usual));
  return out;
}

/// Without the places of its moves and lengths.
kdgat_usual usual_of(const IdProfile& id, double seconds) {
  constexpr float kLeastTolerance = 0.02F, kMostTolerance = 0.25F, kMargin = 1.5F, kFewGaps = 10;
  constexpr float kPause = 5, kLonger = 3;
  kdgat_usual out{};
  out.period = id.period;
  // Where an id pauses by design, another pause may be longer than all that were seen.
  const bool pauses = id.silence > kPause * id.late;
  out.longest = id.period * std::max(id.late, id.silence) * (pauses ? kLonger : 1);
  out.pause = id.period * std::max(id.late, 1.0F);
  out.early = id.early - kSlack;
  // Few gaps do not show the short ones.
  const auto gaps = static_cast<float>(id.frames);
  out.shortest = id.early * gaps / (gaps + kFewGaps);
  out.tolerance = std::clamp(kMargin * id.jitter, kLeastTolerance, kMostTolerance);
  out.trust = 1 - std::clamp(2 * id.jitter, 0.0F, 1.0F);
  out.change = id.change;
  out.bytes = static_cast<uint8_t>(id.bytes.size());
  const int missed = id.frames < IdProfile::kManyFrames ? KDGAT_IS_MISSED_ALONE : KDGAT_IS_MISSED;
  out.flags = static_cast<uint8_t>((id.is_missed(seconds) ? missed : 0) |
                                   (id.period > 0 ? KDGAT_KEEPS_TIMES : 0));
  return out;
}

kdgat_length_set lengths_of(const IdProfile& id) {
  kdgat_length_set out{};
  for (std::size_t i = 0; i <= kMostPayload; ++i) {
    if (id.lengths.test(i)) out.bits[i / 8] = static_cast<uint8_t>(out.bits[i / 8] | 1U << i % 8);
  }
  return out;
}

}  // namespace

VehicleTables::VehicleTables(const VehicleProfile& profile, int64_t window)
    : rare(rare_of(profile, window)) {
  add_buses(profile);
  add_ids(profile);
  view_.keys = keys.data();
  view_.usuals = usuals.data();
  view_.lengths = lengths.data();
  view_.moves = moves.data();
  view_.bits = bits.data();
  view_.rare = rare.data();
  view_.buses = buses.data();
  view_.bus_of = bus_of.data();
  view_.messages = messages.data();
  view_.homes = homes.data();
  view_.lawful = lawful.data();
  view_.sums = sums.data();
  view_.ids = static_cast<uint32_t>(keys.size());
  view_.bus_count = static_cast<uint32_t>(buses.size());
  view_.rare_count = static_cast<uint32_t>(rare.size());
  view_.frames = static_cast<uint32_t>(window);
  view_.most_excused = static_cast<uint32_t>(kMostExcused * static_cast<float>(window));
}

void VehicleTables::add_buses(const VehicleProfile& profile) {
  const BusActivity::Rates rates = profile.rates();
  std::array<std::vector<uint32_t>, kMostChannels> ids;
  for (const IdProfile& one : profile.ids) ids[one.channel].push_back(one.id);
  bus_of.fill(-1);
  for (std::size_t channel = 0; channel < ids.size(); ++channel) {
    if (ids[channel].empty()) continue;
    bus_of[channel] = static_cast<int16_t>(buses.size());
    kdgat_usual_bus& bus = buses.emplace_back();
    bus.rate = rates[channel];
    bus.network = -1;
    if (speaks_j1939(ids[channel])) add_network(profile, static_cast<uint8_t>(channel), bus);
  }
}

void VehicleTables::add_network(const VehicleProfile& profile, uint8_t channel,
                                kdgat_usual_bus& bus) {
  bus.network = static_cast<int32_t>(view_.networks++);
  // Of several priorities, and several receivers, the id that is sent most often counts.
  std::map<uint32_t, std::size_t> senders;
  for (std::size_t i = 0; i < profile.ids.size(); ++i) {
    const IdProfile& one = profile.ids[i];
    if (one.channel != channel) continue;
    const auto [at, is_new] = senders.emplace(j1939_message(one.id), i);
    if (!is_new && profile.ids[at->second].frames < one.frames) at->second = i;
  }
  std::map<uint64_t, uint8_t> known;  // the last address of a name counts
  for (const AddressName& one : profile.names) {
    if (one.channel == channel) known[one.name] = one.address;
  }
  bus.first_message = static_cast<uint32_t>(messages.size());
  for (const auto& [message, sender] : senders) {
    messages.push_back({message, static_cast<uint32_t>(sender)});
  }
  bus.message_end = static_cast<uint32_t>(messages.size());
  bus.first_home = static_cast<uint32_t>(homes.size());
  for (const auto& [name, address] : known) homes.push_back({name, address});
  bus.home_end = static_cast<uint32_t>(homes.size());
}

void VehicleTables::add_ids(const VehicleProfile& profile) {
  std::map<std::array<uint8_t, sizeof(kdgat_length_set)>, std::size_t> sets;
  for (const IdProfile& one : profile.ids) {
    kdgat_usual& usual = usuals.emplace_back(usual_of(one, profile.seconds));
    const kdgat_length_set set = lengths_of(one);
    const auto [at, is_new] = sets.try_emplace(std::to_array(set.bits), lengths.size());
    if (is_new) lengths.push_back(set);
    usual.lengths = static_cast<uint16_t>(at->second);
    usual.moves = static_cast<uint32_t>(moves.size());
    for (const ByteMoves& byte : one.bytes) moves.push_back(moves_of(byte));
    usual.lawful = KDGAT_LAWLESS;
    if (one.laws && lawful.size() < KDGAT_LAWLESS) {
      usual.lawful = static_cast<uint16_t>(lawful.size());
      lawful.push_back(one.laws->view(static_cast<uint32_t>(sums.size())));
      sums.insert(sums.end(), one.laws->sums.begin(), one.laws->sums.end());
    }
    keys.push_back(one.key());
  }
}

/// Beyond the last value each bin is one bit more, as in ByteMoves::measure().
uint32_t VehicleTables::moves_of(const ByteMoves& byte) {
  constexpr float kMostBits = 14;
  const auto follows = [&](int last, int bin) {
    return byte.surprise(bin) ==
           std::min(kMostBits, byte.surprise(last) + static_cast<float>(bin - last));
  };
  int last = ByteMoves::kBins - 1;
  const auto rest_follows = [&](int from) {
    for (int bin = from + 1; bin < ByteMoves::kBins; ++bin) {
      if (!follows(from, bin)) return false;
    }
    return true;
  };
  while (last > 1 && rest_follows(last - 1)) --last;
  std::vector<float> values;
  for (int bin = 1; bin <= last; ++bin) values.push_back(byte.surprise(bin));
  const auto [at, is_new] = places_.try_emplace(values, bits.size());
  if (is_new) bits.insert(bits.end(), values.begin(), values.end());
  return static_cast<uint32_t>(at->second << 3 | static_cast<std::size_t>(last - 1));
}

}  // namespace kdgat::data
