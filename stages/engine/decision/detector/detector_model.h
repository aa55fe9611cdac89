// DetectorModel: a classifier of relative windows (trees, or a graph network) and tails of benign
// ones, the profiles of the vehicles it was trained on, and its thresholds. One JSON file, mostly
// below 1 MB, with a hash of its content.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/data/can/frames/usual_window.h"
#include "engine/data/can/vehicles/learn_profile.h"
#include "engine/data/can/vehicles/vehicles.h"
#include "engine/data/can/windows/relative_windows.h"
#include "engine/data/can/windows/vehicle_profile.h"
#include "engine/decision/detector/alarms.h"
#include "engine/decision/detector/floors.h"
#include "engine/decision/detector/frame_trees.h"
#include "engine/decision/detector/rank_filter.h"
#include "engine/decision/detector/sealed_json.h"
#include "engine/decision/detector/tails.h"
#include "engine/decision/detector/window_classifier.h"

namespace kdgat::decision {

/// What is flagged: what one of both parts puts above its threshold.
struct Decision {
  Budget budget;
  double classifier = 0;  ///< log-odds
  double tails = 0;       ///< powers of ten
};

/// What both parts say of a window.
struct PartScores {
  double classifier = 0;  ///< log-odds
  double tails = 0;       ///< powers of ten
};

struct DetectorModel {
  int64_t window = data::kUsualWindow;
  /// Of its own that the profile of a vehicle never seen is learned from.
  double own_seconds = data::kOwnSeconds;
  /// By the windows of its own beginning that the profile of a vehicle was learned from; 0: the
  /// vehicle is one of these. Never empty.
  std::map<int32_t, Decision> decisions;
  std::vector<data::Vehicle> vehicles;
  WindowClassifier classifier;
  Tails tails;
  Floors floors;
  KOfN alarm_rule{};  ///< the thresholds were chosen for scores that are counted so
  std::optional<FrameTrees> frames{};  ///< none where no labels, nor injected attacks, taught them

  /// For a profile of so many own windows: that of the nearest number, by ratio.
  const Decision& decision(int64_t own) const;
  PartScores scores_of(const data::RelativeWindow& window) const {
    return {classifier.score(window), tails.score(window.x)};
  }
  /// The same; of a window without evidence no part exceeds its threshold, and of one that breaks
  /// laws of payloads one does.
  PartScores scores_of(const data::RelativeWindow& window, const Decision& decision) const;
  /// How far one part lies above its threshold, the farther one, in units of log-odds. Above 0 is
  /// flagged, of scores that went through a PartFilter.
  static double score(const PartScores& scores, const Decision& decision);
  /// The same of a window alone.
  double score(const data::RelativeWindow& window, const Decision& decision) const {
    return score(scores_of(window, decision), decision);
  }
  /// Of the classifier.
  int64_t parameters() const { return classifier.parameters(); }

  /// What its file holds, the hash included.
  std::string text() const;
  void write(const std::filesystem::path& file) const;
  /// Throws Error(kData) naming the file and what is wrong with it, and where its content does not
  /// match the hash in it. `warn` is told of a file of an earlier version, which has none.
  static DetectorModel read(const std::filesystem::path& file, const Warn& warn = {});
};

/// Both parts through the alarm rule of a model, of the windows of one log, one after another.
/// Windows ahead of the first one count as if nothing was odd in them.
class PartFilter {
 public:
  explicit PartFilter(const DetectorModel& model)
      : PartFilter(model.alarm_rule, model.scores_of({})) {}

  PartScores add(const PartScores& scores) {
    return {classifier_.add(scores.classifier), tails_.add(scores.tails)};
  }

 private:
  PartFilter(const KOfN& rule, const PartScores& usual)
      : classifier_(rule, usual.classifier), tails_(rule, usual.tails) {}

  RankFilter classifier_, tails_;
};

inline constexpr const char* kDetectorFile = "detector.json";
/// The detector that a path names: a file of this form of name (.json), or the folder of one.
std::optional<std::filesystem::path> detector_file(const std::filesystem::path& path);

}  // namespace kdgat::decision
