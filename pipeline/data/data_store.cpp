#include "pipeline/data/data_store.h"

#include <system_error>

#include "data/domains.h"
#include "data/import.h"

namespace kdgat {
namespace fs = std::filesystem;

fs::path store_of(const fs::path& path) { return graph::store_of(graph::all_domains(), path); }

void require_input(const fs::path& path) {
  if (path == "-") return;
  std::error_code failure;
  if (fs::exists(path, failure)) return;
  throw Error(ExitCode::kData,
              path.string() + ": " + (failure ? failure.message() : "no such file or folder"));
}

}  // namespace kdgat
