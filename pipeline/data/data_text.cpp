#include "pipeline/data/data_text.h"

#include "data/texts/text_store.h"
#include "pipeline/show/graphs_text.h"

namespace kdgat {

namespace fs = std::filesystem;
using graph::TextStore;
using nlohmann::json;

bool is_text_store(const fs::path& store) { return TextStore::is_store(store); }

PreparedData open_prepared_text(const fs::path& store) {
  const TextStore graph = TextStore::open(store);
  PreparedData out;
  out.folder = store.parent_path();
  out.fingerprint = graph.content_hash();
  out.facts = graph.facts();
  const std::size_t files = graph.sources().size();
  out.summary =
      std::to_string(files) + (files == 1 ? " file, " : " files, ") + graphs_text(out.facts);
  return out;
}

json inspect_text_store(const fs::path& store) {
  const TextStore graph = TextStore::open(store);
  json out = {{"path", store.string()},   {"content_hash", graph.content_hash()},
              {"facts", graph.facts()},   {"options", graph.options()},
              {"files", graph.sources()}, {"parts", json::object()}};
  int64_t splits = 0;
  for (const char* part : graph::kTextParts) {
    std::vector<int64_t> classes(static_cast<std::size_t>(graph.classes()), 0);
    int64_t documents = 0;
    const std::span<const bool> mask = graph.mask(part);
    for (std::size_t node = 0; node < mask.size(); ++node) {
      if (!mask[node]) continue;
      ++documents;
      ++classes.at(static_cast<std::size_t>(graph.y()[node]));
    }
    splits += documents > 0 ? 1 : 0;
    out["parts"][part] = {{"documents", documents}, {"classes", classes}};
  }
  constexpr int64_t kPairBytes = 2 * sizeof(int64_t) + sizeof(float);
  const int64_t cached = graph.mapped_bytes();
  out["memory"] = {{"cached_bytes", cached},
                   {"splits", splits},
                   {"saved_bytes", (splits - 1) * cached},
                   {"saved_share", static_cast<double>(splits - 1) / static_cast<double>(splits)},
                   {"coo_bytes", kPairBytes * graph.nonzeros()},
                   {"identity_bytes", int64_t{sizeof(float)} * graph.nodes() * graph.nodes()}};
  return out;
}

std::vector<Diagnostic> verify_text_store(const fs::path& store) {
  return TextStore::open(store).verify();
}

}  // namespace kdgat
