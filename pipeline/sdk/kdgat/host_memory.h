// How much memory of the host this process may hold: the one reader of every limit, for the program
// and for its stages. The machine itself, every level of its control groups (cgroup.h), what a
// SLURM job was given, and ulimit -v. All numbers are bytes; nothing is cached.
#pragma once

#include <sys/resource.h>
#ifdef __GLIBC__  // which any header of the C library defines
#include <malloc.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kdgat/cgroup.h"

namespace kdgat {

/// One bound. What is in use counts for all processes that share it, without what the kernel takes
/// back before it kills (page cache); of a job and of ulimit, for this process alone.
struct MemoryBound {
  enum class Kind { kMachine, kCgroup, kJob, kProcess };

  Kind kind = Kind::kMachine;
  std::string name;  ///< "cgroup /user/job", "SLURM_MEM_PER_NODE", "ulimit -v"
  uint64_t limit = 0;
  uint64_t used = 0;

  uint64_t room() const { return limit - std::min(used, limit); }
  /// Who goes beyond is killed or refused, however much the machine has.
  bool is_hard() const { return kind != Kind::kMachine; }
};

/// The bound with the least room; null if there is none.
inline const MemoryBound* tightest(const std::vector<MemoryBound>& bounds) {
  const auto least = std::min_element(
      bounds.begin(), bounds.end(),
      [](const MemoryBound& a, const MemoryBound& b) { return a.room() < b.room(); });
  return least == bounds.end() ? nullptr : &*least;
}

/// Gives back to the machine what malloc keeps of what was freed, where malloc can (glibc): the
/// process then holds what it needs, not what it happened to need before.
inline void trim_heap() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

class HostMemory {
 public:
  /// `root` stands before /proc and /sys; tests replace it.
  explicit HostMemory(std::filesystem::path root = "/") : root_(std::move(root)) {}

  /// All there are: the machine, control groups from the innermost, the job, the process.
  std::vector<MemoryBound> bounds() const {
    std::vector<MemoryBound> out;
    if (const uint64_t total = total_memory(); total > 0) {
      out.push_back({MemoryBound::Kind::kMachine, "the machine", total,
                     total - std::min(available_memory(), total)});
    }
    for (MemoryBound& one : hard_bounds()) out.push_back(std::move(one));
    return out;
  }

  /// The same without the machine.
  std::vector<MemoryBound> hard_bounds() const {
    std::vector<MemoryBound> out;
    for (const CgroupLevel& level : cgroup_levels(root_, "memory")) {
      if (const auto limit = limit_of(level)) {
        out.push_back({MemoryBound::Kind::kCgroup, "cgroup " + level.name, *limit, used_in(level)});
      }
    }
    if (auto job = job_bound()) out.push_back(std::move(*job));
    if (const auto limit = address_space()) {
      // Of the address space: what is mapped from files, and what else is in memory. A range that
      // is only reserved is there for whoever reserved it.
      const uint64_t size = of_process("VmSize"), data = of_process("VmData");
      const uint64_t used = size - std::min(data, size) + of_process("RssAnon");
      out.push_back({MemoryBound::Kind::kProcess, "ulimit -v", *limit, used});
    }
    return out;
  }

  /// Waits, at most `most`, until the kernel's numbers of a control group with little left are of
  /// one moment: use counts at once, what of it is page cache is known up to two seconds later, and
  /// until then a group seems to be fuller than it is. For who is about to plan or to refuse.
  void wait_until_settled(std::chrono::milliseconds most = std::chrono::milliseconds(4000)) const {
    const auto end = std::chrono::steady_clock::now() + most;
    while (!is_settled() && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }

  /// Whether in every group with little left the parts add up to what is used.
  bool is_settled() const {
    constexpr uint64_t kApart = uint64_t{4} << 20, kLittle = uint64_t{256} << 20;
    for (const CgroupLevel& level : cgroup_levels(root_, "memory")) {
      const std::optional<uint64_t> limit = limit_of(level), use = in_use(level);
      if (!limit || !use || (*use < *limit / 2 && *limit - *use > kLittle)) continue;
      const std::filesystem::path stat = level.folder / "memory.stat";
      const auto held = number_of_file(stat, level.is_v2 ? "anon" : "total_rss");
      const auto cache = number_of_file(stat, level.is_v2 ? "file" : "total_cache");
      const auto kernel = level.is_v2 ? number_of_file(stat, "kernel")
                                      : number_of_file(level.folder / "memory.kmem.usage_in_bytes");
      if (!held || !cache || !kernel) continue;  // a kernel that does not say
      const uint64_t sum = *held + *cache + *kernel;
      if (std::max(sum, *use) - std::min(sum, *use) > kApart) return false;
    }
    return true;
  }

  /// MemTotal and MemAvailable; 0 if unknown.
  uint64_t total_memory() const { return kilobytes("proc/meminfo", "MemTotal"); }
  uint64_t available_memory() const { return kilobytes("proc/meminfo", "MemAvailable"); }

  /// Addresses this process may still map; nullopt = no limit.
  std::optional<uint64_t> address_space_left() const {
    const auto limit = address_space();
    if (!limit) return std::nullopt;
    return *limit - std::min(of_process("VmSize"), *limit);
  }

 private:
  /// The limit of a level, nullopt = none. Above memory.high a group is throttled until it stands
  /// still, so that binds as well.
  static std::optional<uint64_t> limit_of(const CgroupLevel& level) {
    // Version 1 writes "no limit" as a number near 2^63.
    constexpr uint64_t kNone = uint64_t{1} << 60;
    uint64_t least = kNone;
    const auto lower = [&](const char* file) {
      least = std::min(least, number_of_file(level.folder / file).value_or(kNone));
    };
    if (level.is_v2) {
      lower("memory.max");
      lower("memory.high");
    } else {
      lower("memory.limit_in_bytes");
    }
    return least < kNone ? std::optional(least) : std::nullopt;
  }

  static std::optional<uint64_t> in_use(const CgroupLevel& level) {
    return number_of_file(level.folder /
                          (level.is_v2 ? "memory.current" : "memory.usage_in_bytes"));
  }

  static uint64_t used_in(const CgroupLevel& level) {
    const auto stat = [&](const std::string& key) {
      return number_of_file(level.folder / "memory.stat", key).value_or(0);
    };
    const std::optional<uint64_t> use = in_use(level);
    const std::string all = level.is_v2 ? "" : "total_";  // with the groups below it
    const uint64_t cache = stat(all + "inactive_file") + stat(all + "active_file");
    return use.value_or(0) - std::min(cache, use.value_or(0));
  }

  /// What SLURM gave the job on this node; nullopt outside of one, or if it is the whole node.
  std::optional<MemoryBound> job_bound() const {
    constexpr uint64_t kMiB = uint64_t{1} << 20;
    if (std::getenv("SLURM_JOB_ID") == nullptr) return std::nullopt;
    const uint64_t used = of_process("RssAnon");
    if (const uint64_t node = variable("SLURM_MEM_PER_NODE"); node > 0) {
      return MemoryBound{MemoryBound::Kind::kJob, "SLURM_MEM_PER_NODE", node * kMiB, used};
    }
    if (const uint64_t each = variable("SLURM_MEM_PER_CPU"); each > 0) {
      uint64_t cores = 0;  // SLURM_JOB_CPUS_PER_NODE may be "4(x2),2": the first node's
      for (const char* name :
           {"SLURM_CPUS_ON_NODE", "SLURM_JOB_CPUS_PER_NODE", "SLURM_CPUS_PER_TASK"}) {
        if (cores == 0) cores = variable(name);
      }
      return MemoryBound{MemoryBound::Kind::kJob, "SLURM_MEM_PER_CPU",
                         each * std::max<uint64_t>(1, cores) * kMiB, used};
    }
    return std::nullopt;
  }

  /// The number that a variable begins with, 0 without.
  static uint64_t variable(const char* name) {
    const char* text = std::getenv(name);
    return text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
  }

  static std::optional<uint64_t> address_space() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
    return limit.rlim_cur;
  }

  uint64_t kilobytes(const char* file, const std::string& key) const {
    return number_of_file(root_ / file, key).value_or(0) * 1024;
  }
  uint64_t of_process(const std::string& key) const { return kilobytes("proc/self/status", key); }

  std::filesystem::path root_;
};

}  // namespace kdgat
