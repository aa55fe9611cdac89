#include "pipeline/data/data_store.h"

#include <stdlib.h>

#include <cerrno>
#include <system_error>

#include "data/space/spatial_import.h"
#include "pipeline/data/data_ratings.h"
#include "pipeline/data/data_text.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;

constexpr OneFileKind kOneFileKinds[] = {
    {is_text_store, open_prepared_text, inspect_text_store, verify_text_store, "texts"},
    {is_rating_store, open_prepared_ratings, inspect_rating_store, verify_rating_store, "ratings"}};

}  // namespace

const OneFileKind* one_file_kind(const fs::path& store) {
  for (const OneFileKind& kind : kOneFileKinds) {
    if (kind.is_store(store)) return &kind;
  }
  return nullptr;
}

fs::path store_of(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    return fs::exists(path / kStore, ignored) ? path / kStore : fs::path();
  }
  return path.extension() == ".safetensors" && !graph::is_spatial_graphs(path) ? path : fs::path();
}

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
