// Options of made-up traffic, and of attacks on recorded traffic.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "engine/data/can/logs/can_log.h"
#include "engine/data/can/logs/log_reading.h"
#include "engine/data/can/synthetic/attack_names.h"
#include "engine/data/core/synth_size.h"
#include "kdgat/options.h"

namespace kdgat::data {

struct CanSynthOptions : SynthSeed {
  double seconds = 60;
  int64_t vehicles = 3;
  int64_t ageing = 0;
  std::vector<std::string> attacks = synth_attacks();
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
        field("attacks", &O::attacks,
              "Attacks, one log each; kdgat data inject --help says what they do.")
            .choices(synth_attacks()),
        field("format", &O::format, "Form of the logs written.")
            .choices({"can-train-and-test", "hcrl", "candump"})};
  }
};

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

  static auto table() {
    using O = CanInjectOptions;
    auto own = std::tuple{
        field("attacks", &O::attacks,
              "Attacks, one output for each log and attack. " + attacks_help() + ".")
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
              "The id of an attack on one id, in hexadecimal; empty: drawn for each attack from "
              "those sent regularly."),
        field("rate", &O::rate,
              "Frames a second of " + rated_attacks() + "; 0: drawn for each attack.")
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

}  // namespace kdgat::data
