// CSource: what an export to C writes. Knows no model.
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace kdgat::exporting {

/// What is wrong with the name of the files; "" if nothing. They stand next to main.c, check.c and
/// vectors.h, and a header of C's own library must not be found in their place.
inline std::string c_name_problem(const std::string& name) {
  constexpr std::array<std::string_view, 27> kTaken = {
      "main",     "check",  "vectors", "assert", "complex", "ctype",  "errno",  "fenv",   "float",
      "inttypes", "iso646", "limits",  "locale", "math",    "setjmp", "signal", "stdarg", "stdbool",
      "stddef",   "stdint", "stdio",   "stdlib", "string",  "tgmath", "time",   "wchar",  "wctype"};
  const auto is_word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0 ||
      !std::all_of(name.begin(), name.end(), is_word)) {
    return "is no name in C";
  }
  const bool is_taken = std::find(kTaken.begin(), kTaken.end(), name) != kTaken.end();
  return is_taken ? "is the name of another file of an export or of C's own library" : "";
}

/// What a target must have for it; 0 = not known.
struct SizeReport {
  int64_t state_bytes = 0;    ///< sizeof(kdgat_state): all of the memory that is written to
  int64_t flash_bytes = 0;    ///< tables, and about what the code takes at -O2
  int64_t stack_bytes = 0;    ///< a bound
  int64_t multiply_adds = 0;  ///< of the largest window
};

/// Texts of a folder by file name: NAME.c, NAME.h, main.c, check.c, vectors.h, CMakeLists.txt.
struct CSource {
  std::map<std::string, std::string> files;
  SizeReport size{};
};

}  // namespace kdgat::exporting
