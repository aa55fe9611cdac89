// Alarms as lines: of standard output, and of a file that is rotated.
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "kdgat/error.h"
#include "pipeline/alarms/sinks.h"
#include "pipeline/show/quantity.h"
#include "pipeline/show/text.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;

/// What poll() says a pipe has room for is a page at least: so much does not block, even where the
/// descriptor does.
constexpr std::size_t kAtOnce = 4096;

/// Writes from `done` on, and moves it. kAgain once there is no patience left.
Delivery write_on(int fd, std::string_view text, std::size_t& done, const Patience& patience) {
  while (done < text.size()) {
    if (!patience.wait(fd, POLLOUT)) return {Outcome::kAgain, "nobody takes it"};
    const ssize_t wrote = ::write(fd, text.data() + done, std::min(kAtOnce, text.size() - done));
    if (wrote >= 0) {
      done += static_cast<std::size_t>(wrote);
    } else if (errno == EPIPE) {
      return {Outcome::kEnded, "nobody reads there any more"};
    } else if (errno != EINTR && errno != EAGAIN) {
      return {Outcome::kAgain, std::strerror(errno)};
    }
  }
  return {};
}

class StreamSink : public AlarmSink {
 public:
  explicit StreamSink(int fd) : fd_(fd) {}

  Delivery write(const AlarmNews& news, const Patience& patience) override {
    const std::string text = news.line() + '\n';
    Delivery out = write_on(fd_, text, done_, patience);
    if (out.outcome != Outcome::kAgain) done_ = 0;
    return out;
  }

 private:
  int fd_;
  std::size_t done_ = 0;  ///< bytes of a line that is to be tried again
};

class FileSink : public AlarmSink {
 public:
  FileSink(fs::path path, uint64_t most, int keep)
      : path_(std::move(path)), most_(most), keep_(keep) {
    std::error_code ignored;
    if (!fs::is_symlink(path_, ignored)) return;
    // A link that its user names is followed once, now. One to a device or a pipe, as /dev/stderr,
    // has no other name.
    const fs::path file = fs::weakly_canonical(path_, ignored);
    const bool is_new = !file.empty() && !fs::is_symlink(file) && !fs::exists(file, ignored);
    if (is_new || fs::is_regular_file(file, ignored)) {
      path_ = file;
    } else {
      follows_ = fs::exists(path_, ignored);
    }
  }
  ~FileSink() override { close(); }

  /// Throws Error(kUsage) if it cannot be written to.
  void check() {
    const int error = open();
    // A FIFO without a reader may get one.
    if (error != 0 && error != ENXIO) {
      throw Error(ExitCode::kUsage, "--alarm file: cannot write to " + one_line(path_.string()) +
                                        ": " + reason(error));
    }
  }

  Delivery write(const AlarmNews& news, const Patience& patience) override {
    const std::string text = news.line() + '\n';
    if (!is_the_file_there()) close();
    if (file_.get() < 0) {
      if (const int error = open()) return {Outcome::kAgain, reason(error)};
    }
    if (is_regular_ && size_ > 0 && size_ + text.size() > most_) {
      if (const int error = rotate()) return {Outcome::kAgain, reason(error)};
    }
    std::size_t done = 0;
    Delivery out = write_on(file_.get(), text, done, patience);
    if (out.outcome == Outcome::kDone) {
      size_ += text.size();
      return out;
    }
    // No half line stays, say of a disk that is full. Another program may read a FIFO later.
    if (is_regular_ && ::ftruncate(file_.get(), static_cast<off_t>(size_)) != 0) size_ += done;
    close();
    out.outcome = Outcome::kAgain;
    return out;
  }

  void close() override {
    if (file_.get() >= 0 && is_regular_) ::fsync(file_.get());
    file_.reset();
  }

 private:
  static std::string reason(int error) {
    return error == ELOOP ? "it is a symbolic link, which is not followed" : std::strerror(error);
  }

  /// 0 or the system's reason.
  int open() {
    // So that the opening of a FIFO that nobody reads does not wait.
    file_ = OwnedFd(::open(path_.c_str(),
                           O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | follow_flag(),
                           0644));
    if (file_.get() < 0 || ::fstat(file_.get(), &opened_) != 0) return errno;
    is_regular_ = S_ISREG(opened_.st_mode);
    size_ = is_regular_ ? static_cast<uint64_t>(opened_.st_size) : 0;
    if (is_regular_ && size_ > 0) end_last_line();
    return 0;
  }

  /// Who may write to the folder could put a link in the place of the file, to any file that this
  /// program may write to.
  int follow_flag() const { return follows_ ? 0 : O_NOFOLLOW; }

  /// A program that was killed, or a disk that was full, may have left half a line.
  void end_last_line() {
    const OwnedFd read(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | follow_flag()));
    char last = '\n';
    if (::pread(read.get(), &last, 1, static_cast<off_t>(size_) - 1) != 1 || last == '\n') return;
    if (::write(file_.get(), "\n", 1) == 1) ++size_;
  }

  /// False once another program has moved or removed it, as those do that rotate logs.
  bool is_the_file_there() const {
    struct stat now {};
    return file_.get() >= 0 &&
           (follows_ ? ::stat(path_.c_str(), &now) : ::lstat(path_.c_str(), &now)) == 0 &&
           now.st_ino == opened_.st_ino && now.st_dev == opened_.st_dev;
  }

  fs::path numbered(int number) const {
    return number == 0 ? path_ : fs::path(path_.string() + "." + std::to_string(number));
  }

  int rotate() {
    close();
    for (int number = keep_; number > 0; --number) {
      if (::rename(numbered(number - 1).c_str(), numbered(number).c_str()) != 0 &&
          errno != ENOENT) {
        return errno;
      }
    }
    return open();
  }

  fs::path path_;
  uint64_t most_;
  int keep_;
  OwnedFd file_;
  struct stat opened_ {};
  bool follows_ = false;  ///< path_ is a link, and no file
  bool is_regular_ = false;
  uint64_t size_ = 0;
};

}  // namespace

std::unique_ptr<AlarmSink> stream_sink(int fd) { return std::make_unique<StreamSink>(fd); }

std::unique_ptr<AlarmSink> make_stdout_sink(AlarmWords& words) {
  if (!words.target().empty()) words.refuse("nothing stands behind stdout");
  return stream_sink(STDOUT_FILENO);
}

std::unique_ptr<AlarmSink> make_file_sink(AlarmWords& words) {
  constexpr int kKept = 5, kMostKept = 1000;
  if (words.target().empty()) words.refuse("which file?");
  const std::string most = words.option("max", "10MB");
  uint64_t bytes = 0;
  try {
    bytes = parse_bytes(most);
  } catch (const Error& e) {
    words.refuse("max=" + e.diagnostics().front().message);
  }
  if (bytes == 0) words.refuse("max=" + most + " leaves room for nothing");
  auto sink =
      std::make_unique<FileSink>(words.target(), bytes, words.number("keep", kKept, 1, kMostKept));
  words.check_all_known();  // before a file is made
  sink->check();
  return sink;
}

}  // namespace kdgat
