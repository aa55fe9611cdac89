// libkdgat_detect through its header in C, beside what kdgat score says of the same frames.
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "engine/decision/library/kdgat_detect.h"
#include "support/can/detector_run.h"
#include "support/can/scored_lines.h"

using namespace kdgat::test;
using nlohmann::json;

namespace {

using Handle = std::unique_ptr<kdgat_detect, decltype(&kdgat_detect_close)>;

Handle open(const std::string& model, const char* options = nullptr) {
  char why[256];
  Handle out(kdgat_detect_open(model.c_str(), options, why, sizeof(why)), kdgat_detect_close);
  INFO(why);
  REQUIRE(out);
  return out;
}

const DetectorRun& detect_run() {
  static const DetectorRun one;
  return one;
}

/// What is pushed: the frame and its bytes.
struct Pushed {
  kdgat_frame frame{};
  std::vector<uint8_t> bytes;
};

std::vector<Pushed> pushed_of(const std::filesystem::path& log) {
  std::vector<Pushed> out;
  for (const std::vector<std::string>& fields : log_rows(log)) {
    Pushed one;
    one.frame.time = std::stod(fields[0]);
    one.frame.id = static_cast<uint32_t>(std::stoul(fields[1], nullptr, 16));
    if (one.frame.id >= 1U << 11) one.frame.flags = KDGAT_FRAME_EXTENDED;
    for (std::size_t i = 0; i + 1 < fields[2].size(); i += 2) {
      one.bytes.push_back(static_cast<uint8_t>(std::stoul(fields[2].substr(i, 2), nullptr, 16)));
    }
    one.frame.length = static_cast<uint8_t>(one.bytes.size());
    out.push_back(std::move(one));
  }
  for (Pushed& one : out) one.frame.data = one.bytes.data();
  return out;
}

void poll(const Handle& detect, std::vector<json>& to) {
  kdgat_detect_alarm alarm;
  while (kdgat_detect_poll(detect.get(), &alarm) == 1) {
    to.push_back(json::parse(alarm.json));
    CHECK(to.back().at("alarm") == alarm.number);
    CHECK(to.back().at("open") == (alarm.open == 1));
    CHECK(to.back().at("peak") == alarm.score);
  }
}

/// Frames of a log, pushed one by one, against what the program says of the log.
void check_alarms(const DetectorRun& t) {
  const Handle detect = open(t.model().string());
  std::vector<json> alarms;
  for (const Pushed& one : pushed_of(t.scratch / kKnownLog)) {
    const int32_t waiting = kdgat_detect_push(detect.get(), &one.frame);
    REQUIRE(waiting >= 0);
    if (waiting > 0) poll(detect, alarms);
  }
  REQUIRE(kdgat_detect_finish(detect.get()) >= 0);
  poll(detect, alarms);
  std::vector<json> wanted;
  for (const json& line :
       json_lines(t.kdgat("score '" + std::string(kKnownLog) + "' --json" + t.named()).out)) {
    if (line.value("event", "") == "alarm") wanted.push_back(line);
  }
  REQUIRE(!wanted.empty());
  REQUIRE(alarms.size() == wanted.size());
  for (std::size_t i = 0; i < alarms.size(); ++i) {
    json said = alarms[i], other = wanted[i];
    said.erase("file");
    other.erase("file");
    CHECK(said == other);
  }
  kdgat_detect_counts counts;
  kdgat_detect_count(detect.get(), &counts);
  CHECK(counts.alarms * 2 == static_cast<int64_t>(alarms.size()));
  CHECK(counts.dropped == 0);
  CHECK(counts.learning == 0);
  CHECK(std::string(kdgat_detect_model(detect.get())) == alarms.front().at("model"));
  Pushed one;
  CHECK(kdgat_detect_push(detect.get(), &one.frame) == -1);
  CHECK_THAT(kdgat_detect_error(detect.get()), Catch::Contains("has ended"));
}

}  // namespace

TEST_CASE("pushed frames raise the alarms of kdgat score", "[detect]") {
  SECTION("by trees") { check_alarms(detect_run()); }
  SECTION("by a network in their place") {
    check_alarms(DetectorRun("", R"(
dataset: logs
data: {features: relative, split: group}
options:
  classifier: {conv: none, norm: batch, pooling: max, monotone: true, hidden: 16, layers: 2,
               fc_layers: 2, lr: 0.01, batch_size: 256, max_epochs: 3}
stages: {classifier: , detector: {needs: classifier}}
)"));
  }
}

TEST_CASE("what cannot be judged is refused with a reason", "[detect]") {
  const DetectorRun& t = detect_run();
  char why[256] = "";
  CHECK(kdgat_detect_open("no/such/detector.json", nullptr, why, sizeof(why)) == nullptr);
  CHECK_THAT(why, Catch::Contains("no/such/detector.json"));
  CHECK(kdgat_detect_open(nullptr, nullptr, why, sizeof(why)) == nullptr);
  CHECK(kdgat_detect_open(t.model().c_str(), "{\"vehicle\": \"a boat\"}", why, sizeof(why)) ==
        nullptr);
  CHECK_THAT(why, Catch::Contains("a boat"));
  CHECK(kdgat_detect_open(t.model().c_str(), "{\"colour\": 1}", why, sizeof(why)) == nullptr);
  CHECK(kdgat_detect_open(t.model().c_str(), "{", nullptr, 0) == nullptr);
  for (const char* options :
       {"[]", "null", "3", "\"\"", R"({"calibrate":-1})", R"({"batch":0})", R"({"batch":5000})",
        R"({"top":0})", R"({"format":"wav"})", R"({"calibrate":true})", R"({"threshold":3})",
        R"({"calibrate":40,"calibrate":50})"}) {
    INFO(options);
    why[0] = '\0';
    CHECK(kdgat_detect_open(t.model().c_str(), options, why, sizeof(why)) == nullptr);
    CHECK(std::string(why) != "");
  }
  const Handle detect = open(t.model().string(), "{\"calibrate\": 40}");
  const uint8_t bytes[64] = {};
  const auto refused = [&](kdgat_frame frame) {
    frame.data = bytes;
    return kdgat_detect_push(detect.get(), &frame) == -1;
  };
  CHECK(refused({.time = 0, .id = 0x800, .length = 8, .channel = 0, .flags = 0, .data = nullptr}));
  CHECK(refused({.time = 0,
                 .id = 1U << 29,
                 .length = 8,
                 .channel = 0,
                 .flags = KDGAT_FRAME_EXTENDED,
                 .data = nullptr}));
  CHECK(refused({.time = 0, .id = 1, .length = 65, .channel = 0, .flags = 0, .data = nullptr}));
  CHECK(refused({.time = 0, .id = 1, .length = 8, .channel = 8, .flags = 0, .data = nullptr}));
  kdgat_frame empty{};
  empty.length = 3;
  CHECK(kdgat_detect_push(detect.get(), &empty) == -1);
  kdgat_detect_counts counts;
  kdgat_detect_count(detect.get(), &counts);
  CHECK(counts.frames == 0);
  kdgat_detect_close(nullptr);
}

TEST_CASE("NULL is an error and never a crash", "[detect]") {
  const Handle detect = open(detect_run().model().string());
  kdgat_frame frame{};
  kdgat_detect_alarm alarm;
  kdgat_detect_counts counts;
  CHECK(kdgat_detect_push(nullptr, &frame) == -1);
  CHECK(kdgat_detect_finish(nullptr) == -1);
  CHECK(kdgat_detect_poll(nullptr, &alarm) == -1);
  counts.frames = 7;
  kdgat_detect_count(nullptr, &counts);
  CHECK(counts.frames == 0);
  kdgat_detect_count(detect.get(), nullptr);
  CHECK(std::string(kdgat_detect_error(nullptr)) != "");
  CHECK(std::string(kdgat_detect_model(nullptr)) == "");
  CHECK(kdgat_detect_push(detect.get(), nullptr) == -1);
  CHECK_THAT(kdgat_detect_error(detect.get()), Catch::Contains("no frame"));
  CHECK(kdgat_detect_poll(detect.get(), nullptr) == -1);
  CHECK(kdgat_detect_push(detect.get(), &frame) == 0);
}

TEST_CASE("a damaged detector is refused", "[detect]") {
  const DetectorRun& t = detect_run();
  std::string text = read_text(t.model());
  text.insert(text.find("\"window\":") + 9, "1");
  const std::filesystem::path damaged = t.scratch / "damaged.json";
  std::ofstream(damaged) << text;
  char why[256] = "";
  CHECK(kdgat_detect_open(damaged.c_str(), nullptr, why, sizeof(why)) == nullptr);
  CHECK_THAT(why, Catch::Contains("does not match its hash"));
}

TEST_CASE("any frames may come, in any order of time", "[detect]") {
  const DetectorRun& t = detect_run();
  const Handle detect = open(t.model().string());
  std::mt19937_64 random(7);
  uint8_t bytes[64];
  double time = 0;
  for (int i = 0; i < 200'000; ++i) {
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    kdgat_frame frame{};
    const bool extended = random() % 4 == 0;
    frame.flags = static_cast<uint16_t>((extended ? KDGAT_FRAME_EXTENDED : 0) |
                                        (random() % 16 == 0 ? KDGAT_FRAME_REMOTE : 0));
    frame.id = static_cast<uint32_t>(random() % (extended ? 1U << 29 : 1U << 11));
    frame.length = static_cast<uint8_t>(random() % 65);
    frame.channel = static_cast<uint8_t>(random() % 8);
    frame.data = bytes;
    const uint64_t step = random() % 1000;
    time += step == 0 ? -5.0 : step == 1 ? 1e6 : step == 2 ? 0 : 0.001;
    frame.time = step == 3   ? std::numeric_limits<double>::quiet_NaN()
                 : step == 4 ? std::numeric_limits<double>::infinity()
                             : time;
    REQUIRE(kdgat_detect_push(detect.get(), &frame) >= 0);
  }
  REQUIRE(kdgat_detect_finish(detect.get()) >= 0);
  kdgat_detect_counts counts;
  kdgat_detect_count(detect.get(), &counts);
  CHECK(counts.frames == 200'000);
  CHECK(counts.windows > 0);
}
