// The recommender: its data, metrics, training, and what a run leaves.
#include "support/catch_torch.h"
// Catch first: see catch_torch.h.
#include <fstream>
#include <thread>

#include "engine/memory/meter.h"
#include "fields/ratings/graphsage/graphsage.h"
#include "fields/ratings/graphsage/rating_fit.h"
#include "fields/ratings/graphsage/rating_metrics.h"
#include "support/fields/ratings/ratings_fixture.h"
#include "support/graphs/import_options.h"
#include "support/runs/stage_data.h"

using namespace kdgat;
using namespace kdgat::graphsage;
using kdgat::test::RatingsFixture;
using nlohmann::json;

namespace fs = std::filesystem;

namespace {

GraphsageOptions small() {
  GraphsageOptions o;
  o.hidden_dim = 16;
  o.batch_size = 64;
  o.max_epochs = 3;
  o.lr = 0.005;
  return o;
}

}  // namespace

TEST_CASE("metrics of ratings and of each user's own items are as defined", "[graphsage]") {
  Pairs pairs;
  pairs.user = {0, 0, 0, 1, 1, 2};
  pairs.item = {9, 8, 7, 9, 8, 9};
  pairs.rating = {5, 2, 4, 1, 2, 4};
  const std::vector<float> rank = {1, 3, 2, 1, 1, 0};
  const json ranked = ranking_of_pairs(pairs, rank, {2, 4});
  // User 0 lists items of 2 and 4: one hit of two relevant; user 1 has none relevant.
  CHECK(ranked.at("precision") == Approx((0.5 + 0 + 1) / 3));
  CHECK(ranked.at("recall") == Approx((0.5 + 1) / 2));
  CHECK(ranked.at("hit_rate") == Approx(2.0 / 3));
  const double second = 1 / std::log2(3.0);
  CHECK(ranked.at("ndcg") == Approx((second / (1 + second) + 1) / 2));
  // Equal ones stay in their order.
  CHECK(ranking_of_pairs(pairs, std::vector<float>(6, 1.0F), {1, 4}).at("precision") ==
        Approx((1.0 + 0 + 1) / 3));
  const json errors = rating_errors(std::vector<float>{1, 5}, std::vector<float>{0, 4}, 1, 5);
  CHECK(errors.at("rmse") == Approx(std::sqrt(0.5)));
  CHECK(errors.at("mae") == Approx(0.5));
}

TEST_CASE("the ranking of all items leaves out what was rated in train", "[graphsage]") {
  const RatingsFixture fixture;
  const RatingData data = make_rating_data(fixture.store(), 0.1, 1);
  const int64_t items = data.store.items();
  // An oracle: the test items of a user score highest, those of train higher still.
  std::vector<float> scores(static_cast<std::size_t>(data.store.users() * items), 0.0F);
  const auto cell = [&](int32_t user, int32_t item) -> float& {
    return scores[static_cast<std::size_t>(user * items + item - data.store.users())];
  };
  for (const Pairs* part : {&data.fit, &data.val}) {
    for (std::size_t p = 0; p < part->user.size(); ++p) cell(part->user[p], part->item[p]) = 9;
  }
  for (std::size_t p = 0; p < data.test.user.size(); ++p) {
    cell(data.test.user[p], data.test.item[p]) = data.test.rating[p];
  }
  const json best = full_ranking(data, data.test, {10, 4}, [&](int64_t first, int64_t count) {
    return ScoreRows{scores.data() + first * items, std::min<int64_t>(count, 7)};
  });
  CHECK(best.at("full_recall") == 1.0);
  CHECK(best.at("full_ndcg") == Approx(1.0));
  CHECK(best.at("full_hit_rate") == 1.0);
  CHECK(best.at("full_coverage").get<double>() > 0.1);
}

TEST_CASE("a batch is left out of the graph and comes back", "[graphsage]") {
  const RatingsFixture fixture;
  const RatingData data = make_rating_data(fixture.store(), 0.1, 1);
  ReducedGraph reduced(data.store);
  const auto joins = [&](int32_t a, int32_t b) {
    const ratings::SageGraph g = reduced.graph();
    const auto v = static_cast<std::size_t>(a);
    return std::find(g.col.begin() + g.begin[v], g.col.begin() + g.end[v], b) !=
           g.col.begin() + g.end[v];
  };
  reduced.drop(data.val);
  const std::span<const int32_t> user(data.fit.user.data(), 20), item(data.fit.item.data(), 20);
  reduced.leave_out(user, item);
  for (std::size_t p = 0; p < 20; ++p) {
    CHECK_FALSE(joins(user[p], item[p]));
    CHECK_FALSE(joins(item[p], user[p]));
  }
  CHECK(joins(data.fit.user[25], data.fit.item[25]));
  reduced.leave_out({}, {});
  for (std::size_t p = 0; p < 20; ++p) CHECK((joins(user[p], item[p]) && joins(item[p], user[p])));
  CHECK_FALSE(joins(data.val.user[0], data.val.item[0]));
}

TEST_CASE("negatives are items that the user has not rated in train", "[graphsage]") {
  const RatingsFixture fixture;
  const RatingData data = make_rating_data(fixture.store(), 0.1, 1);
  std::vector<int32_t> drawn, again, other;
  draw_negatives(data.store, data.fit.user, 1, 5, drawn);
  draw_negatives(data.store, data.fit.user, 1, 5, again);
  draw_negatives(data.store, data.fit.user, 1, 6, other);
  CHECK(drawn == again);
  CHECK(drawn != other);
  std::set<std::pair<int32_t, int32_t>> rated;
  for (const Pairs* part : {&data.fit, &data.val}) {
    for (std::size_t p = 0; p < part->user.size(); ++p) rated.emplace(part->user[p], part->item[p]);
  }
  for (std::size_t p = 0; p < drawn.size(); ++p) {
    REQUIRE_FALSE(rated.contains({data.fit.user[p], drawn[p]}));
  }
}

TEST_CASE("graphsage learns the structure of synthetic ratings", "[graphsage][stages]") {
  RatingsFixture fixture(160, 40);
  GraphsageOptions options = small();
  options.max_epochs = 25;
  options.bias_terms = true;
  const Request request = fixture.request("s");
  const json planned = Graphsage::plan(options, request);
  const json result = Graphsage::run(options, request, fixture.fake.host);
  const json& m = result.at("metrics");
  const RatingData data = make_rating_data(fixture.store(), 0.1, 42);
  std::vector<float> mean(data.test.rating.size(), static_cast<float>(data.train_mean));
  const double constant = rating_errors(data.test.rating, mean, 1, 5).at("rmse");
  INFO(m.dump());
  CHECK(m.at("test_rmse").get<double>() < 0.85 * constant);
  CHECK(m.at("val_rmse").get<double>() < 0.85 * constant);
  CHECK(m.at("test_ndcg").get<double>() > ranking_of_pairs(data.test, mean, {10, 4}).at("ndcg"));
  for (const char* name : {"val_mae", "val_ndcg", "val_precision", "test_cold_items",
                           "test_full_ndcg", "test_hit_rate", "test_recall"}) {
    CHECK(m.contains(name));
  }
  CHECK(fixture.fake.epochs.size() == m.at("epochs"));
  // Planned before, planned in the run and held are one number.
  const int64_t predicted = planned.at("memory").at("predicted");
  CHECK(result.at("memory").at("planned").at("predicted") == predicted);
  CHECK(result.at("memory").at("actual").at("held_bytes") == predicted);
  CHECK(result.at("memory").at("actual").at("peak_tensor_bytes").get<double>() ==
        Approx(static_cast<double>(predicted)).epsilon(0.05));
  std::ifstream predictions(request.run_dir / "predictions.csv");
  std::string line;
  int64_t lines = 0;
  while (std::getline(predictions, line)) ++lines;
  CHECK(lines == data.test.size() + 1);
  CHECK(fs::exists(request.run_dir / "recommendations.csv"));
  CHECK_FALSE(fs::exists(request.run_dir / "checkpoint"));
}

TEST_CASE("several models train in threads of one process as they do alone",
          "[graphsage][stages]") {
  RatingsFixture fixture;
  GraphsageOptions options = small();
  options.loss = "combined";
  const auto run = [&](const std::string& step, int64_t seed) {
    test::FakeHost fake;
    Request request = fixture.request(step);
    request.seed = seed;
    Graphsage::run(options, request, fake.host);
  };
  run("one", 1);
  run("two", 2);
  CHECK(fixture.weights("one") != fixture.weights("two"));
  std::thread first([&] { run("thread one", 1); });
  std::thread second([&] { run("thread two", 2); });
  first.join();
  second.join();
  CHECK(fixture.weights("thread one") == fixture.weights("one"));
  CHECK(fixture.weights("thread two") == fixture.weights("two"));
}

TEST_CASE("graphsage without features learns a row of each user and item", "[graphsage][stages]") {
  RatingsFixture fixture;
  fs::remove(fixture.folder / "files/u.user");
  fs::remove(fixture.folder / "files/u.item");
  graph::import_logs(fixture.folder / "files", fixture.folder / "data", {});
  GraphsageOptions options = small();
  const Request request = fixture.request("bare");
  const json plan = Graphsage::plan(options, request);
  CHECK(plan.at("parameters").get<int64_t>() > fixture.store().nodes() * 16);
  const json result = Graphsage::run(options, request, fixture.fake.host);
  CHECK(result.at("metrics").at("test_rmse").get<double>() < 1.3);
}

TEST_CASE("graphsage says what it cannot train on", "[graphsage][stages]") {
  RatingsFixture fixture;
  Request request = fixture.request("bad");
  request.device = "cuda";
  CHECK_THROWS_WITH(Graphsage::run(small(), request, fixture.fake.host),
                    Catch::Contains("the stage graphsage computes on the CPU"));
  request.device = "cpu";
  request.inputs["graphs"][0].facts = {{"graphs", 3}, {"nodes", 5}};
  CHECK_THROWS_WITH(Graphsage::plan(small(), request), Catch::Contains("trains on ratings"));
  request.inputs["graphs"][0].facts = json::object();
  CHECK(Graphsage::plan(small(), request).empty());
  request = fixture.request("huge");
  request.memory.limit = 1 << 20;
  CHECK_THROWS_AS(Graphsage::plan(small(), request), Error);
}
