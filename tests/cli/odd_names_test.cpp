// Logs whose names are no UTF-8, which a file system allows, with every verb that reads logs; and
// outputs that are no regular files.
#include <catch2/catch.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "support/can/detector_run.h"
#include "support/can/scored_lines.h"
#include "support/programs/cli.h"

using Catch::Contains;

namespace {

constexpr const char* kOdd = "$'odd/\\xff\\xfe.csv'";  // as bash reads it

const DetectorRun& run_of_names() {
  static const DetectorRun one;
  return one;
}

/// Whether the file system takes such a name.
bool make_odd_logs(const DetectorRun& t) {
  std::error_code failure;
  fs::create_directories(t.scratch / "odd");
  fs::create_directories(t.scratch / "benign");
  fs::copy_file(t.scratch / kKnownLog, t.scratch / "odd/\xff\xfe.csv",
                fs::copy_options::overwrite_existing, failure);
  if (failure) return false;
  fs::copy_file(t.scratch / "logs/train_01_attack_free/attack-free-vehicle1.csv",
                t.scratch / "benign/\xff\xfe.csv", fs::copy_options::overwrite_existing, failure);
  return !failure;
}

}  // namespace

TEST_CASE("a log may have a name that is no UTF-8", "[cli][names]") {
  const DetectorRun& t = run_of_names();
  if (!make_odd_logs(t)) {
    WARN("skipped: this file system takes no names that are no UTF-8");
    return;
  }
  const std::string model = "'" + t.model().string() + "'", odd = kOdd;
  const auto runs = [&](const std::string& words) {
    const CommandResult result = run_shell(kdgat_word() + " " + words, t.scratch.path());
    INFO(words << "\n" << result.out.substr(0, 500) << "\n" << result.err);
    CHECK(result.exit_code == 0);
    CHECK_THAT(result.err, !Contains("json.exception"));
    return result;
  };
  runs("data inspect " + odd);
  runs("data import " + odd + " -o imported");
  runs("data convert " + odd + " -o converted.log");
  runs("data convert " + odd + " -o $'\\xff.log' --json");
  CHECK(fs::exists(t.scratch / "\xff.log"));
  // The same windows as under another name, in text and as JSON.
  const std::string by = " --run " + model;
  CHECK(table_of(runs("score " + odd + by).out).size() ==
        table_of(runs("score '" + std::string(kKnownLog) + "'" + by).out).size());
  for (const std::string& words :
       {"score --json " + odd + " --run " + model, "why --json " + odd + " --model " + model,
        "watch --json --speed max --replay " + odd + " --model " + model}) {
    const std::string out = runs(words).out;
    REQUIRE(!out.empty());
    std::istringstream lines(out);
    for (std::string line; std::getline(lines, line);) CHECK_NOTHROW(json::parse(line).dump());
  }
  runs("why " + odd + " --model " + model);
  runs("watch --speed max --replay " + odd + " --model " + model + " --alarm stdout");
  runs("adapt " + model + " $'benign/\\xff\\xfe.csv' -o $'\\xfe.json'");
  CHECK(fs::exists(t.scratch / "\xfe.json"));
  runs("score " + odd + " --run $'\\xfe.json' -o $'\\xff.scores.csv'");
  CHECK(fs::exists(t.scratch / "\xff.scores.csv"));
  runs("watch --speed max --calibrate 30s --save $'\\xfd.json' --model " + model +
       " --replay $'benign/\\xff\\xfe.csv'");
  CHECK(fs::exists(t.scratch / "\xfd.json"));
}

TEST_CASE("logs with names that are no UTF-8 are learned from and reported", "[cli][names]") {
  const DetectorRun& t = run_of_names();
  if (!make_odd_logs(t)) {
    WARN("skipped: this file system takes no names that are no UTF-8");
    return;
  }
  // A folder of such logs in a folder of such a name.
  const CommandResult made = run_shell(
      "cp -r logs $'set\\xff' && cd $'set\\xff' && for f in */*.csv; do "
      "mv $f $(dirname $f)/$'\\xff'$(basename $f); done",
      t.scratch.path());
  REQUIRE(made.exit_code == 0);
  const std::string folder = "$'set\\xff'";
  for (const std::string& words :
       {"fit " + folder + " -o $'mine\\xff' --root odd_runs",
        "run --preset detector --data " + folder +
            " --root odd_runs --json take_supported=true trees=20 baselines=false",
        std::string("runs list --root odd_runs --json")}) {
    const CommandResult result = run_shell(kdgat_word() + " " + words, t.scratch.path());
    INFO(words << "\n" << result.err);
    CHECK(result.exit_code == 0);
    CHECK_THAT(result.err, !Contains("json.exception"));
  }
  CHECK(fs::exists(t.scratch / "mine\xff/detector.json"));
  const CommandResult scored =
      run_shell(kdgat_word() + " score " + folder + " --run $'mine\\xff'", t.scratch.path());
  INFO(scored.err);
  CHECK(scored.exit_code == 0);
  const fs::path run = newest_run(*fs::directory_iterator(t.scratch / "odd_runs"));
  const CommandResult page =
      run_shell("cd '" + run.string() + "' && " + kdgat_word() + " report . -o report.html",
                t.scratch.path());
  INFO(page.err);
  CHECK(page.exit_code == 0);
}

TEST_CASE("an output that is a device or a pipe is written in place", "[cli]") {
  const DetectorRun& t = run_of_names();
  const std::string model = "'" + t.model().string() + "'", log = kKnownLog;
  const std::vector<std::string> writers = {
      "score " + log + " --run " + model + " -o ",
      "adapt " + model + " logs/train_01_attack_free/attack-free-vehicle1.csv --force -o ",
      "report '" + t.run.string() + "' -o ",
      "data convert " + log + " -o ",
      "watch --speed max --calibrate 30s --replay " + log + " --model " + model + " --save ",
      "config init --force "};
  for (const std::string& words : writers) {
    INFO(words);
    const std::string program = kdgat_word() + " " + words;
    run_shell("rm -f *.log; mkfifo pipe.log; ln -s /dev/full full.log; ln -s /dev/null null.log",
              t.scratch.path());
    // Where nobody wrote, the reader that still waits is let go.
    const CommandResult piped =
        run_shell("cat pipe.log > got & " + program +
                      "pipe.log; code=$?; if [ -p pipe.log ]; then exec 3<>pipe.log 3>&-; "
                      "else kill $!; fi; wait; exit $code",
                  t.scratch.path());
    INFO(piped.err);
    CHECK(piped.exit_code == 0);
    CHECK(fs::is_fifo(t.scratch / "pipe.log"));
    CHECK(fs::file_size(t.scratch / "got") > 100);
    CHECK(run_shell(program + "null.log", t.scratch.path()).exit_code == 0);
    const CommandResult full = run_shell(program + "full.log", t.scratch.path());
    CHECK(full.exit_code == 3);
    CHECK_THAT(full.err, Contains("No space left"));
    for (const char* link : {"full.log", "null.log"}) CHECK(fs::is_symlink(t.scratch / link));
  }
}
