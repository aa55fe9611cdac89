#include "fields/ratings/data/ratings.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <iostream>

#include "fields/ratings/data/ratings_options.h"
#include "fields/ratings/data/ratings_store.h"
#include "fields/ratings/data/synth_ratings.h"
#include "support/can/log_text.h"
#include "support/graphs/import_options.h"
#include "support/graphs/span_copy.h"
#include "support/graphs/store_problems.h"
#include "support/programs/command.h"

namespace kdgat::ratings {
namespace {

using ImportChoices = graph::ImportOptionsWith<RatingsOptions>;

using test::copy;
using test::data_error;
using test::write_text;

RatingStore import_from(const std::filesystem::path& source, const test::ScratchFolder& folder,
                        const ImportChoices& options = {}, data::ImportReport* report = nullptr) {
  data::ImportReport said = graph::import_logs(source, folder / "out", options);
  if (report != nullptr) *report = said;
  RatingStore store = RatingStore::open(folder / "out/graphs.safetensors");
  CHECK(store.verify().empty());
  return store;
}

}  // namespace

TEST_CASE("permutations are those of NumPy's legacy generator", "[ratings][golden]") {
  // numpy.random.RandomState(42).permutation(n)
  const std::vector<int32_t> published = legacy_permutation(100'000, 42);
  CHECK(std::vector(published.begin(), published.begin() + 5) ==
        std::vector{75721, 80184, 19864, 76699, 92991});
  CHECK(legacy_permutation(10, 42) == std::vector{8, 1, 5, 0, 7, 2, 9, 4, 3, 6});
  const RatingParts parts = permuted_parts(100'000, 0.2, 42);
  CHECK(parts.train.size() == 80'000);
  CHECK(parts.test.size() == 20'000);
  CHECK(parts.test.front() == published[80'000]);
  CHECK(permuted_parts(11, 0.2, 1).test.size() == 3);
  CHECK(newest_parts({5, 9, 1, 9, 2}, 0.4).test == std::vector{1, 3});
}

TEST_CASE("u.data with u.user and u.item becomes a graph with features", "[ratings]") {
  const test::ScratchFolder folder;
  write_text(folder / "ml/u.data", "10\t7\t5\t100\n2\t7\t3\t101\n10\t1\t1\t102\n2\t30\t4\t103\n");
  write_text(folder / "ml/u.user", "2|20|M|writer|1\n10|30|F|artist|2\n");
  std::string zeros;
  for (int i = 0; i < 16; ++i) zeros += "|0";
  write_text(folder / "ml/u.item", "7|A|01-Jan-1990||u|0|1|0" + zeros + "\n1|B|||u|1|0|0" + zeros +
                                       "\n30|C|02-Feb-1994||u|0|1|1" + zeros + "\n");
  ImportChoices options;
  options.test_fraction = 0;
  const RatingStore store = import_from(folder / "ml", folder, options);
  CHECK(store.user_names() == std::vector<std::string>{"10", "2"});  // ordered as strings
  CHECK(store.item_names() == std::vector<std::string>{"1", "30", "7"});
  CHECK(copy(store.user()) == std::vector{0, 1, 0, 1});
  CHECK(copy(store.item()) == std::vector{2, 2, 0, 1});
  CHECK(copy(store.rating()) == std::vector<float>{5, 3, 1, 4});
  CHECK(copy(store.time()) == std::vector<int64_t>{100, 101, 102, 103});
  CHECK(copy(store.row_ptr()) == std::vector{0, 2, 4, 5, 6, 8});
  CHECK(copy(store.col()) == std::vector{2, 4, 3, 4, 0, 1, 0, 1});
  // Of users z(age), F, M, artist, writer; the median year of 1990 and 1994 is 1992.
  REQUIRE(store.features() == 20);
  const auto row = [&](int64_t node, std::size_t first, std::size_t count) {
    const auto from = store.x().begin() + node * 20 + static_cast<std::ptrdiff_t>(first);
    return std::vector<float>(from, from + static_cast<std::ptrdiff_t>(count));
  };
  CHECK(row(0, 0, 6) == std::vector<float>{1, 1, 0, 1, 0, 0});
  CHECK(row(1, 0, 6) == std::vector<float>{-1, 0, 1, 0, 1, 0});
  CHECK(row(2, 0, 4) == std::vector<float>{0, 1, 0, 0});
  CHECK(row(3, 1, 4) == std::vector<float>{0, 1, 1, 0});
  CHECK(row(3, 0, 1).front() == Approx(1.224745));
  CHECK(row(4, 0, 1).front() == Approx(-1.224745));
  CHECK(store.facts().at("ratings").at("mean") == 3.25);

  // Another seed of the split is another store; the same one stands.
  data::ImportReport report;
  import_from(folder / "ml", folder, options, &report);
  CHECK(report.reused);
  options.seed = 7;
  import_from(folder / "ml", folder, options, &report);
  CHECK_FALSE(report.reused);
}

TEST_CASE("a CSV of ratings is read by its columns, with or without times", "[ratings]") {
  const test::ScratchFolder folder;
  write_text(folder / "r.csv",
             "userId,movieId,rating,timestamp\na,x,4.5,7\n\"b,c\",x,1,8\na,y,2,9\na,x,3,10\n");
  ImportChoices options;
  options.test_fraction = 0.34;
  data::ImportReport report;
  RatingStore store = import_from(folder / "r.csv", folder, options, &report);
  CHECK(store.user_names() == std::vector<std::string>{"a", "b,c"});
  CHECK(copy(store.rating()) == std::vector<float>{1, 2, 3});  // the last rating of a pair counts
  REQUIRE(report.warnings.size() == 1);
  CHECK(report.warnings[0].message == "1 pair rated again: the last rating counts");
  CHECK(store.features() == 0);
  options.rating_split = "time";
  store = import_from(folder / "r.csv", folder, options);
  CHECK(copy(store.test()) == std::vector{1, 2});

  write_text(folder / "plain.csv", "rating,item,user\n1,i,u\n2,j,u\n");
  options.rating_split = "permutation";
  CHECK(import_from(folder / "plain.csv", folder, options).time().empty());
  options.rating_split = "time";
  CHECK(data_error([&] { import_from(folder / "plain.csv", folder, options); }) ==
        (folder / "plain.csv").string() + ": rating_split: time, but not every rating has a time");
}

TEST_CASE("bad ratings are told with file and line", "[ratings]") {
  const test::ScratchFolder folder;
  const auto error_of = [&](const std::string& name, const ImportChoices& options) {
    return data_error([&] { graph::import_logs(folder / name, folder / "out", options); });
  };
  ImportChoices strict;
  strict.strict = true;
  strict.format = "ratings";
  const auto at = [&](const std::string& place) { return (folder / place).string() + ": "; };
  write_text(folder / "a/u.data", "1\t1\t5\t1\n1\t2\tgood\t1\n2\t2\t3\n2\t\t3\t1\n1 3 4 1\n");
  CHECK(error_of("a", strict) == at("a/u.data:2") + "the rating is not a number: good");
  data::ImportReport report;
  import_from(folder / "a", folder, {}, &report);
  CHECK(report.sources[0].malformed == 3);
  CHECK(report.warnings[1].message == "no item");
  CHECK(report.warnings[2].message == "1 field, not user TAB item TAB rating TAB time");

  write_text(folder / "b/u.data", "1\t1\t5\t1\n1\t2\t4\t1\n");
  write_text(folder / "b/u.user", "1|old|M|x|0\n");
  CHECK(error_of("b", strict) == at("b/u.user:1") + "the age is not a number: old");
  write_text(folder / "b/u.user", "1|3|M\n");
  CHECK(error_of("b", strict) == at("b/u.user:1") + "3 fields between |, 4 are wanted");
  write_text(folder / "b/u.user", "1|3|M|x|0\n1|3|M|x|0\n");
  CHECK(error_of("b", strict) == at("b/u.user:2") + "1 appears twice");
  write_text(folder / "b/u.user", "9|3|M|x|0\n");
  std::string flags;
  for (int i = 0; i < 19; ++i) flags += "|0";
  write_text(folder / "b/u.item", "1|A|01-Jan-1990||" + flags + "\n2|B|||" + flags + "\n");
  CHECK(error_of("b", strict) == at("b/u.data") + "1 is rated or rates, but not in u.user");

  write_text(folder / "one.csv", "user,item,rating\na,b,1\n");
  CHECK(error_of("one.csv", strict) == at("one.csv") + "1 rating: nothing to learn from");
  write_text(folder / "none.csv", "user,thing,rating\na,b,1\n");
  CHECK(error_of("none.csv", strict).find("no ratings were found") != std::string::npos);
  ImportChoices csv;
  csv.format = "ratings-csv";
  CHECK(error_of("none.csv", csv).find("none.csv:1: no column 'item'") != std::string::npos);
}

TEST_CASE("a store of ratings that is damaged is refused or found", "[ratings]") {
  const test::ScratchFolder folder;
  data::SynthSize synth;
  synth.graphs = 9;
  synth.nodes = 5;
  write_synthetic_ratings(folder / "syn", synth, 12);
  import_from(folder / "syn", folder);
  const std::filesystem::path path = folder / "out/graphs.safetensors";
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary | std::ios::ate);
  const auto size = file.tellp();
  for (const std::streamoff back : {900}) {
    file.seekp(size - back);
    file.put('\x55');
  }
  file.close();
  CHECK_FALSE(test::problems_of<RatingStore>(path).empty());
  CHECK_THROWS_AS(RatingStore::open(path), Error);
  std::filesystem::resize_file(path, static_cast<uintmax_t>(size) / 2);
  CHECK_THROWS_AS(RatingStore::open(path), Error);
}

TEST_CASE("synthetic ratings have the structure they say", "[ratings][synth]") {
  data::SynthSize options;
  options.graphs = 60;
  options.nodes = 40;
  options.classes = 4;
  const std::vector<SyntheticRating> ratings = synthetic_ratings(options, 200);
  double liked = 0, other = 0, n_liked = 0, n_other = 0;
  int64_t first_half = 0;
  for (const SyntheticRating& r : ratings) {
    const bool is_liked = r.user % 4 == r.item % 4;
    (is_liked ? liked : other) += r.rating;
    (is_liked ? n_liked : n_other) += 1;
    first_half += r.item < 100 ? 1 : 0;
    REQUIRE(r.rating >= 1);
    REQUIRE(r.rating <= 5);
  }
  CHECK(liked / n_liked - other / n_other == Approx(1.0).margin(0.25));
  CHECK(static_cast<double>(first_half) > 0.6 * static_cast<double>(ratings.size()));
  CHECK(static_cast<double>(ratings.size()) == Approx(60 * 40).epsilon(0.15));
}

TEST_CASE("MovieLens 100K divides as published", "[ratings][golden]") {
  const char* shared = std::getenv("KDGAT_SHARED");
  const std::filesystem::path source =
      std::filesystem::path(shared != nullptr ? shared : "../shared") / "data/ml-100k";
  if (!std::filesystem::exists(source)) {
    std::cout << "skipped: no " << source.string() << "\n";
    return;
  }
  const test::ScratchFolder folder;
  const RatingStore store = import_from(source, folder);
  CHECK(store.users() == 943);
  CHECK(store.items() == 1682);
  CHECK(store.features() == 24);
  CHECK(store.edges() == 160'000);
  const nlohmann::json& r = store.facts().at("ratings");
  CHECK(r.at("train_items") == 1651);
  CHECK(r.at("least_of_user") == 12);
  CHECK(r.at("mean") == Approx(3.5319).margin(5e-5));
  CHECK(copy(store.train().first(5)) == std::vector{75721, 80184, 19864, 76699, 92991});
}

}  // namespace kdgat::ratings
