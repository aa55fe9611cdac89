// Windows that models and baselines judged, as pictures.json of a step tells of them. Only here is
// it read; what is in it, the stage says.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kdgat {

/// Counts of windows by score, in steps of equal width.
struct ScoreHistogram {
  double from = 0, to = 0;
  std::vector<double> benign, attack;
};

/// What a model or a baseline made of the windows of a part.
struct JudgedMethod {
  std::string name;
  bool is_model = false;                   ///< else it is what models are held against
  std::optional<double> value, low, high;  ///< of the measure
  std::optional<ScoreHistogram> histogram;
  std::vector<double> tp, fp;  ///< at falling thresholds
  double attacks = 0, benign = 0, hours = 0;
  double tp_in_use = 0, fp_in_use = 0;  ///< at the threshold in use
};

using Intervals = std::vector<std::pair<double, double>>;

/// Scores of a model over a log: their range in each step of x.
struct LogScores {
  std::string name;
  std::vector<double> x, low, high;
  Intervals alarms;
};

struct JudgedLogPicture {
  std::string name;
  bool has_times = false;  ///< x is in seconds, not in windows
  double windows = 0;
  Intervals attacks;
  std::vector<LogScores> models;
};

struct JudgedPart {
  std::string name;
  std::vector<JudgedMethod> methods;
  std::vector<JudgedLogPicture> logs;
  double more_logs = 0;  ///< that are not among `logs`
};

struct WindowPictures {
  std::string measure;
  std::vector<JudgedPart> parts;
  std::vector<std::string> shortfalls;  ///< sentences on what could not be judged
};

/// What is absent or of another type is not there.
WindowPictures read_window_pictures(const nlohmann::json& pictures);

}  // namespace kdgat
