#include <string>
#include <vector>

#include "fields/ratings/data/ratings_domain.h"
#include "kdgat/text.h"

namespace kdgat::ratings {

using nlohmann::json;

namespace {

std::string ratings_headline(const json& facts) {
  const json& ratings = facts.at("ratings");
  return grouped(ratings.at("ratings")) + " ratings of " + grouped(ratings.at("items")) +
         " items by " + grouped(ratings.at("users")) + " users";
}

data::Description describe_ratings_import(const json& result) {
  data::DescribedTable table;
  for (const json& source : result.at("sources")) {
    std::vector<std::string> cells = {source.at("path"), grouped(source.at("rows")) + " rows",
                                      source.at("role"), source.at("format")};
    if (source.at("malformed") != 0) {
      cells.push_back(grouped(source.at("malformed")) + " malformed");
    }
    table.add(std::move(cells));
  }
  const json& parts = result.at("parts");
  const json& ratings = result.at("ratings");
  return data::Description()
      .table(std::move(table))
      .text(ratings_headline(result) + ": train " + grouped(parts.at("train")) + ", test " +
            grouped(parts.at("test")) + data::place_text(result) + grouped(ratings.at("nodes")) +
            " nodes, " + grouped(ratings.at("edges")) + " directed edges, " +
            grouped(ratings.at("features")) + " features\n");
}

data::Description describe_ratings_store(const json& result) {
  const json& facts = result.at("facts");
  const json& r = facts.at("ratings");
  const std::string range = format_number("%g", r.at("min").get<double>()) + " to " +
                            format_number("%g", r.at("max").get<double>());
  data::DescribedTable table;
  table.add({"part", "ratings", "users", "items", "cold users", "cold items", "mean"});
  for (const auto& [name, part] : result.at("parts").items()) {
    table.add({name, grouped(part.at("ratings")), grouped(part.at("users")),
               grouped(part.at("items")), grouped(part.at("cold_users")),
               grouped(part.at("cold_items")), format_number("%.4f", part.at("mean"))});
  }
  data::Description out;
  out.text(
         result.at("path").get<std::string>() + ": " + ratings_headline(facts) + "\nratings from " +
         range + ", mean of train " + format_number("%.4f", r.at("mean").get<double>()) + "; " +
         format_number("%.2f%%", 100 * r.at("density").get<double>()) + " of all pairs; times " +
         (r.at("timed").get<bool>() ? "known" : "unknown") + "\ngraph of train: " +
         grouped(r.at("nodes")) + " nodes, " + grouped(r.at("edges")) + " directed edges; " +
         grouped(r.at("train_users")) + " users and " + grouped(r.at("train_items")) +
         " items in it, a user has " + grouped(r.at("least_of_user")) + " or more\n" +
         std::to_string(r.at("user_features").size()) + " features of users, " +
         std::to_string(r.at("item_features").size()) + " of items; mapped once for all models: " +
         mebibytes(result.at("memory").at("mapped_bytes")) + "\n")
      .options()
      .text("\n\n")
      .table(std::move(table));
  return out;
}

}  // namespace

const data::Wording& ratings_wording() {
  static constexpr data::Wording wording = {ratings_headline, describe_ratings_import,
                                            describe_ratings_store};
  return wording;
}

}  // namespace kdgat::ratings
