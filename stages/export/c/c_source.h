// CSource: what an export to C writes. Knows no model. No LibTorch.
#pragma once

#include <map>
#include <string>

namespace kdgat::exporting {

/// Texts of a folder by file name: NAME.c, NAME.h, main.c, check.c, vectors.h, CMakeLists.txt.
struct CSource {
  std::map<std::string, std::string> files;
};

}  // namespace kdgat::exporting
