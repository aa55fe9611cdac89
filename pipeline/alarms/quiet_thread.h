// A thread that no signal is for: they are for the one that waits for them.
#pragma once

#include <csignal>
#include <thread>
#include <utility>

namespace kdgat {

/// Runs `work` on a thread that was started with all signals blocked. A broken pipe is then an
/// error of the write that meets it.
template <class Work>
std::thread quiet_thread(Work work) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread out(std::move(work));
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return out;
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
}

}  // namespace kdgat
