#include "engine/data/can/windows/relative_windows.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "engine/data/can/frames/bus_clock.h"
#include "engine/data/can/windows/frame_columns.h"

namespace kdgat::data {

RelativeWindows::RelativeWindows(const VehicleProfile& profile, int64_t window, bool with_graphs)
    : tables_(profile, window),
      vehicle_(tables_.view()),
      graph_(profile, vehicle_),
      with_graphs_(with_graphs),
      size_(window),
      senders_(tables_.keys.size()),
      buses_(tables_.buses.size()),
      rows_(kept_.size() * static_cast<std::size_t>(window)),
      former_(std::size_t{256} * vehicle_.networks),
      payloads_(KDGAT_NEAR * tables_.moves.size() + 1),
      laws_(tables_.lawful.size()),
      extras_(rows_.size()) {
  state_.senders = senders_.data();
  state_.buses = buses_.data();
  state_.rows = rows_.data();
  state_.former = former_.data();
  state_.payloads = payloads_.data();
  state_.laws = laws_.data();
  kdgat_windows_init(&vehicle_, &state_);
}

void RelativeWindows::restart() {
  kdgat_restart(&vehicle_, &state_);
  restarts_ = true;
}

bool RelativeWindows::add(const CanFrame& frame) {
  const std::size_t slot = state_.slot, at = slot * static_cast<std::size_t>(size_) + state_.filled;
  const bool is_first = state_.filled == 0;
  const double before = state_.clock.now;
  kdgat_seen seen;
  const bool is_full = kdgat_add_frame(&vehicle_, &state_, frame.channel, frame.time, frame.id,
                                       std::min<unsigned>(frame.length, kMostPayload),
                                       frame.payload.data(), &seen) != 0;
  const double now = state_.clock.now;
  extras_[at] = {
      seen.sender >= 0 ? tables_.keys[static_cast<std::size_t>(seen.sender)] : frame.key(),
      seen.gap,
      seen.distance,
      now,
      std::exchange(restarts_, false),
      frame.label == 1,
      frame.label >= 0};
  Kept& window = kept_[slot];
  if (is_first) {
    window.begin = now;
    window.seconds = 0;
  } else {
    window.seconds += listened(before, now);
  }
  if (!is_full) return false;
  window.end = now;
  listen_for_silence(window.silences);
  if (state_.full < 2) return false;
  complete(state_.full - 2);
  return true;
}

bool RelativeWindows::finish() {
  if (given_ >= state_.full) return false;
  complete(given_);
  return true;
}

void RelativeWindows::complete(int64_t number) {
  given_slot_ = static_cast<std::size_t>(number) % kept_.size();
  const Kept& kept = kept_[given_slot_];
  window_ = {number * size_,
             kept.begin,
             kept.end,
             kept.seconds,
             static_cast<int32_t>(size_),
             false,
             true,
             {},
             0,
             {}};
  frames_.clear();
  const std::size_t first = given_slot_ * static_cast<std::size_t>(size_);
  for (std::size_t i = first; i < first + static_cast<std::size_t>(size_); ++i) {
    const Extra& extra = extras_[i];
    window_.attack = window_.attack || extra.attack;
    window_.is_labelled = window_.is_labelled && extra.is_labelled;
    frames_.push_back({kdgat_compare(&vehicle_, &state_, &rows_[i]), extra.key, extra.gap,
                       extra.distance, extra.time, extra.restarts, extra.attack});
  }
  window_ = with_columns([](uint32_t) { return true; });
  given_ = number + 1;
}

template <class Stays>
RelativeWindow RelativeWindows::with_columns(Stays stays) const {
  kdgat_columns columns;
  kdgat_columns_init(&columns);
  for (const ComparedFrame& frame : frames_) {
    if (stays(frame.key)) kdgat_columns_add(&columns, &frame, vehicle_.frames);
  }
  float longest = 0;
  for (const Silence& silence : silences()) {
    if (stays(silence.key)) longest = std::max(longest, silence.ratio);
  }
  kdgat_columns_end(&vehicle_, &columns, longest);
  RelativeWindow out = window_;
  out.x = std::to_array(columns.x);
  out.broken = static_cast<int32_t>(columns.broken);
  if (with_graphs_) out.graph = graph_of(stays);
  return out;
}

template <class Stays>
std::shared_ptr<const RelativeGraph> RelativeWindows::graph_of(Stays stays) const {
  std::vector<ComparedFrame> frames;
  frames.reserve(frames_.size());
  bool is_behind_gap = false;
  for (const ComparedFrame& frame : frames_) {
    if (!stays(frame.key)) {
      is_behind_gap = true;
      continue;
    }
    frames.push_back(frame);
    frames.back().restarts = std::exchange(is_behind_gap, false) || frame.restarts;
  }
  std::vector<Silence> silent;
  std::copy_if(silences().begin(), silences().end(), std::back_inserter(silent),
               [&](const Silence& one) { return stays(one.key); });
  return std::make_shared<const RelativeGraph>(graph_.of(window_, frames, silent));
}

RelativeWindow RelativeWindows::without(std::span<const uint32_t> keys) const {
  return with_columns(
      [&](uint32_t key) { return std::find(keys.begin(), keys.end(), key) == keys.end(); });
}

RelativeWindow RelativeWindows::only(std::span<const uint32_t> keys) const {
  return with_columns(
      [&](uint32_t key) { return std::find(keys.begin(), keys.end(), key) != keys.end(); });
}

std::vector<float> RelativeWindows::frame_columns() const {
  return data::frame_columns(frames_, window_.seconds, vehicle_);
}

void RelativeWindows::listen_for_silence(std::vector<Silence>& out) const {
  out.clear();
  for (uint32_t place = 0; place < vehicle_.ids; ++place) {
    float seconds = 0;
    const float silent = kdgat_silence_of(&vehicle_, &state_, place, &seconds);
    if (silent > 0) out.push_back({tables_.keys[place], silent, seconds});
  }
}

}  // namespace kdgat::data
