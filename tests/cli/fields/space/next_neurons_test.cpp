// What is suggested about the data of neurons works.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/programs/cli.h"

TEST_CASE("a hint for an option of the data is one that run and import both take", "[cli][next]") {
  const ScratchFolder scratch;
  fs::create_directories(scratch / "neurons");
  for (int n = 0; n < 8; ++n) {
    std::ofstream file(scratch / ("neurons/" + std::to_string(n) + ".swc"));
    file << "1 1 0 0 0 0 -1\n";
    for (int i = 2; i < 30; ++i) {
      file << i << " 3 " << i + n << " " << i % 3 << " 0 1 " << i / 2 << "\n";
    }
  }
  const std::string hint = "data.repair=radius";
  for (const std::string words :
       {"data import neurons -o out", "run gtssl --data neurons --threads 1 max_epochs=1"}) {
    const CommandResult refused = run_kdgat(words, scratch.path());
    INFO(words << "\n" << refused.err);
    CHECK(refused.exit_code == 3);
    CHECK_THAT(refused.err, Catch::Contains("hint: " + hint));
    const CommandResult mended = run_kdgat(words + " " + hint, scratch.path());
    INFO(mended.err);
    CHECK(mended.exit_code == 0);
  }
}
