// Alarms to a program of the user's: run once for each, without a shell, and with what there is to
// say in its environment, so that no name on a bus is ever read as words of a command.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "kdgat/event.h"
#include "kdgat/text.h"
#include "pipeline/alarms/sinks.h"
#include "pipeline/show/text.h"
#include "pipeline/system/subprocess.h"

extern char** environ;

namespace kdgat {
namespace {

constexpr std::string_view kVariables = "KDGAT_ALARM_";

/// A time as the event has it; "" where the log has none.
std::string time_text(const nlohmann::json& time) { return time.is_null() ? "" : time.dump(); }

/// This process's environment and what the line says.
std::vector<std::string> environment_of(std::string_view line) {
  const nlohmann::json json = nlohmann::json::parse(line);
  const AlarmEvent alarm = json.get<AlarmEvent>();
  std::vector<std::string> out;
  for (char** at = environ; *at != nullptr; ++at) {
    if (!std::string_view(*at).starts_with(kVariables)) out.emplace_back(*at);
  }
  const auto add = [&](const char* name, const std::string& value) {
    out.push_back(std::string(kVariables) + name + "=" + value);
  };
  add("JSON", std::string(line));
  add("STATE", alarm.open ? "opened" : "closed");
  add("NUMBER", std::to_string(alarm.alarm));
  add("BEGIN", time_text(alarm.begin));
  add("END", time_text(alarm.end));
  add("SCORE", format_number("%.9g", alarm.peak));
  add("IDS", joined(alarm.ids, " "));
  add("REASONS", joined(detail::texts(json, "reasons"), "; "));
  add("MODEL", detail::value_or(json, "model", std::string()));
  add("FILE", alarm.file);
  return out;
}

/// Starts it in a process group of its own, with no input, its output thrown away and signals as a
/// program expects them. 0 or the system's reason.
int start(std::vector<std::string> words, std::vector<std::string> variables, pid_t& pid) {
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
  ::sigemptyset(&defaults);
  for (const int signal : {SIGPIPE, SIGXFSZ}) ::sigaddset(&defaults, signal);
  ::posix_spawnattr_setsigmask(&how, &none);
  ::posix_spawnattr_setsigdefault(&how, &defaults);
  const int error = ::posix_spawn(&pid, words.front().c_str(), &files, &how,
                                  null_ended(words).data(), null_ended(variables).data());
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&how);
  return error;
}

class CommandSink : public AlarmSink {
 public:
  CommandSink(std::vector<std::string> words, double seconds)
      : words_(std::move(words)), seconds_(seconds) {}

  Delivery write(std::string_view line, const Patience& patience) override {
    pid_t pid = -1;
    const int error = start(words_, environment_of(line), pid);
    // The system may have processes to spare later.
    if (error == EAGAIN || error == ENOMEM) return {Outcome::kAgain, std::strerror(error)};
    if (error != 0)
      return {Outcome::kRefused, std::string("cannot start it: ") + std::strerror(error)};
    return wait_for(pid, patience);
  }

 private:
  Delivery wait_for(pid_t pid, const Patience& patience) const {
    constexpr double kFirstLook = 0.001, kLongestLook = 0.05;
    const Deadline until = deadline_in(seconds_);
    double pause = kFirstLook;
    int status = 0;
    while (::waitpid(pid, &status, WNOHANG) == 0) {
      const bool is_late = std::chrono::steady_clock::now() >= until;
      if (is_late || patience.is_over()) {
        ::kill(-pid, SIGKILL);
        while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
        const std::string after = "it was killed after " + format_seconds(seconds_);
        return {Outcome::kRefused, is_late ? after : "it was killed, as it had not ended"};
      }
      patience.wait(-1, 0, std::min(until, deadline_in(pause)));
      pause = std::min(2 * pause, kLongestLook);
    }
    if (WIFSIGNALED(status)) {
      return {Outcome::kRefused, "it ended by signal " + std::to_string(WTERMSIG(status))};
    }
    if (WEXITSTATUS(status) == 0) return {};
    return {Outcome::kRefused, "it ended with exit code " + std::to_string(WEXITSTATUS(status))};
  }

  std::vector<std::string> words_;
  double seconds_;
};

}  // namespace

std::unique_ptr<AlarmSink> make_command_sink(AlarmWords& words) {
  constexpr double kSeconds = 30;
  const auto split = words_between_blanks(words.target());
  if (!split) words.refuse("a quote is not closed");
  if (split->empty()) words.refuse("which program?");
  const std::string& program = split->front();
  if (program.find('/') == std::string::npos) {
    words.refuse("the program is named by its path: /usr/local/bin/" + program);
  }
  if (::access(program.c_str(), X_OK) != 0) {
    words.refuse("cannot run " + program + ": " + std::strerror(errno));
  }
  return std::make_unique<CommandSink>(*split, words.seconds("timeout", kSeconds));
}

}  // namespace kdgat
