// NetworkJudge: a network on one log, frame by frame. Owns the windows that are not yet scored.
#pragma once

#include <string>
#include <vector>

#include "engine/data/can/windows/log_windows.h"
#include "engine/decision/detector/alarms.h"
#include "engine/decision/stream/judge_sink.h"
#include "engine/decision/stream/log_judge.h"
#include "engine/decision/stream/score_options.h"
#include "engine/decision/stream/window_network.h"

namespace kdgat::decision {

class NetworkJudge : public LogJudge {
 public:
  /// All but the sink must outlive it. `file`: name of the log. `model`: hash of the model's file,
  /// for alarms.
  NetworkJudge(const WindowNetwork& network, const data::Vocabulary& vocabulary,
               const ScoreOptions& options, std::string file, std::string model, JudgeSink sink);

  void add(const data::CanFrame& frame, bool restarts) override;
  void finish() override;
  void check(int64_t rows) const override;
  bool is_learning() const override;
  bool knows(uint32_t key) const override;

 private:
  void score();
  void judge(int64_t graph, float raw);
  void tell_alarm(bool is_open);

  const WindowNetwork& network_;
  const data::Vocabulary& vocabulary_;
  const ScoreOptions& options_;
  std::string file_, model_;
  JudgeSink sink_;
  data::FrameWindows pending_;
  std::vector<float> benign_;  // raw scores, while it calibrates
  double threshold_;           // of scores; of raw scores where it is calibrated
  AlarmStream stream_;
  double begin_ = 0, end_ = 0;  // of the alarm
};

}  // namespace kdgat::decision
