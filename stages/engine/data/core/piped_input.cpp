#include "engine/data/core/piped_input.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

namespace kdgat::data {

namespace fs = std::filesystem;

namespace {

constexpr int kPollMilliseconds = 100;
constexpr std::size_t kBlock = std::size_t{1} << 20;

Error failure_of(const char* what, const fs::path& path) {
  return Error(ExitCode::kData,
               std::string(what) + " " + path.string() + ": " + std::strerror(errno));
}

struct Descriptor {
  explicit Descriptor(int opened) : fd(opened) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
  int fd;
};

void write_all(int fd, const char* from, std::size_t bytes, const fs::path& to) {
  while (bytes > 0) {
    const ssize_t written = ::write(fd, from, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw failure_of("cannot write", to);
    from += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

void copy(const fs::path& pipe, const fs::path& to, const std::function<bool()>& cancelled) {
  // Not blocking: opening a FIFO would wait for its writer, and no signal could end that.
  const Descriptor in(::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (in.fd < 0) throw failure_of("cannot read", pipe);
  const Descriptor out(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (out.fd < 0) throw failure_of("cannot create", to);
  std::vector<char> block(kBlock);
  for (;;) {
    if (cancelled && cancelled()) {
      throw Error(ExitCode::kInterrupted, "interrupted while reading " + pipe.string());
    }
    pollfd wanted{in.fd, POLLIN, 0};
    if (::poll(&wanted, 1, kPollMilliseconds) <= 0) continue;
    const ssize_t bytes = ::read(in.fd, block.data(), block.size());
    if (bytes < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (bytes < 0) throw failure_of("cannot read", pipe);
    if (bytes == 0) return;
    write_all(out.fd, block.data(), static_cast<std::size_t>(bytes), to);
  }
}

/// The name of the file: texts are known by the end of a name, and a pipe of a shell has none.
fs::path file_name(const fs::path& pipe) {
  fs::path name = pipe.filename();
  if (!name.has_extension()) name += ".txt";
  return name;
}

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
}

}  // namespace

bool is_pipe(const fs::path& path) {
  struct stat status {};
  if (path == "-" || ::stat(path.c_str(), &status) != 0) return false;
  if (S_ISFIFO(status.st_mode)) return true;
  if (!S_ISCHR(status.st_mode)) return false;
  const Descriptor terminal(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  return terminal.fd >= 0 && ::isatty(terminal.fd) == 1;
}

PipedInput::PipedInput(const fs::path& given, const fs::path& folder,
                       const std::function<bool()>& cancelled)
    : given_(given), path_(given) {
  if (!is_pipe(given)) {
    std::error_code none;
    const fs::file_status status = fs::status(given, none);
    if (given != "-" && fs::exists(status) && !fs::is_regular_file(status) &&
        !fs::is_directory(status)) {
      throw Error(ExitCode::kData, given.string() + ": neither a file nor a folder nor a pipe");
    }
    return;
  }
  std::string name = (folder / "logs.XXXXXX").string();  // as all that is read and not kept
  if (::mkdtemp(name.data()) == nullptr) throw failure_of("cannot create a folder in", folder);
  folder_ = name;
  lock_ = ::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ >= 0) ::flock(lock_, LOCK_EX | LOCK_NB);
  path_ = folder_ / file_name(given);
  try {
    copy(given, path_, cancelled);
  } catch (...) {
    remove();
    throw;
  }
}

PipedInput::~PipedInput() { remove(); }

void PipedInput::remove() {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
  if (lock_ >= 0) ::close(lock_);
  lock_ = -1;
}

Error PipedInput::renamed(const Error& error) const {
  if (folder_.empty()) return error;
  std::vector<Diagnostic> problems = error.diagnostics();
  for (Diagnostic& problem : problems) {
    for (std::string* text : {&problem.where, &problem.message, &problem.hint}) {
      replace_all(*text, path_.string(), given_.string());
    }
  }
  return Error(error.code(), std::move(problems));
}

}  // namespace kdgat::data
