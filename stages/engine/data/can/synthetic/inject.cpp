#include "engine/data/can/synthetic/inject.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <map>

#include "engine/data/can/frames/bus_slots.h"
#include "engine/data/can/frames/protocol_ids.h"
#include "engine/data/can/synthetic/attack_kinds.h"
#include "kdgat/error.h"
#include "kdgat/text.h"

namespace kdgat::data {
namespace {

/// In fewer frames a bus is asleep, and no attack is hidden.
constexpr std::size_t kFewestFramesUnderAttack = 20;

/// Times beyond this are no times of a recording, nor countable in microseconds.
constexpr double kLatestTime = 1e11;
/// Silence of this length is passed over when the next attack is due.
constexpr int64_t kSilenceUs = 1'000'000;

std::string hex_text(uint32_t id) {
  char text[16];
  std::snprintf(text, sizeof text, "%03X", id);
  return text;
}

std::string seconds_text(double seconds) { return format_number("%.6g", seconds) + " s"; }

int64_t between(double low_seconds, double high_seconds, arrays::Random& random) {
  const int64_t low = microseconds(low_seconds), high = microseconds(high_seconds);
  return low + static_cast<int64_t>(random.below(static_cast<uint64_t>(high - low) + 1));
}

/// nullopt for what is no id of 29 bits.
std::optional<uint32_t> read_id(const std::string& text) {
  uint32_t id = 0;
  const char* end = text.data() + text.size();
  const auto [at, failure] = std::from_chars(text.data(), end, id, 16);
  if (failure != std::errc() || at != end || id >= 1U << 29) return std::nullopt;
  return id;
}

/// Where each capture begins, and the number of rows.
std::vector<std::size_t> capture_bounds(std::span<const CanFrame> frames) {
  std::vector<std::size_t> out = {0};
  for (std::size_t row = 1; row < frames.size(); ++row) {
    if (frames[row - 1].time - frames[row].time >= kClockRestart) out.push_back(row);
  }
  out.push_back(frames.size());
  return out;
}

/// Throws Error(kData) for what no kind can attack.
void check_frames(std::span<const CanFrame> frames) {
  if (frames.empty()) throw Error(ExitCode::kData, "the log has no rows");
  for (std::size_t row = 0; row < frames.size(); ++row) {
    const double time = frames[row].time;
    if (time >= 0 && time <= kLatestTime) continue;
    const std::string which = "row " + std::to_string(row + 1);
    if (std::isfinite(time)) {
      throw Error(ExitCode::kData,
                  which + ": " + seconds_text(time) + " is no time of a recording");
    }
    throw Error(ExitCode::kData, which + " has no time",
                "attacks are written at times: name a log in a form that has them");
  }
  const CanFrame& first = frames.front();
  if (std::all_of(frames.begin(), frames.end(),
                  [&](const CanFrame& frame) { return frame.id == first.id; })) {
    throw Error(ExitCode::kData, "the log has one id only, " + hex_text(first.id),
                "attacks are hidden in the traffic of a bus with several ids");
  }
}

/// The attacks on one capture after another.
class Injector {
 public:
  Injector(const AttackKind& kind, const CanInjectOptions& options, arrays::Random& random)
      : kind_(kind), options_(options), random_(random) {
    names_id_ = !options.id.empty();
    if (names_id_) id_ = read_id(options.id).value_or(0);
    for (const int64_t at : options.bytes) {
      shortest_ = std::max(shortest_, static_cast<int>(at) + 1);
    }
  }

  void add(std::span<const CanFrame> capture) {
    suits_.clear();
    channel_ = draw_channel(capture);
    std::vector<CanFrame> own;
    std::copy_if(capture.begin(), capture.end(), std::back_inserter(own),
                 [&](const CanFrame& frame) { return frame.channel == channel_; });
    const Recording recording(own);
    BusSlots slots(own, options_.bitrate);
    Edits edits(own.size());
    longest_us_ = std::max(longest_us_, recording.end_us() - recording.begin_us());
    const int64_t shortest = microseconds(options_.min_attack_seconds);
    const int64_t room =
        recording.end_us() - recording.begin_us() - microseconds(options_.lead_seconds) - shortest;
    if (room >= 0) {
      is_long_enough_ = true;
      // The first attack may come at once after the lead: some time is drawn for it, too.
      const int64_t wait = std::min(
          room, between(0, options_.max_benign_seconds - options_.min_benign_seconds, random_));
      int64_t begin = recording.begin_us() + microseconds(options_.lead_seconds) + wait;
      while (recording.end_us() - begin >= shortest) {
        const std::size_t heard = recording.rows_between(begin, recording.end_us()).first;
        if (recording.clock_us(heard) - begin > kSilenceUs) {
          begin = recording.clock_us(heard);
          continue;
        }
        const int64_t length =
            between(options_.min_attack_seconds, options_.max_attack_seconds, random_);
        const int64_t end = std::min(begin + length, recording.end_us());
        attack(recording, begin, end, slots, edits);
        begin = end + between(options_.min_benign_seconds, options_.max_benign_seconds, random_);
      }
    }
    write(capture, recording, edits);
  }

  /// Throws Error(kData) if there is no attack.
  Injection finish() {
    if (!out_.attacks.empty()) return std::move(out_);
    if (!is_long_enough_) {
      throw Error(ExitCode::kData,
                  "the log is too short: " + seconds_text(static_cast<double>(longest_us_) / 1e6) +
                      " do not hold " + seconds_text(options_.lead_seconds) +
                      " of benign traffic and an attack of " +
                      seconds_text(options_.min_attack_seconds),
                  "lead_seconds and min_attack_seconds may be less");
    }
    if (kind_.has_target && names_id_ && !has_target_) {
      throw Error(ExitCode::kData,
                  "id " + options_.id + " is not in the log, or its payload too short" +
                      (kind_.suits != nullptr ? std::string(" or without ") + kind_.needs : "") +
                      ", for " + kind_.name);
    }
    if (kind_.has_target && !has_target_) {
      throw Error(ExitCode::kData,
                  std::string("no id that ") + kind_.name + " could take: none is sent regularly" +
                      (kind_.suits != nullptr ? std::string(" and has ") + kind_.needs
                       : kind_.forges         ? " with a payload long enough"
                                              : ""),
                  "id=ID names one");
    }
    throw Error(ExitCode::kData,
                std::string("no place for ") + kind_.name +
                    ": the bus is silent, or the id, wherever an attack was due",
                "another seed, or longer attacks: max_attack_seconds");
  }

 private:
  struct SentFrame {
    int64_t end_us;
    CanFrame frame;
  };
  /// Of one capture.
  struct Edits {
    explicit Edits(std::size_t rows) : removed(rows) {}
    std::vector<SentFrame> added;  // by time
    std::vector<std::pair<std::size_t, CanFrame>> changed;
    std::vector<bool> removed;
  };

  bool fits(const IdRows& id) const {
    if (kind_.forges && (id.length < 1 || id.length < shortest_)) return false;
    // A tester is no part of the car, and what it sends is compared with nothing.
    return names_id_ ? id.id == id_ : id.regular && !is_diagnostic(id.id);
  }

  bool suits(const Recording& recording, const IdRows& id) {
    if (kind_.suits == nullptr) return true;
    const auto [known, is_new] = suits_.try_emplace({id.id, id.extended});
    if (is_new) known->second = kind_.suits(recording, id);
    return known->second;
  }

  /// The bus that is attacked: one that has the id, or any, the busier the more often.
  uint8_t draw_channel(std::span<const CanFrame> capture) {
    const uint8_t first = capture.front().channel;
    if (std::all_of(capture.begin(), capture.end(),
                    [&](const CanFrame& frame) { return frame.channel == first; })) {
      return first;
    }
    if (names_id_) {
      const auto at = std::find_if(capture.begin(), capture.end(),
                                   [&](const CanFrame& frame) { return frame.id == id_; });
      if (at != capture.end()) return at->channel;
    }
    return capture[random_.below(capture.size())].channel;
  }

  /// One id of those that fit and are heard while the attack lasts; nullptr if there is none.
  const IdRows* draw_target(const Recording& recording, int64_t begin, int64_t end) {
    std::vector<const IdRows*> heard;
    for (const IdRows& id : recording.ids()) {
      if (!fits(id) || !suits(recording, id)) continue;
      has_target_ = true;
      if (recording.rows_between(id, begin, end).size() >= 2) heard.push_back(&id);
    }
    return heard.empty() ? nullptr : heard[random_.below(heard.size())];
  }

  void attack(const Recording& recording, int64_t begin, int64_t end, BusSlots& slots,
              Edits& edits) {
    const auto [first, last] = recording.rows_between(begin, end);
    if (last - first < kFewestFramesUnderAttack || recording.ids().empty()) return;
    AttackScene scene{recording, options_, begin, end, nullptr};
    if (kind_.has_target) {
      scene.target = draw_target(recording, begin, end);
      if (scene.target == nullptr) return;
    }
    AttackPlan plan = kind_.plan(scene, random_);
    const std::size_t added = send(plan, end, slots, edits);
    out_.changed += std::ssize(plan.changed);
    out_.removed += std::ssize(plan.removed);
    if (added + plan.changed.size() + plan.removed.size() == 0) return;
    edits.changed.insert(edits.changed.end(), plan.changed.begin(), plan.changed.end());
    for (const std::size_t row : plan.removed) edits.removed[row] = true;
    Attack done{static_cast<double>(begin) / 1e6, static_cast<double>(end) / 1e6};
    if (scene.target != nullptr) done.id = scene.target->id;
    out_.attacks.push_back(done);
  }

  /// The number of frames of the plan for which the bus has time.
  std::size_t send(AttackPlan& plan, int64_t end, BusSlots& slots, Edits& edits) {
    std::stable_sort(
        plan.added.begin(), plan.added.end(),
        [](const PlannedFrame& a, const PlannedFrame& b) { return a.ready_us < b.ready_us; });
    std::size_t sent = 0;
    for (PlannedFrame& planned : plan.added) {
      const int64_t time = slots.take(planned.frame, planned.ready_us, end);
      if (time < 0) {
        ++out_.no_room;
        continue;
      }
      planned.frame.time = static_cast<double>(time) / 1e6;
      planned.frame.label = 1;
      planned.frame.channel = channel_;
      edits.added.push_back({time, planned.frame});
      ++sent;
    }
    out_.added += static_cast<int64_t>(sent);
    return sent;
  }

  /// `recording`: of the frames of the attacked bus.
  void write(std::span<const CanFrame> capture, const Recording& recording, const Edits& edits) {
    auto added = edits.added.begin();
    auto changed = edits.changed.begin();
    bool missed = false;
    std::size_t next = 0;
    int64_t clock_us = recording.begin_us();
    for (const CanFrame& one : capture) {
      clock_us = std::max(clock_us, microseconds(one.time));
      for (; added != edits.added.end() && added->end_us < clock_us; ++added) {
        out_.frames.push_back(added->frame);
      }
      if (one.channel != channel_) {
        out_.frames.push_back(one);
        if (one.label != 1) out_.frames.back().label = 0;
        continue;
      }
      const std::size_t row = next++;
      const bool is_changed = changed != edits.changed.end() && changed->first == row;
      if (edits.removed[row]) {
        missed = true;
        continue;
      }
      CanFrame frame = one;
      if (is_changed) frame.payload = (changed++)->second.payload;
      frame.label = is_changed || missed || frame.label == 1 ? 1 : 0;
      missed = false;
      out_.frames.push_back(frame);
    }
  }

  const AttackKind& kind_;
  const CanInjectOptions& options_;
  arrays::Random& random_;
  Injection out_;
  bool names_id_ = false;
  uint32_t id_ = 0;      // where one is named
  uint8_t channel_ = 0;  // the bus that is attacked
  int shortest_ = 0;     // a payload with the bytes that are to be forged
  int64_t longest_us_ = 0;
  bool is_long_enough_ = false, has_target_ = false;
  std::map<std::pair<uint32_t, bool>, bool> suits_;  // by id, of the capture that is attacked
};

}  // namespace

std::vector<Diagnostic> CanInjectOptions::validate() const {
  std::vector<Diagnostic> out;
  if (attacks.empty()) out.push_back({"", "attacks: none is named", ""});
  const auto check_order = [&](const char* what, double low, double high) {
    if (low <= high) return;
    const std::string name = what;
    out.push_back({"",
                   "min_" + name + ": " + seconds_text(low) + " is more than max_" + name + ", " +
                       seconds_text(high),
                   ""});
  };
  check_order("attack_seconds", min_attack_seconds, max_attack_seconds);
  check_order("benign_seconds", min_benign_seconds, max_benign_seconds);
  if (!id.empty() && !read_id(id)) {
    out.push_back({"", "id: " + id + " is not a hexadecimal id of 29 bits at most", ""});
  }
  for (const int64_t at : bytes) {
    if (at >= 0 && at < 64) continue;
    out.push_back({"", "bytes: " + std::to_string(at) + " is outside [0, 63]", ""});
  }
  if (delay < 0 && delay != -1) out.push_back({"", "delay: neither -1 nor 0 and more", ""});
  return out;
}

Injection inject(std::span<const CanFrame> benign, const std::string& kind,
                 const CanInjectOptions& options, arrays::Random& random) {
  const AttackKind& chosen = attack_kind(kind);
  if (auto problems = options.validate(); !problems.empty()) {
    throw Error(ExitCode::kUsage, std::move(problems));
  }
  check_frames(benign);
  Injector injector(chosen, options, random);
  const std::vector<std::size_t> bounds = capture_bounds(benign);
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
    injector.add(benign.subspan(bounds[i], bounds[i + 1] - bounds[i]));
  }
  return injector.finish();
}

}  // namespace kdgat::data
