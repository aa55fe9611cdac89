#include "pipeline/verbs/commands/line_output.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "kdgat/error.h"

namespace kdgat {

LineOutput::LineOutput(std::ostream& out, const std::string& file, bool flushes)
    : out_(out), flushes_(flushes) {
  if (!file.empty()) file_.emplace(file);
}

void LineOutput::write(const std::string& text) {
  write_made([&] { return text; });
}

void LineOutput::finish() {
  if (failure_) std::rethrow_exception(failure_);
  if (file_) return file_->commit();
  errno = 0;
  out_.flush();
  check_written();
}

void LineOutput::put(const std::string& text) {
  if (file_) return file_->write(text);
  errno = 0;
  out_ << text;
  if (flushes_) out_.flush();
  check_written();
}

namespace {

/// The write that failed may have been another one, whose error is gone.
bool has_no_reader() {
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&out, 1, 0) > 0 && (out.revents & POLLERR) != 0;
}

}  // namespace

void LineOutput::check_written() {
  if (out_) return;
  const int cause = errno;
  if (cause != EPIPE && !has_no_reader()) {
    throw Error(ExitCode::kStageFailed,
                std::string("cannot write to standard output: ") + std::strerror(cause));
  }
  is_closed_ = true;
  // What waits in the stream's buffer has nowhere to go, and is no error at the end.
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) ::dup2(nowhere, STDOUT_FILENO);
  if (nowhere >= 0) ::close(nowhere);
  out_.clear();
}

}  // namespace kdgat
