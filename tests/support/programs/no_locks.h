// A file system that refuses locks, as NFS without its lock daemon does, without one at hand.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <future>
#include <system_error>

namespace kdgat::test {

/// From now on flock() fails with ENOLCK in this thread and in the processes that it starts.
inline void refuse_locks() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_flock, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOLCK),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter = {std::size(program), program};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot refuse locks");
  }
}

/// What `work` returns, called in a thread of its own where no file can be locked.
template <class Work>
auto without_locks(const Work& work) {
  return std::async(std::launch::async,
                    [&] {
                      refuse_locks();
                      return work();
                    })
      .get();
}

}  // namespace kdgat::test
