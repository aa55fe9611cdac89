#include "pipeline/system/machine.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace kdgat {
namespace {

namespace fs = std::filesystem;

std::optional<uint64_t> parse_number(const std::string& text) {
  char* end = nullptr;
  const uint64_t value = std::strtoull(text.c_str(), &end, 10);
  if (end == text.c_str()) return std::nullopt;
  return value;
}

/// A number SLURM tells the processes of a job; nullopt outside of one.
std::optional<uint64_t> job_variable(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr || std::getenv("SLURM_JOB_ID") == nullptr) return std::nullopt;
  return parse_number(text);
}

}  // namespace

fs::path Machine::cgroup_file(const std::string& controller, const std::string& v2,
                              const std::string& v1) const {
  std::ifstream groups(root_ / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string names = "," + line.substr(first + 1, second - first - 1) + ",";
    const fs::path group = fs::path(line.substr(second + 1)).relative_path();
    const bool unified = names == ",,";
    if (!unified && names.find("," + controller + ",") == std::string::npos) continue;
    const fs::path base = root_ / "sys/fs/cgroup" / (unified ? "" : controller);
    const std::string& name = unified ? v2 : v1;
    // In a container the folder of the group itself is often mounted at the top.
    for (const fs::path& file : {base / group / name, base / name}) {
      std::error_code ignored;
      if (fs::exists(file, ignored)) return file;
    }
  }
  return {};
}

std::optional<uint64_t> Machine::number_in(const fs::path& file, const std::string& key) const {
  if (file.empty()) return std::nullopt;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (key.empty()) return parse_number(line);
    std::stringstream words(line);
    std::string name, value;
    if (words >> name >> value && (name == key || name == key + ":")) return parse_number(value);
  }
  return std::nullopt;
}

std::string Machine::read(const std::string& path) const {
  std::ifstream in(root_ / path);
  std::string line;
  std::getline(in, line);
  return line;
}

std::optional<double> Machine::cpu_quota() const {
  const fs::path file = cgroup_file("cpu", "cpu.max", "cpu.cfs_quota_us");
  if (file.empty()) return std::nullopt;
  double quota = 0, period = 0;
  std::ifstream in(file);
  in >> quota;
  if (file.filename() == "cpu.max") {
    in >> period;
  } else {
    std::ifstream(file.parent_path() / "cpu.cfs_period_us") >> period;
  }
  if (!(quota > 0) || !(period > 0)) return std::nullopt;
  return quota / period;
}

int Machine::cores() const {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  int cores = ::sched_getaffinity(0, sizeof(allowed), &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
  if (const auto quota = cpu_quota()) cores = std::min(cores, static_cast<int>(std::ceil(*quota)));
  // A cluster that binds no tasks to cores says only here how many are this job's.
  if (const auto given = job_variable("SLURM_CPUS_PER_TASK"); given && *given > 0) {
    cores = std::min(cores, static_cast<int>(*given));
  }
  return std::max(cores, 1);
}

int Machine::threads() const {
  const char* wanted = std::getenv("OMP_NUM_THREADS");
  const int cap = wanted == nullptr ? 0 : std::atoi(wanted);
  return cap > 0 ? std::min(cap, cores()) : cores();
}

std::optional<uint64_t> Machine::job_memory() {
  constexpr uint64_t kMiB = uint64_t{1} << 20;
  const auto megabytes = job_variable("SLURM_MEM_PER_NODE");
  if (!megabytes || *megabytes == 0) return std::nullopt;  // 0 = the whole node
  return *megabytes * kMiB;
}

std::optional<uint64_t> Machine::memory_limit() const {
  const auto job = job_memory(), group = cgroup_limit();
  return job && group ? std::min(*job, *group) : job ? job : group;
}

std::optional<uint64_t> Machine::cgroup_limit() const {
  const auto limit = number_in(cgroup_file("memory", "memory.max", "memory.limit_in_bytes"), "");
  // Version 1 writes "no limit" as a number near 2^63.
  if (!limit || *limit >= (uint64_t{1} << 60)) return std::nullopt;
  return limit;
}

std::optional<uint64_t> Machine::cgroup_used() const {
  return number_in(cgroup_file("memory", "memory.current", "memory.usage_in_bytes"), "");
}

uint64_t Machine::memory_available() const {
  return number_in(root_ / "proc/meminfo", "MemAvailable").value_or(0) * 1024;
}

uint64_t Machine::memory_total() const {
  return number_in(root_ / "proc/meminfo", "MemTotal").value_or(0) * 1024;
}

uint64_t Machine::memory_for_runs() const {
  uint64_t free = memory_available();
  if (const auto limit = cgroup_limit()) {
    free = std::min(free, *limit - std::min(cgroup_used().value_or(0), *limit));
  }
  return std::min(free, job_memory().value_or(free));
}

uint64_t Machine::oom_kills() const {
  return number_in(cgroup_file("memory", "memory.events", "memory.oom_control"), "oom_kill")
      .value_or(0);
}

uint64_t Machine::anonymous_memory(pid_t pid) const {
  // RssAnon of status, in pages: a tenth of the time to read, and it is read a hundred times a
  // second.
  std::ifstream in(root_ / "proc" / std::to_string(pid) / "statm");
  uint64_t size = 0, resident = 0, shared = 0;
  if (!(in >> size >> resident >> shared) || resident < shared) return 0;
  return (resident - shared) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

uint64_t Machine::peak_memory(pid_t pid) const {
  return number_in(root_ / "proc" / std::to_string(pid) / "status", "VmHWM").value_or(0) * 1024;
}

bool Machine::has_nvidia_driver() const {
  std::error_code ignored;
  return fs::exists(root_ / "proc/driver/nvidia/version", ignored);
}

fs::path temporary_folder() {
  const char* of_job = std::getenv("SLURM_TMPDIR");
  std::error_code ignored;
  if (of_job != nullptr && fs::is_directory(of_job, ignored)) return of_job;
  return fs::temp_directory_path();
}

}  // namespace kdgat
