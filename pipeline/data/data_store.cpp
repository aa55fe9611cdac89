#include "pipeline/data/data_store.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <string>
#include <system_error>

#include "engine/data/core/import.h"
#include "pipeline/data/domains.h"
#include "pipeline/profile/path_options.h"

namespace kdgat {

namespace fs = std::filesystem;

namespace {

/// Files that people have of logs and graphs and that are not read, by their names: a look inside
/// would only say that they are no text.
void refuse_other_formats(const fs::path& path) {
  if (is_pytorch_file(path)) {
    throw Error(ExitCode::kData,
                path.string() + " is a PyTorch file; graphs are made from raw data here",
                "name the logs, neurons, texts or ratings that it was made from");
  }
}

}  // namespace

fs::path store_of(const fs::path& path) { return data::store_of(data::all_domains(), path); }

void require_input(const fs::path& path) {
  if (path == "-") return;
  std::error_code failure;
  if (fs::is_regular_file(path, failure)) return refuse_other_formats(path);
  if (fs::exists(path, failure)) return;
  throw Error(ExitCode::kData,
              path.string() + ": " + (failure ? failure.message() : "no such file or folder"));
}

}  // namespace kdgat
