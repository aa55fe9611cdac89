// for_chunks: a loop over many small things of unequal cost, divided among threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace kdgat::arrays {

/// `wanted`, or if that is 0 as many threads as this process may use.
inline int thread_count(int64_t wanted) {
  return static_cast<int>(wanted > 0 ? wanted
                                     : std::max<int64_t>(1, std::thread::hardware_concurrency()));
}

/// Calls run(thread, begin, end) for every part of [begin, end) of `chunk` items, each once, by
/// `threads` threads, the calling one among them; `thread` counts them from 0. What a part gives
/// must not depend on the thread. Throws the first exception of any call, after all have ended.
inline void for_chunks(int64_t begin, int64_t end, int64_t chunk, int threads,
                       const std::function<void(int thread, int64_t, int64_t)>& run) {
  std::atomic<int64_t> next{begin};
  std::exception_ptr failure;
  std::mutex guard;
  const auto work = [&](int thread) {
    try {
      for (int64_t from = next.fetch_add(chunk); from < end; from = next.fetch_add(chunk)) {
        run(thread, from, std::min(end, from + chunk));
      }
    } catch (...) {
      const std::lock_guard lock(guard);
      if (!failure) failure = std::current_exception();
      next = end;
    }
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads && thread * chunk < end - begin; ++thread) {
    others.emplace_back(work, thread);
  }
  work(0);
  for (std::thread& other : others) other.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace kdgat::arrays
