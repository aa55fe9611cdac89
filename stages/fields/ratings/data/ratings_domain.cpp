#include "fields/ratings/data/ratings_domain.h"

#include <set>
#include <utility>

#include "engine/data/core/folder_files.h"
#include "engine/data/core/store_domain.h"
#include "fields/ratings/data/ratings_import.h"
#include "fields/ratings/data/ratings_store.h"
#include "fields/ratings/data/synth_ratings.h"

namespace kdgat::ratings {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

class RatingsDomainInput : public data::DomainInput {
 public:
  RatingsDomainInput(RatingsInput input, RatingsImportOptions options)
      : DomainInput(input.files), input_(std::move(input)), options_(std::move(options)) {}

  void import(const data::ImportCall& call) const override {
    import_ratings({input_, options_, call.done, call.cancelled}, call.made_with, call.to,
                   call.report);
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

class RatingsDomain : public data::WithOptions<data::StoreDomain<RatingStore>, RatingsImportOptions,
                                               RatingsSynthOptions> {
 public:
  const char* name() const override { return "ratings"; }
  std::vector<std::string> formats() const override { return {"ratings", "u-data", "ratings-csv"}; }

  std::optional<Diagnostic> near(const fs::path& source, const json& values) const override {
    return near_ratings(source, data::own_options<RatingsImportOptions>(values));
  }

  data::Found find(const fs::path& source, const json& values) const override {
    const auto options = data::own_options<RatingsImportOptions>(values);
    const auto input = find_ratings_input(source, options);
    if (!input) return {};
    return {data::Sureness::kSure, [input, options, source](data::Notes& notes) {
              data::report_left_out(source, input->files, notes);
              return std::make_shared<RatingsDomainInput>(*input, options);
            }};
  }

  const char* source_word() const override { return "ratings"; }

  std::vector<data::SynthKind> synth_kinds() const override {
    return {{"ratings", "users rate items (u.data)"}};
  }
  void synthesize(const fs::path& folder, const json& values, const json&,
                  const std::function<bool()>& cancelled) const override {
    const auto options = data::own_options<RatingsSynthOptions>(values);
    write_synthetic_ratings(folder, options, options.items, cancelled);
  }

  const char* facts_key() const override { return "ratings"; }
  const data::Wording& wording() const override { return ratings_wording(); }

 protected:
  bool is_counted(const graph::Source& source) const override { return source.role == "ratings"; }

  /// "parts": {name: {"ratings","users","items","mean","cold_users","cold_items": those of the part
  /// with less than 17, or 10, ratings in train, but not those with none}}, "memory":
  /// {"mapped_bytes"}.
  void add_counts(const RatingStore& store, json& seen) const override {
    seen["parts"] = {{"train", counts_of(store, store.train())},
                     {"test", counts_of(store, store.test())}};
    seen["memory"] = {{"mapped_bytes", store.mapped_bytes()}};
  }
};

}  // namespace

const data::Domain& ratings_domain() {
  static const RatingsDomain domain;
  return domain;
}

}  // namespace kdgat::ratings
