#include "data/ratings/ratings_domain.h"

#include <set>
#include <utility>

#include "data/ratings/ratings_import.h"
#include "data/ratings/ratings_store.h"
#include "data/ratings/synth_ratings.h"

namespace kdgat::graph {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

class RatingsDomainInput : public DomainInput {
 public:
  RatingsDomainInput(RatingsInput input, RatingsImportOptions options)
      : DomainInput(input.files), input_(std::move(input)), options_(std::move(options)) {}

  void import(const ImportCall& call) const override {
    import_ratings({input_, options_, call.done}, call.made_with, call.to, call.report);
  }

 private:
  RatingsInput input_;
  RatingsImportOptions options_;
};

// As published: below so many ratings in train.
constexpr int32_t kColdUser = 17, kColdItem = 10;

json counts_of(const RatingStore& store, std::span<const int32_t> part) {
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

class RatingsDomain : public WithOptions<Domain, RatingsImportOptions, RatingsSynthOptions> {
 public:
  const char* name() const override { return "ratings"; }
  std::vector<std::string> formats() const override { return {"ratings", "u-data", "ratings-csv"}; }

  Found find(const fs::path& source, const json& values) const override {
    const auto options = own_options<RatingsImportOptions>(values);
    const auto input = find_ratings_input(source, options);
    if (!input) return {};
    return {Sureness::kSure, [input, options](std::vector<Diagnostic>&) {
              return std::make_shared<RatingsDomainInput>(*input, options);
            }};
  }

  bool is_store(const SafetensorsFile& file) const override { return RatingStore::is_store(file); }
  const char* source_word() const override { return "ratings"; }

  StoreView open(const fs::path& store, bool check_data) const override {
    const RatingStore graph = RatingStore::open(store);
    if (check_data) require_hashes(store);
    StoreView out{graph.content_hash(), graph.facts(), graph.options(), graph.sources(), 1, 0};
    for (const Source& source : out.sources) {
      if (source.role == "ratings") out.rows += source.rows;
    }
    return out;
  }
  std::vector<Diagnostic> verify(const fs::path& store) const override {
    return RatingStore::open(store).verify();
  }

  /// "parts": {name: {"ratings","users","items","mean","cold_users","cold_items": those of the part
  /// with less than 17, or 10, ratings in train, but not those with none}}, "memory":
  /// {"mapped_bytes"}.
  json inspect(const fs::path& store) const override {
    const RatingStore graph = RatingStore::open(store);
    return {
        {"path", store.string()},
        {"content_hash", graph.content_hash()},
        {"facts", graph.facts()},
        {"options", graph.options()},
        {"files", graph.sources()},
        {"parts",
         {{"train", counts_of(graph, graph.train())}, {"test", counts_of(graph, graph.test())}}},
        {"memory", {{"mapped_bytes", graph.mapped_bytes()}}}};
  }

  const char* facts_key() const override { return "ratings"; }
  std::string headline(const json& facts) const override { return ratings_headline(facts); }
  Description describe_import(const json& result) const override {
    return describe_ratings_import(result);
  }
  Description describe_inspect(const json& result) const override {
    return describe_ratings_store(result);
  }

  std::vector<SynthKind> synth_kinds() const override {
    return {{"ratings", "users rate items (u.data)"}};
  }
  void synthesize(const fs::path& folder, const json& values, const json&,
                  const std::function<bool()>& cancelled) const override {
    const auto options = own_options<RatingsSynthOptions>(values);
    write_synthetic_ratings(folder, options, options.items, cancelled);
  }
};

}  // namespace

const Domain& ratings_domain() {
  static const RatingsDomain domain;
  return domain;
}

}  // namespace kdgat::graph
