// What the models of `kdgat score` have in common: logs are scored one after another, and counted.
#pragma once

#include <cstdint>

#include "engine/data/can/logs/can_log.h"
#include "engine/data/core/dataset_files.h"
#include "engine/decision/stream/log_judge.h"
#include "engine/decision/stream/score_options.h"
#include "kdgat/result.h"
#include "kdgat/stage.h"
#include "kdgat/text.h"

namespace kdgat::decision {

class LogScoring {
 public:
  /// Both must outlive it.
  LogScoring(const ScoreOptions& options, const Host& host) : options_(options), host_(host) {}
  LogScoring(const LogScoring&) = delete;
  LogScoring& operator=(const LogScoring&) = delete;
  virtual ~LogScoring() = default;

  /// Scores a log and sends what it finds. Throws Error(kData) for one that cannot be read.
  virtual void read(const data::LogFile& file) = 0;
  virtual StageResult result() const {
    StageResult out;
    out.metrics = {{"windows", windows_}, {"attacks", attacks_}};
    out.summary = grouped(windows_) + (windows_ == 1 ? " window" : " windows") + " scored, " +
                  grouped(attacks_) + " flagged";
    return out;
  }
  int64_t windows() const { return windows_; }

 protected:
  data::CanLog open(const data::LogFile& file) const {
    const auto stopped = [this] { return host_.cancelled() != ExitCode::kOk; };
    return {file::ByteReader(file.path, stopped), options_.format, options_.strict, file.channel};
  }
  /// The judge has finished the log: counts what it found. Throws Error(kData) where nothing could
  /// be judged.
  void count(const LogJudge& judge, const data::CanLog& log) {
    if (log.rows() == 0) throw Error(ExitCode::kData, log.problems());
    for (const Diagnostic& problem : log.problems()) host_.log("warning", problem.text());
    judge.check(log.rows());
    windows_ += judge.windows();
    attacks_ += judge.flagged();
    alarms_ += judge.alarms();
  }

  const ScoreOptions& options_;
  const Host& host_;
  int64_t windows_ = 0, attacks_ = 0, alarms_ = 0;
};

}  // namespace kdgat::decision
