// Options of imports of CAN logs.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/data/can/logs/can_log.h"
#include "engine/data/can/logs/time_reading.h"
#include "engine/data/can/vehicles/learning_options.h"
#include "engine/data/can/windows/relative_graph.h"
#include "engine/data/can/windows/vehicle_tables.h"
#include "engine/data/can/windows/window_options.h"
#include "engine/data/core/dataset_files.h"
#include "engine/data/core/import_options.h"
#include "kdgat/options.h"
#include "kdgat/text.h"

namespace kdgat::data {

struct CanImportOptions : SharedOptions, LogReading, WindowOptions, LearningOptions {
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
        field(
            "features", &O::features,
            "v2: 11 node and 11 edge features; v3: these, and the frames as they came, for what "
            "compares them with the profile of a vehicle; relative: those frames, and nodes and "
            "edges that mean the same on every vehicle, because they are relative to its profile.")
            .choices({"v2", "v3", kRelativeFeatures}),
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
    const auto of_relative = [](auto... rows) {
      (rows.help.insert(0, "With features=relative: "), ...);
      return std::tuple{std::move(rows).later()...};
    };
    return std::tuple_cat(std::tuple{format_row(), strict_row()}, WindowOptions::table(),
                          std::move(own), reading_rows(), split_rows(), fold_rows(),
                          std::apply(of_relative, LearningOptions::table()));
  }

  bool is_relative() const { return features == kRelativeFeatures; }

  std::vector<Diagnostic> validate() const {
    std::vector<Diagnostic> problems = fold_problems();
    for (Diagnostic& one : channel_problems(channel)) problems.push_back(std::move(one));
    for (Diagnostic& one : relative_problems()) problems.push_back(std::move(one));
    return problems;
  }

 private:
  std::vector<Diagnostic> relative_problems() const {
    std::vector<Diagnostic> out;
    if (!is_relative()) {
      if (static_cast<const LearningOptions&>(*this) != LearningOptions()) {
        out.push_back({"",
                       "use_labels, inject, own_seconds, most_windows and forgotten have an effect "
                       "with features=relative only",
                       "features=relative"});
      }
      return out;
    }
    if (stride != 0 && stride != window) {
      out.push_back({"", "features=relative: windows follow one another, with no stride", ""});
    }
    if (split == "random") {
      out.push_back({"",
                     "split=random would part graphs of the same rows, of which "
                     "features=relative makes several",
                     "split=time or group"});
    }
    if (chunk_rows != 0) out.push_back({"", "features=relative: chunk_rows is for v2 alone", ""});
    if (window > kMostWindow) {
      out.push_back({"",
                     "features=relative: a window has at most " + grouped(kMostWindow) +
                         " frames, not " + grouped(window),
                     ""});
    }
    return out;
  }
};

}  // namespace kdgat::data
