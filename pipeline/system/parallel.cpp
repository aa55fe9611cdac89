#include "pipeline/system/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace kdgat {

void for_each_at_once(std::size_t count, const std::function<void(std::size_t index)>& work) {
  constexpr std::size_t kWorthAThread = 64, kMost = 16;
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr problem;
  const auto take = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!problem) problem = std::current_exception();
      next = count;
    }
  };
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < std::min({cores, kMost, count / kWorthAThread}); ++i) {
    try {
      others.emplace_back(take);
    } catch (const std::system_error&) {
      break;  // no more threads are allowed: those there are do the work
    }
  }
  take();
  for (std::thread& other : others) other.join();
  if (problem) std::rethrow_exception(problem);
}

}  // namespace kdgat
