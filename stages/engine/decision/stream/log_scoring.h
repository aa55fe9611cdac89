// What the models of `kdgat score` have in common: logs are scored one after another, and counted.
#pragma once

#include <cstdint>
#include <string>

#include "engine/data/can/logs/can_log.h"
#include "engine/data/can/logs/label_intervals.h"
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

  /// Scores a log and sends what it finds; warns of what the log's reader found. Throws Error(kData)
  /// for one that cannot be read.
  void read(const data::LogFile& file) {
    data::CanLog log = open(file);
    try {
      judge(log, file);
    } catch (const Error& error) {  // without a row they are the error
      if (error.code() == ExitCode::kData && log.rows() > 0) warn_of(log);
      throw;
    }
    if (!ended_early_) warn_of(log);
  }
  virtual StageResult result() const {
    StageResult out;
    out.metrics = {{"windows", windows_}, {"attacks", attacks_}};
    out.summary = grouped(windows_) + (windows_ == 1 ? " window" : " windows") + " scored, " +
                  grouped(attacks_) + " flagged";
    return out;
  }
  int64_t windows() const { return windows_; }
  /// Call behind the last log: warns of labels beside the logs that met no frame. Scores need no
  /// labels; whoever compares them with these does.
  void warn_of_labels() const {
    if (ended_early_) return;
    for (const Diagnostic& note : tables_.notes()) host_.log("warning", note.text());
  }

 protected:
  /// Reads `log` and calls see() for each frame, count() at the end.
  virtual void judge(data::CanLog& log, const data::LogFile& file) = 0;
  data::CanLog open(const data::LogFile& file) {
    labels_ = nullptr;
    try {
      labels_ = tables_.of(file.path);
    } catch (const Error& error) {
      host_.log("warning", std::string(error.what()) + "; labels are not needed here");
    }
    const auto stopped = [this] { return host_.cancelled() != ExitCode::kOk; };
    return {file::ByteReader(file.path, stopped), options_.format, options_.strict, file.channel,
            options_};
  }
  /// Call for each frame that is read: gives it the label of the table next to its log.
  void see(data::CanFrame& frame) { data::add_label(labels_, frame); }
  /// The judge has finished the log: counts what it found. Throws Error(kData) where nothing could
  /// be judged.
  void count(const LogJudge& judge, const data::CanLog& log) {
    if (log.rows() == 0) throw Error(ExitCode::kData, data::as_diagnostics(log.problems()));
    judge.check(log.rows());
    windows_ += judge.windows();
    attacks_ += judge.flagged();
    alarms_ += judge.alarms();
  }

  const ScoreOptions& options_;
  const Host& host_;
  int64_t windows_ = 0, attacks_ = 0, alarms_ = 0;
  bool ended_early_ = false;  ///< a log was not read to its end

 private:
  void warn_of(const data::CanLog& log) const {
    for (const Diagnostic& problem : log.problems()) host_.log("warning", problem.text());
  }

  data::LabelTables tables_;
  data::LabelIntervals* labels_ = nullptr;  // of the log that is read; null: it has none
};

}  // namespace kdgat::decision
