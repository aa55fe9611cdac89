// `kdgat stage-child`: the process of one stage. Reads its call from standard input, sends events
// and at the end its answer as JSON lines to kEventsFd, and is cancelled over kCancelFd. Run by
// hand with a request.json on standard input, it writes the lines to standard output.
//
// `kdgat trials-child`: the process of several stages at once (see tune/trial_process.h).
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "kdgat/exact_json.h"
#include "pipeline/cli/cli.h"
#include "pipeline/execute/child.h"
#include "pipeline/plugin/stage_call.h"
#include "pipeline/system/machine.h"
#include "pipeline/system/record.h"
#include "pipeline/system/signals.h"
#include "pipeline/verbs/json/json_forms.h"

namespace kdgat {
namespace {

constexpr int kTerminated = static_cast<int>(ExitCode::kTerminated);
/// A stage whose host is gone may take this long to leave.
constexpr unsigned kGraceSeconds = 10;

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) != -1; }

void write_line(int fd, const nlohmann::json& line) {
  // Where the host is gone, the watch below ends this process.
  write_all(fd, json_line(line));
}

/// Waits for exit codes from the host for as long as it lives; runs in a thread of its own.
void watch(std::atomic<int>& cancel) {
  unsigned char code = 0;
  for (;;) {
    const ssize_t got = ::read(kCancelFd, &code, 1);
    if (got == 1) {
      cancel = code;
    } else if (got == 0 || errno != EINTR) {
      break;
    }
  }
  cancel = kTerminated;
  ::sleep(kGraceSeconds);
  ::_exit(kTerminated);
}

double thread_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// The host's ends of this process, and what it asks for.
struct Wire {
  int events = STDOUT_FILENO;
  bool has_host = false;

  explicit Wire(std::atomic<int>& cancel) {
    install_signal_flags();
    has_host = is_open(kEventsFd) && is_open(kCancelFd);
    if (!has_host) return;
    events = kEventsFd;
    for (const int fd : {kEventsFd, kCancelFd, kLockFd}) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    std::thread(watch, std::ref(cancel)).detach();
  }
};

/// A line that asks for the start or the end of one.
struct TrialOrder {
  std::optional<int64_t> start;
  nlohmann::json call;
  int64_t cancel = -1;
  int code = 0;
  static auto keys() {
    return std::tuple{key("start", &TrialOrder::start), key("call", &TrialOrder::call),
                      key("cancel", &TrialOrder::cancel), key("code", &TrialOrder::code)};
  }
};

/// Stages in threads, as lines on standard input ask for them.
class Trials {
 public:
  Trials(int events, const std::atomic<int>& cancel) : events_(events), cancel_(cancel) {}

  void obey(const TrialOrder& order) {
    if (order.start) start(*order.start, StageCall::from_json(order.call));
    const auto called = codes_.find(order.cancel);
    if (called != codes_.end()) called->second->store(order.code);
  }
  void wait() {
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  void start(int64_t id, StageCall call) {
    auto code = codes_[id] = std::make_shared<std::atomic<int>>(0);
    threads_.emplace_back([this, id, code, call = std::move(call)] {
      const auto started = std::chrono::steady_clock::now();
      const StageAnswer answer = call_stage(
          call,
          [&](nlohmann::json event) {
            event["id"] = id;
            write(event);
          },
          [&] {
            if (*code != 0) return code->load();
            return cancel_ != 0 ? cancel_.load() : pending_signal();
          });
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - started;
      write({{"id", id},
             {"answer", answer.to_json()},
             {"seconds", seconds.count()},
             {"cpu_seconds", thread_seconds()}});
    });
  }
  void write(const nlohmann::json& line) {
    const std::lock_guard lock(mutex_);
    write_line(events_, line);
  }

  int events_;
  const std::atomic<int>& cancel_;
  std::mutex mutex_;
  std::map<int64_t, std::shared_ptr<std::atomic<int>>> codes_;
  std::vector<std::thread> threads_;
};

int stage_verb(Context&, const std::vector<std::string>&) {
  static std::atomic<int> cancel{0};
  const Wire wire(cancel);
  const std::string text{std::istreambuf_iterator<char>(std::cin),
                         std::istreambuf_iterator<char>()};
  const StageAnswer answer = call_stage(
      StageCall::from_json(exact_parse(text)),
      [&](const nlohmann::json& event) { write_line(wire.events, event); },
      [] { return cancel != 0 ? cancel.load() : pending_signal(); });
  const StageEndLine end{answer.to_json(), Machine().peak_memory(::getpid())};
  write_line(wire.events, record::write<nlohmann::json>(end));
  // What a plugin leaves behind (threads, its library's destructors) must not change the answer.
  std::fflush(nullptr);
  ::_exit(answer.code);
}

int trials_verb(Context&, const std::vector<std::string>&) {
  static std::atomic<int> cancel{0};
  const Wire wire(cancel);
  Trials trials(wire.events, cancel);
  for (std::string text; std::getline(std::cin, text);) {
    nlohmann::json line = nlohmann::json::parse(text, nullptr, false);
    restore_exact(line);
    trials.obey(record::read<TrialOrder>(line));
  }
  trials.wait();
  std::fflush(nullptr);
  ::_exit(0);
}

}  // namespace

Verb make_stage_verb() { return {"stage-child", "", Needs::kNothing, stage_verb, nullptr, true}; }

Verb make_trials_verb() {
  return {"trials-child", "", Needs::kNothing, trials_verb, nullptr, true};
}

}  // namespace kdgat
