#include "pipeline/system/temporary.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <system_error>

#include "kdgat/error.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLetters = 6;  // as mkdtemp chooses them

/// Whether what is locked still stands under its name: it may have been removed in between.
bool stands(const OwnedFd& fd, const fs::path& path) {
  struct stat held {
  }, named{};
  return ::fstat(fd.get(), &held) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

bool is_folder_of(const std::string& name, const std::vector<std::string>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const std::string& prefix) {
    return name.starts_with(prefix) && name.size() == prefix.size() + kLetters &&
           std::all_of(name.end() - kLetters, name.end(),
                       [](unsigned char c) { return std::isalnum(c) != 0; });
  });
}

/// The process in NAME.tmp.PROCESS.COUNT; 0 for another name.
pid_t writer_of(const std::string& name) {
  constexpr std::size_t kMostDigits = 9;
  const std::string mark = ".tmp.";
  const std::size_t at = name.rfind(mark);
  if (at == std::string::npos || at == 0) return 0;
  const std::string rest = name.substr(at + mark.size());
  const std::size_t dot = rest.find('.');
  const auto is_number = [](const std::string& text) {
    return !text.empty() && text.size() <= kMostDigits &&
           text.find_first_not_of("0123456789") == std::string::npos;
  };
  if (dot == std::string::npos || !is_number(rest.substr(0, dot)) ||
      !is_number(rest.substr(dot + 1))) {
    return 0;
  }
  return std::stoi(rest.substr(0, dot));
}

bool is_alive(pid_t process) { return ::kill(process, 0) == 0 || errno == EPERM; }

}  // namespace

TemporaryFolder::TemporaryFolder(const fs::path& parent, const std::string& prefix) {
  constexpr int kTries = 5;
  for (int i = 0; i < kTries && path_.empty(); ++i) {
    std::string name = (parent / (prefix + std::string(kLetters, 'X'))).string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw Error(ExitCode::kData, "cannot create a folder in " + parent.string() + ": " +
                                       std::generic_category().message(errno));
    }
    lock_ = lock_folder(name);
    std::error_code ignored;
    // Before it was locked, another process may have taken it for a leftover.
    if (lock_.get() >= 0 ? stands(lock_, name) : fs::exists(name, ignored)) path_ = name;
  }
  if (path_.empty()) {
    throw Error(ExitCode::kData, "cannot keep a folder in " + parent.string());
  }
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

OwnedFd lock_folder(const fs::path& folder) {
  OwnedFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (fd.get() >= 0 && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) fd.reset();
  return fd;
}

void clear_leftovers(const fs::path& folder, const std::vector<std::string>& prefixes) {
  const OwnedFd turn = lock_folder(folder);
  if (turn.get() < 0) return;
  std::error_code ignored;
  std::vector<fs::path> found;
  for (fs::directory_iterator at(folder, ignored); at != fs::directory_iterator();
       at.increment(ignored)) {
    const std::string name = at->path().filename().string();
    const pid_t writer = writer_of(name);
    if (is_folder_of(name, prefixes) || (writer > 0 && !is_alive(writer))) {
      found.push_back(at->path());
    }
  }
  for (const fs::path& path : found) {
    if (fs::symlink_status(path, ignored).type() != fs::file_type::directory) {
      fs::remove(path, ignored);
      continue;
    }
    const OwnedFd lock = lock_folder(path);
    if (lock.get() >= 0 && stands(lock, path)) fs::remove_all(path, ignored);
  }
}

}  // namespace kdgat
