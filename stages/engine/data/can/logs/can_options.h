// Options of imports of CAN logs, of made-up traffic, and of attacks on recorded traffic.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "engine/data/can/frames/usual_window.h"
#include "engine/data/can/logs/can_log.h"
#include "engine/data/can/logs/time_reading.h"
#include "engine/data/core/dataset_files.h"
#include "engine/data/core/import_options.h"
#include "engine/data/core/synth_size.h"
#include "kdgat/options.h"

namespace kdgat::data {

struct CanImportOptions : SharedOptions, LogReading {
  int64_t window = kUsualWindow;
  int64_t stride = 0;  ///< 0 only before settle()
  int64_t chunk_rows = 0;
  std::string features = "v2";
  std::string vocabulary = "train";
  std::vector<std::string> exclude = {"suppress", "masquerade"};
  bool deduplicate = true;
  std::string other_folders = kLeaveOut;
  std::string assume;  ///< "" or "benign": the label of rows without one
  std::string channel = kAllChannels;

  static auto table() {
    using O = CanImportOptions;
    auto own = std::tuple{
        field("window", &O::window, "Rows of one graph.").alias("window_size").range(2, 1 << 20),
        field("stride", &O::stride,
              "Rows between the starts of two windows; 0: as many as a window has.")
            .range(0, 1 << 20),
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
        field("other_folders", &O::other_folders,
              "What logs are for that lie in no folder for train, val or test, where a folder for "
              "train is there.")
            .choices({kLeaveOut, "train", "val", "test"})
            .later(),
        field("assume", &O::assume, "Label of rows without one.").choices({"", "benign"}),
        channel_row(&O::channel)};
    return std::tuple_cat(std::tuple{format_row(), strict_row()}, std::move(own), reading_rows(),
                          split_rows(), fold_rows());
  }

  void settle() {
    if (stride == 0) stride = window;
  }
  std::vector<Diagnostic> validate() const {
    std::vector<Diagnostic> problems = fold_problems();
    for (Diagnostic& one : channel_problems(channel)) problems.push_back(std::move(one));
    return problems;
  }
};

struct CanSynthOptions : SynthSeed {
  double seconds = 60;
  int64_t vehicles = 3;
  int64_t ageing = 0;
  std::vector<std::string> attacks = {"dos",    "fuzzing",    "spoofing",
                                      "replay", "suspension", "masquerade"};
  std::string format = "can-train-and-test";

  static auto table() {
    using O = CanSynthOptions;
    return std::tuple{
        field("seconds", &O::seconds, "Length of each training log; test logs are half as long.")
            .range(1, 86400),
        seed_row(),
        field("vehicles", &O::vehicles, "Number of vehicles.").range(1, 64),
        field("ageing", &O::ageing,
              "Per cent by which periods jitter more, and events come more often, at the end of a "
              "log than at its beginning; it grows evenly.")
            .range(0, 1000),
        field("attacks", &O::attacks, "Attacks, one log each.")
            .choices({"dos", "fuzzing", "spoofing", "replay", "suspension", "masquerade"}),
        field("format", &O::format, "Form of the logs written.")
            .choices({"can-train-and-test", "hcrl", "candump"})};
  }
};

/// See attack_kinds.h for what each attack does.
struct CanInjectOptions : SynthSeed, LogReading {
  std::vector<std::string> attacks = usual_attacks();
  std::string format = "can-train-and-test";
  std::string input_format = "auto";
  bool strict = false;
  bool keep_attacks = false;
  double lead_seconds = 2;
  double min_attack_seconds = 0.5;
  double max_attack_seconds = 3;
  double min_benign_seconds = 1;
  double max_benign_seconds = 3;
  std::string id;  ///< "" = drawn
  double rate = 0;
  double delay = -1;
  std::vector<int64_t> bytes;
  std::string values = "any";
  int64_t bitrate = 500'000;

  /// That nearly any log can take.
  static std::vector<std::string> usual_attacks() {
    return {"dos",      "fuzzing",    "fuzzing-known", "spoofing", "fabrication",
            "targeted", "masquerade", "suspension",    "replay"};
  }
  /// And those that take an id with a counter or a checksum.
  static std::vector<std::string> all_attacks() {
    std::vector<std::string> out = usual_attacks();
    out.insert(out.end(), {"masquerade-frozen", "masquerade-unchecked"});
    return out;
  }

  static auto table() {
    using O = CanInjectOptions;
    auto own = std::tuple{
        field("attacks", &O::attacks, "Attacks, one output for each log and attack.")
            .choices(all_attacks()),
        seed_row(),
        field("format", &O::format, "Form of the logs written; candump carries no labels.")
            .choices({"can-train-and-test", "hcrl", "candump"}),
        field("input_format", &O::input_format, "Form of the logs read; auto recognises it.")
            .choices(log_format_choices()),
        field("strict", &O::strict, "A malformed line is an error, not counted and skipped."),
        field("keep_attacks", &O::keep_attacks,
              "Take logs that have attack rows, and leave those as they are; otherwise an error."),
        field("lead_seconds", &O::lead_seconds, "Benign traffic before the first attack.")
            .range(0, 86400),
        field("min_attack_seconds", &O::min_attack_seconds, "Shortest attack.").range(0.01, 3600),
        field("max_attack_seconds", &O::max_attack_seconds, "Longest attack.").range(0.01, 3600),
        field("min_benign_seconds", &O::min_benign_seconds, "Shortest pause between two attacks.")
            .range(0, 3600),
        field("max_benign_seconds", &O::max_benign_seconds, "Longest pause between two attacks.")
            .range(0, 3600),
        field("id", &O::id,
              "The id that is spoofed, fabricated, targeted, masqueraded or suspended, in "
              "hexadecimal; empty: drawn for each attack from those sent regularly."),
        field("rate", &O::rate,
              "Frames a second of dos, fuzzing, fuzzing-known and spoofing; 0: drawn for each "
              "attack.")
            .range(0, 10000),
        field("delay", &O::delay,
              "fabrication: seconds from a true frame to the forged one; -1: drawn for each "
              "attack.")
            .range(-1, 60),
        field("bytes", &O::bytes,
              "Places of the payload, from 0, where bytes are forged; empty: drawn for each "
              "attack."),
        field("values", &O::values,
              "Forged bytes of one attack: the same in all frames, random in each, or any of both.")
            .choices({"any", "constant", "random"}),
        field("bitrate", &O::bitrate,
              "Bits a second of the bus; frames are added only where it has time for them.")
            .range(10'000, 8'000'000)};
    return std::tuple_cat(std::move(own), reading_rows());
  }

  std::vector<Diagnostic> validate() const;
};

struct CanConvertOptions : LogReading {
  std::string format = "auto";
  bool strict = false;
  std::string channel = kAllChannels;

  static auto table() {
    using O = CanConvertOptions;
    auto own = std::tuple{field("format", &O::format, "Form of the log read; auto recognises it.")
                              .choices(log_format_choices()),
                          field("strict", &O::strict,
                                "What is malformed or not used is an error, but for error frames."),
                          one_channel_row(&O::channel)};
    return std::tuple_cat(std::move(own), reading_rows());
  }

  std::vector<Diagnostic> validate() const {
    return channel_problems(channel, "each bus would need a file of its own");
  }
};

}  // namespace kdgat::data
