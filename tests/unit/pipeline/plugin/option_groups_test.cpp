#include "pipeline/plugin/option_groups.h"

#include <catch2/catch.hpp>

#include "kdgat/options.h"

using nlohmann::json;

namespace {

struct Trained {
  int64_t zeal = 0, epochs = 1, kept = 0;
  double lr = 0.1, kl_weight = 1;

  static auto table() {
    using O = Trained;
    using kdgat::field, kdgat::Purpose;
    return std::tuple{field("zeal", &O::zeal, "Zeal."),
                      field("kl_weight", &O::kl_weight, Purpose::kLoss, "Weight."),
                      field("lr", &O::lr, Purpose::kOptimiser, "Rate.").first("Try three."),
                      field("epochs", &O::epochs, Purpose::kLength, "Epochs.").first(),
                      field("kept", &O::kept, "Kept.").set_by({"watch", "why"})};
  }
};

const json kSchema = kdgat::options_schema<Trained>();

}  // namespace

TEST_CASE("options are grouped by the purpose of their row, those without one last",
          "[option_groups]") {
  const auto groups = kdgat::grouped_options(kSchema);
  REQUIRE(groups.size() == 4);
  CHECK(groups[0].title == "Length of training");
  CHECK(groups[0].names == std::vector<std::string>{"epochs"});
  CHECK(groups[1].names == std::vector<std::string>{"lr"});
  CHECK(groups[2].title == "Loss");
  CHECK(groups[2].names == std::vector<std::string>{"kl_weight"});
  CHECK(groups[3].title == "Others");
  CHECK(groups[3].names == std::vector<std::string>{"kept", "zeal"});
}

TEST_CASE("a purpose of another version of the SDK counts as none", "[option_groups]") {
  json schema = kSchema;
  schema["properties"]["lr"]["x-purpose"] = "Gardening";
  CHECK(kdgat::grouped_options(schema).back().names ==
        std::vector<std::string>{"kept", "lr", "zeal"});
}

TEST_CASE("the options to look at first have the order of their purposes", "[option_groups]") {
  CHECK(kdgat::first_options(kSchema) == std::vector<std::string>{"epochs", "lr"});
  const std::string all = kdgat::options_by_purpose(kSchema);
  CHECK(all.find("Others\n  --kept") != std::string::npos);
  CHECK(all.find("\nOptimiser\n  --lr") != std::string::npos);
  CHECK(kdgat::options_by_purpose(json::object()) == "  (none)\n");
}

TEST_CASE("what a verb sets by its own words is no option of it", "[option_groups]") {
  CHECK_FALSE(kdgat::options_of_verb(kSchema, "watch")["properties"].contains("kept"));
  CHECK(kdgat::options_of_verb(kSchema, "score")["properties"].contains("kept"));
  CHECK(kdgat::options_of_verb(kSchema, "watch")["properties"].contains("zeal"));
}
