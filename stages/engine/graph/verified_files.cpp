#include "engine/graph/verified_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string_view>

#include "engine/file/cache_folder.h"
#include "kdgat/atomic_file.h"
#include "kdgat/error.h"

namespace kdgat::graph {

namespace fs = std::filesystem;

namespace {

constexpr int64_t kDay = int64_t{24} * 60 * 60;
constexpr std::uintmax_t kLargestList = 1 << 16;  // from then on old lines are left out

fs::path list_file() {
  const fs::path folder = file::cache_folder();
  return folder.empty() ? folder : folder / "verified";
}

std::string nanoseconds(const timespec& time) {
  return std::to_string(int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec);
}

/// A line is "identity seconds": when it was verified, since 1970.
bool is_recent(std::string_view line, int64_t now) {
  const std::size_t blank = line.rfind(' ');
  if (blank == std::string_view::npos) return false;
  const int64_t then = std::atoll(std::string(line.substr(blank + 1)).c_str());
  return then <= now && now - then < kDay;  // what a clock that was wrong wrote is not believed
}

/// Keeps the lines that still say something. Lines that another process adds meanwhile may be lost:
/// then a file is read once more.
void shorten(const fs::path& list) {
  std::error_code failure;
  if (fs::file_size(list, failure) < kLargestList || failure) return;
  const int64_t now = std::time(nullptr);
  std::string kept;
  std::ifstream in(list);
  for (std::string line; std::getline(in, line);) {
    if (is_recent(line, now)) kept += line + "\n";
  }
  if (kept.size() >= kLargestList) kept.clear();
  try {
    write_file(list, kept);
  } catch (const Error&) {
    return;  // it stays as long as it is
  }
}

}  // namespace

std::string identity_of(const fs::path& file, const std::string& hash) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return "";
  return std::to_string(status.st_ino) + " " + std::to_string(status.st_size) + " " +
         nanoseconds(status.st_mtim) + " " + nanoseconds(status.st_ctim) + " " + hash;
}

bool is_verified(const std::string& identity) {
  if (identity.empty()) return false;
  const int64_t now = std::time(nullptr);
  std::ifstream in(list_file());
  for (std::string line; std::getline(in, line);) {
    const bool is_it = line.size() > identity.size() && line.starts_with(identity) &&
                       line.find(' ', identity.size() + 1) == std::string::npos &&
                       line[identity.size()] == ' ';
    if (is_it && is_recent(line, now)) return true;
  }
  return false;
}

void remember_verified(const std::string& identity) {
  const fs::path list = list_file();
  if (identity.empty() || list.empty()) return;
  std::error_code ignored;
  fs::create_directories(list.parent_path(), ignored);
  shorten(list);
  const int fd = ::open(list.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0644);
  if (fd < 0) return;
  const std::string line = identity + " " + std::to_string(std::time(nullptr)) + "\n";
  // One write, so that lines of two processes do not mix.
  [[maybe_unused]] const ssize_t written = ::write(fd, line.data(), line.size());
  ::close(fd);
}

}  // namespace kdgat::graph
