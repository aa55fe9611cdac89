#include "export/run_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "kdgat/error.h"
#include "kdgat/program_path.h"

extern char** environ;

namespace kdgat::exporting {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail_to_run(const std::string& program, int why) {
  throw Error(ExitCode::kData, "cannot run " + program + ": " + std::strerror(why));
}

}  // namespace

Ran run_program(const std::vector<std::string>& words, const fs::path& input,
                const fs::path& output) {
  const bool is_name = words[0].find('/') == std::string::npos;
  const std::string program = is_name ? program_path(words[0]) : words[0];
  if (program.empty()) return {127, words[0] + ": no such program"};
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments[0] = const_cast<char*>(program.c_str());
  arguments.push_back(nullptr);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail_to_run(words[0], errno);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, input.empty() ? "/dev/null" : input.c_str(),
                                   O_RDONLY, 0);
  if (output.empty()) {
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  } else {
    posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
  }
  posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  posix_spawn_file_actions_addchdir_np(&actions, "/");
  pid_t child = 0;
  const int failure =
      ::posix_spawn(&child, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  Ran out;
  if (failure == 0) {
    std::array<char, 4096> bytes;
    for (;;) {
      const ssize_t got = ::read(ends[0], bytes.data(), bytes.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      out.output.append(bytes.data(), static_cast<std::size_t>(got));
    }
  }
  ::close(ends[0]);
  if (failure == ENOENT) return {127, words[0] + ": no such program"};
  if (failure != 0) fail_to_run(words[0], failure);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  out.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return out;
}

}  // namespace kdgat::exporting
