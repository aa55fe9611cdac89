// The main function of every test program. --part I/N runs the I-th of N parts of the tests that
// the other words select, so that ctest runs one program at the same time on several cores without
// a process for each test. Every N-th test is in a part: neighbours, which take about as long, are
// spread over all of them. A test with the tag [alone], which needs what a new process has, runs in
// a process of its own.
#define CATCH_CONFIG_RUNNER
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

/// A title as Catch2's filters have it: what has a meaning in them is escaped.
std::string filter_of(const std::string& title) {
  std::string filter;
  for (const char letter : title) {
    if (std::strchr("\\,[]\"", letter) != nullptr) {
      filter += '\\';
    }
    filter += letter;
  }
  return filter;
}

struct Part {
  bool has_others = false;         ///< tests that run in this process
  std::vector<std::string> alone;  ///< titles
};

/// Takes from Catch2's tests those that are not in the part or have the tag [alone]. Filters would
/// do as well, but Catch2 prints all of them when a test fails.
Part keep_part(Catch::Session& session, unsigned part, unsigned parts) {
  const Catch::Config& config = session.config();
  // Catch2 gives out its own list, which it sorts once.
  auto& tests = const_cast<std::vector<Catch::TestCase>&>(Catch::getAllTestCasesSorted(config));
  const bool all = !config.hasTestFilters();
  Part chosen;
  unsigned count = 0;
  std::erase_if(tests, [&](const Catch::TestCase& test) {
    const bool selected =
        all ? !test.isHidden() : Catch::matchTest(test, config.testSpec(), config);
    if (!selected || count++ % parts != part) return true;
    const bool is_alone = std::count(test.tags.begin(), test.tags.end(), "alone") > 0;
    if (is_alone) chosen.alone.push_back(test.name);
    return is_alone;
  });
  chosen.has_others = !tests.empty();
  return chosen;
}

int run_alone(char* program, const std::string& title) {
  std::string filter = filter_of(title);
  char* const words[] = {program, filter.data(), nullptr};
  pid_t child = 0;
  int status = 0;
  if (::posix_spawn(&child, program, nullptr, nullptr, words, environ) != 0) return 1;
  if (::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 1;
  return WEXITSTATUS(status);
}

}  // namespace

int main(int count, char* words[]) {
  // Runs of tests go to no server but those of tests.
  ::unsetenv("MLFLOW_TRACKING_URI");
  unsigned part = 0;
  unsigned parts = 1;
  std::vector<char*> others;
  for (int i = 0; i < count; ++i) {
    if (std::strcmp(words[i], "--part") != 0) {
      others.push_back(words[i]);
    } else if (i + 1 == count || std::sscanf(words[++i], "%u/%u", &part, &parts) != 2 || part < 1 ||
               part > parts) {
      std::fputs("--part takes I/N, e.g. 1/4\n", stderr);
      return 2;
    }
  }
  Catch::Session session;
  if (const int code = session.applyCommandLine(static_cast<int>(others.size()), others.data());
      code != 0) {
    return code;
  }
  if (part == 0) {
    return session.run();
  }
  const Part chosen = keep_part(session, part - 1, parts);
  int failed = chosen.has_others ? session.run() : 0;  // run() with an empty list runs all
  for (const std::string& title : chosen.alone)
    failed = std::max(failed, run_alone(words[0], title));
  return failed;
}
