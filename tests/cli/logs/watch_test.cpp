// kdgat watch: logs that are played again, buses, alarms and how it ends; and kdgat score by either
// engine.
#include <fcntl.h>
#include <linux/can.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "support/can/scored_lines.h"
#include "support/can/watched_bus.h"
#include "support/programs/background.h"

using namespace kdgat::test;
using nlohmann::json;
namespace fs = std::filesystem;

TEST_CASE("a log that is played again has the alarms of its scoring, to the byte", "[watch][cli]") {
  const DetectorRun& t = watched_run();
  for (const std::string log : {kKnownLog, kStrangeLog}) {
    INFO(log);
    const CommandResult scored = t.kdgat("score '" + log + "' --json" + t.named());
    const CommandResult watched =
        t.kdgat("watch --replay '" + log + "' --speed max --model '" + t.model().string() + "'");
    CHECK(scored.exit_code == 0);
    CHECK(watched.exit_code == 0);
    const std::string alarms = alarm_lines(scored.out);
    REQUIRE(!alarms.empty());
    CHECK(alarm_lines(watched.out) == alarms);
    const json opened = json_lines(alarms).front();
    CHECK(opened.at("open") == true);
    CHECK(opened.at("model").get<std::string>().size() == 32);
    REQUIRE(!opened.at("reasons").empty());
    CHECK(opened.at("reasons")[0].get<std::string>().starts_with(
        opened.at("ids")[0].get<std::string>()));
  }
  // From standard input, packed.
  const CommandResult piped =
      run_shell("gzip -c '" + std::string(kKnownLog) + "' | " + kdgat_word() +
                    " watch --replay - --speed max --model '" + t.model().string() + "'",
                t.scratch.path());
  CHECK(piped.exit_code == 0);
  CHECK(std::regex_replace(alarm_lines(piped.out), std::regex("\"file\":\"[^\"]*\""), "") ==
        std::regex_replace(
            alarm_lines(t.kdgat("score '" + std::string(kKnownLog) + "' --json" + t.named()).out),
            std::regex("\"file\":\"[^\"]*\""), ""));
}

TEST_CASE("watch reports the traffic and ends with a report", "[watch][cli]") {
  const DetectorRun& t = watched_run();
  const CommandResult result = t.kdgat("watch --replay '" + std::string(kKnownLog) +
                                       "' --speed max --model '" + t.model().string() + "'");
  const std::vector<json> lines = json_lines(result.out);
  REQUIRE(lines.size() > 2);
  const json& last = lines.back();
  CHECK(last.at("event") == "traffic");
  CHECK(last.at("windows").get<int64_t>() > 50);
  CHECK(last.at("frames").get<int64_t>() ==
        static_cast<int64_t>(frames_of(t.scratch / kKnownLog).size()));
  CHECK(last.at("unknown").get<int64_t>() > 0);
  // Windows that it listened to are judged together.
  CHECK(last.at("decision").at("count") > 0);
  CHECK(last.at("decision").at("count") <= last.at("windows"));
  CHECK(last.at("frames_per_second").get<double>() > 100);
  CHECK(last.at("load").get<double>() < 1);
  CHECK(last.at("alarm_open") == false);
  CHECK(last.at("buses")[0].at("queue_drops") == 0);
}

TEST_CASE("frames over UDP raise alarms, and SIGTERM closes the open one and loses none",
          "[watch][cli]") {
  const DetectorRun& t = watched_run();
  const fs::path told = t.scratch / "told.jsonl";
  Background watch("watch " + std::string(kAnyBus) + " --model '" + t.model().string() +
                       "' --alarm 'file:" + told.string() + "' --heartbeat 1s --metrics 0",
                   t.scratch.path());
  const std::string bus = watched_bus(t.scratch.path());
  REQUIRE(!bus.empty());
  const std::vector<can_frame> frames = frames_of(t.scratch / kKnownLog);
  REQUIRE(send_until(frames, bus,
                     [&] { return read_text(told).find("\"open\":true") != std::string::npos; }));
  const std::string err = read_text(t.scratch / "err");
  std::smatch at;
  REQUIRE(std::regex_search(err, at, std::regex("http://127\\.0\\.0\\.1:([0-9]+)/metrics")));
  const CommandResult metrics =
      run_shell("exec 3<>/dev/tcp/127.0.0.1/" + at[1].str() +
                    " && printf 'GET /metrics HTTP/1.0\\r\\n\\r\\n' >&3 && cat <&3",
                t.scratch.path());
  CHECK_THAT(metrics.out, Catch::Contains("kdgat_frames_total ") &&
                              Catch::Contains("kdgat_bus_up{bus=\"" + bus + "\"} 1") &&
                              Catch::Contains("kdgat_decision_seconds{quantile=\"0.99\"}"));
  CHECK(watch.end(SIGTERM) == 143);
  // Each alarm that opened is over, in the file as on standard output.
  std::map<int64_t, int> open;
  for (const json& alarm : json_lines(read_text(told))) {
    open[alarm.at("alarm").get<int64_t>()] += alarm.at("open").get<bool>() ? 1 : -1;
  }
  REQUIRE(!open.empty());
  for (const auto& [number, left] : open) CHECK(left == 0);
  CHECK(alarm_lines(read_text(t.scratch / "out")) == read_text(told));
}

TEST_CASE("watch calibrates by time, keeps a budget and saves what it learned", "[watch][cli]") {
  const DetectorRun& t = watched_run();
  const std::string benign = "logs/train_01_attack_free/attack-free-vehicle1.csv";
  REQUIRE(fs::exists(t.scratch / benign));
  const CommandResult learned =
      t.kdgat("watch --replay '" + benign + "' --speed max --model '" + t.model().string() +
              "' --calibrate 20s --budget 600/h --save mine.json");
  INFO(learned.err);
  CHECK(learned.exit_code == 0);
  CHECK_THAT(learned.err, Catch::Contains("calibrated by") && Catch::Contains("threshold"));
  const json saved = json::parse(read_text(t.scratch / "mine.json"));
  CHECK(saved.at("format") == json::parse(read_text(t.model())).at("format"));
  const CommandResult again =
      t.kdgat("watch --replay '" + benign + "' --speed max --model mine.json");
  CHECK(again.exit_code == 0);
  CHECK_THAT(again.err, Catch::Contains("judged as the vehicle of"));
}

TEST_CASE("lines that nobody reads never stop the watching of a bus", "[watch][cli]") {
  const DetectorRun& t = watched_run();
  const fs::path told = t.scratch / "unread.jsonl";
  fs::remove(t.scratch / "out");
  REQUIRE(::mkfifo((t.scratch / "out").c_str(), 0600) == 0);
  const int unread = ::open((t.scratch / "out").c_str(), O_RDWR);
  REQUIRE(unread >= 0);
  ::fcntl(unread, F_SETPIPE_SZ, 4096);
  {
    Background watch("watch " + std::string(kAnyBus) + " --model '" + t.model().string() +
                         "' --heartbeat 0.1s --alarm 'file:" + told.string() + "'",
                     t.scratch.path());
    // The first line, which names the bus, and no other.
    std::string line;
    for (char byte = 0; byte != '\n'; line += byte) REQUIRE(::read(unread, &byte, 1) == 1);
    const std::string bus = json::parse(line).at("buses").at(0).at("name");
    // A pipe of one page is ready for no second line before the first one was read.
    REQUIRE(comes_true([&] {
      int there = 0;
      ::ioctl(unread, FIONREAD, &there);
      return there > 0;
    }));
    CHECK(send_until(frames_of(t.scratch / kKnownLog), bus,
                     [&] { return read_text(told).find("\"open\":true") != std::string::npos; }));
    CHECK(watch.end(SIGTERM) == 143);
  }
  CHECK_THAT(read_text(told), Catch::Contains("\"open\":false"));
  ::close(unread);
  fs::remove(t.scratch / "out");
}

TEST_CASE("watch that is ended while it calibrates says so by the signal alone", "[watch][cli]") {
  const DetectorRun& t = watched_run();
  Background watch(
      "watch " + std::string(kAnyBus) + " --model '" + t.model().string() + "' --calibrate 5h",
      t.scratch.path());
  REQUIRE(holds(t.scratch / "out", "\"calibrating\":true"));
  CHECK(watch.end(SIGTERM) == 143);
  CHECK_THAT(read_text(t.scratch / "err"), !Catch::Contains("windows of traffic"));
}

TEST_CASE("watch says what is wrong with its words", "[watch][cli]") {
  const DetectorRun& t = watched_run();
  const std::string model = " --model '" + t.model().string() + "'";
  const std::string log = kKnownLog;
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"watch" + model, "needs a bus, or --replay LOG"},
      {"watch can0 --replay " + log + model, "cannot both be watched"},
      {"watch can0 --speed 2" + model, "--speed is for --replay"},
      {"watch --replay " + log + " --budget 10/h" + model, "to calibrate"},
      {"watch --replay " + log + " --calibrate soon" + model, "neither a time nor a number"},
      {"watch --replay " + log + " --alarm pigeon:home" + model, "pigeon"},
      {"watch no_such_bus0" + model, "no_such_bus0"},
      {"watch --replay " + log + " --metrics 70000" + model, "no port"},
      {"watch --replay logs" + model, "logs"}};
  for (const auto& [words, message] : cases) {
    const CommandResult result = t.kdgat(words);
    INFO(words << "\n" << result.err);
    CHECK(result.exit_code == 2);
    CHECK_THAT(result.err, Catch::Contains(message));
  }
  const CommandResult other =
      t.kdgat("watch --replay " + log + " --speed max --expect 0123" + model);
  CHECK(other.exit_code == 3);
  CHECK_THAT(other.err, Catch::Contains("has the hash"));
  CHECK(alarm_lines(other.out).empty());
}

TEST_CASE("both engines say the same of a log", "[score][native][cli]") {
  const DetectorRun& t = watched_run();
  must_kdgat("run --preset smoke --root runs --threads 1 dataset=nets", t.scratch.path());
  const fs::path run = newest_run(t.scratch / "runs" / "nets");
  for (const std::string step : {"classifier", "autoencoder"}) {
    INFO(step);
    const std::string words =
        "score '" + std::string(kKnownLog) + "' --run '" + (run / step).string() + "' --engine ";
    const CommandResult by_torch = t.kdgat(words + "libtorch"), native = t.kdgat(words + "native");
    REQUIRE(by_torch.exit_code == 0);
    REQUIRE(native.exit_code == 0);
    const std::vector<Row> wanted = table_of(by_torch.out), said = table_of(native.out);
    REQUIRE(wanted.size() == said.size());
    for (std::size_t i = 0; i < said.size(); ++i) {
      CHECK(std::stod(said[i].at("score")) ==
            Approx(std::stod(wanted[i].at("score"))).margin(1e-5));
      CHECK(said[i].at("row") == wanted[i].at("row"));
      CHECK(said[i].at("ids") == wanted[i].at("ids"));
    }
    CHECK(t.kdgat(words + "auto").out == native.out);
    const CommandResult watched = t.kdgat("watch --replay '" + std::string(kKnownLog) +
                                          "' --speed max --model '" + (run / step).string() + "'");
    CHECK(watched.exit_code == 0);
    CHECK(alarm_lines(watched.out) == alarm_lines(t.kdgat(words + "native --json").out));
  }
  const CommandResult detector =
      t.kdgat("score '" + std::string(kKnownLog) + "' --engine libtorch" + t.named());
  CHECK(detector.out == t.kdgat("score '" + std::string(kKnownLog) + "'" + t.named()).out);
  CHECK(t.kdgat("score '" + std::string(kKnownLog) + "' --engine quick" + t.named()).exit_code ==
        2);
}

TEST_CASE("what watches maps nothing of LibTorch", "[watch][cli]") {
  const DetectorRun& t = watched_run();
  Background watch("watch " + std::string(kAnyBus) + " --model '" + t.model().string() + "'",
                   t.scratch.path());
  REQUIRE(holds(t.scratch / "out", "\"traffic\""));
  const std::string maps = read_text("/proc/" + std::to_string(watch.pid()) + "/maps");
  CHECK_THAT(maps, Catch::Contains("libkdgat_native.so"));
  CHECK_THAT(maps, !Catch::Contains("torch"));
  CHECK(watch.end(SIGINT) == 130);
  const CommandResult needed = run_shell(
      "ldd '" + (build_folder() / "lib/libkdgat_detect.so").string() + "'", t.scratch.path());
  CHECK(needed.exit_code == 0);
  CHECK_THAT(needed.out, !Catch::Contains("torch") && !Catch::Contains("kdgat_graph"));
}
