// CSource: what an export to C writes. Knows no model. No LibTorch.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace kdgat::exporting {

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
