#include "engine/live/frame_source.h"

#include <csignal>

namespace kdgat::live {
namespace {

constexpr std::size_t kBatchFrames = 256;

/// Now and `span` from it; not past kNever.
int64_t moment_after(std::chrono::nanoseconds span) {
  const int64_t now = monotonic_now();
  return span.count() > kNever - now ? kNever : now + span.count();
}

}  // namespace

FrameSource::FrameSource(std::size_t queue_frames) : queue_(queue_frames), batch_(kBatchFrames) {}

void FrameSource::start() {
  // Signals are the business of the program's own threads.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    reader_ = std::thread([this] {
      try {
        run();
      } catch (...) {
        if (!is_stopped()) failure_ = std::current_exception();
      }
      queue_.close();
    });
  } catch (...) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

std::span<const LiveFrame> FrameSource::next(std::chrono::nanoseconds time_out) {
  std::size_t count = queue_.pop(batch_);
  if (count == 0) count = queue_.pop_wait(batch_, moment_after(time_out));
  if (count == 0 && queue_.is_ended() && failure_) std::rethrow_exception(failure_);
  return {batch_.data(), count};
}

void FrameSource::stop() {
  is_stopped_.store(true, std::memory_order_release);
  queue_.give_up();
  wake();
}

void FrameSource::finish() {
  stop();
  if (reader_.joinable()) reader_.join();
}

}  // namespace kdgat::live
