#include "detector/blame.h"

#include <algorithm>
#include <map>

#include "data/can/relative_windows.h"

namespace kdgat::detector {
namespace {

constexpr double kLeast = 0.05;      // log-odds: less is no difference
constexpr int64_t kMostUnknown = 8;  // ids that are taken out one by one

/// Scores a window among its neighbours, with an id left out.
class Without {
 public:
  Without(const DetectorModel& model, const graph::VehicleProfile& profile,
          const Decision& decision, std::span<const LogRow> rows, std::size_t first)
      : model_(model), profile_(profile), decision_(decision), rows_(rows), first_(first) {}

  /// `leave_out` gets a key. Where fewer than two rows are left there is no window: a score of none.
  template <class LeaveOut>
  double score(LeaveOut leave_out) const {
    const auto stays = [&](const LogRow& row) { return !leave_out(row.frame.key()); };
    const auto window = static_cast<std::size_t>(model_.window);
    const auto size =
        std::count_if(rows_.begin() + at(first_), rows_.begin() + at(first_ + window), stays);
    if (size < 2) return kNothing;
    // The window keeps its rows: its size is theirs, and those ahead are so many windows of that size.
    auto ahead = std::count_if(rows_.begin(), rows_.begin() + at(first_), stays);
    const auto skipped = ahead % size;
    ahead -= skipped;
    graph::RelativeWindows windows(profile_, size);
    std::ptrdiff_t row = 0;
    for (const LogRow& one : rows_) {
      if (!stays(one) || row++ < skipped) continue;
      if (one.restarts) windows.restart();
      if (windows.add(one.frame) && windows.window().first_row == ahead) {
        return model_.score(windows.window(), decision_);
      }
    }
    while (windows.finish()) {
      if (windows.window().first_row == ahead) break;
    }
    return model_.score(windows.window(), decision_);
  }

 private:
  static constexpr double kNothing = -1e3;
  static std::ptrdiff_t at(std::size_t row) { return static_cast<std::ptrdiff_t>(row); }

  const DetectorModel& model_;
  const graph::VehicleProfile& profile_;
  const Decision& decision_;
  std::span<const LogRow> rows_;
  std::size_t first_;
};

}  // namespace

std::vector<uint32_t> ids_behind(const DetectorModel& model, const graph::VehicleProfile& profile,
                                 const Decision& decision, std::span<const LogRow> rows,
                                 std::size_t first, std::size_t most) {
  struct Part {
    uint32_t key;
    double loss;
    bool is_unknown;
    int64_t frames;  // in the window
  };
  std::map<uint32_t, int64_t> frames;  // ids that fell silent count, too
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool is_inside = i >= first && i < first + static_cast<std::size_t>(model.window);
    frames[rows[i].frame.key()] += is_inside ? 1 : 0;
  }
  const Without without(model, profile, decision, rows, first);
  const double whole = without.score([](uint32_t) { return false; });
  std::vector<Part> parts;
  int64_t unknown = 0;
  for (const auto& [key, count] : frames) {
    const bool is_unknown = profile.find(key) == nullptr;
    // Of a flood of unknown ids the first ones stand for all.
    if (is_unknown && (count == 0 || ++unknown > kMostUnknown)) continue;
    const double loss =
        whole - without.score([left_out = key](uint32_t other) { return other == left_out; });
    if (loss > kLeast || is_unknown) parts.push_back({key, loss, is_unknown, count});
  }
  std::stable_sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
    if (std::max(a.loss, kLeast) != std::max(b.loss, kLeast)) return a.loss > b.loss;
    return a.is_unknown != b.is_unknown ? a.is_unknown : a.frames > b.frames;
  });
  std::vector<uint32_t> out;
  for (const Part& part : parts) {
    if (out.size() < most) out.push_back(part.key);
  }
  return out;
}

}  // namespace kdgat::detector
