// Whatever the bytes, ratings either throw Error(kData) or become a store that is sound.
#include <catch2/catch.hpp>

#include "fields/ratings/data/ratings_options.h"
#include "fields/ratings/data/ratings_store.h"
#include "support/graphs/import_options.h"
#include "support/programs/command.h"
#include "support/programs/mutate.h"

namespace kdgat::ratings {
namespace {

/// Each ends with the name of its file, behind a bar.
const std::vector<std::string> kSets = {
    "1::10::5::100\n2::10::3::101\n1::20::4::102\n3::20::1::103\n|ratings.dat",
    "1\t10\t5\t100\n2\t10\t3\t101\n1\t20\t4\t102\n3\t20\t1\t103\n|u.data",
    "reviewerID,asin,overall,unixReviewTime\nA,b,5,1\nB,b,3,2\nA,c,4,3\nC,c,1,9\n|a.csv",
    "A,b,5.0,1\nB,b,3.0,2\nA,c,4.0,3\nC,c,1.0,4\n|ratings_Books.csv",
    "user_id:token\titem_id:token\trating:float\ttimestamp:float\nA\tb\t5\t1\nB\tb\t3\t2\n|b.inter",
    "\"User-ID\";\"ISBN\";\"Book-Rating\"\n\"A\";\"b\";\"5\"\n\"B\";\"b\";\"3\"\n|d.csv"};

TEST_CASE("mutated ratings of every form are refused or become a sound store", "[ratings]") {
  const test::ScratchFolder folder;
  const std::filesystem::path store = folder / "out/graphs.safetensors";
  test::run_mutations(kSets, 600, 1, [&](const uint8_t* bytes, std::size_t size) {
    const std::string all(reinterpret_cast<const char*>(bytes), size);
    const std::size_t bar = all.rfind('|');
    const std::string name = bar == std::string::npos ? "" : all.substr(bar + 1);
    const bool is_known = std::any_of(kSets.begin(), kSets.end(), [&](const std::string& set) {
      return !name.empty() && set.ends_with("|" + name);
    });
    const std::filesystem::path file = folder / (is_known ? name : "u.data");
    test::write_text(file, all.substr(0, bar));
    try {
      const data::ImportReport report =
          graph::import_logs(file, folder / "out", graph::ImportOptionsWith<RatingsOptions>());
      const RatingStore read = RatingStore::open(store);
      CHECK(read.verify().empty());
      CHECK(read.ratings() <= report.rows);
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::kData);
    }
    std::filesystem::remove(file);
  });
}

}  // namespace
}  // namespace kdgat::ratings
