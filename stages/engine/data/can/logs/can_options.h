// Options of imports of CAN logs and of their conversion.
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
