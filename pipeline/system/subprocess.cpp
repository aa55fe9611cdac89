#include "pipeline/system/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "kdgat/error.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

/// Waits until the descriptor is ready; false at the deadline.
bool wait_for(int fd, short events, Deadline until, const std::function<bool()>& give_up) {
  constexpr milliseconds kLook{100};
  while (true) {
    const auto left =
        std::chrono::duration_cast<milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0 || give_up()) return false;
    pollfd ready{fd, events, 0};
    const int got = ::poll(&ready, 1, static_cast<int>(std::min(left, kLook).count()) + 1);
    if (got > 0) return true;
    if (got < 0 && errno != EINTR) return false;
  }
}

}  // namespace

std::vector<std::string> environment_with(const std::vector<std::string>& extra) {
  std::vector<std::string> out = extra;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string entry = *at;
    const std::string name = entry.substr(0, entry.find('=') + 1);
    const bool is_set = std::any_of(extra.begin(), extra.end(), [&](const std::string& other) {
      return other.rfind(name, 0) == 0;
    });
    if (!is_set) out.push_back(entry);
  }
  return out;
}

Deadline deadline_in(double seconds) {
  return std::chrono::steady_clock::now() +
         std::chrono::duration_cast<std::chrono::steady_clock::duration>(
             std::chrono::duration<double>(seconds));
}

Subprocess::Subprocess(const std::vector<std::string>& command,
                       const std::vector<std::string>& environment) {
  Pipe in = make_pipe(), out = make_pipe();
  input_ = std::move(in.write);
  output_ = std::move(out.read);

  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_adddup2(&files, in.read.get(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, out.write.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t how;
  ::posix_spawnattr_init(&how);
  ::posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP);
  ::posix_spawnattr_setpgroup(&how, 0);
  std::vector<std::string> words = command;
  std::vector<std::string> variables = environment_with(environment);
  const int error = ::posix_spawn(&pid_, command.front().c_str(), &files, &how,
                                  null_ended(words).data(), null_ended(variables).data());
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&how);
  if (error != 0) {
    pid_ = -1;
    throw StartError("cannot start " + command.front(), error);
  }
  ::fcntl(input_.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(output_.get(), F_SETFL, O_NONBLOCK);
}

Subprocess::~Subprocess() {
  if (pid_ <= 0) return;
  input_.reset();
  // One that said its last line ends by itself.
  constexpr int kLooks = 20;
  int status = 0;
  for (int i = 0; i < kLooks; ++i) {
    if (::waitpid(pid_, &status, WNOHANG) == pid_) return;
    ::usleep(1000);
  }
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
}

bool Subprocess::write(std::string_view text, Deadline until) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(input_.get(), text.data(), text.size());
    if (wrote > 0) {
      text.remove_prefix(static_cast<std::size_t>(wrote));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait_for(input_.get(), POLLOUT, until, [] { return false; })) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

std::optional<std::string> Subprocess::read_line(Deadline until, std::size_t most,
                                                 const std::function<bool()>& give_up) {
  while (true) {
    if (const std::size_t end = partial_.find('\n'); end != std::string::npos) {
      std::string line = partial_.substr(0, end);
      partial_.erase(0, end + 1);
      return line;
    }
    if (partial_.size() > most || !read_more(until, give_up)) return std::nullopt;
  }
}

std::string Subprocess::read_all(Deadline until, std::size_t most) {
  while (partial_.size() <= most && read_more(until, [] { return false; })) continue;
  return std::exchange(partial_, "");
}

bool Subprocess::read_more(Deadline until, const std::function<bool()>& give_up) {
  std::array<char, 1 << 14> buffer{};
  if (!wait_for(output_.get(), POLLIN, until, give_up)) return false;
  const ssize_t got = ::read(output_.get(), buffer.data(), buffer.size());
  if (got > 0) partial_.append(buffer.data(), static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

std::vector<char*> null_ended(std::vector<std::string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

fs::path beside_executable(const std::string& name) {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path() / name;
}

}  // namespace kdgat
