// A detector as C: what it says of frames is to the bit what the program says.
#include "engine/export/c/detector_c.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "engine/arrays/random.h"
#include "engine/data/can/logs/format_log.h"
#include "engine/data/can/synthetic/attack_options.h"
#include "engine/data/can/synthetic/inject.h"
#include "support/can/can_drive.h"
#include "support/can/can_traffic.h"
#include "support/can/detector_c_case.h"
#include "support/can/low_floors.h"
#include "support/can/odd_traffic.h"
#include "support/can/watched_drives.h"

using namespace kdgat;
using Catch::Contains;
using decision::DetectorModel;
using exporting::DetectorCOptions;
using test::check_lines;
using test::DetectorProgram;
using test::drive;
using test::Frames;
using test::kStrictC99;
using test::odd_frames;
using test::said_by;
using test::watching_model;

namespace {

const std::string& first_vehicle() { return watching_model().vehicles.front().name; }

/// The model with one more vehicle, "made".
DetectorModel with_made(const Frames& benign, int64_t own = 0) {
  DetectorModel out = watching_model();
  out.vehicles.push_back({"made", data::profile_of(benign), own});
  return out;
}

Frames joined(Frames a, const Frames& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Frames without_times(Frames log) {
  for (data::CanFrame& frame : log) frame.time = std::numeric_limits<double>::quiet_NaN();
  return log;
}

std::size_t count_of(const std::string& text, const std::string& word) {
  std::size_t out = 0;
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++out;
  return out;
}

/// Trees whose sum tells where each column of a window lies among many thresholds, so that nothing
/// hides behind what is odder.
trees::BoostedTrees telling_trees() {
  constexpr int kThresholds = 120;
  arrays::Random random(11);
  nlohmann::json list = nlohmann::json::array();
  const auto column_count = static_cast<int>(data::kRelativeColumns);
  for (int i = 0; i < kThresholds * column_count; ++i) {
    const float threshold = i % 3 == 0 ? static_cast<float>(20 * std::pow(random.uniform(), 4))
                                       : static_cast<float>(std::pow(random.uniform(), i % 3));
    list.push_back(
        {{"column", {i % column_count, -1, -1}},
         {"threshold", {threshold}},
         {"missing_right", {0}},
         {"value",
          {static_cast<float>(random.uniform() - 0.5), static_cast<float>(random.uniform() - 0.5)}},
         {"cover", {1, 1}}});
  }
  return trees::BoostedTrees::from_json({{"format", "kdgat.boosted_trees"},
                                         {"version", 1},
                                         {"columns", column_count},
                                         {"base", 0.25},
                                         {"trees", std::move(list)}});
}

/// The model with one more vehicle, "made", and telling trees, beside which its tails say nothing.
DetectorModel telling(const Frames& benign) {
  DetectorModel out = with_made(benign);
  out.classifier = telling_trees();
  out.floors = test::low_floors();
  for (auto& [own, decision] : out.decisions) decision.tails = 1e6;
  return out;
}

/// A truck: J1939, two control units that claim their addresses.
Frames truck(double seconds, int64_t day) {
  const Frames plain = drive(seconds, day);
  Frames out = test::with_ids(plain, test::j1939_ids(plain));
  return test::merged(out, {test::claim(out, 1, 0x03, 3), test::claim(out, 1.1, 0x0B, 11)});
}

/// The same where the unit at 03 gave its address up for 44, and a newcomer claims 45.
Frames moved_truck(double seconds, int64_t day) {
  Frames out = truck(seconds, day);
  const double start = out.front().time;
  for (data::CanFrame& frame : out) {
    if (frame.time - start > 8 && (frame.id & 0xFF) == 0x03) frame.id = (frame.id & ~0xFFU) | 0x44;
    if (frame.time - start > 12) frame.id = (frame.id & ~(7U << 26)) | 3U << 26;
  }
  out = test::merged(out, {test::claim(out, 8, 0x44, 3), test::claim(out, 9, 0x45, 99)});
  Frames others;
  for (int i = 0; i < 50; ++i) {
    data::CanFrame frame = test::claim(out, 9.5 + i * 0.05, 0x45, 1);
    frame.id = i % 2 == 0 ? 0x18FF7745U : i % 4 == 1 ? 0x18EA00FEU : 0x18FF2299U;
    others.push_back(frame);
  }
  return test::merged(out, others);
}

/// Both say the same of these frames as those of "made".
void check_made(const DetectorModel& model, const Frames& frames) {
  const DetectorProgram program(model, "made");
  program.compile("gcc -O2" + std::string(kStrictC99));
  check_lines(said_by(model, "made", frames), program.says(frames));
}

/// Above which few windows of a text score.
double rare_score(const std::string& said) {
  std::vector<double> scores;
  std::istringstream lines(said);
  for (std::string word; lines >> word;) {
    if (word != "window") continue;
    lines >> word;
    scores.push_back(std::bit_cast<double>(static_cast<uint64_t>(std::stoull(word, nullptr, 16))));
  }
  std::sort(scores.begin(), scores.end());
  return scores.at(scores.size() * 19 / 20);
}

}  // namespace

TEST_CASE("a detector in C says of each window and alarm what the program says", "[detector_c]") {
  const DetectorProgram program(watching_model(), first_vehicle());
  program.compile("gcc -O2 -Wvla" + std::string(kStrictC99));
  const auto& ids = watching_model().vehicles.front().profile.ids;
  CHECK(std::any_of(ids.begin(), ids.end(), [](const auto& id) { return id.laws.has_value(); }));
  std::size_t alarms = 0;
  std::vector<Frames> logs{drive(40, 7), drive(40, 6, "", 1), drive(2, 1), {}};
  logs[2].resize(99);  // no window
  for (const char* attack : {"dos", "fuzzing", "spoofing", "replay", "suspension", "masquerade"}) {
    logs.push_back(drive(30, 8, attack));
  }
  for (const std::string& kind : data::all_attacks()) {
    arrays::Random random(5);
    logs.push_back(data::inject(drive(40, 9), kind, {}, random).frames);
  }
  for (const Frames& log : logs) {
    const std::string wanted = said_by(watching_model(), first_vehicle(), log);
    check_lines(wanted, program.says(log));
    CHECK(count_of(wanted, "window") == log.size() / 100);
    alarms += count_of(wanted, "alarm");
  }
  CHECK(alarms > 20);
}

TEST_CASE("a detector in C says the same of odd clocks and quiet buses", "[detector_c]") {
  const DetectorModel model = telling(drive(60, 1));
  const DetectorProgram program(model, "made");
  program.compile("gcc -O2" + std::string(kStrictC99));
  const Frames log = drive(30, 3), attack = drive(30, 4, "spoofing");
  const auto back = [](Frames frames, std::size_t from, double seconds) {
    for (std::size_t i = from; i < frames.size(); ++i) frames[i].time -= seconds;
    return frames;
  };
  Frames still = log;
  for (std::size_t i = 3000; i < 3700; ++i) still[i].time = still[3000].time;
  Frames steps = log;
  for (std::size_t i = 50; i < steps.size(); i += 97) steps[i].time -= 0.004;
  Frames holes = log;
  for (std::size_t i = 1000; i < 2000; ++i) {
    holes[i].time = std::numeric_limits<double>::quiet_NaN();
  }
  for (const Frames& one :
       {without_times(log), joined(log, attack), joined(attack, without_times(log)),
        back(log, 4000, 0.5), back(attack, 4000, 0.9), back(log, 4000, 1.0), still, steps, holes,
        test::delayed(log, 10, 0.6), test::delayed(log, 10, 900),
        test::silenced(log, 8, 14, [](uint32_t) { return true; }),
        test::silenced(log, 8, 14, [](uint32_t id) { return id % 3 != 0; }),
        test::silenced(log, 8, 10, [&](uint32_t id) { return id == log.front().id; }),
        test::merged(log, test::tester(log, 4, 14)),
        test::merged(log, test::flood(log, 0x7E0, 5, 9, 600))}) {
    check_lines(said_by(model, "made", one), program.says(one));
  }
}

TEST_CASE("a detector in C flags nothing without evidence", "[detector_c]") {
  DetectorModel model = telling(drive(60, 1));
  model.floors = {};
  for (auto& [own, decision] : model.decisions) decision.classifier = -1e6;
  const DetectorProgram program(model, "made");
  program.compile("gcc -O2" + std::string(kStrictC99));
  for (const char* attack : {"", "fuzzing", "spoofing"}) {
    const Frames log = drive(30, 4, attack);
    const std::string wanted = said_by(model, "made", log);
    check_lines(wanted, program.says(log));
    CHECK(count_of(wanted, "window 0000000000000000") > 10);
  }
}

TEST_CASE("a detector in C flags a missing id whatever the scores say", "[detector_c]") {
  DetectorModel model = telling(drive(60, 1));
  for (auto& [own, decision] : model.decisions) decision.classifier = decision.tails = 1e6;
  const DetectorProgram program(model, "made");
  program.compile("gcc -O2" + std::string(kStrictC99));
  const Frames log = drive(30, 4);
  const Frames silenced =
      test::silenced(log, 10, 20, [&](uint32_t id) { return id == log.front().id; });
  const std::string wanted = said_by(model, "made", silenced);
  check_lines(wanted, program.says(silenced));
  CHECK(count_of(wanted, "alarm") > 0);
  CHECK(count_of(said_by(model, "made", log), "alarm") == 0);
}

TEST_CASE("a detector in C knows J1939, several buses and the vehicle's own thresholds",
          "[detector_c]") {
  SECTION("J1939") {
    const DetectorModel model = telling(truck(60, 1));
    REQUIRE(model.vehicles.back().profile.names.size() == 2);
    const DetectorProgram program(model, "made");
    program.compile("gcc -O2" + std::string(kStrictC99));
    for (const Frames& log :
         {truck(20, 2), moved_truck(20, 3),
          test::merged(truck(20, 2), test::flood(truck(20, 2), 0x18EEFF03, 5, 8, 400)),
          odd_frames(truck(60, 1), 30'000, 3)}) {
      check_lines(said_by(model, "made", log), program.says(log));
    }
  }
  SECTION("two buses, the first of which is not bus 0") {
    const auto both = [](int64_t day, const std::string& attack) {
      const Frames first = drive(30, day, attack);
      return test::merged(test::on_channel(first, 2, first),
                          test::on_channel(truck(30, day), 5, first));
    };
    const DetectorModel model = telling(both(1, ""));
    const DetectorProgram program(model, "made");
    program.compile("gcc -O2" + std::string(kStrictC99));
    for (const Frames& log :
         {both(2, ""), both(3, "fuzzing"), drive(20, 1),
          test::silenced(both(4, ""), 5, 9, [](uint32_t id) { return id > 0x7FF; }),
          odd_frames(both(1, ""), 30'000, 4)}) {
      check_lines(said_by(model, "made", log), program.says(log));
    }
  }
  SECTION("learned from few windows, with an alarm rule and another threshold") {
    DetectorModel model = with_made(drive(20, 1), 60);
    REQUIRE(model.decisions.size() > 1);
    model.alarm_rule = {3, 5};
    const DetectorProgram program(model, "made", {.threshold = -6});
    program.compile("gcc -O2" + std::string(kStrictC99));
    for (const char* attack : {"", "spoofing", "dos"}) {
      const Frames log = drive(40, 5, attack);
      const std::string wanted = said_by(model, "made", log, -6);
      check_lines(wanted, program.says(log));
      CHECK(count_of(wanted, "flagged") > 0);
    }
  }
}

TEST_CASE("a detector in C is the same for every compiler and machine", "[detector_c]") {
  const DetectorModel model = with_made(truck(40, 1));
  const Frames log = joined(drive(20, 8, "fuzzing"), odd_frames(truck(40, 1), 10'000, 5));
  for (const std::string& vehicle : {first_vehicle(), std::string("made")}) {
    const DetectorProgram program(model, vehicle);
    const std::string wanted = said_by(model, vehicle, log);
    struct Way {
      const char *needs, *compiler, *runner;
    };
    for (const Way& way :
         {Way{"gcc", "gcc -O0 -Wvla", ""}, Way{"gcc", "gcc -O3 -Wvla", ""},
          Way{"gcc", "gcc -O3 -march=native -ffp-contract=off", ""},
          Way{"clang-14", "clang-14 -O0 -Wvla", ""}, Way{"clang-14", "clang-14 -O3 -Wvla", ""},
          Way{"tcc", "tcc", ""},
          Way{"arm-linux-gnueabihf-gcc qemu-arm",
              "arm-linux-gnueabihf-gcc -O3 -mthumb -ffp-contract=off -static", "qemu-arm"},
          Way{"aarch64-linux-gnu-gcc qemu-aarch64",
              "aarch64-linux-gnu-gcc -O0 -ffp-contract=off -static", "qemu-aarch64"},
          Way{"aarch64-linux-gnu-gcc qemu-aarch64",
              "aarch64-linux-gnu-gcc -O3 -ffp-contract=off -static", "qemu-aarch64"}}) {
      const std::string needs = std::string("which ") + way.needs;
      if (test::run_shell(
              needs + " && test $(" + needs + " | wc -l) = $(echo '" + way.needs + "' | wc -w)",
              program.folder().path())
              .exit_code != 0) {
        std::printf("skipped: %s is not there\n", way.needs);
        continue;
      }
      INFO(way.compiler);
      program.compile(way.compiler + std::string(kStrictC99));
      check_lines(wanted, program.says(log, way.runner));
      program.check(way.compiler, way.runner);
    }
  }
}

TEST_CASE("a detector in C takes any frame without undefined behaviour", "[detector_c]") {
  const Frames other = drive(40, 2);
  for (const Frames& usual :
       {drive(40, 1), test::merged(truck(40, 1), test::on_channel(other, 3, other))}) {
    const Frames frames = odd_frames(usual, test::soak(150'000), 6);
    check_made(with_made(usual), frames);
    const DetectorModel model = telling(usual);
    const double threshold = rare_score(said_by(model, "made", frames));
    const DetectorProgram program(model, "made", {.threshold = threshold});
    program.compile(
        "gcc -O1 -g -fsanitize=address,undefined,float-divide-by-zero -fno-sanitize-recover=all" +
        std::string(kStrictC99));
    const std::string wanted = said_by(model, "made", frames, threshold);
    check_lines(wanted, program.says(frames));
    CHECK(count_of(wanted, "open") > 2);
  }
}

TEST_CASE("a detector in C asks for no heap and no mathematics", "[detector_c]") {
  const DetectorProgram program(watching_model(), first_vehicle());
  for (const char* how : {"-O0", "-Os", "-O3"}) {
    const test::CommandResult run = test::run_shell(
        "gcc -c " + std::string(how) + kStrictC99 + " model.c && nm -u model.o | sed 's/.* //'",
        program.folder().path());
    REQUIRE(run.exit_code == 0);
    std::string rest = run.out;
    for (const char* allowed :
         {"memset\n", "memcpy\n", "__stack_chk_fail\n", "_GLOBAL_OFFSET_TABLE_\n"}) {
      if (const std::size_t at = rest.find(allowed); at != rest.npos) {
        rest.erase(at, std::string(allowed).size());
      }
    }
    CHECK(rest.empty());
  }
}

TEST_CASE("a detector in C with int8 leaves is the rounded model, and nearly the model",
          "[detector_c]") {
  const DetectorModel& model = watching_model();
  const data::Vehicle& vehicle = model.vehicles.front();
  const DetectorModel rounded = exporting::rounded_detector(model);
  CHECK(exporting::detector_c_size(model, vehicle, {.int8 = true}).flash <
        exporting::detector_c_size(model, vehicle, {}).flash);
  const DetectorProgram program(model, vehicle.name, {.int8 = true});
  program.compile("gcc -O2" + std::string(kStrictC99));
  const Frames log = drive(40, 8, "spoofing");
  const std::string found = program.says(log), exact = said_by(model, vehicle.name, log);
  check_lines(said_by(rounded, vehicle.name, log), found);
  CHECK(exact != found);
  CHECK(count_of(exact, "flagged") > 0);
  CHECK(count_of(exact, "flagged") == count_of(found, "flagged"));
  program.check("gcc -O2");
}

TEST_CASE("what reads candump judges as the program does", "[detector_c]") {
  const DetectorProgram program(watching_model(), first_vehicle());
  const Frames log = drive(30, 8, "fuzzing");
  test::write_text(program.folder() / "a.log", data::format_log(log, "candump"));
  Frames read;
  data::CanLog again(file::ByteReader(program.folder() / "a.log"), "auto", false);
  for (data::CanFrame frame; again.next(frame);) read.push_back(frame);
  const test::CommandResult run =
      test::run_shell("gcc -O2" + std::string(kStrictC99) +
                          " model.c main.c -o detect && ./detect --windows < a.log",
                      program.folder().path());
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  std::istringstream lines(run.out);
  std::string found;
  std::size_t alarms = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto said = nlohmann::json::parse(line);
    if (said.at("event") == "window") {
      found += "window" + test::bits_text(static_cast<double>(said.at("score").get<float>())) +
               (said.at("decision") == "attack" ? " flagged\n" : "\n");
    } else {
      found += "alarm " + std::to_string(alarms++ / 2) +
               (said.at("open").get<bool>() ? " open " : " closed ") +
               said.at("first_window").dump() + " " + said.at("last_window").dump() + " " +
               said.at("windows").dump() + " " + said.at("peak_window").dump() +
               test::bits_text(static_cast<double>(said.at("peak").get<float>())) +
               test::bits_text(said.at("begin").get<double>()) +
               test::bits_text(said.at("end").get<double>()) + "\n";
    }
  }
  CHECK(alarms > 0);
  check_lines(said_by(watching_model(), first_vehicle(), read), found);
}

TEST_CASE("a vehicle that cannot be exported is named, and what to do", "[detector_c]") {
  const DetectorModel& model = watching_model();
  CHECK_THAT(
      test::error_of([&] { exporting::detector_c(model, "nobody's", {}); }, ExitCode::kUsage),
      Contains("nobody's"));
  try {
    exporting::detector_c(model, "nobody's", {});
  } catch (const Error& error) {
    CHECK_THAT(error.diagnostics().front().hint,
               Contains(model.vehicles.front().name) && Contains(model.vehicles.back().name));
  }
  DetectorModel other = model;
  other.vehicles.push_back({"empty", {}, 0});
  CHECK_THAT(test::data_error([&] { exporting::detector_c(other, "empty", {}); }),
             Contains("empty") && Contains("no id"));
  other.vehicles.assign(2, model.vehicles.front());
  other.vehicles[0].name = "train_01/van-7.csv.gz";
  other.vehicles[1].name = "train_01/van-8.csv";
  CHECK(&decision::vehicle_named(other, "van-7") == &other.vehicles[0]);
  CHECK(&decision::vehicle_named(other, "van-8.csv") == &other.vehicles[1]);
  other.vehicles[1].name = "train_02/van-7.csv";
  CHECK_THAT(test::error_of([&] { decision::vehicle_named(other, "van-7"); }, ExitCode::kUsage),
             Contains("several vehicles"));
  other.vehicles.clear();
  CHECK_THAT(test::error_of([&] { exporting::detector_c(other, "any", {}); }, ExitCode::kUsage),
             Contains("no vehicle"));
  CHECK_THAT(test::error_of(
                 [&] {
                   DetectorCOptions options;
                   options.name = "a/b";
                   exporting::detector_c(model, first_vehicle(), options);
                 },
                 ExitCode::kUsage),
             Contains("a/b"));
}

TEST_CASE("detectors of recorded traffic say the same in C", "[detector_c][data]") {
  for (const char* set : {"data/hcrl_sa", "data/set_03"}) {
    const auto folder = test::shared_path(set);
    if (!folder) continue;
    const test::LogStore logs(*folder);
    const DetectorModel model = test::detector_of(logs, 60);
    const data::Vehicle& vehicle = model.vehicles.front();
    const exporting::DetectorCSize size = exporting::detector_c_size(model, vehicle, {});
    CHECK(size.flash <= 128 * 1024);
    CHECK(size.state <= 128 * 1024);
    const DetectorProgram program(model, vehicle.name);
    program.compile("gcc -O3" + std::string(kStrictC99));
    for (const data::StoredLog& log : logs.logs()) {
      Frames frames;
      for (int64_t row = 0; row < std::min<int64_t>(log.rows(), test::soak(100'000)); ++row) {
        frames.push_back(log.frame(row));
      }
      INFO(log.name());
      check_lines(said_by(model, vehicle.name, frames), program.says(frames));
    }
  }
}
