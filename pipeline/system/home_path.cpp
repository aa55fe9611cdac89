#include "pipeline/system/home_path.h"

#include <cstdlib>

#include "kdgat/error.h"

namespace kdgat {

std::string expand_home(const std::string& text) {
  return text.starts_with('~') && text.find('/') != std::string::npos ? expand_home_path(text)
                                                                      : text;
}

std::string expand_home_path(const std::string& path) {
  if (!path.starts_with('~')) return path;
  const std::string user = path.substr(1, path.find('/') - 1);  // npos: all
  if (!user.empty()) {
    throw Error(ExitCode::kUsage, path + ": the home folder of " + user + " is not looked up",
                "write its path; ~/ is your own home folder");
  }
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') {
    throw Error(ExitCode::kUsage, path + ": HOME is not set", "write the path of the folder");
  }
  return home + path.substr(1);
}

}  // namespace kdgat
