#include "pipeline/show/sparkline.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace kdgat {

bool has_unicode() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    std::string text = value;
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(c | 0x20); });
    return text.find("utf") != std::string::npos;
  }
  return false;
}

std::string sparkline(const std::vector<double>& values, std::size_t width, bool unicode) {
  static const std::vector<std::string> blocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static const std::vector<std::string> plain = {"_", ".", ",", "-", "=", "+", "*", "#"};
  std::vector<double> finite;
  std::copy_if(values.begin(), values.end(), std::back_inserter(finite),
               [](double value) { return std::isfinite(value); });
  if (finite.empty() || width == 0) return "";
  std::vector<double> means;
  const std::size_t cells = std::min(width, finite.size());
  for (std::size_t cell = 0; cell < cells; ++cell) {
    const std::size_t begin = cell * finite.size() / cells,
                      end = (cell + 1) * finite.size() / cells;
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += finite[i];
    means.push_back(sum / static_cast<double>(end - begin));
  }
  const auto [least, greatest] = std::minmax_element(means.begin(), means.end());
  const double low = *least, range = *greatest - *least;
  const std::vector<std::string>& steps = unicode ? blocks : plain;
  std::string out;
  for (const double mean : means) {
    const double part = range > 0 ? (mean - low) / range : 0;
    out +=
        steps[static_cast<std::size_t>(std::lround(part * static_cast<double>(steps.size() - 1)))];
  }
  return out;
}

}  // namespace kdgat
