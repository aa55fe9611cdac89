// `kdgat stage-child`: the process of one stage. Reads its call from standard input, sends events
// and at the end its answer as JSON lines to kEventsFd, and is cancelled over kCancelFd. Run by
// hand with a request.json on standard input, it writes the lines to standard output.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>
#include <thread>

#include "pipeline/child.h"
#include "pipeline/cli.h"
#include "pipeline/machine.h"
#include "pipeline/signals.h"
#include "pipeline/stage_call.h"

namespace kdgat {
namespace {

constexpr int kTerminated = static_cast<int>(ExitCode::kTerminated);
/// A stage whose host is gone may take this long to leave.
constexpr unsigned kGraceSeconds = 10;

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) != -1; }

void write_line(int fd, const nlohmann::json& line) {
  const std::string text =
      line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t wrote = ::write(fd, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return;  // the host is gone: the watch below ends this process
    done += static_cast<std::size_t>(wrote);
  }
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

}  // namespace

int stage_verb(Context&, const std::vector<std::string>&) {
  install_signal_flags();
  const bool has_host = is_open(kEventsFd) && is_open(kCancelFd);
  const int events = has_host ? kEventsFd : STDOUT_FILENO;
  for (const int fd : {kEventsFd, kCancelFd, kLockFd}) {
    if (has_host) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  }
  static std::atomic<int> cancel{0};
  if (has_host) std::thread(watch, std::ref(cancel)).detach();

  const std::string text{std::istreambuf_iterator<char>(std::cin),
                         std::istreambuf_iterator<char>()};
  const StageAnswer answer = call_stage(
      StageCall::from_json(nlohmann::json::parse(text)),
      [&](const nlohmann::json& event) { write_line(events, event); },
      [] { return cancel != 0 ? cancel.load() : pending_signal(); });
  write_line(events, {{"answer", answer.to_json()},
                      {"peak_resident_bytes", Machine().peak_memory(::getpid())}});
  // What a plugin leaves behind (threads, its library's destructors) must not change the answer.
  std::fflush(nullptr);
  ::_exit(answer.code);
}

}  // namespace kdgat
