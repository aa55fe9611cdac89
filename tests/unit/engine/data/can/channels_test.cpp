// Logs of several buses: which is which, in logs, stores, profiles and injected attacks.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "engine/data/can/frames/channel_names.h"
#include "engine/data/can/logs/can_log.h"
#include "engine/data/can/logs/format_log.h"
#include "engine/data/can/logs/stored_frames.h"
#include "engine/data/can/synthetic/inject.h"
#include "engine/data/can/windows/relative_windows.h"
#include "engine/data/core/graph_domain.h"
#include "engine/graph/graph_store.h"
#include "support/can/can_drive.h"
#include "support/can/can_traffic.h"
#include "support/can/log_text.h"
#include "support/graphs/import_options.h"
#include "support/programs/command.h"

namespace kdgat::data {
namespace {

using Catch::Contains;
using test::drive;

std::vector<CanFrame> frames_of(const std::string& text, std::string& problems) {
  const test::ScratchFolder scratch;
  test::write_text(scratch / "a.log", text);
  CanLog log(file::ByteReader(scratch / "a.log"), "auto", false);
  std::vector<CanFrame> out;
  CanFrame frame;
  while (log.next(frame)) out.push_back(frame);
  for (const Diagnostic& problem : log.problems()) problems += problem.message + "\n";
  return out;
}

TEST_CASE("a bus has the number that its name ends with", "[channels]") {
  ChannelNames names;
  CHECK(names.number("can1") == 1);
  CHECK(names.number("can0") == 0);
  CHECK(names.number("can1") == 1);
  CHECK(names.problems().empty());
  CHECK(names.number("vcan0") == 2);  // can0 has it
  CHECK(names.number("body") == 3);
  CHECK(names.number("can17") == 4);
  CHECK(names.number("vcan0") == 2);
  REQUIRE(names.problems().size() == 3);
  CHECK(names.problems()[0] == "channel vcan0 is counted as number 2: can0 has its own");
  CHECK_THAT(names.problems()[1], Contains("body") && Contains("ends with none below 8"));
  for (const char* name : {"can5", "can6", "can7"}) CHECK(names.number(name) >= 0);
  CHECK(names.number("can9") == -1);
  CHECK(names.problems().back() == "more than 8 channels: rows of can9 are left out");
  CHECK(names.number("can6") == 6);
}

TEST_CASE("each form that names buses is read with them", "[channels]") {
  const char* const texts[] = {
      "(1.0) can0 1A0#0011\n(1.1) can1 1A0#0012\n(1.2) can1 1A1#0013\n",
      " (1.0)  can0  1A0   [2]  00 11\n (1.1)  can1  1A0   [2]  00 12\n (1.2)  can1  1A1   [1]  "
      "00\n",
      "1.0,can0,1A0,1,00010001\n1.1,can1,1A0,1,00010010\n1.2,can1,1A1,1,00010010\n",
      "(1.0) can0 1A0#0011 False\tFalse\n(1.1) can1 1A0#0012 False\tTrue\n(1.2) can1 1A1#00 "
      "False\tFalse\n"};
  for (const char* text : texts) {
    INFO(text);
    std::string problems;
    const std::vector<CanFrame> frames = frames_of(text, problems);
    REQUIRE(frames.size() == 3);
    CHECK(problems.empty());
    CHECK(frames[0].channel == 0);
    CHECK(frames[1].channel == 1);
    CHECK(frames[0].id == frames[1].id);
    CHECK(frames[0].key() != frames[1].key());
  }
}

TEST_CASE("rows of a ninth bus are refused and told, names of broken rows are no bus",
          "[channels]") {
  std::string text, problems;
  for (int i = 0; i < 9; ++i)
    text += "(1." + std::to_string(i) + ") bus" + std::to_string(i) + " 1A0#0011\n";
  for (int i = 0; i < 7; ++i) {
    text = "(0." + std::to_string(9 - i) + ") broken" + std::to_string(i) + " 1A0#001\n" + text;
  }
  const std::vector<CanFrame> frames = frames_of(text, problems);
  CHECK(frames.size() == 8);
  CHECK_THAT(problems, Contains("more than 8 channels: rows of bus8 are left out"));
  CHECK_THAT(problems, !Contains("broken0 is counted"));
  std::string mixed;
  frames_of("(1.0) can0 1A0#0011\n(1.1) vcan0 1A0#0012\n", mixed);
  CHECK_THAT(mixed, Contains("channel vcan0 is counted as number 1"));
}

TEST_CASE("a store keeps the bus of each frame", "[channels]") {
  const test::ScratchFolder scratch;
  const auto first = drive(4, 0);
  const auto both = test::merged(first, test::on_channel(drive(4, 1), 3, first));
  test::write_text(scratch / "logs/a.log", format_log(both, "candump"));
  graph::ImportOptions options;
  options.features = "v3";
  graph::import_logs(scratch / "logs", scratch / "out", options);
  const graph::GraphStore store = graph::GraphStore::open(scratch / "out" / kStoreName);
  const auto& frames = store.need<graph::Frames>();
  REQUIRE(frames.rows() == static_cast<int64_t>(both.size()));
  int64_t other = 0;
  for (std::size_t i = 0; i < both.size(); ++i) {
    const auto row = static_cast<int64_t>(i);
    REQUIRE(frame_of(frames, row).channel == both[i].channel);
    REQUIRE(key_of(frames, row) == both[i].key());
    other += both[i].channel == 3 ? 1 : 0;
  }
  CHECK(other > 0);
}

TEST_CASE("a profile tells the buses of a log apart, and is read again with them", "[channels]") {
  const auto first = drive(30, 0);
  const auto both = test::merged(first, test::on_channel(drive(30, 3), 1, first));
  const VehicleProfile profile = profile_of(both), alone = profile_of(first);
  REQUIRE(profile.ids.size() == 2 * alone.ids.size());
  for (const IdProfile& one : alone.ids) {
    const IdProfile* same = profile.find(one.id);
    const IdProfile* other = profile.find(1U << 29 | one.id);
    REQUIRE(same != nullptr);
    REQUIRE(other != nullptr);
    CHECK(same->frames == one.frames);
    CHECK(same->period == one.period);
    CHECK(other->channel == 1);
  }
  const VehicleProfile again =
      VehicleProfile::from_json(nlohmann::json::parse(profile.json().dump()), "p.json");
  CHECK(again.json() == profile.json());
  CHECK(again.find(1U << 29 | alone.ids[0].id) != nullptr);
  nlohmann::json bad = profile.json();
  bad["ids"].back()["channel"] = 8;
  CHECK_THROWS_WITH(VehicleProfile::from_json(bad, "p.json"), Contains("channel"));
  // A profile says which ids are those of testers, and who has which address.
  auto with_tester = test::merged(first, test::tester(first, 5, 20));
  with_tester.push_back(test::claim(first, 29.99, 0x21, 9));
  const nlohmann::json told = profile_of(with_tester).json();
  int named = 0;
  for (const auto& one : told.at("ids")) named += one.contains("diagnostic") ? 1 : 0;
  CHECK(named > 5);
  CHECK(told.at("names").at(0).at("address") == 0x21);
  CHECK(VehicleProfile::from_json(told, "p.json").json() == told);
  bad = told;
  bad["names"][0]["name"] = "xyz";
  CHECK_THROWS_WITH(VehicleProfile::from_json(bad, "p.json"), Contains("name"));
}

TEST_CASE("attacks are injected into one bus of a log, and the others stay as they were",
          "[channels]") {
  const auto first = drive(40, 0);
  const auto both = test::merged(first, test::on_channel(drive(40, 3), 2, first));
  for (const char* kind : {"dos", "spoofing", "masquerade", "suspension", "replay"}) {
    INFO(kind);
    arrays::Random random(5);
    const Injection made = inject(both, kind, CanInjectOptions(), random);
    std::array<int64_t, 3> attacked{};
    std::array<std::vector<CanFrame>, 3> kept;
    for (const CanFrame& frame : made.frames) {
      if (frame.label == 1) ++attacked[frame.channel];
      if (frame.label != 1) kept[frame.channel].push_back(frame);
    }
    REQUIRE((attacked[0] == 0) != (attacked[2] == 0));
    const std::size_t calm = attacked[0] == 0 ? 0 : 2;
    std::size_t row = 0;
    for (const CanFrame& frame : both) {
      if (frame.channel != calm) continue;
      REQUIRE(kept[calm].at(row).time == frame.time);
      REQUIRE(kept[calm].at(row).payload == frame.payload);
      ++row;
    }
    CHECK(row == kept[calm].size());
    CHECK(std::is_sorted(made.frames.begin(), made.frames.end(),
                         [](const CanFrame& a, const CanFrame& b) { return a.time < b.time; }));
  }
}

TEST_CASE("long payloads are written and read in the forms that hold them", "[channels]") {
  std::vector<CanFrame> log = drive(3, 0);
  for (CanFrame& frame : log) {
    constexpr uint8_t kLengths[] = {8, 12, 16, 20, 24, 32, 48, 64};
    frame.length = kLengths[frame.id % 8];
    frame.fd = frame.length > 8;
    for (std::size_t i = 0; i < frame.length; ++i) {
      frame.payload[i] = static_cast<uint8_t>(frame.id + i);
    }
    std::fill(frame.payload.begin() + frame.length, frame.payload.end(), uint8_t{0});
  }
  for (const char* form : {"candump", "can-train-and-test"}) {
    INFO(form);
    std::string problems;
    const std::vector<CanFrame> read = frames_of(format_log(log, form), problems);
    CHECK(problems.empty());
    REQUIRE(read.size() == log.size());
    for (std::size_t i = 0; i < log.size(); ++i) {
      REQUIRE(read[i].length == log[i].length);
      REQUIRE(read[i].payload == log[i].payload);
      REQUIRE(read[i].fd == log[i].fd);
    }
  }
  // An attacker's frames are as long as the others.
  arrays::Random random(2);
  bool is_long = false;
  for (const CanFrame& frame : inject(
                                   log, "fuzzing",
                                   [] {
                                     CanInjectOptions how;
                                     how.lead_seconds = 0.5;
                                     how.max_attack_seconds = 1;
                                     return how;
                                   }(),
                                   random)
                                   .frames) {
    is_long |= frame.label == 1 && frame.length == 64 && frame.fd;
  }
  CHECK(is_long);
}

}  // namespace
}  // namespace kdgat::data
