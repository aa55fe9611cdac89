// Believable CAN traffic with labelled attacks, for tests, examples and the smoke profile; graphs
// in space, texts and ratings by the same door (see synth_spatial.h, synth_text.h,
// synth_ratings.h). The same bytes for the same options, on every machine. No LibTorch.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "data/can/can_frame.h"
#include "data/data_kind.h"
#include "data/synth_size.h"
#include "kdgat/options.h"

namespace kdgat::graph {

struct SynthOptions : SynthSize {
  std::string kind = "can";
  double seconds = 60;
  int64_t vehicles = 3;
  std::vector<std::string> attacks = {"dos",    "fuzzing",    "spoofing",
                                      "replay", "suspension", "masquerade"};
  std::string format = "can-train-and-test";
  int64_t items = 0;

  static auto table() {
    using O = SynthOptions;
    return std::tuple{
        field("kind", &O::kind,
              "can: logs of traffic; tree: random trees (SWC); superpixel: points of images (CSV); "
              "text: documents on topics (label<TAB>text); ratings: users rate items (u.data).")
            .choices({"can", "tree", "superpixel", "text", "ratings"}),
        field("seconds", &O::seconds, "Length of each training log; test logs are half as long.")
            .range(1, 86400),
        field("seed", &O::seed, "Seed; the same bytes for the same seed."),
        field("vehicles", &O::vehicles, "Number of vehicles.").range(1, 64),
        field("attacks", &O::attacks, "Attacks, one log each.")
            .choices({"dos", "fuzzing", "spoofing", "replay", "suspension", "masquerade"}),
        field("format", &O::format, "Form of the logs written.")
            .choices({"can-train-and-test", "hcrl", "candump"}),
        field("graphs", &O::graphs, "Number of trees, images, documents or users.")
            .range(1, 1 << 20),
        field("nodes", &O::nodes, "Nodes, words or ratings of each, about.").range(4, 1 << 20),
        field("classes", &O::classes, "Classes of them, which differ in shape, topic or taste.")
            .range(1, 256),
        field("items", &O::items, "Items that users rate; 0 = 16 for 9 users.").range(0, 1 << 20)};
  }
};

/// What an import of it reads.
DataKind synth_kind(const SynthOptions& options);

/// The options that matter to the kind.
nlohmann::json synth_identity(const SynthOptions& options);

/// Raised when the bytes written for the same options change.
inline constexpr int kSynthVersion = 1;

/// Frames of one log of one vehicle, `options.seconds` long, about 330 frames/s; `attack` empty =
/// attack-free. Another `drive` is the same vehicle on another day. See synth_attacks.h for what
/// each attack does and which rows it labels. Throws Error(kUsage) for an unknown attack.
std::vector<CanFrame> synthesize(const SynthOptions& options, int64_t vehicle,
                                 const std::string& attack, int64_t drive = 0);

/// Writes what `options.kind` says below `folder`: graphs in space, texts, ratings, or the
/// published folder layout: train_01_attack_free and train_02_with_attacks with all vehicles but
/// the last, test_01_known_vehicle_known_attack with other drives of them, and, from two vehicles
/// on, test_02_unknown_vehicle_known_attack with the last. Throws Error(kData), and
/// Error(kInterrupted) once `cancelled` answers true, asked between two files.
void write_synthetic(const std::filesystem::path& folder, const SynthOptions& options,
                     const std::function<bool()>& cancelled = {});

}  // namespace kdgat::graph
