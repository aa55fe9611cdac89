// The forms in which public ratings come.
#include <catch2/catch.hpp>

#include "fields/ratings/data/ratings_options.h"
#include "fields/ratings/data/ratings_store.h"
#include "support/can/log_text.h"
#include "support/graphs/import_options.h"
#include "support/graphs/span_copy.h"
#include "support/programs/command.h"

namespace kdgat::ratings {
namespace {

using Catch::Contains;
using test::copy;
using test::data_error;
using test::write_text;

RatingStore read_form(const std::filesystem::path& source, const test::ScratchFolder& folder,
                      data::ImportReport* report = nullptr) {
  data::ImportReport said =
      graph::import_logs(source, folder / "out", graph::ImportOptionsWith<RatingsOptions>());
  if (report != nullptr) *report = said;
  return RatingStore::open(folder / "out/graphs.safetensors");
}

}  // namespace

TEST_CASE("MovieLens 1M is read, other tables of its folder are named", "[rating_forms]") {
  const test::ScratchFolder folder;
  write_text(folder / "ml/ratings.dat", "1::10::5::100\n2::10::3::101\n1::20::4::102\n");
  write_text(folder / "ml/movies.dat", "10::A (1990)::Drama\n");
  write_text(folder / "ml/users.dat", "1::F::1::10::48067\n");
  data::ImportReport report;
  const RatingStore store = read_form(folder / "ml", folder, &report);
  CHECK(copy(store.rating()) == std::vector<float>{5, 3, 4});
  CHECK(copy(store.time()) == std::vector<int64_t>{100, 101, 102});
  REQUIRE(report.warnings.size() == 1);
  CHECK_THAT(report.warnings[0].message, Contains("left out") && Contains("movies.dat, users.dat"));
  CHECK(report.warnings[0].count == 2);
  CHECK(read_form(folder / "ml/ratings.dat", folder).ratings() == 3);
}

TEST_CASE("tables of ratings by the columns of public sets", "[rating_forms]") {
  struct Table {
    const char *name, *text;
  };
  for (const Table& table : {
           Table{"a.csv", "reviewerID,asin,overall,unixReviewTime\nA,b,5,1\nB,b,3,2\nA,c,4,3\n"},
           {"b.inter",
            "user_id:token\titem_id:token\trating:float\ttimestamp:float\n"
            "A\tb\t5\t1\nB\tb\t3\t2\nA\tc\t4\t3\n"},
           {"c.csv", "user_id,book_id,is_read,rating\nA,b,1,5\nB,b,1,3\nA,c,1,4\n"},
           {"d.csv",
            "\"User-ID\";\"ISBN\";\"Book-Rating\"\n"
            "\"A\";\"b\";\"5\"\n\"B\";\"b\";\"3\"\n\"A\";\"c\";\"4\"\n"},
           {"ratings_Books.csv", "A,b,5.0,1\nB,b,3.0,2\nA,c,4.0,3\n"},
       }) {
    const test::ScratchFolder folder;
    write_text(folder / table.name, table.text);
    INFO(table.name);
    const RatingStore store = read_form(folder / table.name, folder);
    CHECK(copy(store.rating()) == std::vector<float>{5, 3, 4});
    CHECK(store.user_names() == std::vector<std::string>{"A", "B"});
  }
}

TEST_CASE("names without a meaning are no users, and numbers may have a decimal comma",
          "[rating_forms]") {
  const test::ScratchFolder folder;
  write_text(folder / "r.csv", "user;item;rating;note\nnan;1;3;-\na;1;2,5;-\n a;2;3;-\nb;1;2;-\n");
  data::ImportReport report;
  const RatingStore store = read_form(folder / "r.csv", folder, &report);
  CHECK(store.ratings() == 3);
  CHECK(copy(store.rating()) == std::vector<float>{2.5F, 3, 2});
  CHECK(store.users() == 2);
  std::string said;
  for (const data::Note& one : report.warnings) said += one.text() + "\n";
  CHECK_THAT(said, Contains("r.csv:2: no user") && Contains("column note is not used"));
  write_text(folder / "bad.csv", "user,item,rating\na,1,good\nb,2,bad\n");
  CHECK_THAT(
      test::data_error([&] { read_form(folder / "bad.csv", folder); }),
      Contains("nothing to learn from") && Contains("bad.csv:2: the rating is not a number"));
}

TEST_CASE("of a pair rated twice the later time counts", "[rating_forms]") {
  const test::ScratchFolder folder;
  write_text(folder / "a.csv", "user,item,rating,time\nA,b,5,9\nA,b,1,2\nB,b,3,4\n");
  CHECK(copy(read_form(folder / "a.csv", folder).rating()) == std::vector<float>{5, 3});
  write_text(folder / "b.csv", "user,item,rating\nA,b,5\nA,b,1\nB,b,3\n");
  CHECK(copy(read_form(folder / "b.csv", folder).rating()) == std::vector<float>{1, 3});
}

TEST_CASE("what a table of ratings lacks is said in the words of ratings", "[rating_forms]") {
  const test::ScratchFolder folder;
  write_text(folder / "a.csv", "reviewerID,asin,helpful\nA,b,1\n");
  const std::string said =
      data_error([&] { graph::import_logs(folder / "a.csv", folder / "out", {}); });
  CHECK_THAT(said, Contains("a table of ratings without a column of the rating") &&
                       Contains("data.rating_column=NAME") && !Contains("timestamp"));
}

TEST_CASE("real ratings of MovieLens 1M and of Amazon", "[rating_forms]") {
  const test::ScratchFolder folder;
  if (const auto source = test::shared_path("field/ml1m")) {
    CHECK(read_form(*source, folder).ratings() > 0);
  }
  if (const auto source = test::shared_path("field/amazon2.csv")) {
    CHECK(read_form(*source, folder).ratings() > 0);
  }
}

}  // namespace kdgat::ratings
