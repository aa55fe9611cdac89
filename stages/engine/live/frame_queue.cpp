#include "engine/live/frame_queue.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace kdgat::live {
namespace {

constexpr uint8_t kExtended = 1, kRemote = 2, kFd = 4, kRestarts = 8, kSentHere = 16;
/// Bytes past the length are 0 on both sides, so that two sizes are enough.
constexpr std::size_t kClassicBytes = 8;

}  // namespace

FrameQueue::FrameQueue(std::size_t frames)
    : ring_(std::bit_ceil(std::max<std::size_t>(frames, 2))), mask_(ring_.size() - 1) {}

void FrameQueue::pack(const LiveFrame& from, Entry& to) {
  const data::CanFrame& frame = from.frame;
  to.time = frame.time;
  to.received = from.received;
  to.id = frame.id;
  to.lost = from.lost;
  to.length = frame.length;
  to.label = frame.label;
  to.flags = static_cast<uint8_t>((frame.extended ? kExtended : 0) | (frame.remote ? kRemote : 0) |
                                  (frame.fd ? kFd : 0) | (from.restarts ? kRestarts : 0) |
                                  (from.is_sent_here ? kSentHere : 0));
  to.channel = frame.channel;
  if (frame.length <= kClassicBytes) {
    std::memcpy(to.payload.data(), frame.payload.data(), kClassicBytes);
  } else {
    to.payload = frame.payload;
  }
}

void FrameQueue::unpack(const Entry& from, LiveFrame& to) {
  data::CanFrame& frame = to.frame;
  frame.time = from.time;
  frame.id = from.id;
  frame.length = from.length;
  frame.label = from.label;
  frame.extended = (from.flags & kExtended) != 0;
  frame.remote = (from.flags & kRemote) != 0;
  frame.fd = (from.flags & kFd) != 0;
  frame.channel = from.channel;
  if (from.length <= kClassicBytes) {
    frame.payload = {};
    std::memcpy(frame.payload.data(), from.payload.data(), kClassicBytes);
  } else {
    frame.payload = from.payload;
  }
  to.received = from.received;
  to.lost = from.lost;
  to.restarts = (from.flags & kRestarts) != 0;
  to.is_sent_here = (from.flags & kSentHere) != 0;
}

bool FrameQueue::push(const LiveFrame& frame) {
  const uint64_t at = pushed_.load(std::memory_order_relaxed);
  if (at - popped_seen_ == capacity()) {
    popped_seen_ = popped_.load(std::memory_order_acquire);
    if (at - popped_seen_ == capacity()) return false;
  }
  pack(frame, ring_[at & mask_]);
  pushed_.store(at + 1, std::memory_order_release);
  return true;
}

bool FrameQueue::push_wait(const LiveFrame& frame) {
  while (!push(frame)) {
    flush();
    const auto has_room = [&] {
      return pushed_.load(std::memory_order_relaxed) - popped_.load(std::memory_order_acquire) <
             capacity();
    };
    const auto is_over = [&] { return gives_up_.load(std::memory_order_acquire); };
    emptied_.wait_until(kNever, [&] { return has_room() || is_over(); });
    if (!has_room()) return false;
  }
  return true;
}

void FrameQueue::close() {
  is_closed_.store(true, std::memory_order_release);
  flush();
}

std::size_t FrameQueue::pop(std::span<LiveFrame> to) {
  const uint64_t at = popped_.load(std::memory_order_relaxed);
  if (pushed_seen_ - at < to.size()) pushed_seen_ = pushed_.load(std::memory_order_acquire);
  const std::size_t count = std::min<std::size_t>(to.size(), pushed_seen_ - at);
  if (count == 0) return 0;
  for (std::size_t i = 0; i < count; ++i) unpack(ring_[(at + i) & mask_], to[i]);
  popped_.store(at + count, std::memory_order_release);
  // A producer that waits is woken at half, for many frames at once. None is missed: it sleeps only
  // behind a full ring, the second half of which is then still to be taken.
  if (pushed_.load(std::memory_order_relaxed) - (at + count) <= capacity() / 2) emptied_.ring();
  return count;
}

std::size_t FrameQueue::pop_wait(std::span<LiveFrame> to, int64_t deadline) {
  if (const std::size_t count = pop(to); count > 0) return count;
  filled_.wait_until(deadline, [&] {
    return is_closed_.load(std::memory_order_acquire) ||
           pushed_.load(std::memory_order_acquire) != popped_.load(std::memory_order_relaxed);
  });
  return pop(to);
}

bool FrameQueue::is_ended() const {
  // In this order: what was pushed ahead of closing is seen with it.
  return is_closed_.load(std::memory_order_acquire) &&
         pushed_.load(std::memory_order_acquire) == popped_.load(std::memory_order_acquire);
}

void FrameQueue::give_up() {
  gives_up_.store(true, std::memory_order_release);
  emptied_.ring();
}

}  // namespace kdgat::live
