#include "pipeline/show/line_width.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace kdgat {

std::size_t line_width(int fd) {
  constexpr int kLeast = 40;  // narrower ones would hold a word a line
  winsize size{};
  if (::isatty(fd) == 1 && ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return static_cast<std::size_t>(std::max<int>(kLeast, size.ws_col));
  }
  const char* columns = std::getenv("COLUMNS");
  const int said = columns == nullptr ? 0 : std::atoi(columns);
  return said > 0 ? static_cast<std::size_t>(std::max(kLeast, said)) : 0;
}

}  // namespace kdgat
