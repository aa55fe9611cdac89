#include "export/written_folder.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "kdgat/atomic_file.h"
#include "kdgat/error.h"

namespace kdgat::exporting {

namespace fs = std::filesystem;

namespace {

/// Beside `folder`, of this process alone.
fs::path beside(const fs::path& folder, const char* what) {
  return folder.parent_path() /
         ("." + folder.filename().string() + what + std::to_string(::getpid()));
}

[[noreturn]] void fail_to(const char* what, const fs::path& path, const std::error_code& why) {
  throw Error(ExitCode::kData, std::string(what) + ": " + why.message(), "", path.string());
}

}  // namespace

WrittenFolder::WrittenFolder(fs::path folder, std::string mark, bool replaces)
    : folder_(std::move(folder)), mark_(std::move(mark)) {
  folder_ = fs::absolute(folder_).lexically_normal();
  if (folder_.filename().empty()) folder_ = folder_.parent_path();  // "DIR/"
  std::error_code error;
  const bool is_there = fs::exists(fs::symlink_status(folder_, error));
  if (is_there && !(fs::is_directory(folder_, error) && fs::is_empty(folder_, error))) {
    const bool is_export = fs::is_regular_file(folder_ / mark_, error);
    if (!is_export) {
      throw Error(ExitCode::kUsage, "something else stands there already", "name another folder",
                  folder_.string());
    }
    if (!replaces) {
      throw Error(ExitCode::kUsage, "there already", "--force replaces it", folder_.string());
    }
  }
  fs::create_directories(folder_.parent_path(), error);
  if (error) fail_to("cannot create", folder_.parent_path(), error);
  staging_ = beside(folder_, ".tmp.");
  fs::remove_all(staging_, error);  // of a killed process of the same number
  if (!fs::create_directory(staging_, error)) fail_to("cannot create", staging_, error);
}

WrittenFolder::~WrittenFolder() {
  std::error_code ignored;
  if (!staging_.empty()) fs::remove_all(staging_, ignored);
}

void WrittenFolder::write(const std::string& name, std::string_view bytes) const {
  AtomicFile file(staging_ / name);
  file.write(bytes);
  file.commit();
}

void WrittenFolder::commit() {
  const fs::path former = beside(folder_, ".old.");
  std::error_code error;
  const bool is_there = fs::exists(fs::symlink_status(folder_, error));
  if (is_there) {
    fs::rename(folder_, former, error);
    if (error) fail_to("cannot replace", folder_, error);
  }
  fs::rename(staging_, folder_, error);
  if (error) {
    std::error_code ignored;
    if (is_there) fs::rename(former, folder_, ignored);
    fail_to("cannot rename to", folder_, error);
  }
  staging_.clear();
  if (is_there) fs::remove_all(former, error);
}

}  // namespace kdgat::exporting
