#include "engine/export/c/runtime_texts.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

namespace kdgat::exporting {

namespace {

/// A text of digits as a number of C: "3" alone would be an integer.
std::string with_point(std::string digits) {
  if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
  return digits;
}

/// The shortest digits that are read back to the same bits.
template <class T>
std::string digits_of(T value) {
  char text[64];
  const auto [end, error] = std::to_chars(text, text + sizeof(text), value);
  if (error != std::errc()) throw std::logic_error("a number of more than 64 digits");
  return with_point({text, end});
}

}  // namespace

std::string portable_text(std::string_view file) {
  const std::string_view text = runtime_text(file);
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = text.substr(at, end - at);
    if (!line.starts_with("#pragma once") && !line.starts_with("#include \"engine/")) out += line;
    at = end;
  }
  return out;
}

std::string texts_of(std::initializer_list<std::string_view> files) {
  std::string out;
  for (const std::string_view file : files) out += "\n" + portable_text(file);
  return out;
}

std::string runtime_text(std::string_view file, const std::map<std::string, std::string>& values) {
  const std::string_view text = runtime_text(file);
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find('@', at);
    const std::size_t close = text.find('@', open == text.npos ? open : open + 1);
    if (close == text.npos) return out.append(text.substr(at));
    const std::string key(text.substr(open + 1, close - open - 1));
    const auto found = values.find(key);
    if (found == values.end()) {
      throw std::logic_error("runtime/" + std::string(file) + " asks for @" + key + "@");
    }
    out.append(text.substr(at, open - at)).append(found->second);
    at = close + 1;
  }
  return out;
}

std::string c_float(float value) {
  if (!std::isfinite(value)) throw std::logic_error("a weight that is not finite");
  return digits_of(value) + "f";
}

std::string c_double(double value) {
  if (std::isnan(value)) throw std::logic_error("a number that is none");
  if (std::isinf(value)) return value < 0 ? "-DBL_MAX" : "DBL_MAX";
  return digits_of(value);
}

}  // namespace kdgat::exporting
