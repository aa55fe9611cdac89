// Tar archives as text, for tests of what reads them.
#pragma once

#include <cstdio>
#include <string>

namespace kdgat::test {

/// One entry of a ustar archive: header, content, padding.
inline std::string tar_entry(const std::string& name, const std::string& content, char type = '0',
                             const std::string& prefix = "") {
  std::string header(512, '\0');
  const auto put = [&](std::size_t at, const std::string& text) {
    header.replace(at, text.size(), text);
  };
  const auto octal = [](std::size_t value, int digits) {
    char text[32];
    std::snprintf(text, sizeof text, "%0*zo", digits, value);
    return std::string(text);
  };
  put(0, name.substr(0, 100));
  put(100, "0000644");
  put(124, octal(content.size(), 11));
  put(136, octal(0, 11));
  header[156] = type;
  put(257, std::string("ustar\0"
                       "00",
                       8));
  put(345, prefix);
  std::size_t sum = 8 * ' ';
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (i < 148 || i >= 156) sum += static_cast<unsigned char>(header[i]);
  }
  put(148, octal(sum, 6) + std::string("\0 ", 2));
  return header + content + std::string((512 - content.size() % 512) % 512, '\0');
}

inline std::string tar_end() { return std::string(1024, '\0'); }

/// "length key=value\n", where length counts itself.
inline std::string pax_record(const std::string& key, const std::string& value) {
  const std::string rest = " " + key + "=" + value + "\n";
  std::string length = "1";
  while (std::stoul(length) != length.size() + rest.size()) {
    length = std::to_string(length.size() + rest.size());
  }
  return length + rest;
}

}  // namespace kdgat::test
