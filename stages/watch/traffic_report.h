// TrafficReport: what is known of a bus while it is watched: frames, load, unknown ids, scores,
// losses and latencies, as one report now and then; and sentences where its state changes. Knows no
// sockets and no model.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/decision/stream/log_judge.h"
#include "engine/live/frame_source.h"
#include "watch/latency.h"
#include "watch/traffic_clock.h"

namespace kdgat::watch {

class TrafficReport {
 public:
  /// `is_live`: silence means something, and rates are those of the monotonic clock.
  TrafficReport(int64_t bitrate, double silence_seconds, bool is_live)
      : bitrate_(bitrate), silence_(silence_seconds), is_live_(is_live), clock_(is_live) {}

  /// The next frame, which `judge` was given.
  void add(const live::LiveFrame& frame, const decision::LogJudge& judge);
  /// A window was judged, its last frame received then; both as live::monotonic_now().
  void judged(const live::LiveFrame& last, float score, int64_t now);
  /// An alarm was handed on.
  void told(const live::LiveFrame& last, int64_t now);
  /// Another judge: what it knows is asked anew.
  void forget_ids();

  /// {"frames","frames_per_second","load","unknown","unknown_ids","windows","flagged","alarms",
  /// "highest_score" (since the last report; null where no window was judged),"learning","fits"
  /// (see engine/decision/stream/bus_fit.h; of a network always true),"buses":
  /// [{"name","state","frames","error_frames","malformed","kernel_drops","queue_drops",
  /// "interruptions","own_frames"}],"decision","alarm" (see Latency::json())}. Rates are those
  /// since the last report, by TrafficClock.
  nlohmann::json report(const decision::LogJudge& judge, std::span<const live::BusCounts> buses);
  /// What changed since the last call: a bus that went down or is back, fell silent or speaks
  /// again, lost frames; ids that are not those of the vehicle. `now`: as live::monotonic_now().
  std::vector<std::string> changes(std::span<const live::BusCounts> buses, int64_t now);

 private:
  static constexpr int kUsualLooks = 10;

  bool is_known(uint32_t key, const decision::LogJudge& judge);

  int64_t bitrate_;
  double silence_;
  bool is_live_;
  std::array<int8_t, 2048> small_{};           // 0 not asked, 1 known, -1 unknown
  std::unordered_map<uint32_t, bool> others_;  // so many at most that a profile holds
  int64_t frames_ = 0, unknown_ = 0, unknown_ids_ = 0, bus_us_ = 0;
  int64_t frames_then_ = 0, bus_us_then_ = 0;  // at the last report
  TrafficClock clock_;
  double seconds_then_ = 0;                     // at the last report
  int64_t frames_seen_ = 0, unknown_seen_ = 0;  // at the last look for changes
  int64_t last_frame_ = 0;                      // received; before any, the first look
  float highest_ = 0;
  int usual_looks_ = kUsualLooks;  // since the last one at which most frames were of unknown ids
  bool has_score_ = false, is_silent_ = false, is_strange_ = false;
  std::vector<live::BusCounts> buses_;  // at the last look
  Latency decision_, alarm_;
};

}  // namespace kdgat::watch
