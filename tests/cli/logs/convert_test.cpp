// `kdgat data convert` as a person meets it, and labels from a table beside a log.
#include <catch2/catch.hpp>
#include <string>

#include "support/can/log_text.h"
#include "support/programs/cli.h"

using Catch::Contains;

namespace {

/// Every kind of frame on two buses; times are whole microseconds.
const std::string kDrive =
    "(1672531200.000001) can0 1A0#0011223344556677\n"
    "(1672531200.000203) can1 0CF00400#01\n"
    "(1672531200.500000) can0 1A1##0000102030405060708090A0B\n"
    "(1672531201.250000) can1 1A0#\n"
    "(1672531201.300000) can0 123#R\n"
    "(1672531202.000000) can0 1A0#FFFF\n";

}  // namespace

TEST_CASE("a log goes through every form that is written and comes back", "[cli][convert]") {
  const ScratchFolder scratch;
  kdgat::test::write_text(scratch / "drive.log", kDrive);
  std::string from = "drive.log";
  for (const char* to : {"a.asc", "a.blf", "a.pcapng", "a.log"}) {
    const CommandResult made = run_kdgat("data convert " + from + " -o " + to, scratch.path());
    INFO(made.err);
    REQUIRE(made.exit_code == 0);
    CHECK_THAT(made.out, Contains(std::string(to) + ": 6 frames, from "));
    from = to;
  }
  CHECK(kdgat::test::read_text(scratch / "a.log") == kDrive);
}

TEST_CASE("intervals beside a log label its frames", "[cli][convert]") {
  const ScratchFolder scratch;
  kdgat::test::write_text(scratch / "drive.log", kDrive);
  REQUIRE(run_kdgat("data convert drive.log -o drive.blf", scratch.path()).exit_code == 0);
  kdgat::test::write_text(scratch / "drive.labels.csv",
                          "begin,end,id\n1672531200.5,1672531201.25,\n1672531201.9,1672531210,1a0\n"
                          "1672531201.2,1672531201.4,7FF\n");
  const CommandResult made =
      run_kdgat("data convert drive.blf -o drive.csv --json", scratch.path());
  INFO(made.err);
  REQUIRE(made.exit_code == 0);
  CHECK(json::parse(made.out).at("format") == "blf");
  CHECK_THAT(made.err, Contains("2 buses become one"));
  std::string labels;
  const std::string csv = kdgat::test::read_text(scratch / "drive.csv");
  for (std::size_t at = csv.find('\n') + 1; at < csv.size(); at = csv.find('\n', at) + 1) {
    labels += csv[csv.find('\n', at) - 1];
  }
  CHECK(labels == "00111");
  CHECK_THAT(made.err, Contains("1 remote frame is not written"));
  const CommandResult shown = run_kdgat("data inspect . window=2 stride=2 --json", scratch.path());
  INFO(shown.err);
  REQUIRE(shown.exit_code == 0);
  const json result = json::parse(shown.out);
  CHECK(result.at("files").size() == 3);  // the table of labels is no log
  kdgat::test::write_text(scratch / "drive.labels.csv", "begin,end\n5,1\n");
  const CommandResult refused = run_kdgat("data inspect drive.blf", scratch.path());
  CHECK(refused.exit_code == 3);
  CHECK_THAT(refused.err, Contains("drive.labels.csv:2"));
}

TEST_CASE("a log is not converted to what nobody asked for", "[cli][convert]") {
  const ScratchFolder scratch;
  kdgat::test::write_text(scratch / "drive.log", kDrive);
  const CommandResult ending = run_kdgat("data convert drive.log -o drive.xls", scratch.path());
  CHECK(ending.exit_code == 2);
  CHECK_THAT(ending.err, Contains("known: .log (candump)"));
  const CommandResult itself = run_kdgat("data convert drive.log -o ./drive.log", scratch.path());
  CHECK(itself.exit_code == 2);
  CHECK_THAT(itself.err, Contains("would replace its own source"));
  CHECK(kdgat::test::read_text(scratch / "drive.log") == kDrive);
  const CommandResult nowhere = run_kdgat("data convert drive.log", scratch.path());
  CHECK(nowhere.exit_code == 2);
  CHECK_THAT(nowhere.err, Contains("needs -o FILE"));
  kdgat::test::write_text(scratch / "road.csv",
                          "852,32,10,0,0,0,2,116,128,0.0\n852,32,10,0,0,0,2,116,128,1\n");
  const CommandResult timeless = run_kdgat("data convert road.csv -o a.blf", scratch.path());
  CHECK(timeless.exit_code == 3);
  CHECK_THAT(timeless.err, Contains("no times"));
  CHECK_FALSE(fs::exists(scratch / "a.blf"));
  kdgat::test::write_text(scratch / "bad.log", kDrive + "(1.0) can0 XYZ#00\n");
  CHECK(run_kdgat("data convert bad.log -o a.log --strict", scratch.path()).exit_code == 3);
  CHECK_FALSE(fs::exists(scratch / "a.log"));
}
