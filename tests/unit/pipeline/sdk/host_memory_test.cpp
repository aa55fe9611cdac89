// The one reader of memory limits: every level of both versions of control groups, SLURM, ulimit.
#include "kdgat/host_memory.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "support/runs/fake_machine.h"

using namespace kdgat;
using namespace kdgat::test;

namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

std::vector<MemoryBound> bounds_of(const FakeMachine& fake) {
  return HostMemory(fake.root.path()).hard_bounds();
}

/// "cgroup /a 400-100" of each, in MiB.
std::string text_of(const std::vector<MemoryBound>& bounds) {
  std::string out;
  for (const MemoryBound& one : bounds) {
    out += one.name + " " + std::to_string(one.limit / kMiB) + "-" +
           std::to_string(one.used / kMiB) + "\n";
  }
  return out;
}

std::string mib(uint64_t count) { return std::to_string(count * kMiB) + "\n"; }

}  // namespace

TEST_CASE("a limit of any level of a version 1 hierarchy binds", "[host_memory]") {
  const FakeMachine fake;
  fake.file("proc/self/cgroup", "4:memory:/job/step/task\n0::/\n");
  const std::string top = "sys/fs/cgroup/memory/";
  fake.file(top + "memory.limit_in_bytes", "9223372036854771712\n");
  fake.file(top + "job/memory.limit_in_bytes", mib(400));
  fake.file(top + "job/memory.usage_in_bytes", mib(300));
  // Page cache is had back before anybody is killed.
  fake.file(top + "job/memory.stat",
            "inactive_file 7\ntotal_inactive_file " + mib(40) + "total_active_file " + mib(60));
  fake.file(top + "job/step/memory.limit_in_bytes", mib(800));
  fake.file(top + "job/step/memory.usage_in_bytes", mib(250));
  fake.file(top + "job/step/task/memory.limit_in_bytes", "9223372036854771712\n");
  const std::vector<MemoryBound> bounds = bounds_of(fake);
  CHECK(text_of(bounds) == "cgroup /job/step 800-250\ncgroup /job 400-200\n");
  CHECK(tightest(bounds)->name == "cgroup /job");
  CHECK(tightest(bounds)->room() == 200 * kMiB);
}

TEST_CASE("a limit of any level of a version 2 hierarchy binds", "[host_memory]") {
  const FakeMachine fake;
  fake.file("proc/self/cgroup", "0::/slice/unit\n");
  const std::string top = "sys/fs/cgroup/";
  fake.file(top + "slice/memory.max", mib(900));
  fake.file(top + "slice/memory.high", mib(500));
  fake.file(top + "slice/memory.current", mib(100));
  fake.file(top + "slice/memory.stat", "inactive_file " + mib(30) + "active_file 0\n");
  fake.file(top + "slice/unit/memory.max", mib(600));
  fake.file(top + "slice/unit/memory.high", "max\n");
  fake.file(top + "slice/unit/memory.current", mib(650));
  const std::vector<MemoryBound> bounds = bounds_of(fake);
  CHECK(text_of(bounds) == "cgroup /slice/unit 600-650\ncgroup /slice 500-70\n");
  CHECK(tightest(bounds)->room() == 0);
}

TEST_CASE("a container is shown its own groups alone", "[host_memory]") {
  const FakeMachine fake;
  const std::string top = "mnt/groups/mem/";
  fake.file("proc/self/mountinfo",
            "30 20 0:1 / /proc rw - proc proc rw\n"
            "31 20 0:2 /docker/7f /mnt/groups/cpu rw shared:3 - cgroup cgroup rw,cpu,cpuacct\n"
            "32 20 0:3 /docker/7f /mnt/groups/mem rw shared:4 - cgroup cgroup rw,memory\n");
  fake.file(top + "memory.limit_in_bytes", mib(300));
  fake.file(top + "memory.usage_in_bytes", mib(10));
  fake.file(top + "own/memory.limit_in_bytes", mib(350));
  fake.file("proc/self/cgroup", "4:memory:/docker/7f\n");
  CHECK(text_of(bounds_of(fake)) == "cgroup / 300-10\n");
  fake.file("proc/self/cgroup", "4:memory:/docker/7f/own\n");
  CHECK(text_of(bounds_of(fake)) == "cgroup /own 350-0\ncgroup / 300-10\n");
  for (const char* elsewhere : {"/docker/7fff", "/../9a", "/", "/docker/7f/gone"}) {
    INFO(elsewhere);
    fake.file("proc/self/cgroup", "4:memory:" + std::string(elsewhere) + "\n");
    CHECK(text_of(bounds_of(fake)) == "cgroup / 300-10\n");
  }
}

TEST_CASE("what SLURM gave a job binds, by node and by core", "[host_memory]") {
  const FakeMachine fake;
  fake.file("proc/self/status", "Name: x\nRssAnon:\t 10240 kB\n");
  {
    const Variables outside(Variables::Values{{"SLURM_MEM_PER_NODE", "2048"}});
    CHECK(bounds_of(fake).empty());
  }
  {
    const Variables node({{"SLURM_JOB_ID", "7"}, {"SLURM_MEM_PER_NODE", "2048"}});
    CHECK(text_of(bounds_of(fake)) == "SLURM_MEM_PER_NODE 2048-10\n");
  }
  const Variables job({{"SLURM_JOB_ID", "7"}, {"SLURM_MEM_PER_CPU", "500"}});
  CHECK(text_of(bounds_of(fake)) == "SLURM_MEM_PER_CPU 500-10\n");
  const Variables task(Variables::Values{{"SLURM_CPUS_PER_TASK", "2"}});
  CHECK(text_of(bounds_of(fake)) == "SLURM_MEM_PER_CPU 1000-10\n");
  const Variables nodes(Variables::Values{{"SLURM_JOB_CPUS_PER_NODE", "4(x2),1"}});
  CHECK(text_of(bounds_of(fake)) == "SLURM_MEM_PER_CPU 2000-10\n");
  const Variables here(Variables::Values{{"SLURM_CPUS_ON_NODE", "3"}});
  CHECK(text_of(bounds_of(fake)) == "SLURM_MEM_PER_CPU 1500-10\n");
}

TEST_CASE("ulimit -v binds, and a range that is only reserved is not used", "[host_memory]") {
#ifdef __SANITIZE_ADDRESS__
  return;  // sanitizers reserve more than any limit
#endif
  const pid_t child = ::fork();
  if (child == 0) {
    const auto used = [] {
      const std::vector<MemoryBound> bounds = HostMemory().hard_bounds();
      for (const MemoryBound& one : bounds) {
        if (one.name == "ulimit -v" && one.limit == 4096 * kMiB) return one.used;
      }
      return uint64_t{0};
    };
    const rlimit limit{4096 * kMiB, 4096 * kMiB};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) ::_exit(2);
    const uint64_t before = used(), left = HostMemory().address_space_left().value_or(0);
    char* range = static_cast<char*>(::malloc(1024 * kMiB));
    if (range == nullptr || before == 0) ::_exit(3);
    if (used() > before + 64 * kMiB) ::_exit(4);
    if (HostMemory().address_space_left().value_or(0) > left - 1024 * kMiB) ::_exit(5);
    for (uint64_t i = 0; i < 256 * kMiB; i += 4096) range[i] = 1;
    ::_exit(used() < before + 256 * kMiB ? 6 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("the machine is a bound, but no hard one", "[host_memory]") {
  const FakeMachine fake;
  CHECK(HostMemory(fake.root.path()).bounds().empty());
  CHECK(tightest({}) == nullptr);
  fake.file("proc/meminfo", "MemTotal: 16777216 kB\nMemAvailable: 1048576 kB\n");
  const std::vector<MemoryBound> bounds = HostMemory(fake.root.path()).bounds();
  REQUIRE(bounds.size() == 1);
  CHECK(bounds[0].room() == 1024 * kMiB);
  CHECK_FALSE(bounds[0].is_hard());
}

TEST_CASE("numbers of a control group of two moments are not settled", "[host_memory]") {
  const FakeMachine fake;
  const HostMemory memory(fake.root.path());
  const bool is_v2 = GENERATE(false, true);
  fake.file("proc/self/cgroup", is_v2 ? "0::/job\n" : "4:memory:/job\n");
  const std::string group = is_v2 ? "sys/fs/cgroup/job/" : "sys/fs/cgroup/memory/job/";
  const auto group_of = [&](uint64_t limit, uint64_t use, uint64_t held, uint64_t cache) {
    fake.file(group + (is_v2 ? "memory.max" : "memory.limit_in_bytes"), mib(limit));
    fake.file(group + (is_v2 ? "memory.current" : "memory.usage_in_bytes"), mib(use));
    const std::string kernel = mib(1);
    if (!is_v2) fake.file(group + "memory.kmem.usage_in_bytes", kernel);
    fake.file(group + "memory.stat",
              is_v2 ? "anon " + mib(held) + "file " + mib(cache) + "kernel " + kernel
                    : "total_rss " + mib(held) + "total_cache " + mib(cache));
  };
  group_of(200, 80, 58, 21);
  CHECK(memory.is_settled());
  group_of(200, 80, 6, 1);  // used, and not yet said to be what
  CHECK_FALSE(memory.is_settled());
  group_of(200, 40, 58, 21);  // freed, and not yet said
  CHECK_FALSE(memory.is_settled());
  group_of(4000, 80, 6, 1);  // there is plenty, whatever it is
  CHECK(memory.is_settled());
  group_of(200, 80, 6, 1);
  fake.file(group + "memory.stat", "inactive_file 7\n");  // a kernel that does not say
  CHECK(memory.is_settled());
}

TEST_CASE("what was freed goes back to the machine", "[sdk]") {
#if !defined(__GLIBC__) || defined(__SANITIZE_ADDRESS__)
  WARN("skipped: this malloc gives nothing back when asked");
#else
  constexpr std::size_t kBlocks = 8000, kBytes = 4000;
  const auto held = [] {
    return number_of_file("/proc/self/status", "RssAnon").value_or(0) / 1024;
  };
  std::vector<std::vector<char> > blocks;
  for (std::size_t i = 0; i < kBlocks; ++i) blocks.emplace_back(kBytes, 'x');
  const std::vector<char> last(kBytes, 'x');  // the end of the heap stays where it is
  blocks.clear();
  const uint64_t before = held();
  trim_heap();
  INFO(before << " MiB before");
  CHECK(held() + 20 < before);
#endif
}
