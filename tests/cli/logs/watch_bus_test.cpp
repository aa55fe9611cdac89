// kdgat watch on a bus that others can write to and whose clock is set, and the signals that end
// it.
#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "support/can/watched_bus.h"
#include "support/programs/background.h"

using namespace kdgat::test;
using nlohmann::json;
namespace fs = std::filesystem;

TEST_CASE("each signal that ends watch closes its alarm, and SIGUSR2 does nothing",
          "[watch][cli]") {
  const DetectorRun& t = watched_run();
  const std::vector<can_frame> frames = frames_of(t.scratch / kKnownLog);
  for (const auto& [number, code] : {std::pair(SIGHUP, 129), std::pair(SIGINT, 130),
                                     std::pair(SIGQUIT, 131), std::pair(SIGUSR1, 85)}) {
    INFO(number);
    const fs::path told = t.scratch / "signalled.jsonl";
    fs::remove(told);
    Background watch("watch " + std::string(kAnyBus) + " --model '" + t.model().string() +
                         "' --alarm 'file:" + told.string() + "'",
                     t.scratch.path());
    const std::string bus = watched_bus(t.scratch.path());
    REQUIRE(!bus.empty());
    watch.signal(SIGUSR2);
    REQUIRE(send_until(frames, bus,
                       [&] { return read_text(told).find("\"open\":true") != std::string::npos; }));
    CHECK(watch.end(number) == code);
    int left = 0;
    for (const json& alarm : json_lines(read_text(told))) {
      left += alarm.at("open").get<bool>() ? 1 : -1;
    }
    CHECK(left == 0);
    CHECK(alarm_lines(read_text(t.scratch / "out")) == read_text(told));
  }
}

TEST_CASE("frames with the id of alarms are scored like any other", "[watch][cli]") {
  const DetectorRun& t = watched_run();
  // The id of the flood in this log is that of the alarms.
  const std::string model = " --model '" + t.model().string() + "'";
  const std::string replay =
      "watch --replay '" + std::string(kStrangeLog) + "' --speed max" + model;
  const CommandResult plain = t.kdgat(replay);
  const json before = json_lines(plain.out).back();
  REQUIRE(before.at("flagged") > 0);
  const std::string id = json_lines(alarm_lines(plain.out)).front().at("ids")[0];
  const std::string alarm = " --alarm can:udp:" + own_address() + ",id=" + id;
  const CommandResult with_alarms = t.kdgat(replay + alarm);
  CHECK(alarm_lines(with_alarms.out) == alarm_lines(plain.out));
  for (const char* key : {"frames", "windows", "flagged", "alarms", "unknown"}) {
    INFO(key);
    CHECK(json_lines(with_alarms.out).back().at(key) == before.at(key));
  }
  CHECK(before.at("buses")[0].at("own_frames") == 0);

  Background watch("watch " + std::string(kAnyBus) + model + " --alarm can:udp:" + own_address() +
                       ",id=6F0 --heartbeat 0.2s",
                   t.scratch.path());
  const std::string bus = watched_bus(t.scratch.path());
  REQUIRE(!bus.empty());
  // No vehicle has this id, so each of its frames that is scored is counted as unknown.
  std::vector<can_frame> frames = frames_of(t.scratch / kKnownLog);
  can_frame flood{};
  flood.can_id = 0x6F0;
  flood.can_dlc = 8;
  json last;
  frames.insert(frames.end(), 1000, flood);
  CHECK(send_until(frames, bus, [&] {
    last = last_line_of(t.scratch / "out");
    return last.value("event", "") == "traffic" && last.at("unknown") >= 500;
  }));
  CHECK(last.at("buses")[0].at("own_frames") == 0);
  CHECK(watch.end(SIGTERM) == 143);
}

TEST_CASE("watch warns of buses that anybody can write to", "[watch][cli]") {
  const DetectorRun& t = watched_run();
  const auto warned = [&](const std::string& bus, const std::string& alarm) {
    Background watch("watch " + bus + " --model '" + t.model().string() + "'" + alarm,
                     t.scratch.path());
    REQUIRE(holds(t.scratch / "out", "\"traffic\""));
    CHECK(watch.end(SIGTERM) == 143);
    return read_text(t.scratch / "err");
  };
  CHECK_THAT(warned("udp:0.0.0.0:0", ""), Catch::Contains("takes frames from every computer"));
  CHECK_THAT(warned(kAnyBus, ""), !Catch::Contains("warning"));
  const std::string address = own_address(), port = address.substr(address.rfind(':'));
  for (const std::string& to : {address, "localhost" + port}) {
    CHECK_THAT(warned("udp:" + address, " --alarm can:udp:" + to + ",id=6F0"),
               Catch::Contains("alarms are sent to the bus that is watched"));
  }
}

TEST_CASE("a file that never comes is given up at a signal", "[watch][cli]") {
  const DetectorRun& t = watched_run();
  const fs::path pipe = t.scratch / "names.dbc";
  fs::remove(pipe);
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const std::string log = " '" + std::string(kKnownLog) + "'";
  const std::string words = " --dbc '" + pipe.string() + "'" + t.named();
  for (const std::string& verb : {"score" + log, "why" + log, "watch --replay" + log,
                                  "watch " + std::string(kAnyBus) + " --calibrate 5min"}) {
    for (const auto& [number, code] : {std::pair(SIGINT, 130), std::pair(SIGTERM, 143)}) {
      INFO(verb << " " << number);
      Background reads(verb + words, t.scratch.path());
      // It has the pipe open, and waits for what is never written.
      int writes = -1;
      REQUIRE(comes_true([&] {
        writes = ::open(pipe.c_str(), O_WRONLY | O_NONBLOCK);
        return writes >= 0;
      }));
      CHECK(reads.end(number) == code);
      ::close(writes);
    }
  }
  fs::remove(pipe);
}

TEST_CASE("watch says how much traffic it calibrated with", "[watch][cli]") {
  const DetectorRun& t = watched_run();
  const std::string benign = "logs/train_01_attack_free/attack-free-vehicle1.csv";
  const std::string words = "watch --replay '" + benign + "' --speed max --model '" +
                            t.model().string() + "' --calibrate ";
  const CommandResult early = t.kdgat(words + "1h --save early.json");
  INFO(early.err);
  CHECK(early.exit_code == 0);
  CHECK_THAT(early.err, Catch::Contains("of traffic, not the 3600 s that were asked for") &&
                            Catch::Contains("calibrated by"));
  // The time of day of the recorder is set: from 1970 to now, and back.
  std::istringstream in(read_text(t.scratch / benign));
  std::ofstream out(t.scratch / "set.csv");
  std::string line;
  std::getline(in, line);
  out << line << "\n";
  for (int64_t row = 0; std::getline(in, line); ++row) {
    const std::size_t comma = line.find(',');
    const double time = std::stod(line.substr(0, comma));
    const double set = row < 300 ? time - 1.6e9 : row < 600 ? time : time - 1e6;
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.6f", set);
    out << text.data() << line.substr(comma) << "\n";
  }
  out.close();
  const auto seconds_in = [&](const CommandResult& result) {
    std::smatch found;
    INFO(result.err);
    REQUIRE(std::regex_search(result.err, found, std::regex("windows, ([0-9]+) s of traffic")));
    return std::stoi(found[1]);
  };
  const CommandResult steady = t.kdgat(words + "15s");
  const CommandResult jumping = t.kdgat("watch --replay set.csv --speed max --model '" +
                                        t.model().string() + "' --calibrate 15s");
  CHECK(seconds_in(steady) == 15);
  CHECK(seconds_in(jumping) == 15);
}
