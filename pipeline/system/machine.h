// What this machine allows: cores, memory, limits of the container or job. Reads SLURM's variables
// first, then /proc and the cgroup file systems (both versions) below `root`, which tests replace.
// Knows no device library.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace kdgat {

class Machine {
 public:
  explicit Machine(std::filesystem::path root = "/") : root_(std::move(root)) {}

  /// Cores by affinity, the cgroup's quota and SLURM_CPUS_PER_TASK, at least 1.
  int cores() const;
  /// Cores, capped by OMP_NUM_THREADS where the user set it.
  int threads() const;
  /// The cgroup's CPU quota in cores; nullopt = none.
  std::optional<double> cpu_quota() const;
  /// Bytes this process and its children may use by job and cgroup; nullopt = no limit but the
  /// machine's.
  std::optional<uint64_t> memory_limit() const;
  /// What a SLURM job was given on this node (SLURM_MEM_PER_NODE); nullopt outside of one, or if
  /// that is all there is.
  static std::optional<uint64_t> job_memory();
  /// Bytes by cgroup alone, and in use in that cgroup.
  std::optional<uint64_t> cgroup_limit() const;
  std::optional<uint64_t> cgroup_used() const;
  /// Free memory of the machine in bytes (MemAvailable), 0 if unknown.
  uint64_t memory_available() const;
  uint64_t memory_total() const;
  /// What a run can count on: the machine's free memory, or what the limit leaves of it.
  uint64_t memory_for_runs() const;
  /// How often the kernel killed a process of this cgroup for memory.
  uint64_t oom_kills() const;
  /// Anonymous resident memory of a process in bytes, 0 if it is gone.
  uint64_t anonymous_memory(pid_t pid) const;
  /// Most resident memory a process had since it began its program, in bytes.
  uint64_t peak_memory(pid_t pid) const;
  bool has_nvidia_driver() const;
  std::string read(const std::string& path) const;  ///< first line of /path, "" if unreadable

 private:
  /// Where this process's limits of `controller` stand, under version 2 or 1.
  std::filesystem::path cgroup_file(const std::string& controller, const std::string& v2,
                                    const std::string& v1) const;
  std::optional<uint64_t> number_in(const std::filesystem::path& file,
                                    const std::string& key) const;

  std::filesystem::path root_;
};

/// For files of a moment: SLURM_TMPDIR of a job, else the system's.
std::filesystem::path temporary_folder();

}  // namespace kdgat
