#include "pipeline/system/machine.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>

#include "support/runs/fake_machine.h"

using namespace kdgat;
using namespace kdgat::test;
namespace fs = std::filesystem;

TEST_CASE("machine reads the limits of a version 2 cgroup", "[machine]") {
  const FakeMachine fake;
  fake.file("proc/self/cgroup", "0::/user/job\n");
  fake.file("sys/fs/cgroup/user/job/memory.max", "2147483648\n");
  fake.file("sys/fs/cgroup/user/job/memory.current", "1073741824\n");
  fake.file("sys/fs/cgroup/user/job/memory.events", "low 0\noom 5\noom_kill 3\n");
  fake.file("sys/fs/cgroup/user/job/cpu.max", "150000 100000\n");
  fake.file("proc/meminfo", "MemTotal: 16777216 kB\nMemAvailable: 8388608 kB\n");
  CHECK(fake.machine.memory_limit() == uint64_t{2} << 30);
  CHECK(fake.machine.memory_for_runs() == uint64_t{1} << 30);
  CHECK(fake.machine.memory_total() == uint64_t{16} << 30);
  CHECK(fake.machine.oom_kills() == 3);
  CHECK(fake.machine.cpu_quota() == 1.5);
  CHECK(fake.machine.cores() <= 2);
}

TEST_CASE("machine reads the limits of version 1 cgroups, also mounted at the top", "[machine]") {
  const FakeMachine fake;
  fake.file("proc/self/cgroup", "4:memory:/job\n1:cpu,cpuacct:/\n0::/\n");
  fake.file("sys/fs/cgroup/memory/memory.limit_in_bytes", "1048576\n");
  fake.file("sys/fs/cgroup/memory/memory.oom_control", "under_oom 0\noom_kill 2\n");
  fake.file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n");
  fake.file("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  CHECK(fake.machine.memory_limit() == 1048576);
  CHECK(fake.machine.oom_kills() == 2);
  CHECK(fake.machine.cpu_quota() == 0.5);
  CHECK(fake.machine.cores() == 1);
}

TEST_CASE("machine without limits says so", "[machine]") {
  const FakeMachine fake;
  CHECK(!fake.machine.memory_limit());
  CHECK(!fake.machine.cpu_quota());
  fake.file("proc/self/cgroup", "0::/job\n");
  fake.file("sys/fs/cgroup/job/memory.max", "max\n");
  fake.file("sys/fs/cgroup/job/cpu.max", "max 100000\n");
  CHECK(!fake.machine.memory_limit());
  CHECK(!fake.machine.cpu_quota());
  CHECK(fake.machine.oom_kills() == 0);
  CHECK(!fake.machine.has_nvidia_driver());
  fake.file("proc/self/cgroup", "4:memory:/\n");
  fake.file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  CHECK(!fake.machine.memory_limit());
}

TEST_CASE("machine counts the limits of every control group that it is in", "[machine]") {
  const FakeMachine fake;
  fake.file("proc/self/cgroup", "0::/user/job/step\n");
  fake.file("proc/meminfo", "MemTotal: 16777216 kB\nMemAvailable: 8388608 kB\n");
  fake.file("sys/fs/cgroup/user/job/step/memory.max", "max\n");
  fake.file("sys/fs/cgroup/user/job/step/cpu.max", "max 100000\n");
  fake.file("sys/fs/cgroup/user/job/memory.max", "419430400\n");
  fake.file("sys/fs/cgroup/user/job/memory.current", "209715200\n");
  fake.file("sys/fs/cgroup/user/job/cpu.max", "50000 100000\n");
  CHECK(fake.machine.memory_limit() == 400 << 20);
  CHECK(fake.machine.memory_for_runs() == 200 << 20);
  CHECK(fake.machine.memory_for_runs(uint64_t{4} << 30) == 200 << 20);
  CHECK(fake.machine.memory_for_runs(100 << 20) == 100 << 20);
  CHECK(fake.machine.cpu_quota() == 0.5);
}

TEST_CASE("a limit that was asked for may be more than is free just now", "[machine]") {
  const FakeMachine fake;
  fake.file("proc/meminfo", "MemTotal: 16777216 kB\nMemAvailable: 1048576 kB\n");
  CHECK(fake.machine.memory_for_runs() == uint64_t{1} << 30);
  CHECK(fake.machine.memory_for_runs(uint64_t{4} << 30) == uint64_t{4} << 30);
}

TEST_CASE("this machine has cores and this process memory", "[machine]") {
  const Machine machine;
  CHECK(machine.cores() >= 1);
  CHECK(machine.memory_total() > 0);
  CHECK(machine.anonymous_memory(::getpid()) > 0);
  CHECK(machine.peak_memory(::getpid()) >= machine.anonymous_memory(::getpid()));
  CHECK(machine.anonymous_memory(0) == 0);
}

TEST_CASE("the anonymous memory of a process is what its status says", "[machine]") {
  const Machine machine;
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  const uint64_t before = machine.anonymous_memory(::getpid());
  const std::vector<char> held(kBytes, 1);
  const uint64_t now = machine.anonymous_memory(::getpid());
  CHECK(now - before >= held.size() * 9 / 10);
  const std::string status = read_text("/proc/self/status");
  const uint64_t said = std::stoull(status.substr(status.find("RssAnon:") + 8)) * 1024;
  CHECK(std::max(now, said) - std::min(now, said) < (1 << 20));
  const FakeMachine fake;
  fake.file("proc/7/statm", "100 50 20 1 0 9 0\n");
  CHECK(fake.machine.anonymous_memory(7) == 30 * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)));
  fake.file("proc/7/statm", "");
  CHECK(fake.machine.anonymous_memory(7) == 0);
}

TEST_CASE("machine believes SLURM before it looks for itself", "[machine]") {
  const FakeMachine fake;
  fake.file("proc/self/cgroup", "0::/user/job\n");
  fake.file("sys/fs/cgroup/user/job/memory.max", "4294967296\n");
  fake.file("sys/fs/cgroup/user/job/memory.current", "0\n");
  fake.file("proc/meminfo", "MemTotal: 16777216 kB\nMemAvailable: 8388608 kB\n");
  const ScratchFolder temporary;
  const Variables job({{"SLURM_JOB_ID", "7"},
                       {"SLURM_CPUS_PER_TASK", "1"},
                       {"SLURM_MEM_PER_NODE", "2048"},
                       {"SLURM_TMPDIR", temporary.path().string()}});
  CHECK(fake.machine.cores() == 1);
  CHECK(fake.machine.memory_limit() == uint64_t{2} << 30);
  CHECK(fake.machine.memory_for_runs() == uint64_t{2} << 30);
  CHECK(temporary_folder() == temporary.path());
  ::setenv("SLURM_MEM_PER_NODE", "0", 1);  // the whole node: what the cgroup leaves
  CHECK(fake.machine.memory_limit() == uint64_t{4} << 30);
  ::unsetenv("SLURM_JOB_ID");  // a login shell that some job once set up
  CHECK_FALSE(fake.machine.job_memory());
}

TEST_CASE("machine names its processor and its cards", "[machine]") {
  const FakeMachine fake;
  CHECK(fake.machine.cpu_model().empty());
  CHECK(fake.machine.gpu_models().empty());
  fake.file("proc/cpuinfo", "processor\t: 0\nmodel name\t: Fast 9000 @ 2 GHz\nmodel name\t: x\n");
  fake.file("proc/driver/nvidia/gpus/0000:18:00.0/information", "Model: \t\t H100\nIRQ: 1\n");
  fake.file("proc/driver/nvidia/gpus/0000:3b:00.0/information", "Model: \t\t L4\n");
  CHECK(fake.machine.cpu_model() == "Fast 9000 @ 2 GHz");
  CHECK(fake.machine.gpu_models() == std::vector<std::string>{"H100", "L4"});
}
