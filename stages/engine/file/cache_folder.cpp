#include "engine/file/cache_folder.h"

#include <cstdlib>

namespace kdgat::file {

std::filesystem::path cache_folder() {
  namespace fs = std::filesystem;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') {
    return fs::path(cache) / "kdgat";
  }
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') return {};
  return fs::path(home) / ".cache" / "kdgat";
}

}  // namespace kdgat::file
