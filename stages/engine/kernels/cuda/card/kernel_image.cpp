#include "engine/kernels/cuda/card/kernel_image.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "engine/file/cache_folder.h"
#include "engine/file/tensor_hash.h"
#include "kdgat/atomic_file.h"
#include "kdgat/error.h"

namespace kdgat::kernels::cuda {

namespace fs = std::filesystem;

namespace {

std::string hash_of(std::string_view text) {
  file::TensorHash hash;
  hash.update(text.data(), text.size());
  return hash.text();
}

/// A file is the hash of an image, then the image. None if it is another one's or not whole: what
/// is in it will run on the card.
std::optional<std::string> read_image(const fs::path& file) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return std::nullopt;
  struct stat status {};
  std::string out;
  if (::fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == ::geteuid() &&
      (status.st_mode & (S_IWGRP | S_IWOTH)) == 0) {
    out.resize(static_cast<std::size_t>(status.st_size));
    std::size_t done = 0;
    while (done < out.size()) {
      const ssize_t got = ::read(fd, out.data() + done, out.size() - done);
      if (got <= 0) break;
      done += static_cast<std::size_t>(got);
    }
    out.resize(done);
  }
  ::close(fd);
  constexpr std::size_t kHash = 32;
  if (out.size() <= kHash || hash_of(std::string_view(out).substr(kHash)) != out.substr(0, kHash)) {
    return std::nullopt;
  }
  return out.substr(kHash);
}

/// Writes a file into the cache's folder, if there is one; whether it could.
bool keep(const fs::path& folder, const fs::path& file, const std::string& text) {
  if (folder.empty()) return false;
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (!failure) fs::permissions(folder, fs::perms::owner_all, failure);
  if (failure) return false;
  try {
    write_file(file, text);
  } catch (const Error&) {
    return false;
  }
  return true;
}

}  // namespace

std::string kernel_image(const Nvrtc& nvrtc, std::string_view source, int architecture) {
  std::string key = nvrtc.version() + "\n" + nvrtc.options(architecture) + "\n";
  key += source;
  const fs::path cache = file::cache_folder();
  const fs::path folder = cache.empty() ? fs::path() : cache / "kernels";
  const fs::path file = folder / (hash_of(key) + ".bin");
  if (!folder.empty()) {
    if (std::optional<std::string> kept = read_image(file)) return *std::move(kept);
  }
  std::string log;
  try {
    std::string image = nvrtc.compile(source, architecture, &log);
    keep(folder, file, hash_of(image) + image);  // or compiled anew next time
    return image;
  } catch (const Error& error) {
    const fs::path whole = folder / "compile.log";
    if (log.empty() || !keep(folder, whole, log)) throw;
    throw Error(error.code(), std::string(error.what()) + "; all of it: " + whole.string());
  }
}

}  // namespace kdgat::kernels::cuda
