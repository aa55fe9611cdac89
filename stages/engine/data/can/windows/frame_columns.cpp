#include "engine/data/can/windows/frame_columns.h"

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_map>

#include "engine/portable/window_nodes.h"
#include "engine/portable/windows.h"

namespace kdgat::data {
namespace {

/// Of the frame alone.
enum Own : uint8_t {
  kUnknown,
  kExcused,
  kWrongLength,
  kChanged,
  kBroken,
  kSurplus,
  kEarly,
  kCrowd,
  kOff,
  kNew,
  kBack,
  kTight,
  kSooner,  // how much shorter its gap is than the period, see kdgat_beyond()
  kOwnColumns
};
constexpr std::array<const char*, kOwnColumns> kOwnNames = {
    "unknown", "excused", "length", "changed", "broken", "surplus", "early",
    "crowd",   "off",     "new",    "back",    "tight",  "sooner"};
/// Of these the neighbours have some as well.
constexpr std::array<Own, 6> kOfNeighbour = {kEarly, kOff, kNew, kBack, kSooner, kChanged};

/// Of its id in the window.
enum OfId : uint8_t {
  kFrames,   // share of the window
  kMore,     // than are due
  kMostOff,  // largest
  kMostCrowd,
  kMostNew,
  kOutside,  // share of the window that is of unknown ids
  kIdColumns
};
constexpr std::array<const char*, kIdColumns> kIdNames = {"id_frames", "id_more", "id_off",
                                                          "id_crowd",  "id_new",  "outside"};

constexpr std::size_t kColumns = kOwnColumns + 2 * kOfNeighbour.size() + kIdColumns;

std::array<float, kOwnColumns> own_of(const ComparedFrame& frame, float period) {
  const auto flag = [&](unsigned bit) { return (frame.flags & bit) != 0 ? 1.0F : 0.0F; };
  std::array<float, kOwnColumns> out{};
  out[kUnknown] = frame.kind() == ComparedFrame::Kind::kUnknown ? 1.0F : 0.0F;
  out[kExcused] = frame.kind() == ComparedFrame::Kind::kExcused ? 1.0F : 0.0F;
  out[kWrongLength] = flag(KDGAT_ROW_WRONG_LENGTH);
  out[kChanged] = flag(KDGAT_ROW_CHANGED);
  out[kBroken] = flag(KDGAT_ROW_BROKEN);
  out[kSurplus] = flag(KDGAT_ROW_SURPLUS);
  out[kEarly] = frame.early;
  out[kCrowd] = frame.crowd;
  out[kOff] = frame.off;
  out[kNew] = frame.fresh;
  out[kBack] = frame.back;
  out[kTight] = frame.tight;
  out[kSooner] = period > 0 && frame.gap >= 0 ? kdgat_beyond(period, frame.gap) : 0;
  return out;
}

/// Frames of one id in the window.
struct Id {
  std::vector<std::size_t> at;
  float off = 0, crowd = 0, fresh = 0, period = 0, more = 0;
};

}  // namespace

std::vector<std::string> frame_column_names() {
  std::vector<std::string> out(kOwnNames.begin(), kOwnNames.end());
  for (const char* side : {"before_", "behind_"}) {
    for (const Own column : kOfNeighbour) out.push_back(std::string(side) + kOwnNames[column]);
  }
  out.insert(out.end(), kIdNames.begin(), kIdNames.end());
  return out;
}

std::vector<int> frame_column_order() {
  std::vector<int> out(kColumns, 0);
  for (const Own column : {kUnknown, kWrongLength, kBroken, kSurplus, kOff, kNew}) out[column] = 1;
  return out;
}

std::vector<float> frame_columns(std::span<const ComparedFrame> frames, double seconds,
                                 const kdgat_vehicle& vehicle) {
  std::unordered_map<uint32_t, Id> ids;
  std::size_t unknown = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const ComparedFrame& frame = frames[i];
    unknown += frame.kind() == ComparedFrame::Kind::kUnknown ? 1 : 0;
    Id& id = ids[frame.key];
    id.at.push_back(i);
    id.off = std::max(id.off, frame.off);
    id.crowd = std::max(id.crowd, frame.crowd);
    id.fresh = std::max(id.fresh, frame.fresh);
  }
  const float one = 1.0F / static_cast<float>(std::max<std::size_t>(1, frames.size()));
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> out(frames.size() * kColumns, kNone);
  for (auto& one_id : ids) {
    const uint32_t key = one_id.first;
    Id& id = one_id.second;  // no binding: a lambda refers to it
    const auto count = static_cast<float>(id.at.size());
    if (frames[id.at.front()].kind() == ComparedFrame::Kind::kKnown) {
      const kdgat_usual& usual = vehicle.usuals[kdgat_find(&vehicle, key)];
      if ((usual.flags & KDGAT_KEEPS_TIMES) != 0) id.period = static_cast<float>(usual.period);
      if (id.period > 0 && seconds > 0) {
        id.more = kdgat_beyond(count, static_cast<float>(seconds) / id.period);
      }
    }
    const std::array<float, kIdColumns> of_id = {
        count * one, id.more, id.off, id.crowd, id.fresh, static_cast<float>(unknown) * one};
    const auto put_neighbour = [&](std::size_t from, float* to) {
      const auto own = own_of(frames[from], id.period);
      for (const Own column : kOfNeighbour) *to++ = own[column];
    };
    for (std::size_t n = 0; n < id.at.size(); ++n) {
      float* to = &out[id.at[n] * kColumns];
      const auto own = own_of(frames[id.at[n]], id.period);
      to = std::copy(own.begin(), own.end(), to);
      if (n > 0) put_neighbour(id.at[n - 1], to);
      to += kOfNeighbour.size();
      if (n + 1 < id.at.size()) put_neighbour(id.at[n + 1], to);
      to += kOfNeighbour.size();
      std::copy(of_id.begin(), of_id.end(), to);
    }
  }
  return out;
}

}  // namespace kdgat::data
