#include "pipeline/alarms/alarm_queue.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "kdgat/text.h"
#include "pipeline/alarms/pacer.h"
#include "pipeline/alarms/quiet_thread.h"
#include "pipeline/system/wait.h"

namespace kdgat {
namespace {

using Lock = std::unique_lock<std::mutex>;
using Clock = std::chrono::steady_clock;

}  // namespace

/// Shared with the thread, which may outlive the queue (see finish()).
struct AlarmQueue::State {
  State(ChosenSink chosen, AlarmTell teller, const QueueLimits& limit)
      : name(std::move(chosen.name)),
        sink(std::move(chosen.sink)),
        tell(std::move(teller)),
        limits(limit),
        pacer(chosen.rate) {}

  /// The thread's work: to the last one, or until there is no patience left.
  void run();
  std::optional<AlarmNews> next(Lock& lock);
  void deliver(Lock& lock, const AlarmNews& news);
  Delivery attempt(const AlarmNews& news);
  void say(const std::string& level, const std::string& message) const {
    if (tell) tell(level, "alarms to " + name + ": " + message);
  }
  void push(AlarmItem item);
  void drop_front();
  /// All but the newest.
  void hold_back();
  void settled(const Delivery& delivery);

  const std::string name;
  const std::unique_ptr<AlarmSink> sink;  ///< of the thread alone
  const AlarmTell tell;
  const QueueLimits limits;
  Patience patience;
  std::thread thread;

  mutable std::mutex mutex;  ///< of all below; held for moments
  std::condition_variable changed, done;
  std::deque<AlarmItem> items;
  std::size_t bytes = 0;
  Pacer pacer;
  AlarmCounts count;
  int64_t unsaid = 0;        ///< suppressed since the last one
  int64_t lost = 0;          ///< dropped since it was last said
  bool is_failing = false;   ///< the last attempt failed, and that was said
  bool has_refused = false;  ///< said, once
  bool is_ending = false, is_over = false, has_ended = false;
};

void AlarmQueue::State::push(AlarmItem item) {
  bytes += size_of(item);
  items.push_back(std::move(item));
  while (items.size() > limits.most_items || (bytes > limits.most_bytes && items.size() > 1)) {
    drop_front();
  }
}

void AlarmQueue::State::drop_front() {
  bytes -= size_of(items.front());
  items.pop_front();
  ++count.dropped;
  if (++lost == 1 && !is_over) {
    say("warning", "it takes none, " + grouped(static_cast<int64_t>(items.size())) +
                       " wait; the oldest are dropped from now on");
  }
}

void AlarmQueue::State::hold_back() {
  const auto held = static_cast<int64_t>(items.size()) - 1;
  count.suppressed += held;
  unsaid += held;
  items.erase(items.begin(), items.end() - 1);
  bytes = size_of(items.front());
}

/// Waits for one that may go; none at the end.
std::optional<AlarmNews> AlarmQueue::State::next(Lock& lock) {
  while (true) {
    wait_for(changed, lock, [&] { return is_ending || !items.empty(); });
    if (items.empty() || patience.is_over()) return std::nullopt;
    const Deadline from = pacer.next();
    if (Clock::now() >= from) break;
    hold_back();
    if (is_ending) break;
    changed.wait_until(lock, from);
  }
  bytes -= size_of(items.front());
  AlarmNews out{std::move(items.front()), std::exchange(unsaid, 0)};
  items.pop_front();
  return out;
}

Delivery AlarmQueue::State::attempt(const AlarmNews& news) {
  try {
    return sink->write(news, patience);
  } catch (const std::exception& e) {  // of the sink's: nothing may end the thread
    return {Outcome::kRefused, e.what()};
  }
}

void AlarmQueue::State::deliver(Lock& lock, const AlarmNews& news) {
  constexpr double kShortest = 0.02;  // at the end
  for (double pause = limits.first_pause;; pause = std::min(2 * pause, limits.longest_pause)) {
    lock.unlock();
    const Delivery delivery = attempt(news);
    lock.lock();
    if (delivery.outcome != Outcome::kAgain) {
      settled(delivery);
      return;
    }
    if (patience.is_over()) break;
    if (!is_failing) {
      say("warning", delivery.why + "; it is tried again, and what comes until then is kept");
    }
    is_failing = true;
    changed.wait_until(lock, deadline_in(pause), [&] { return is_ending; });
    if (is_ending) {
      lock.unlock();
      patience.wait(-1, 0, deadline_in(std::min(pause, kShortest)));
      lock.lock();
    }
  }
  ++count.dropped;
  ++lost;
}

void AlarmQueue::State::settled(const Delivery& delivery) {
  pacer.went();
  if (delivery.outcome == Outcome::kDone) {
    ++count.sent;
    if (is_failing || lost > 0) {
      const std::string without = lost > 0 ? "; " + grouped(lost) + " were dropped" : "";
      say(lost > 0 ? "warning" : "info", "it takes them again" + without);
    }
    is_failing = false;
    lost = 0;
    return;
  }
  ++count.failed;
  if (delivery.outcome == Outcome::kEnded) {
    has_ended = true;
    say("warning", delivery.why + "; nothing is written there any more");
  } else if (!std::exchange(has_refused, true)) {
    say("warning", delivery.why + " (others are counted and not said)");
  }
}

void AlarmQueue::State::run() {
  Lock lock(mutex);
  while (!has_ended) {
    const std::optional<AlarmNews> news = next(lock);
    if (!news) break;
    deliver(lock, *news);
  }
  lock.unlock();
  sink->close();
  lock.lock();
  is_over = true;
  done.notify_all();
}

AlarmQueue::AlarmQueue(ChosenSink chosen, AlarmTell tell, const QueueLimits& limits)
    : state_(std::make_shared<State>(std::move(chosen), std::move(tell), limits)),
      bus_frames_(state_->sink->bus_frames()) {
  state_->count.name = state_->name;
  state_->thread = quiet_thread([state = state_] { state->run(); });
}

AlarmQueue::~AlarmQueue() { finish(Clock::now()); }

void AlarmQueue::send(AlarmItem item) {
  const Lock lock(state_->mutex);
  if (state_->is_ending || state_->has_ended) {
    ++state_->count.dropped;
    ++state_->lost;
    return;
  }
  state_->push(std::move(item));
  state_->changed.notify_one();
}

void AlarmQueue::begin_end() {
  const Lock lock(state_->mutex);
  state_->is_ending = true;
  state_->changed.notify_one();
}

void AlarmQueue::finish(Deadline until) {
  constexpr double kToLetGo = 1;
  if (std::exchange(is_joined_, true)) return;
  begin_end();
  State& state = *state_;
  Lock lock(state.mutex);
  const auto is_over = [&] { return state.is_over; };
  if (!state.done.wait_until(lock, until, is_over)) {
    state.patience.end();
    state.changed.notify_one();
    state.done.wait_until(lock, deadline_in(kToLetGo), is_over);
  }
  // Of a sink that is not let go of one more, which it has and may or may not write.
  const auto left = static_cast<int64_t>(state.items.size()) + (state.is_over ? 0 : 1);
  state.count.dropped += left;
  state.lost += left;
  state.items.clear();
  state.bytes = 0;
  if (state.lost > 0) {
    state.say("warning", grouped(state.lost) + " were not taken and are lost");
  }
  if (state.count.failed > 1) state.say("warning", grouped(state.count.failed) + " failed");
  const bool ends = state.is_over;
  lock.unlock();
  if (ends) {
    state.thread.join();
  } else {
    state.thread.detach();
  }
}

AlarmCounts AlarmQueue::counts() const {
  const Lock lock(state_->mutex);
  return state_->count;
}

}  // namespace kdgat
