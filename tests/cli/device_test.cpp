// A card that is asked for where there is none.
#include <catch2/catch.hpp>
#include <cstdio>
#include <string>

#include "support/programs/cli.h"

TEST_CASE("a card where there is no driver is refused before anything is written",
          "[cli][device]") {
  if (fs::exists("/proc/driver/nvidia/version")) {
    std::printf("skipped: this machine has an NVIDIA driver\n");
    return;
  }
  const ScratchFolder folder;
  must_kdgat("data synth -o logs --seconds 4 --attacks dos", folder.path());
  must_kdgat(
      "run classifier --preset smoke data.synth.seconds=5 max_epochs=1 --threads 1 --root trained",
      folder.path());
  const std::string model =
      " --run '" + (newest_run(folder / "trained" / "smoke") / "classifier").string() + "' ";
  std::string log;
  for (const auto& entry : fs::recursive_directory_iterator(folder / "logs")) {
    if (entry.path().extension() == ".csv") log = "'" + entry.path().string() + "'";
  }
  REQUIRE_FALSE(log.empty());
  const std::string sweep = "tune classifier --preset smoke 'lr=[0.001,0.01]' --root out ";
  for (const std::string& words :
       {std::string("run --preset smoke --root out --device cuda"),
        std::string("run classifier --preset smoke --root out --device cuda:1"),
        std::string("fit logs --root out -o out/model --device cuda"), sweep + "--device cuda",
        sweep + "--devices cuda:0,cuda:1",
        std::string("plan --preset smoke --root out --device cuda"),
        "score " + log + model + "--device cuda -o out/scores",
        "score " + log + model + "--engine libtorch --device cuda -o out/scores"}) {
    INFO(words);
    const CommandResult done = run_kdgat(words, folder.path());
    CHECK(done.exit_code == 2);
    CHECK(done.err.find("this machine has no NVIDIA driver") != std::string::npos);
    CHECK(done.err.find("--device cpu") != std::string::npos);
    CHECK_FALSE(fs::exists(folder / "out"));
  }
}
