#include "pipeline/data/data_store.h"

#include <stdlib.h>

#include <cerrno>
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

TemporaryFolder::TemporaryFolder(const fs::path& parent, const std::string& prefix) {
  std::string name = (parent / (prefix + "XXXXXX")).string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw Error(ExitCode::kData, "cannot create a folder in " + parent.string() + ": " +
                                     std::generic_category().message(errno));
  }
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace kdgat
