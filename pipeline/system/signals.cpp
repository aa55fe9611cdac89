#include "pipeline/system/signals.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

namespace kdgat {
namespace {

std::atomic<int> pending{0};
std::atomic<int> stops{0};
std::atomic<bool> urgent{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

extern "C" void set_flag(int signal) {
  if (signal == SIGUSR1) {
    int none = 0;
    pending.compare_exchange_strong(none, 85);
  } else if (stops.fetch_add(1) == 0) {
    pending = 128 + signal;
  } else if (signal == SIGINT) {
    urgent = true;
  }
}

extern "C" void exit_at_once(int signal) { ::_exit(128 + signal); }

}  // namespace

void exit_on_signals() {
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = exit_at_once;
    sigemptyset(&action.sa_mask);
    ::sigaction(signal, &action, nullptr);
  }
}

void install_signal_flags() {
  struct sigaction action {};
  action.sa_handler = set_flag;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) ::sigaction(signal, &action, nullptr);
  // A broken pipe and a file over its limit are errors of the write that meets them.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

int pending_signal() { return pending; }

bool is_urgent() { return urgent; }

void reset_signal_flags() {
  pending = 0;
  stops = 0;
  urgent = false;
}

}  // namespace kdgat
