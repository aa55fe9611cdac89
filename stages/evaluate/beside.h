// Baselines beside the models: on stores that keep the frames of their logs, simple methods are
// fitted on the training logs and judged on the windows that the models scored. Owns what each
// said.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/compare/baselines.h"
#include "engine/compare/comparison.h"
#include "engine/compare/judged_log.h"
#include "engine/data/can/vehicles/stored_log.h"
#include "engine/decision/detector/detector_model.h"
#include "engine/decision/detector/joined_files.h"
#include "engine/train/data_set.h"
#include "evaluate/report.h"
#include "kdgat/stage.h"

namespace kdgat::evaluate {

class Beside {
 public:
  /// `data` must outlive this.
  Beside(const train::Data& data, const Request& request, const Host& host);

  /// A test part by one model; `threshold` on the scale of Predictions::raw. Where the part is
  /// calibrated the model counts once more, by the thresholds of the files.
  void add(const std::string& model, const Predictions& p, double threshold) {
    add(model, p, threshold, false);
  }
  /// The same of a model whose input was changed on purpose: it stands in the tables, and nothing
  /// is held against it.
  void add_ablated(const std::string& model, const Predictions& p, double threshold) {
    add(model, p, threshold, true);
  }

  /// A detector on the test logs of which `is_wanted` says so of the part; on the windows that the
  /// models scored, or on all where there is no model. Throws Error(kData) on a store without
  /// frames.
  void add(const std::string& step, const decision::DetectorModel& detector,
           const std::function<bool(const std::string& part)>& is_wanted);

  /// A network with the channel of a detector: the windows of `p` that the detector judges.
  void add_joined(const std::string& model, const Predictions& p,
                  const decision::JoinedFiles& files);

  /// Adds the comparison to a result: "baselines" of its metrics (see Comparison::metrics), and
  /// tables; leaves pictures.json (engine/compare/pictures.h) in the step's folder. Logs what it
  /// found, and why there is none of a part; where the store has no frames the result's summary
  /// says how to get some.
  void finish(StageResult& result);

 private:
  void add(const std::string& model, const Predictions& p, double threshold, bool is_ablated);

  struct Place {
    std::size_t log;                     ///< of logs_
    std::vector<std::size_t> positions;  ///< in the part, in the order of rows
  };
  /// The judged windows of a part by log; none, and the reason noted, where the rows of a graph are
  /// no window of the baselines or the log is one of training.
  std::vector<Place> places(const Predictions& p);
  compare::JudgedLog windows_of(const Predictions& p, const Place& place) const;
  /// Of the benign rows of training logs of the same vehicle; empty if it is new.
  std::vector<uint32_t> ids_of_vehicle(const data::StoredLog& log) const;
  /// What a detector says of a log, with a word where it can say nothing.
  std::optional<compare::JudgedLog> heard(const std::string& step, std::size_t log,
                                          const decision::DetectorModel& detector) const;
  void judge();
  std::vector<compare::Verdicts>& said_of(const std::string& part, std::size_t log,
                                          compare::JudgedLog windows);
  void list(const std::string& model);

  const train::Data& data_;
  const Host& host_;
  std::filesystem::path folder_;  ///< of the step
  compare::BaselineOptions options_;
  std::vector<data::StoredLog> logs_;
  std::vector<compare::JudgedLog> judged_;
  std::map<std::pair<std::string, std::size_t>, std::size_t> at_;  ///< of judged_, by part and log
  std::vector<std::string> models_;
  std::set<std::string> left_out_;  ///< parts, and why
};

}  // namespace kdgat::evaluate
