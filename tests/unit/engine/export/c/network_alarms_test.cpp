// What an exported detector says of logs beside what the native engine says of the same frames:
// windows, scores and alarms, through its own reader of candump.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/data/can/logs/can_log.h"
#include "engine/data/can/logs/format_log.h"
#include "engine/data/can/synthetic/synth_traffic.h"
#include "engine/decision/stream/network_judge.h"
#include "engine/decision/stream/window_network.h"
#include "engine/export/c/network_c.h"
#include "engine/kernels/cpu/isa/level.h"
#include "support/can/log_text.h"
#include "support/can/made_network.h"
#include "support/programs/exported.h"

namespace kdgat::exporting {
namespace {

using nlohmann::json;
using test::ExportedFolder;
using test::MadeNetwork;
using test::ScratchFolder;

class Portable {
 public:
  Portable() : before_(kernels::isa_level()) { kernels::set_isa_level("portable"); }
  ~Portable() { kernels::set_isa_level(before_); }

 private:
  std::string before_;
};

/// Two vehicles' drives, one behind the other, with a flood in each, and lines that are no frames.
std::string log_text(const std::vector<data::Message>& vehicle, uint64_t seed) {
  std::string out = "# a remark\n";
  for (int64_t part = 0; part < 2; ++part) {
    auto drive = data::make_drive(vehicle, seed + static_cast<uint64_t>(part), 6'000'000, 0);
    for (int64_t i = 0; i < 1500; ++i) {
      data::Transmission flood;
      flood.ready_us = 2'000'000 + i * 400;
      flood.id = part == 0 ? 0 : 0x7AA;
      drive.push_back(flood);
    }
    std::stable_sort(drive.begin(), drive.end(),
                     [](const auto& a, const auto& b) { return a.ready_us < b.ready_us; });
    // The second one's clock begins anew.
    out += data::format_log(data::transmit(std::move(drive), 1'000'000), "candump");
  }
  return out +
         "(7.5) can0 12345678##1000102030405060708090A0B\n(7.6) can0 123#R\n(7.7) can0 12#00_8 T\n"
         "(7.8) can0 GGG#00\n(x) can0 123#00\n(7.9) can0 123#000\n";
}

struct Heard {
  std::vector<json> windows, alarms;
};

Heard native_of(const std::filesystem::path& model, const std::filesystem::path& log,
                double threshold) {
  const Portable level;
  const decision::WindowNetwork network = decision::native_network(model);
  const data::Vocabulary vocabulary(network.vocabulary);
  decision::ScoreOptions options;
  options.threshold = {threshold};
  options.batch = 1;
  Heard out;
  decision::JudgeSink sink;
  sink.window = [&](const WindowEvent& window) { out.windows.push_back(window); };
  sink.alarm = [&](const AlarmEvent& alarm) { out.alarms.push_back(alarm); };
  sink.log = [](const std::string&, const std::string&) {};
  sink.cancelled = [] { return ExitCode::kOk; };
  decision::NetworkJudge judge(network, vocabulary, options, "log", "0123", sink);
  data::CanLog frames(file::ByteReader(log.string()), "candump", false);
  for (data::CanFrame frame; frames.next(frame);) judge.add(frame, frames.restarted());
  judge.finish();
  return out;
}

Heard exported_of(const ExportedFolder& folder, const std::filesystem::path& log) {
  const auto said = folder.run(
      "gcc -O2 -std=c99 -Wall -Wextra -Werror -pedantic -ffp-contract=off detector.c main.c -o "
      "detect && ./detect --windows < " +
      log.string());
  REQUIRE(said.exit_code == 0);
  CHECK(said.err == "4 lines are no frames\n");
  Heard out;
  std::istringstream lines(said.out);
  for (std::string line; std::getline(lines, line);) {
    const json event = json::parse(line);
    (event.at("event") == "window" ? out.windows : out.alarms).push_back(event);
  }
  return out;
}

/// Whether each key of `exported` that `native` has says the same, and how many those are.
std::size_t same_keys(const json& exported, const json& native) {
  std::size_t same = 0;
  for (const auto& [key, value] : exported.items()) {
    if (!native.contains(key)) continue;
    INFO(key << " of " << exported << " and " << native);
    if (key == "score" || key == "peak") {
      CHECK(value.get<float>() == native.at(key).get<float>());
    } else {
      CHECK(value == native.at(key));
    }
    ++same;
  }
  return same;
}

void compare(const std::filesystem::path& model, const std::filesystem::path& log) {
  // A threshold that some windows exceed: alarms open, go on and close.
  Heard native = native_of(model, log, 2);
  std::vector<double> scores;
  for (const json& window : native.windows) scores.push_back(window.at("score"));
  std::sort(scores.begin(), scores.end());
  REQUIRE(scores.size() > 50);
  const auto below = std::lower_bound(scores.begin(), scores.end(), scores.back());
  REQUIRE(below != scores.begin());
  const double threshold = std::min(scores[scores.size() * 99 / 100], *std::prev(below));
  native = native_of(model, log, threshold);
  const model::TrainedModel made = model::open_model(model);
  NetworkCOptions options;
  options.threshold = threshold;
  options.hash = "0123";
  const ExportedFolder folder(network_c(made.file, made.header, options));
  const Heard exported = exported_of(folder, log);
  REQUIRE(exported.windows.size() == native.windows.size());
  for (std::size_t i = 0; i < native.windows.size(); ++i) {
    CHECK(same_keys(exported.windows[i], native.windows[i]) == 4);
  }
  REQUIRE(native.alarms.size() > 1);
  REQUIRE(exported.alarms.size() == native.alarms.size());
  for (std::size_t i = 0; i < native.alarms.size(); ++i) {
    CHECK(same_keys(exported.alarms[i], native.alarms[i]) == 10);
  }
}

TEST_CASE("an exported network hears in a log what kdgat score hears", "[export]") {
  const ScratchFolder scratch;
  const auto vehicle = data::make_vehicle(5, 0);
  std::vector<int64_t> ids(vehicle.size());
  std::transform(vehicle.begin(), vehicle.end(), ids.begin(),
                 [](const data::Message& message) { return message.id; });
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  ids.pop_back();  // one that the model has not seen
  test::write_text(scratch / "drive.log", log_text(vehicle, 11));
  const std::filesystem::path model = scratch / "model.safetensors";
  SECTION("a classifier") {
    MadeNetwork(ids, {100, 100, 0}, 2).write(model::GatConfig::student(0), model);
    compare(model, scratch / "drive.log");
  }
  SECTION("a classifier of overlapping windows, that reads edges") {
    model::GatConfig config = model::GatConfig::student(0);
    config.conv = "gatv2";
    config.hidden = 6;
    config.standardise = true;
    MadeNetwork(ids, {64, 16, 0}, 3).write(config, model);
    compare(model, scratch / "drive.log");
  }
  SECTION("an autoencoder") {
    MadeNetwork(ids, {50, 50, 1000}, 4).write(model::VgaeConfig::student(0), model);
    compare(model, scratch / "drive.log");
  }
}

}  // namespace
}  // namespace kdgat::exporting
