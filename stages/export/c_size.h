// What an export to C takes, measured of what this machine's compiler makes of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace kdgat::exporting {

/// Bytes.
struct MeasuredSize {
  std::string compiler;  ///< "cc -Os, x86_64"
  int64_t flash = 0;     ///< code and constants
  int64_t memory = 0;    ///< variables that the file has of its own
  int64_t state = 0;     ///< sizeof(kdgat_state)
  int64_t stack = 0;     ///< the deepest on the frames of the test vectors

  /// A table in Markdown.
  std::string page() const;
};

/// `folder` has NAME.c, NAME.h and vectors.h; what is made goes to `work`, a folder. None where the
/// machine lacks what measures it, the program `size` of binutils or ucontext.h.
std::optional<MeasuredSize> measured_size(const std::filesystem::path& folder,
                                          const std::string& name, const std::string& compiler,
                                          const std::filesystem::path& work);

}  // namespace kdgat::exporting
