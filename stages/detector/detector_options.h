// Options of the detector stage.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/data/can/frames/usual_window.h"
#include "engine/data/can/vehicles/learning_options.h"
#include "engine/decision/detector/rank_filter.h"
#include "kdgat/options.h"

namespace kdgat::detector {

struct DetectorOptions : data::LearningOptions {
  int64_t window = data::kUsualWindow;
  double false_alarms = 100;
  bool take_supported = false;
  double least_odds = 1;
  int64_t alarm_windows = 1;
  int64_t alarm_of = 1;
  int64_t trees = 300;
  int64_t leaves = 15;
  double learning_rate = 0.05;
  double benign_weight = 2;
  bool baselines = true;
  bool monotonic = false;
  bool keep_vehicles = true;

  static auto table() {
    using O = DetectorOptions;
    auto decision = std::tuple{
        field("window", &O::window, "Frames of a window.").range(10, 10000),
        field(
            "false_alarms", &O::false_alarms, Purpose::kAlarms,
            "Budget: benign windows an hour that may be flagged, from which the thresholds follow; "
            "0: the smallest that the benign traffic supports.")
            .first("What a detector, or a calibrated threshold, may raise.")
            .range(0, 1e6),
        field(
            "take_supported", &O::take_supported,
            "Take the smallest budget that the benign traffic supports where the one asked for is "
            "smaller; otherwise an error."),
        field(
            "least_odds", &O::least_odds,
            "Odds of an attack below which nothing is flagged, however few false windows the "
            "benign traffic at hand would have; benign windows count benign_weight times, so that "
            "an attack is as likely as not at 1 / benign_weight.")
            .range(0.001, 1000),
        field("alarm_windows", &O::alarm_windows, Purpose::kAlarms,
              "So many of the last alarm_of windows must exceed the threshold for a window to be "
              "flagged; the threshold is chosen for that.")
            .range(1, decision::KOfN::kMostOf),
        field("alarm_of", &O::alarm_of, Purpose::kAlarms,
              "Last windows of a log, the present one included, that alarm_windows are counted in; "
              "with 2 of 3 an attack of one window is never found.")
            .range(1, decision::KOfN::kMostOf)};
    auto model = std::tuple{
        field("trees", &O::trees, Purpose::kModel, "Trees of the classifier.").range(1, 5000),
        field("leaves", &O::leaves, Purpose::kModel, "Most leaves of a tree.").range(2, 256),
        field("learning_rate", &O::learning_rate, Purpose::kOptimiser,
              "What a tree adds is so many times its step.")
            .range(1e-4, 1),
        field("benign_weight", &O::benign_weight, Purpose::kLoss,
              "Weight of a benign window; an attack has 1.")
            .range(0.01, 1000),
        field("baselines", &O::baselines, Purpose::kComparison,
              "Fit simple methods on the training logs and judge them on the same windows as the "
              "detector: rules, a look-up of ids, boosted trees and isolation forests on plain "
              "numbers."),
        field("monotonic", &O::monotonic,
              "Take for the time of each frame the latest time until then, so that no clock steps "
              "back: figures that change by it rest on errors of the recording."),
        field("keep_vehicles", &O::keep_vehicles,
              "The model knows the vehicles of the training logs; otherwise it learns each vehicle "
              "from the beginning of its log, and is smaller.")};
    return std::tuple_cat(std::move(decision), LearningOptions::table(), std::move(model));
  }

  std::vector<Diagnostic> validate() const {
    if (alarm_windows <= alarm_of) return {};
    const std::string k = std::to_string(alarm_windows), n = std::to_string(alarm_of);
    return {{"", "alarm_windows: " + k + " of the last " + n + " windows can never be flagged",
             "give alarm_of=" + k + " or more"}};
  }
  decision::KOfN alarm_rule() const { return {alarm_windows, alarm_of}; }
};

}  // namespace kdgat::detector
