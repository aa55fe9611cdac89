#include "pipeline/system/machine.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <vector>

namespace kdgat {
namespace {

namespace fs = std::filesystem;

std::optional<uint64_t> parse_number(const std::string& text) {
  char* end = nullptr;
  const uint64_t value = std::strtoull(text.c_str(), &end, 10);
  if (end == text.c_str()) return std::nullopt;
  return value;
}

/// Of "key   : value", what the first such line of a file has; "" if there is none.
std::string value_of_line(const fs::path& file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(':');
    if (line.rfind(key, 0) != 0 || colon == std::string::npos) continue;
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

/// A number SLURM tells the processes of a job; nullopt outside of one.
std::optional<uint64_t> job_variable(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr || std::getenv("SLURM_JOB_ID") == nullptr) return std::nullopt;
  return parse_number(text);
}

}  // namespace

std::string Machine::read(const std::string& path) const {
  std::ifstream in(root_ / path);
  std::string line;
  std::getline(in, line);
  return line;
}

std::optional<double> Machine::cpu_quota() const {
  std::optional<double> least;
  for (const CgroupLevel& level : cgroup_levels(root_, "cpu")) {
    double quota = 0, period = 0;
    std::ifstream in(level.folder / (level.is_v2 ? "cpu.max" : "cpu.cfs_quota_us"));
    in >> quota;
    if (level.is_v2) {
      in >> period;
    } else {
      std::ifstream(level.folder / "cpu.cfs_period_us") >> period;
    }
    if (!(quota > 0) || !(period > 0)) continue;
    least = std::min(least.value_or(quota / period), quota / period);
  }
  return least;
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

std::optional<uint64_t> Machine::job_memory() const {
  return least_limit([](const MemoryBound& one) { return one.kind == MemoryBound::Kind::kJob; });
}

std::optional<uint64_t> Machine::memory_limit() const {
  return least_limit([](const MemoryBound&) { return true; });
}

std::optional<uint64_t> Machine::least_limit(
    const std::function<bool(const MemoryBound&)>& counts) const {
  std::optional<uint64_t> least;
  for (const MemoryBound& one : memory_limits()) {
    if (counts(one)) least = std::min(least.value_or(one.limit), one.limit);
  }
  return least;
}

uint64_t Machine::memory_for_runs() const {
  const std::vector<MemoryBound> bounds = HostMemory(root_).bounds();
  const MemoryBound* least = tightest(bounds);
  return least == nullptr ? 0 : least->room();
}

uint64_t Machine::memory_for_runs(uint64_t asked) const {
  if (asked == 0) return memory_for_runs();
  const uint64_t left = limited_memory();
  return left == 0 ? asked : std::min(asked, left);
}

uint64_t Machine::limited_memory() const {
  const std::vector<MemoryBound> limits = memory_limits();
  const MemoryBound* least = tightest(limits);
  // A limit that is used up is one all the same.
  return least == nullptr ? 0 : std::max<uint64_t>(1, least->room());
}

uint64_t Machine::oom_kills() const {
  for (const CgroupLevel& level : cgroup_levels(root_, "memory")) {
    const char* file = level.is_v2 ? "memory.events" : "memory.oom_control";
    // Its own group counts it: that of version 2 with the groups below.
    if (const auto kills = number_of_file(level.folder / file, "oom_kill")) return *kills;
  }
  return 0;
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
  return number_of_file(root_ / "proc" / std::to_string(pid) / "status", "VmHWM").value_or(0) *
         1024;
}

bool Machine::has_nvidia_driver() const {
  std::error_code ignored;
  return fs::exists(root_ / "proc/driver/nvidia/version", ignored);
}

std::string Machine::cpu_model() const {
  return value_of_line(root_ / "proc/cpuinfo", "model name");
}

std::vector<std::string> Machine::gpu_models() const {
  std::error_code ignored;
  std::vector<fs::path> cards;
  for (const auto& card : fs::directory_iterator(root_ / "proc/driver/nvidia/gpus", ignored)) {
    cards.push_back(card.path());
  }
  std::sort(cards.begin(), cards.end());
  std::vector<std::string> out;
  for (const fs::path& card : cards) {
    if (std::string model = value_of_line(card / "information", "Model"); !model.empty()) {
      out.push_back(std::move(model));
    }
  }
  return out;
}

fs::path temporary_folder() {
  const char* of_job = std::getenv("SLURM_TMPDIR");
  std::error_code ignored;
  if (of_job != nullptr && fs::is_directory(of_job, ignored)) return of_job;
  return fs::temp_directory_path();
}

}  // namespace kdgat
