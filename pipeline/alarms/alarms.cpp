#include "pipeline/alarms/alarms.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "pipeline/alarms/quiet_thread.h"
#include "pipeline/system/wait.h"

namespace kdgat {

/// Messages on their way to somebody who may be slow to read them. Bounded: what is too much is not
/// said.
class AlarmSinks::Notices : public std::enable_shared_from_this<Notices> {
 public:
  using Tell = std::function<void(const std::string& level, const std::string& message)>;
  explicit Notices(Tell tell) : tell_(std::move(tell)) {}

  void start() {
    if (tell_) thread_ = quiet_thread([self = shared_from_this()] { self->run(); });
  }

  void post(const std::string& level, const std::string& message) {
    constexpr std::size_t kMost = 256;
    const std::lock_guard lock(mutex_);
    if (!tell_ || messages_.size() >= kMost) return;
    messages_.emplace_back(level, message);
    changed_.notify_all();
  }

  /// Says what there is; who does not listen until then is left alone.
  void finish(Deadline until) {
    std::unique_lock lock(mutex_);
    if (!thread_.joinable()) return;
    is_ending_ = true;
    changed_.notify_all();
    const bool ends = changed_.wait_until(lock, until, [&] { return is_over_; });
    lock.unlock();
    if (ends) {
      thread_.join();
    } else {
      thread_.detach();
    }
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      wait_for(changed_, lock, [&] { return is_ending_ || !messages_.empty(); });
      if (messages_.empty()) break;
      const auto [level, message] = std::move(messages_.front());
      messages_.pop_front();
      lock.unlock();
      try {
        tell_(level, message);
      } catch (const std::exception&) {  // the thread's first line: nobody is told that it failed
      }
      lock.lock();
    }
    is_over_ = true;
    changed_.notify_all();
  }

  const Tell tell_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<std::string, std::string>> messages_;
  bool is_ending_ = false, is_over_ = false;
};

AlarmSinks::AlarmSinks(const std::vector<std::string>& words, AlarmSinkOptions options)
    : notices_(std::make_shared<Notices>(std::move(options.tell))) {
  std::vector<ChosenSink> chosen;
  chosen.reserve(words.size());
  for (const std::string& word : words) chosen.push_back(choose_alarm_sink(word));
  notices_->start();
  for (ChosenSink& sink : chosen) {
    queues_.push_back(std::make_unique<AlarmQueue>(
        std::move(sink),
        [notices = notices_](const std::string& level, const std::string& message) {
          notices->post(level, message);
        },
        options.limits));
  }
}

AlarmSinks::~AlarmSinks() { finish(0); }

void AlarmSinks::send(const AlarmItem& item) {
  for (const auto& queue : queues_) queue->send(item);
}

void AlarmSinks::finish(double seconds) {
  constexpr double kToSayIt = 1;
  const Deadline until = deadline_in(seconds);
  for (const auto& queue : queues_) queue->begin_end();
  for (const auto& queue : queues_) queue->finish(until);
  notices_->finish(deadline_in(kToSayIt));
}

std::vector<AlarmSinks::Counts> AlarmSinks::counts() const {
  std::vector<Counts> out;
  for (const auto& queue : queues_) out.push_back(queue->counts());
  return out;
}

std::vector<BusFrames> AlarmSinks::bus_frames() const {
  std::vector<BusFrames> out;
  for (const auto& queue : queues_) {
    if (const auto& frames = queue->bus_frames()) out.push_back(*frames);
  }
  return out;
}

}  // namespace kdgat
