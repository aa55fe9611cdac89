// What this machine allows: cores, memory, limits of the container or job. Reads SLURM's variables,
// /proc and the control groups (both versions, every level) below `root`, which tests replace.
// Limits of memory are those that a stage reads, too: kdgat/host_memory.h. Knows no device library.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kdgat/host_memory.h"

namespace kdgat {

class Machine {
 public:
  explicit Machine(std::filesystem::path root = "/") : root_(std::move(root)) {}

  /// Cores by affinity, the cgroup's quota and SLURM_CPUS_PER_TASK, at least 1.
  int cores() const;
  /// Cores, capped by OMP_NUM_THREADS where the user set it.
  int threads() const;
  /// The least CPU quota of its control groups in cores; nullopt = none.
  std::optional<double> cpu_quota() const;
  /// Every limit of memory but the machine's own size, with what is in use of it.
  std::vector<MemoryBound> memory_limits() const { return HostMemory(root_).hard_bounds(); }
  /// The least of them in bytes; nullopt = no limit but the machine's.
  std::optional<uint64_t> memory_limit() const;
  /// What a SLURM job was given on this node; nullopt outside of one, or if that is all there is.
  std::optional<uint64_t> job_memory() const;
  /// Before memory is counted: gives back what this process has freed and waits, some seconds at
  /// most, until the numbers of a control group with little left are of one moment
  /// (HostMemory::wait_until_settled).
  void settle_memory() const {
    trim_heap();
    HostMemory(root_).wait_until_settled();
  }
  /// Free memory of the machine in bytes (MemAvailable), 0 if unknown.
  uint64_t memory_available() const { return HostMemory(root_).available_memory(); }
  uint64_t memory_total() const { return HostMemory(root_).total_memory(); }
  /// What a run can count on: the machine's free memory, or what the tightest limit leaves of it; 0
  /// if unknown.
  uint64_t memory_for_runs() const;
  /// The same of a run that was given `asked` bytes: those, or what the limits leave of them,
  /// however little the machine has free just now. 0 = it was given none.
  uint64_t memory_for_runs(uint64_t asked) const;
  /// What the limits leave, for a stage (MemoryRequest::available); 0 = there are none.
  uint64_t limited_memory() const;
  /// How often the kernel killed a process of this cgroup for memory.
  uint64_t oom_kills() const;
  /// Anonymous resident memory of a process in bytes, 0 if it is gone.
  uint64_t anonymous_memory(pid_t pid) const;
  /// Most resident memory a process had since it began its program, in bytes.
  uint64_t peak_memory(pid_t pid) const;
  bool has_nvidia_driver() const;
  /// As the system names the processor; "" if it does not.
  std::string cpu_model() const;
  /// Of each NVIDIA card of the machine, in the order of their addresses; none without a driver.
  std::vector<std::string> gpu_models() const;
  std::string read(const std::string& path) const;  ///< first line of /path, "" if unreadable

 private:
  std::optional<uint64_t> least_limit(const std::function<bool(const MemoryBound&)>& counts) const;

  std::filesystem::path root_;
};

/// For files of a moment: SLURM_TMPDIR of a job, else the system's.
std::filesystem::path temporary_folder();

}  // namespace kdgat
