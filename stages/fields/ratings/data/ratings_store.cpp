#include "fields/ratings/data/ratings_store.h"

#include <algorithm>

#include "engine/arrays/index.h"
#include "engine/arrays/ranges.h"
#include "engine/file/safetensors_header.h"
#include "engine/graph/shared_stores.h"

namespace kdgat::ratings {

using nlohmann::json;

namespace {

json facts_of(const Ratings& ratings, const RatingParts& parts, const RatingGraph& graph) {
  const auto [least, most] = std::minmax_element(ratings.rating.begin(), ratings.rating.end());
  double sum = 0;
  for (const int32_t r : parts.train) sum += static_cast<double>(ratings.rating[arrays::at(r)]);
  const auto users = static_cast<int64_t>(ratings.users.size());
  int64_t train_users = 0, train_items = 0, least_of_user = ratings.count();
  for (int64_t v = 0; v < ratings.nodes(); ++v) {
    const int64_t degree = graph.row_ptr[arrays::at(v + 1)] - graph.row_ptr[arrays::at(v)];
    if (degree > 0) ++(v < users ? train_users : train_items);
    if (v < users) least_of_user = std::min(least_of_user, degree);
  }
  const double cells =
      static_cast<double>(ratings.users.size()) * static_cast<double>(ratings.items.size());
  return {{"graphs", 1},
          {"unlabelled", 0},
          {"parts", {{"train", parts.train.size()}, {"test", parts.test.size()}}},
          {"ratings",
           {{"users", ratings.users.size()},
            {"items", ratings.items.size()},
            {"nodes", ratings.nodes()},
            {"ratings", ratings.count()},
            {"train", parts.train.size()},
            {"test", parts.test.size()},
            {"edges", graph.col.size()},
            {"features", ratings.columns()},
            {"user_features", ratings.user_columns},
            {"item_features", ratings.item_columns},
            {"min", *least},
            {"max", *most},
            {"mean", sum / static_cast<double>(parts.train.size())},
            {"density", static_cast<double>(ratings.count()) / cells},
            {"timed", !ratings.time.empty()},
            {"train_users", train_users},
            {"train_items", train_items},
            {"least_of_user", least_of_user}}}};
}

/// Whether `graph` joins exactly the train ratings, both ways.
bool is_graph_of(const RatingStore& store) {
  Ratings ratings;
  ratings.users = store.user_names();
  ratings.items = store.item_names();
  ratings.user.assign(store.user().begin(), store.user().end());
  ratings.item.assign(store.item().begin(), store.item().end());
  const RatingGraph graph =
      make_rating_graph(ratings, {store.train().begin(), store.train().end()});
  return std::equal(graph.row_ptr.begin(), graph.row_ptr.end(), store.row_ptr().begin(),
                    store.row_ptr().end()) &&
         std::equal(graph.col.begin(), graph.col.end(), store.col().begin(), store.col().end());
}

}  // namespace

RatingStore::RatingStore(const std::filesystem::path& path, graph::Check check)
    : graph::StoreFile(path, kKind, check) {
  read("users", user_names_);
  read("items", item_names_);
  rating_ = file().require<float>("rating", {-1});
  user_ = file().require<int32_t>("user", {ratings()});
  item_ = file().require<int32_t>("item", {ratings()});
  time_ = file().require<int64_t>("time", {-1});
  train_ = file().require<int32_t>("train", {-1});
  test_ = file().require<int32_t>("test", {-1});
  x_ = file().require<float>("x", {nodes(), -1});
  features_ = file().tensor("x").shape[1];
  row_ptr_ = file().require<int32_t>("row_ptr", {nodes() + 1});
  col_ = file().require<int32_t>("col", {2 * static_cast<int64_t>(train_.size())});
  if (train_.size() + test_.size() != rating_.size()) {
    throw refuse(path, "its parts do not hold every rating once");
  }
  if (!time_.empty() && time_.size() != rating_.size()) {
    throw refuse(path, "as many times as ratings there are not");
  }
  check_ranges();
  check_facts();
}

void RatingStore::check_ranges() const {
  if (!arrays::are_within(user_, 0, users()) || !arrays::are_within(item_, 0, items())) {
    throw refuse(path(), "a rating is of no user or item");
  }
  if (!arrays::are_within(train_, 0, ratings()) || !arrays::are_within(test_, 0, ratings())) {
    throw refuse(path(), "a part holds a rating that is not there");
  }
  if (row_ptr_.front() != 0 || row_ptr_.back() != edges()) {
    throw refuse(path(), "row_ptr does not cover the edges");
  }
  if (!arrays::are_ascending(row_ptr_)) throw refuse(path(), "a row ends before it begins");
  if (!arrays::are_within(col_, 0, nodes()))
    throw refuse(path(), "a row names a node that is not there");
}

void RatingStore::check_facts() const {
  require_facts({{"/graphs", 1},
                 {"/parts/train", train_.size()},
                 {"/parts/test", test_.size()},
                 {"/ratings/users", users()},
                 {"/ratings/items", items()},
                 {"/ratings/nodes", nodes()},
                 {"/ratings/ratings", ratings()},
                 {"/ratings/train", train_.size()},
                 {"/ratings/test", test_.size()},
                 {"/ratings/edges", edges()},
                 {"/ratings/features", features_},
                 {"/ratings/timed", !time_.empty()}});
  require_numbers({"/unlabelled", "/ratings/min", "/ratings/max", "/ratings/mean",
                   "/ratings/density", "/ratings/train_users", "/ratings/train_items",
                   "/ratings/least_of_user"});
  require_lists({"/ratings/user_features", "/ratings/item_features"});
}

RatingStore RatingStore::shared(const std::filesystem::path& path) {
  return graph::SharedStores<RatingStore>::all().get(path);
}

void RatingStore::forget_shared() { graph::SharedStores<RatingStore>::all().forget(); }

std::vector<Diagnostic> RatingStore::verify() const {
  std::vector<Diagnostic> problems = file::verify_hashes(file());
  const auto problem = [&](const std::string& message) {
    problems.push_back({path().string(), message, ""});
  };
  std::vector<bool> is_seen(rating_.size(), false);
  for (const std::span<const int32_t>& part : {train_, test_}) {
    for (const int32_t r : part) {
      if (is_seen[arrays::at(r)]) {
        problem("rating " + std::to_string(r) + " is in the parts twice");
        return problems;
      }
      is_seen[arrays::at(r)] = true;
    }
  }
  if (!is_graph_of(*this)) problem("the graph is not that of the train ratings");
  return problems;
}

void write_rating_store(const std::filesystem::path& path, const Ratings& ratings,
                        const RatingParts& parts, const std::vector<graph::Source>& sources,
                        const json& options) {
  const RatingGraph graph = make_rating_graph(ratings, parts.train);
  file::SafetensorsWriter out;
  const auto add = [&out](const char* name, const auto& values) {
    out.add(name, {static_cast<int64_t>(values.size())}, std::span(values));
  };
  add("user", ratings.user);
  add("item", ratings.item);
  add("rating", ratings.rating);
  add("time", ratings.time);
  add("train", parts.train);
  add("test", parts.test);
  out.add("x", {ratings.nodes(), ratings.columns()}, std::span(ratings.x));
  add("row_ptr", graph.row_ptr);
  add("col", graph.col);
  out.metadata(
      graph::store_metadata(RatingStore::kKind, sources, options, facts_of(ratings, parts, graph)));
  out.metadata("users", file::json_text(ratings.users));
  out.metadata("items", file::json_text(ratings.items));
  out.write(path, /*hashes=*/true);
}

}  // namespace kdgat::ratings
