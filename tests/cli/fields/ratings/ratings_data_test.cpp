// `kdgat data` on ratings, as a person meets it.
#include <catch2/catch.hpp>
#include <fstream>
#include <string>

#include "support/programs/cli.h"

TEST_CASE("ratings: synth, import, inspect and verify follow one another", "[cli][data]") {
  const ScratchFolder scratch;
  CHECK(must_kdgat("data synth -o files --kind ratings --graphs 60 --nodes 20 --items 90",
                   scratch.path())
            .out == "files/u.data\nfiles/u.item\nfiles/u.user\n");
  const std::string imported = must_kdgat("data import files -o data", scratch.path()).out;
  CHECK_THAT(imported, Catch::Contains("ratings of 90 items by 60 users: train ") &&
                           Catch::Contains("; written to data") && Catch::Contains("150 nodes, ") &&
                           Catch::Contains("u.user"));
  CHECK_THAT(must_kdgat("data import files -o data", scratch.path()).out,
             Catch::Contains("everything is up to date in data"));
  const std::string table = must_kdgat("data inspect data", scratch.path()).out;
  CHECK_THAT(table, Catch::StartsWith("data/graphs.safetensors: ") &&
                        Catch::Contains("ratings from 1 to 5, mean of train ") &&
                        Catch::Contains("cold items") && Catch::Contains("mapped once"));
  CHECK(must_kdgat("data verify data", scratch.path()).out == "ok\n");
  const json seen = json::parse(must_kdgat("data inspect files --json", scratch.path()).out);
  const json& ratings = seen.at("facts").at("ratings");
  CHECK(ratings.at("edges") == 2 * ratings.at("train").get<int64_t>());
  CHECK(seen.at("parts").at("test").at("ratings") == ratings.at("test"));
}

TEST_CASE("bad ratings are refused with the place and what to do", "[cli][data]") {
  const ScratchFolder scratch;
  std::ofstream(scratch / "r.csv") << "user,item,rating\na,x,4\nb,x,many\nb,y,1\n";
  const CommandResult bad = run_kdgat("data import r.csv -o out strict=true", scratch.path());
  CHECK(bad.exit_code == 3);
  CHECK_THAT(bad.err, Catch::Contains("r.csv:3: the rating is not a number: many"));
  CHECK_FALSE(std::filesystem::exists(scratch / "out" / "graphs.safetensors"));
  const CommandResult none =
      run_kdgat("data import r.csv -o out --format ratings rating_column=stars", scratch.path());
  CHECK(none.exit_code == 3);
  CHECK_THAT(none.err, Catch::Contains("no ratings were found") &&
                           Catch::Contains("columns user, item, stars"));
}
