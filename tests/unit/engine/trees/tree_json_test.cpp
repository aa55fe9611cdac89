#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "engine/trees/boosted_trees.h"
#include "kdgat/error.h"
#include "kdgat/parse_json.h"
#include "support/graphs/random_table.h"
#include "support/programs/mutate.h"

namespace kdgat::trees {
namespace {

using nlohmann::json;
using test::random_table;

BoostedTrees noisy_model(int64_t trees, int64_t rows) {
  BoostedTreesOptions options;
  options.trees = trees;
  options.max_leaves = 15;
  options.min_rows = 1;
  test::TableOf table = random_table(
      rows, 40, 1, [](const float* row) { return row[0] * row[1]; }, 0.1);
  for (int64_t r = 0; r < rows; ++r)
    table.weights.push_back(0.1F + 0.1F * static_cast<float>(r % 7));
  return BoostedTrees::fit(table.view(), options);
}

/// A split of column 1, and below it on the left one of column 0.
json small_model() {
  return json::parse(R"({"format": "kdgat.boosted_trees", "version": 1, "columns": 2, "base": 0.25,
    "trees": [{"column": [1, 0, -1, -1, -1], "threshold": [0.5, 2], "missing_right": [1, 0],
               "value": [4, 1, 2], "cover": [10, 20, 30]}]})");
}

TEST_CASE("a model that is read again gives the same bits", "[trees]") {
  const BoostedTrees model = noisy_model(300, 2000);
  const std::string text = model.to_json().dump();
  REQUIRE(model.forest().nodes.size() == 300 * 29);
  CHECK(text.size() < 1000000);
  const BoostedTrees again = BoostedTrees::from_json(checked_json(text, ""));
  CHECK(again.to_json().dump() == text);
  const test::TableOf rows = random_table(
      200, 40, 2, [](const float*) { return 0.0; }, 0.1);
  CHECK(again.scores(rows.view()) == model.scores(rows.view()));
}

TEST_CASE("a file of trees means what its format says", "[trees]") {
  const BoostedTrees model = BoostedTrees::from_json(small_model());
  const auto score = [&model](float a, float b) { return model.score(std::vector<float>{a, b}); };
  const float none = std::nanf("");
  CHECK(score(0, 0.6F) == 4.25);
  CHECK(score(0, none) == 4.25);
  CHECK(score(2, 0.5F) == 1.25);
  CHECK(score(none, 0.5F) == 1.25);
  CHECK(score(3, 0.5F) == 2.25);
  CHECK(model.forest().cover == std::vector<double>{60, 50, 10, 20, 30});
}

struct Harm {
  std::string wanted;
  std::function<void(json& model, json& tree)> change;
};

void check_refused(const json& good, const std::vector<Harm>& harms) {
  CHECK_NOTHROW(BoostedTrees::from_json(good));
  for (const Harm& harm : harms) {
    json bad = good;
    harm.change(bad, bad.at("trees").at(0));
    INFO(harm.wanted << " in " << bad);
    std::string message;
    try {
      BoostedTrees::from_json(bad);
    } catch (const Error& e) {
      CHECK(e.code() == ExitCode::kData);
      message = e.what();
    }
    CHECK_THAT(message, Catch::Contains(harm.wanted));
  }
}

const std::vector<Harm> kHarms = {
    {"not such a model", [](json& m, json&) { m["format"] = "kdgat.other"; }},
    {"version 2", [](json& m, json&) { m["version"] = 2; }},
    {"columns is no integer", [](json& m, json&) { m["columns"] = 0; }},
    {"columns is no integer", [](json& m, json&) { m["columns"] = 2.5; }},
    {"columns is no integer", [](json& m, json&) { m["columns"] = uint64_t{1} << 63; }},
    {"columns is missing", [](json& m, json&) { m.erase("columns"); }},
    {"an entry too many", [](json& m, json&) { m["more"] = 1; }},
    {"no list of at most", [](json& m, json&) { m["trees"] = "many"; }},
    {"tree 0: not an object", [](json&, json& t) { t = 3; }},
    {"column is missing", [](json&, json& t) { t.erase("column"); }},
    {"4 nodes",
     [](json&, json& t) {
       t["column"] = {1, 0, -1, -1};
     }},
    {"0 nodes", [](json&, json& t) { t["column"] = json::array(); }},
    {"column 1 is no integer from -1 to 1", [](json&, json& t) { t["column"][1] = 2; }},
    {"column 1 is no integer", [](json&, json& t) { t["column"][1] = -2; }},
    {"column 1 is no integer", [](json&, json& t) { t["column"][1] = 0.5; }},
    {"column 1 is no integer", [](json&, json& t) { t["column"][1] = ~uint64_t{0}; }},
    {"node 1 is no child",
     [](json&, json& t) {
       t["column"] = {-1, 1, 0, -1, -1};
     }},
    {"node 3 is no child",
     [](json&, json& t) {
       t["column"] = {1, -1, -1, 0, -1};
     }},
    {"more splits", [](json&, json& t) { t["column"][2] = 0; }},
    {"more leaves", [](json&, json& t) { t["column"][1] = -1; }},
    {"threshold has 1 entries for 2 splits", [](json&, json& t) { t["threshold"] = {1}; }},
    {"threshold 0 is not a finite", [](json&, json& t) { t["threshold"][0] = nullptr; }},
    {"threshold 1 is not a finite", [](json&, json& t) { t["threshold"][1] = 1e300; }},
    {"missing_right 0 is no integer", [](json&, json& t) { t["missing_right"][0] = true; }},
    {"missing_right 0 is no integer", [](json&, json& t) { t["missing_right"][0] = 2; }},
    {"cover has 2 entries for 3 leaves",
     [](json&, json& t) {
       t["cover"] = {1, 2};
     }},
    {"cover 1 is not positive", [](json&, json& t) { t["cover"][1] = 0; }},
    {"an entry too many", [](json&, json& t) { t["left"] = 1; }},
};

TEST_CASE("a file of trees that are none is refused with the reason", "[trees]") {
  std::vector<Harm> harms = kHarms;
  harms.push_back({"base is not", [](json& m, json&) { m["base"] = "1"; }});
  harms.push_back({"value 2 is not a finite", [](json&, json& t) { t["value"][2] = -4e38; }});
  harms.push_back({"value is missing", [](json&, json& t) { t.erase("value"); }});
  harms.push_back(
      {"more than 1024 leaves", [](json&, json& t) { t["column"] = std::vector<int>(2049, 0); }});
  check_refused(small_model(), harms);
  CHECK_THROWS_WITH(BoostedTrees::from_json(json::array()), Catch::Contains("not such a model"));
}

TEST_CASE("a damaged file of trees is refused or is a model", "[trees]") {
  const std::vector<float> row{0.5F, std::nanf("")};
  const auto target = [&row](const uint8_t* data, std::size_t size) {
    const json in = json_or_none({reinterpret_cast<const char*>(data), size});
    try {
      const BoostedTrees model = BoostedTrees::from_json(in);
      if (model.columns() != 2) return;
      CHECK(std::isfinite(model.score(row)));
    } catch (const Error&) {
    }
  };
  test::run_mutations({small_model().dump()}, 2000, 1, target);
}

}  // namespace
}  // namespace kdgat::trees
