#include "pipeline/execute/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

#include "kdgat/error.h"
#include "pipeline/system/subprocess.h"

namespace kdgat {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw Error(ExitCode::kStageFailed, what + ": " + std::strerror(errno));
}

// In the child, descriptors are moved above every target, so that no dup2 overwrites a source.
constexpr int kFree = 32;

/// Raises the limit of open files where it is too low for a stage.
void allow_files() {
  constexpr rlim_t kFiles = rlim_t{2} * kFree;
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= kFiles) return;
  const rlimit raised{kFiles, std::max(files.rlim_max, kFiles)};
  if (files.rlim_max >= kFiles && ::setrlimit(RLIMIT_NOFILE, &raised) == 0) return;
  throw Error(ExitCode::kStageFailed,
              "cannot start the stage's process: only " + std::to_string(files.rlim_max) +
                  " files may be open at once",
              "ulimit -n 1024");
}

/// Between fork and exec: only async-signal-safe calls.
[[noreturn]] void become_child(const char* executable, char* const* arguments,
                               char* const* environment,
                               std::array<std::pair<int, int>, 6> descriptors, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(143);
  for (auto& [from, to] : descriptors) {
    if (from >= 0) from = ::fcntl(from, F_DUPFD, kFree);
  }
  for (const auto& [from, to] : descriptors) {
    if (from >= 0) ::dup2(from, to);
  }
  for (const auto& [from, to] : descriptors) {
    if (from >= 0) ::close(from);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(executable, arguments, environment);
  ::_exit(127);
}

}  // namespace

Child::Child(const ChildSpec& spec) {
  allow_files();
  Pipe events = make_pipe();
  Pipe cancel = make_pipe();
  const std::string executable = spec.executable.string();
  std::array<char*, 3> arguments{const_cast<char*>(executable.c_str()),
                                 const_cast<char*>(spec.verb.c_str()), nullptr};
  std::vector<std::string> variables = environment_with(spec.environment);
  const std::vector<char*> environment = null_ended(variables);
  const int output = spec.output_fd >= 0 ? spec.output_fd : STDERR_FILENO;
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) fail("cannot start the stage's process");
  if (pid_ == 0) {
    become_child(executable.c_str(), arguments.data(), environment.data(),
                 {{{spec.request_fd, STDIN_FILENO},
                   {output, STDOUT_FILENO},
                   {output, STDERR_FILENO},
                   {events.write.get(), kEventsFd},
                   {cancel.read.get(), kCancelFd},
                   {spec.lock_fd, kLockFd}}},
                 parent);
  }
  is_running_ = true;
  ::setpgid(pid_, pid_);  // both sides: whoever comes first
  events_ = std::move(events.read);
  cancel_ = std::move(cancel.write);
  ::fcntl(events_.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(cancel_.get(), F_SETFL, O_NONBLOCK);
}

Child::~Child() {
  if (!is_running_) return;
  kill();
  reap(true);
}

bool Child::poll(int milliseconds, const std::function<void(std::string_view)>& on_line) {
  // Asked before reading: what a process wrote before it ended is then surely in the pipe.
  const bool has_ended = !is_running_ || reap(false);
  pollfd events{events_.get(), POLLIN, 0};
  if (!has_ended) ::poll(&events, 1, milliseconds);
  constexpr int kReads = 16;  // a stage that never stops talking must not keep the host from others
  ssize_t got = 1;
  for (int i = 0; (i < kReads || has_ended) && got > 0; ++i) {
    got = ::read(events_.get(), buffer_.data(), buffer_.size());
    if (got <= 0) break;
    partial_.append(buffer_.data(), static_cast<std::size_t>(got));
    std::size_t start = 0;
    for (std::size_t at; (at = partial_.find('\n', start)) != std::string::npos; start = at + 1) {
      on_line(std::string_view(partial_).substr(start, at - start));
    }
    partial_.erase(0, start);
  }
  // A stage may close the pipe and live on: poll() no longer sleeps then.
  if (got == 0 && !has_ended) ::usleep(static_cast<useconds_t>(milliseconds) * 1000 / 10);
  return !has_ended;
}

void Child::cancel(int exit_code) {
  const unsigned char code = static_cast<unsigned char>(exit_code);
  // A full pipe means it was told often enough; a closed one that it is about to end.
  if (::write(cancel_.get(), &code, 1) < 0) return;
}

void Child::kill() {
  if (is_running_) ::kill(-pid_, SIGKILL);
}

bool Child::reap(bool wait) {
  int status = 0;
  rusage usage{};
  pid_t got = 0;
  do {
    got = ::wait4(pid_, &status, wait ? 0 : WNOHANG, &usage);
  } while (got < 0 && errno == EINTR);
  if (got != pid_) return false;
  is_running_ = false;
  end_.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  end_.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  end_.peak_resident_bytes = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
  return true;
}

}  // namespace kdgat
