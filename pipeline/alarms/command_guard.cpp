#include "pipeline/alarms/command_guard.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <string_view>

#include "kdgat/error.h"
#include "pipeline/system/owned_fd.h"
#include "pipeline/system/subprocess.h"

namespace kdgat {
namespace {

std::optional<std::vector<std::string>> words_of_input() {
  std::string text;
  if (!std::getline(std::cin, text, '\0')) return std::nullopt;
  std::vector<std::string> out(static_cast<std::size_t>(std::max(std::atoi(text.c_str()), 0)));
  for (std::string& word : out) {
    if (!std::getline(std::cin, word, '\0')) return std::nullopt;
  }
  if (out.empty()) return std::nullopt;
  return out;
}

/// Of this process, without what is nobody else's business.
std::vector<std::string> environment_for_others() {
  std::vector<std::string> out;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view entry(*at);
    const bool is_own = (entry.starts_with("KDGAT_") && !entry.starts_with("KDGAT_ALARM_")) ||
                        entry.starts_with("MQTT_PASSWORD=") ||
                        entry.starts_with("MLFLOW_TRACKING_");
    if (!is_own) out.emplace_back(entry);
  }
  return out;
}

/// In a process group of its own, with no input, its output thrown away and signals as a program
/// expects them. 0 or the system's reason.
int start(std::vector<std::string> words, pid_t& pid) {
  std::vector<std::string> variables = environment_for_others();
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t how;
  ::posix_spawnattr_init(&how);
  ::posix_spawnattr_setflags(
      &how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  ::posix_spawnattr_setpgroup(&how, 0);
  sigset_t none, defaults;
  ::sigemptyset(&none);
  ::sigfillset(&defaults);
  ::posix_spawnattr_setsigmask(&how, &none);
  ::posix_spawnattr_setsigdefault(&how, &defaults);
  const int error = ::posix_spawn(&pid, words.front().c_str(), &files, &how,
                                  null_ended(words).data(), null_ended(variables).data());
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&how);
  return error;
}

/// The parent that /proc/PID/stat names; -1 for a process that is gone.
pid_t parent_of(const std::string& pid) {
  const OwnedFd file(::open(("/proc/" + pid + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 512> buffer{};
  const ssize_t got = file.get() < 0 ? 0 : ::read(file.get(), buffer.data(), buffer.size());
  const std::string_view text(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  // "17 (name) S 3 ..."; a name may hold anything.
  constexpr std::size_t kToParent = 4;
  const std::size_t begin = text.rfind(')');
  pid_t out = -1;
  if (begin == std::string_view::npos || begin + kToParent >= text.size()) return out;
  std::from_chars(text.data() + begin + kToParent, text.data() + text.size(), out);
  return out;
}

/// Those that this process started, or whose parent has ended.
std::vector<pid_t> children() {
  std::vector<pid_t> out;
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), ::closedir);
  const dirent* entry = nullptr;
  while (proc && (entry = ::readdir(proc.get())) != nullptr) {
    const std::string name(entry->d_name);
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (parent_of(name) == ::getpid()) out.push_back(static_cast<pid_t>(std::atoi(name.c_str())));
  }
  return out;
}

/// Ends all descendants, and says how many were left after a while: those of another user.
std::size_t kill_descendants(pid_t program) {
  constexpr double kSeconds = 2;
  constexpr useconds_t kPause = 1000;
  const Deadline until = deadline_in(kSeconds);
  ::kill(-program, SIGKILL);
  while (true) {
    // Children of one that ends become children of this process, and are found the next time.
    const std::vector<pid_t> found = children();
    for (const pid_t child : found) ::kill(child, SIGKILL);
    pid_t got = 0;
    while ((got = ::waitpid(-1, nullptr, WNOHANG)) > 0) continue;
    if (got < 0 && errno == ECHILD) return 0;
    if (std::chrono::steady_clock::now() >= until) return std::max<std::size_t>(found.size(), 1);
    ::usleep(kPause);
  }
}

/// Whether the program has ended, and how.
bool has_ended(pid_t program, int& status) {
  int other = 0;
  pid_t got = 0;
  while ((got = ::waitpid(-1, &other, WNOHANG)) > 0) {
    if (got != program) continue;  // it was left to this process
    status = other;
    return true;
  }
  return false;
}

/// Until the program or the input has ended; the line that says which.
std::string watch(pid_t program) {
  constexpr int kFirstLook = 1, kLongestLook = 50;  // milliseconds
  int status = 0;
  for (int pause = kFirstLook;; pause = std::min(2 * pause, kLongestLook)) {
    if (has_ended(program, status)) break;
    pollfd input{STDIN_FILENO, POLLIN, 0};
    if (::poll(&input, 1, pause) > 0) return "killed " + std::to_string(kill_descendants(program));
  }
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  return "exit " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

std::string guard_request(const std::vector<std::string>& words) {
  std::string out = std::to_string(words.size()) + '\0';
  for (const std::string& word : words) out += word + '\0';
  return out;
}

int guard_command() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  // It ends with its input, whatever signals come.
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  const std::optional<std::vector<std::string>> words = words_of_input();
  if (!words) return static_cast<int>(ExitCode::kUsage);
  pid_t program = -1;
  const int error = start(*words, program);
  if (error != 0) {
    std::cout << "error " << error << std::endl;
  } else {
    std::cout << kGuardStarted << std::endl;
    std::cout << watch(program) << std::endl;
  }
  return 0;
}

}  // namespace kdgat
