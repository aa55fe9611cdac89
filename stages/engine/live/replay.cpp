#include "engine/live/replay.h"

#include <charconv>
#include <cmath>
#include <utility>

#include "engine/data/can/logs/can_log.h"
#include "engine/data/can/logs/label_intervals.h"
#include "engine/live/pace.h"

namespace kdgat::live {
namespace {

/// Frames for which a sleeping consumer is woken once, where more are there at once.
constexpr int kFramesBetweenFlushes = 64;

}  // namespace

double speed_of(std::string_view text) {
  if (text == "max") return kMostSpeed;
  double speed = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), speed);
  if (fault != std::errc() || end != text.data() + text.size() || !std::isfinite(speed) ||
      !(speed > 0)) {
    throw Error(
        ExitCode::kUsage, "\"" + std::string(text) + "\" is no speed",
        "1 is the pace of the log's own clock, 10 ten times as fast, max as fast as it goes");
  }
  return speed;
}

Replay::Replay(const std::string& file, ReplayOptions options)
    : FrameSource(options.queue_frames),
      options_(std::move(options)),
      path_(file),
      bytes_(file, [this] { return is_cancelled(); }),
      name_(bytes_.name()) {}

std::vector<BusCounts> Replay::counts() const {
  BusCounts counts;
  counts.name = name_;
  counts.frames = frames_.load(std::memory_order_relaxed);
  counts.malformed = malformed_.load(std::memory_order_relaxed);
  return {std::move(counts)};
}

bool Replay::is_cancelled() {
  queue().flush();  // it may be a pipe, whose next line comes who knows when
  return is_stopped();
}

void Replay::run() {
  data::CanLog log(std::move(bytes_), options_.format, options_.strict, data::kAllChannels,
                   options_.reading);
  data::LabelTables tables;
  data::LabelIntervals* labels = nullptr;
  try {
    labels = tables.of(path_);
  } catch (const Error& error) {  // scores need no labels
    problems_ = error.diagnostics();
  }
  Pace pace(options_.speed);
  LiveFrame next;
  int unflushed = 0;
  while (!is_stopped() && log.next(next.frame)) {
    data::add_label(labels, next.frame);
    next.restarts = log.restarted();
    next.received = monotonic_now();
    if (options_.speed != kMostSpeed) {
      const int64_t due = pace.due(next.frame.time, next.restarts, next.received);
      if (due > next.received) {
        queue().flush();
        if (stopped_.wait_until(due, [this] { return is_stopped(); })) break;
        next.received = monotonic_now();
      }
    }
    if (!queue().push_wait(next)) break;
    frames_.store(frames_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    malformed_.store(log.malformed(), std::memory_order_relaxed);
    if (++unflushed == kFramesBetweenFlushes) {
      queue().flush();
      unflushed = 0;
    }
  }
  malformed_.store(log.malformed(), std::memory_order_relaxed);
  for (data::Note& note : log.problems()) problems_.push_back(std::move(note));
  for (data::Note& note : tables.notes()) problems_.push_back(std::move(note));
}

}  // namespace kdgat::live
