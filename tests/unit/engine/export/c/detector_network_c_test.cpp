// A detector with a graph network as C: the bits of the native engine.
#include <catch2/catch.hpp>
#include <set>
#include <sstream>
#include <string>

#include "engine/export/c/detector_c.h"
#include "engine/export/c/portable_level.h"
#include "support/can/can_drive.h"
#include "support/can/detector_c_case.h"
#include "support/can/low_floors.h"
#include "support/can/odd_traffic.h"
#include "support/can/watched_drives.h"
#include "support/graphs/random_networks.h"

using namespace kdgat;
using Catch::Contains;
using decision::DetectorModel;
using test::DetectorProgram;
using test::drive;
using test::Frames;
using test::kStrictC99;

namespace {

model::GatConfig form() {
  model::GatConfig out = model::GatConfig::student(1);
  out.conv = "none";
  out.norm = "batch";
  out.pooling = "max";
  out.has_ids = false;
  out.node_features = data::kRelativeNodeFeatures;
  out.hidden = 20;
  out.layers = 3;
  return out;
}

/// The model with a random network of this form, beside which its tails say nothing.
DetectorModel with_network(const model::GatConfig& config) {
  const test::ScratchFolder folder;
  exporting::RandomNetwork(9).write(
      folder / "model.safetensors", config,
      {{"node_features", data::relative_node_names()},
       {"edge_features", data::relative_edge_names()},
       {"import", {{"features", data::kRelativeFeatures}, {"window", 100}}}});
  DetectorModel out = test::watching_model();
  out.classifier = decision::RelativeNetwork::read(folder / "model.safetensors");
  out.floors = test::low_floors();
  for (auto& [own, decision] : out.decisions) decision.tails = 1e6;
  return out;
}

void check_same(const DetectorModel& model, const Frames& frames, std::size_t least) {
  const std::string name = model.vehicles.front().name;
  const exporting::PortableLevel portable;
  const DetectorProgram program(model, name);
  program.compile("gcc -O2" + std::string(kStrictC99));
  const std::string said = test::said_by(model, name, frames);
  test::check_lines(said, program.says(frames));
  std::set<std::string> scores;
  std::istringstream lines(said);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("window")) scores.insert(line);
  }
  CHECK(scores.size() >= least);
}

}  // namespace

TEST_CASE("a network in C has the bits of the native engine", "[export][c][network]") {
  for (const bool is_standardised : {false, true}) {
    model::GatConfig config = form();
    config.standardise = is_standardised;
    const DetectorModel model = with_network(config);
    for (const char* attack : {"", "fuzzing", "dos", "spoofing", "suspension"}) {
      INFO(attack);
      check_same(model, drive(30, 5, attack), 10);
    }
  }
  model::GatConfig plain = form();
  plain.norm = "none";
  plain.fc_layers = 3;
  check_same(with_network(plain), drive(30, 6, "fuzzing"), 10);
}

TEST_CASE("odd traffic is to a network in C what it is to the native engine",
          "[export][c][network]") {
  const DetectorModel model = with_network(form());
  for (const uint64_t seed : {1, 2, 3}) {
    INFO(seed);
    check_same(model, test::odd_frames(drive(20, 5), 8'000, seed), 5);
  }
}

TEST_CASE("a network that C does not have is refused", "[export][c][network]") {
  const auto refusal = [](auto change) -> std::string {
    model::GatConfig config = form();
    change(config);
    const DetectorModel model = with_network(config);
    try {
      exporting::detector_c(model, model.vehicles.front(), {});
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::kData);
      return error.what();
    }
    return "";
  };
  CHECK(refusal([](auto&) {}).empty());
  CHECK_THAT(refusal([](auto& c) { c.conv = "gin"; }), Contains("conv=gin, which reads edges"));
  CHECK_THAT(refusal([](auto& c) { c.norm = "graph"; }), Contains("norm=graph"));
  CHECK_THAT(refusal([](auto& c) { c.pooling = "sum"; }), Contains("pooling=sum"));
  CHECK_THAT(refusal([](auto& c) { c.jk = "lstm"; }), Contains("jk=lstm"));
  const DetectorModel model = with_network(form());
  exporting::DetectorCOptions rounded;
  rounded.int8 = true;
  CHECK_THROWS_WITH(exporting::detector_c(model, model.vehicles.front(), rounded),
                    Contains("has floats in C"));
}
