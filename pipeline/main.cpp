#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <optional>
#include <string_view>

#include "pipeline/show/line_width.h"
#include "pipeline/show/printable_stream.h"
#include "pipeline/system/signals.h"
#include "pipeline/verbs/verbs.h"

namespace {

/// A standard descriptor that the caller closed must not become the number of the next file that is
/// opened. Reading then finds nothing, results cannot be written, and messages go nowhere.
void occupy_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) != -1) continue;
    if (::open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY) != fd) ::_exit(1);
  }
}

/// Where nothing can be thrown any more and memory ran out, as in a destructor that needs some, the
/// program ends as it does everywhere else without memory.
[[noreturn]] void end_at_once() {
  try {
    if (std::current_exception()) throw;
  } catch (const std::bad_alloc&) {
    constexpr std::string_view kWords = "error: out of host memory\n";
    if (::write(STDERR_FILENO, kWords.data(), kWords.size()) < 0) errno = 0;  // nobody reads it
    ::_exit(static_cast<int>(kdgat::ExitCode::kHostMemory));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "terminate called: %s\n", e.what());
  } catch (...) {
    std::fputs("terminate called\n", stderr);
  }
  std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  occupy_standard_descriptors();
  kdgat::end_at_once_on_signals();
  std::set_terminate(end_at_once);
  std::ios::sync_with_stdio(false);
  // Messages go to terminals and logs; results that a program reads are left as they are.
  const kdgat::PrintableStream messages(std::cerr);
  std::optional<kdgat::PrintableStream> results;
  if (::isatty(STDOUT_FILENO) != 0) results.emplace(std::cout);
  try {
    kdgat::limit_tables(kdgat::line_width(STDOUT_FILENO));
    return kdgat::run_command(kdgat::verbs(), {argv + 1, argv + argc}, std::cout, std::cerr);
  } catch (const std::exception& e) {
    std::cerr << "error: " << e.what() << '\n';
  }
  return static_cast<int>(kdgat::ExitCode::kStageFailed);
}
