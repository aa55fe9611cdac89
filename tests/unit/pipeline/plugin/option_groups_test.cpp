#include "pipeline/plugin/option_groups.h"

#include <algorithm>
#include <catch2/catch.hpp>

using nlohmann::json;

namespace {

json schema_of_names(const std::vector<std::string>& names) {
  json properties = json::object();
  for (const std::string& name : names) {
    properties[name] = {{"type", "integer"}, {"description", "What " + name + " is."}};
  }
  return {{"properties", properties}};
}

}  // namespace

TEST_CASE("options are grouped by purpose, those without one last", "[option_groups]") {
  const auto groups =
      kdgat::grouped_options({"zeal", "lr", "scheduler_b", "scheduler_a", "patience", "kl_weight"});
  REQUIRE(groups.size() == 4);
  CHECK(groups[0].title == "Length of training");
  CHECK(groups[0].names == std::vector<std::string>{"patience"});
  CHECK(groups[1].names == std::vector<std::string>{"lr", "scheduler_a", "scheduler_b"});
  CHECK(groups[2].title == "Loss");
  CHECK(groups[2].names == std::vector<std::string>{"kl_weight"});
  CHECK(groups[3].title == "Others");
  CHECK(groups[3].names == std::vector<std::string>{"zeal"});
}

TEST_CASE("names in the lists that no option has are told", "[option_groups]") {
  const auto unknown = kdgat::unknown_in_groups({"lr", "max_epochs", "kl_weight"});
  const auto has = [&](const std::string& name) {
    return std::find(unknown.begin(), unknown.end(), name) != unknown.end();
  };
  CHECK(has("dropout"));
  CHECK(has("scheduler_*"));
  CHECK_FALSE(has("lr"));
  CHECK_FALSE(has("max_epochs"));
  CHECK_FALSE(has("*_weight"));
}

TEST_CASE("the first options of a schema stand in the order of the list", "[option_groups]") {
  const json schema = schema_of_names({"dropout", "aaa", "max_epochs", "lr"});
  CHECK(kdgat::first_of(schema) == std::vector<std::string>{"max_epochs", "lr", "dropout"});
  const std::string text = kdgat::options_text_of(schema, kdgat::first_of(schema));
  CHECK(text.find("--max-epochs") < text.find("--lr"));
  CHECK(text.find("--lr") < text.find("--dropout"));
  CHECK(text.find("--aaa") == std::string::npos);
  const std::string all = kdgat::options_by_purpose(schema);
  CHECK(all.find("Others\n  --aaa") != std::string::npos);
  CHECK(all.find("\nOptimiser\n  --lr") != std::string::npos);
  CHECK(kdgat::options_by_purpose(json::object()) == "  (none)\n");
}
