#include "pipeline/system/signals.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>

namespace kdgat {
namespace {

constexpr int kOfSignal = 128;  // added to its number
constexpr std::array kEnding = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
static_assert(static_cast<int>(kHungUp) == kOfSignal + SIGHUP &&
              static_cast<int>(ExitCode::kInterrupted) == kOfSignal + SIGINT &&
              static_cast<int>(kQuit) == kOfSignal + SIGQUIT &&
              static_cast<int>(ExitCode::kTerminated) == kOfSignal + SIGTERM);
constexpr int kRequeue = static_cast<int>(ExitCode::kRequeue);

std::atomic<int> pending{0};
std::atomic<int> stops{0};
std::atomic<bool> urgent{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

extern "C" void set_flag(int signal) {
  if (signal == SIGUSR1) {
    int none = 0;
    pending.compare_exchange_strong(none, kRequeue);
  } else if (stops.fetch_add(1) == 0) {
    pending = kOfSignal + signal;
  } else if (signal == SIGINT || signal == SIGQUIT) {
    urgent = true;
  }
}

extern "C" void end_at_once(int signal) { ::_exit(kOfSignal + signal); }

extern "C" void do_nothing(int) {}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

bool is_ignored(int signal) {
  struct sigaction now {};
  return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

void end_at_once_on_signals() {
  for (const int signal : kEnding) {
    if (!is_ignored(signal)) handle(signal, end_at_once);
  }
  handle(SIGUSR2, do_nothing);
}

void install_signal_flags() {
  for (const int signal : kEnding) {
    // Shells start what works in the background with SIGINT ignored; it is to be stopped all the
    // same.
    const bool may_stay_ignored = signal == SIGHUP || signal == SIGQUIT;
    if (!may_stay_ignored || !is_ignored(signal)) handle(signal, set_flag);
  }
  handle(SIGUSR1, set_flag);
  handle(SIGUSR2, do_nothing);
  // A broken pipe and a file over its limit are errors of the write that meets them.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

int pending_signal() { return pending; }

bool is_urgent() { return urgent; }

bool is_stop_code(int code) {
  return code == kRequeue || std::any_of(kEnding.begin(), kEnding.end(),
                                         [&](int signal) { return code == kOfSignal + signal; });
}

int signal_of_stop_code(int code) { return code == kRequeue ? SIGUSR1 : code - kOfSignal; }

void reset_signal_flags() {
  pending = 0;
  stops = 0;
  urgent = false;
}

}  // namespace kdgat
