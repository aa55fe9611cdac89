#include "pipeline/data/data_ratings.h"

#include <set>

#include "data/ratings/ratings_store.h"
#include "pipeline/show/graphs_text.h"

namespace kdgat {

namespace fs = std::filesystem;
using graph::RatingStore;
using nlohmann::json;

namespace {

// As published: below so many ratings in train.
constexpr int32_t kColdUser = 17, kColdItem = 10;

json count(const RatingStore& store, std::span<const int32_t> part) {
  std::set<int32_t> users, items;
  double sum = 0;
  for (const int32_t r : part) {
    const auto at = static_cast<std::size_t>(r);
    users.insert(store.user()[at]);
    items.insert(store.item()[at]);
    sum += static_cast<double>(store.rating()[at]);
  }
  const auto cold = [&](const std::set<int32_t>& some, int64_t first, int32_t bound) {
    int64_t out = 0;
    for (const int32_t number : some) {
      const auto v = static_cast<std::size_t>(first + number);
      const int32_t degree = store.row_ptr()[v + 1] - store.row_ptr()[v];
      out += degree > 0 && degree < bound ? 1 : 0;
    }
    return out;
  };
  return {{"ratings", part.size()},
          {"users", users.size()},
          {"items", items.size()},
          {"mean", part.empty() ? 0 : sum / static_cast<double>(part.size())},
          {"cold_users", cold(users, 0, kColdUser)},
          {"cold_items", cold(items, store.users(), kColdItem)}};
}

}  // namespace

bool is_rating_store(const fs::path& store) { return RatingStore::is_store(store); }

PreparedData open_prepared_ratings(const fs::path& store) {
  const RatingStore graph = RatingStore::open(store);
  PreparedData out;
  out.folder = store.parent_path();
  out.fingerprint = graph.content_hash();
  out.facts = graph.facts();
  const std::size_t files = graph.sources().size();
  out.summary =
      std::to_string(files) + (files == 1 ? " file, " : " files, ") + graphs_text(out.facts);
  return out;
}

json inspect_rating_store(const fs::path& store) {
  const RatingStore graph = RatingStore::open(store);
  return {{"path", store.string()},
          {"content_hash", graph.content_hash()},
          {"facts", graph.facts()},
          {"options", graph.options()},
          {"files", graph.sources()},
          {"parts", {{"train", count(graph, graph.train())}, {"test", count(graph, graph.test())}}},
          {"memory", {{"mapped_bytes", graph.mapped_bytes()}}}};
}

std::vector<Diagnostic> verify_rating_store(const fs::path& store) {
  return RatingStore::open(store).verify();
}

}  // namespace kdgat
