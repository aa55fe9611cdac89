// What signals do to a process, each tried in one of its own.
#include "pipeline/system/signals.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <functional>

namespace kdgat {
namespace {

/// The exit code of a process that does this; 128 + n where signal n killed it.
int code_of(const std::function<int()>& work) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2}) {
      std::signal(number, SIG_DFL);
    }
    reset_signal_flags();
    ::_exit(work());
  }
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST_CASE("each signal that ends a process asks for its own exit code", "[signals]") {
  const auto after = [](int number) {
    return code_of([number] {
      install_signal_flags();
      std::raise(number);
      return pending_signal();
    });
  };
  CHECK(after(SIGHUP) == 129);
  CHECK(after(SIGINT) == 130);
  CHECK(after(SIGQUIT) == 131);
  CHECK(after(SIGTERM) == 143);
  CHECK(after(SIGUSR1) == 85);
  CHECK(after(SIGUSR2) == 0);
  for (const int code : {85, 129, 130, 131, 143}) {
    CHECK(is_stop_code(code));
    CHECK(after(signal_of_stop_code(code)) == code);
  }
  for (const int code : {0, 1, 2, 82, 128, 134, 139}) CHECK_FALSE(is_stop_code(code));
}

TEST_CASE("the second Ctrl-C is urgent, a second SIGTERM or SIGHUP is not", "[signals]") {
  const auto is_urgent_after = [](int first, int second) {
    return code_of([=] {
             install_signal_flags();
             std::raise(first);
             std::raise(second);
             return is_urgent() ? 1 : 0;
           }) == 1;
  };
  CHECK(is_urgent_after(SIGINT, SIGINT));
  CHECK(is_urgent_after(SIGTERM, SIGINT));
  CHECK(is_urgent_after(SIGQUIT, SIGQUIT));
  CHECK_FALSE(is_urgent_after(SIGTERM, SIGTERM));
  CHECK_FALSE(is_urgent_after(SIGHUP, SIGHUP));
  CHECK_FALSE(is_urgent_after(SIGINT, SIGTERM));
}

TEST_CASE("before work begins a signal ends the process at once", "[signals]") {
  for (const auto& [number, code] :
       {std::pair(SIGHUP, 129), std::pair(SIGINT, 130), std::pair(SIGQUIT, 131),
        std::pair(SIGTERM, 143), std::pair(SIGUSR2, 7)}) {
    INFO(number);
    CHECK(code_of([number = number] {
            end_at_once_on_signals();
            std::raise(number);
            return 7;
          }) == code);
  }
}

TEST_CASE("a SIGHUP that is ignored from the start, as by nohup, stays so", "[signals]") {
  CHECK(code_of([] {
          std::signal(SIGHUP, SIG_IGN);
          end_at_once_on_signals();
          std::raise(SIGHUP);
          install_signal_flags();
          std::raise(SIGHUP);
          return pending_signal();
        }) == 0);
}

}  // namespace
}  // namespace kdgat
