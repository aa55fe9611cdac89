// Options of imports of CAN logs, and of made-up traffic. No LibTorch.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "data/import_options.h"
#include "data/synth_size.h"
#include "kdgat/options.h"

namespace kdgat::graph {

struct CanImportOptions : SharedOptions {
  int64_t window = 100;
  int64_t stride = 100;
  int64_t chunk_rows = 0;
  std::string features = "v2";
  std::string vocabulary = "train";
  std::vector<std::string> exclude = {"suppress", "masquerade"};
  bool deduplicate = true;
  std::string assume;  ///< "" or "benign": the label of rows without one

  static auto table() {
    using O = CanImportOptions;
    auto own = std::tuple{
        field("window", &O::window, "Rows of one graph.").alias("window_size").range(2, 1 << 20),
        field("stride", &O::stride, "Rows between the starts of two windows.").range(1, 1 << 20),
        field("chunk_rows", &O::chunk_rows,
              "Published chunk rule: the last row of every so many rows is dropped; 0 = off.")
            .range(0, 1 << 30),
        field("features", &O::features,
              "v2: 11 node and 11 edge features; v3: these, and the frames as they came, for what "
              "compares them with the profile of a vehicle.")
            .choices({"v2", "v3"}),
        field("vocabulary", &O::vocabulary, "Files whose ids make the vocabulary.")
            .choices({"train"}),
        field("exclude", &O::exclude, "Files whose name contains one of these words are left out."),
        field("deduplicate", &O::deduplicate,
              "Read a training file once that is in several training folders."),
        field("assume", &O::assume, "Label of rows without one.").choices({"", "benign"})};
    return std::tuple_cat(std::tuple{format_row(), strict_row()}, std::move(own), split_rows(),
                          fold_rows());
  }

  std::vector<Diagnostic> validate() const { return fold_problems(); }
};

struct CanSynthOptions : SynthSeed {
  double seconds = 60;
  int64_t vehicles = 3;
  std::vector<std::string> attacks = {"dos",    "fuzzing",    "spoofing",
                                      "replay", "suspension", "masquerade"};
  std::string format = "can-train-and-test";

  static auto table() {
    using O = CanSynthOptions;
    return std::tuple{
        field("seconds", &O::seconds, "Length of each training log; test logs are half as long.")
            .range(1, 86400),
        seed_row(), field("vehicles", &O::vehicles, "Number of vehicles.").range(1, 64),
        field("attacks", &O::attacks, "Attacks, one log each.")
            .choices({"dos", "fuzzing", "spoofing", "replay", "suspension", "masquerade"}),
        field("format", &O::format, "Form of the logs written.")
            .choices({"can-train-and-test", "hcrl", "candump"})};
  }
};

}  // namespace kdgat::graph
