#include "pipeline/run/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>

#include "kdgat/error.h"
#include "kdgat/small_file.h"
#include "pipeline/system/signals.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;

/// The process that took the lock and is gone, so that only its last stage still holds it; 0 where
/// it lives, or cannot be known.
pid_t dead_owner(const fs::path& folder) {
  std::ifstream in = regular_file(folder / "lock");
  std::string host;
  pid_t pid = 0;
  if (!(in >> host >> pid) || host != host_name() || pid <= 0) return 0;
  return ::kill(pid, 0) != 0 && errno == ESRCH ? pid : 0;
}

}  // namespace

bool is_worked_on(const fs::path& run_folder) {
  // Shared, and only for a moment: who wants to work on the run must not find it taken by a reader.
  const OwnedFd fd(::open((run_folder / "lock").c_str(), O_RDONLY | O_CLOEXEC));
  return fd.get() >= 0 && ::flock(fd.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

bool are_records_written(const fs::path& folder) {
  const OwnedFd file(::open((folder / kRecordsLock).c_str(), O_RDONLY | O_CLOEXEC));
  return file.get() >= 0 && ::flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

OwnedFd lock_file(const fs::path& path, int how) {
  OwnedFd fd = open_file(path, O_RDWR | O_CREAT);
  while (::flock(fd.get(), how) != 0) {
    if (errno == EWOULDBLOCK) return OwnedFd();
    if (errno == EINTR) continue;
    throw Error(ExitCode::kData, "cannot lock " + path.string() + ": " + std::strerror(errno));
  }
  return fd;
}

OwnedFd try_lock(const fs::path& folder) {
  OwnedFd fd = lock_file(folder / "lock", LOCK_EX | LOCK_NB);
  if (fd.get() < 0) return fd;
  const std::string owner = host_name() + " " + std::to_string(::getpid()) + "\n";
  // Only a hint to other processes: a full disk must not stop the run here.
  if (::ftruncate(fd.get(), 0) != 0 || ::pwrite(fd.get(), owner.data(), owner.size(), 0) < 0) {
    return fd;
  }
  return fd;
}

std::string owner_of(const fs::path& folder) {
  std::ifstream in = regular_file(folder / "lock");
  std::string line;
  std::getline(in, line);
  return line;
}

OwnedFd lock_after_orphan(const fs::path& folder, const std::string& stage, const OnWait& on_wait) {
  constexpr auto kPause = std::chrono::milliseconds(100);
  OwnedFd lock = try_lock(folder);
  bool is_told = false;
  while (lock.get() < 0) {
    const pid_t owner = dead_owner(folder);
    if (owner == 0) break;
    if (const int code = pending_signal(); code != 0) {
      throw Error(static_cast<ExitCode>(code), "stopped while waiting for " + stage);
    }
    if (!is_told && on_wait) {
      on_wait("waiting for " + stage + " to write its checkpoint: its kdgat (process " +
              std::to_string(owner) + ") was killed");
    }
    is_told = true;
    std::this_thread::sleep_for(kPause);
    lock = try_lock(folder);
  }
  return lock;
}

}  // namespace kdgat
