// ExplainedScoring: what is alike wherever a detector judges, alone or joined with networks: alarms
// are counted, and windows explained. Knows no files of models.
#pragma once

#include <string>
#include <utility>

#include "engine/data/can/logs/dbc.h"
#include "engine/decision/detector/detector_model.h"
#include "engine/decision/stream/explanations.h"
#include "engine/decision/stream/log_scorer.h"
#include "engine/decision/stream/log_scoring.h"

namespace kdgat::decision {

class ExplainedScoring : public LogScoring {
 public:
  /// `hash`: of the model's file. Says ahead of all windows how many reasons one has at most,
  /// and whether it has frames.
  ExplainedScoring(std::string hash, const ScoreOptions& options, const Host& host)
      : LogScoring(options, host),
        hash_(std::move(hash)),
        explanations_(options, host),
        names_(read_names(options.dbc, sink_to(host))) {
    if (options.reasons) host.metrics("reasons", kReasons, nlohmann::json::object());
    if (options.frames) host.metrics("frames", 1, nlohmann::json::object());
  }

  StageResult result() const override {
    explanations_.send();
    return with_alarms(LogScoring::result(), alarms_);
  }

 protected:
  LogScorer watch(const DetectorModel& model, const data::LogFile& file,
                  LogScorer::Channel channel = {}) {
    return {model,          options_,       file.name, hash_,
            sink_to(host_), &explanations_, names_,    std::move(channel)};
  }
  /// count(), of a log that was read to its end; of another the windows alone.
  void count_watched(const LogScorer& watch, const data::CanLog& log) {
    if (watch.is_done()) {
      ended_early_ = true;
      windows_ += watch.windows();
    } else {
      count(watch, log);
    }
  }

 private:
  const std::string hash_;
  Explanations explanations_;
  const data::DbcNames names_;
};

}  // namespace kdgat::decision
