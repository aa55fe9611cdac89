#include "pipeline/system/program.h"

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
#include <nlohmann/json.hpp>

#include "kdgat/error.h"
#include "kdgat/program_path.h"
#include "pipeline/system/owned_fd.h"
#include "pipeline/system/subprocess.h"

extern char** environ;

namespace kdgat {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& program, int reason) {
  throw Error(ExitCode::kStageFailed, "cannot start " + program + ": " + std::strerror(reason));
}

/// Reads both streams to their ends; stops early when `give_up` says so.
void read_all(OwnedFd& out, OwnedFd& err, ProgramOutput& into,
              const std::function<bool()>& give_up) {
  constexpr int kLook = 100;  // milliseconds
  std::array<char, 4096> buffer{};
  while (out.get() >= 0 || err.get() >= 0) {
    std::array<pollfd, 2> wait{{{out.get(), POLLIN, 0}, {err.get(), POLLIN, 0}}};
    if (::poll(wait.data(), wait.size(), give_up ? kLook : -1) < 0 && errno != EINTR) return;
    if (give_up && give_up()) return;
    const auto take = [&](const pollfd& ready, OwnedFd& fd, std::string& text) {
      if (fd.get() < 0 || ready.revents == 0) return;
      const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
      if (got > 0) text.append(buffer.data(), static_cast<std::size_t>(got));
      if (got == 0 || (got < 0 && errno != EINTR)) fd.reset();
    };
    take(wait[0], out, into.out);
    take(wait[1], err, into.err);
  }
}

/// `environment`: null-ended, as posix_spawn() takes it. `folder`: "" = the current one.
std::optional<ProgramOutput> run(const std::vector<std::string>& words, const fs::path& folder,
                                 char* const* environment, const std::function<bool()>& give_up) {
  std::vector<std::string> all = words;
  const bool is_name = words.front().find('/') == std::string::npos;
  if (is_name) all.front() = program_path(words.front());
  if (all.front().empty()) return std::nullopt;
  Pipe out = make_pipe(), err = make_pipe();
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out.write.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, err.write.get(), STDERR_FILENO);
  if (!folder.empty()) ::posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  pid_t pid = -1;
  const int failed = ::posix_spawn(&pid, all.front().c_str(), &actions, nullptr,
                                   null_ended(all).data(), environment);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed == ENOENT) return std::nullopt;
  if (failed != 0) fail(words.front(), failed);
  out.write.reset();
  err.write.reset();
  ProgramOutput result;
  read_all(out.read, err.read, result, give_up);
  if (give_up && give_up()) ::kill(pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7F; }

/// Control characters, or bytes that are no UTF-8.
bool is_odd(const std::string& word) {
  if (holds_control(word)) return true;
  if (std::none_of(word.begin(), word.end(), [](char c) { return (c & 0x80) != 0; })) return false;
  try {
    nlohmann::json(word).dump();  // knows UTF-8
    return false;
  } catch (const nlohmann::json::exception&) {
    return true;
  }
}

/// $'...', as bash reads it.
std::string escaped_word(const std::string& word) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string out = "$'";
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n";
    } else if (is_control(c) || byte >= 0x80) {
      out.append("\\x").append(1, kDigits[byte >> 4]).append(1, kDigits[byte & 15]);
    } else {
      if (c == '\'' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + "'";
}

}  // namespace

std::optional<ProgramOutput> run_program(const std::vector<std::string>& words) {
  return run(words, "", environ, nullptr);
}

std::optional<ProgramOutput> run_program_in(const ProgramPlace& place,
                                            const std::vector<std::string>& words) {
  std::vector<std::string> variables = place.environment;
  return run(words, place.folder, null_ended(variables).data(), place.give_up);
}

bool holds_control(const std::string& text) {
  if (std::any_of(text.begin(), text.end(), is_control)) return true;
  for (std::size_t at = text.find('\xC2'); at != std::string::npos;
       at = text.find('\xC2', at + 1)) {
    if (at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) < 0xA0) return true;
  }
  return false;
}

std::string shell_line(const std::vector<std::string>& words) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%^";
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
      line += word;
      continue;
    }
    if (is_odd(word)) {
      line += escaped_word(word);
      continue;
    }
    line += '\'';
    for (const char c : word) line += c == '\'' ? "'\\''" : std::string(1, c);
    line += '\'';
  }
  return line;
}

}  // namespace kdgat
