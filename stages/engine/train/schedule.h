// The learning rate of each epoch. A plain value: its state is what a checkpoint keeps. Knows no
// optimizer.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "engine/train/train_options.h"

namespace kdgat::train {

class Schedule {
 public:
  explicit Schedule(const TrainOptions& options) : options_(options) {}

  /// Learning rate of epoch `epoch`, counted from 0.
  double rate(int64_t epoch) const;
  /// To be told the monitored metric after every epoch; less is better if `less`.
  void observe(double metric, bool less);

  nlohmann::json state() const;
  void restore(const nlohmann::json& state);

 private:
  TrainOptions options_;
  double factor_ = 1;  // the rest is of plateau alone
  bool has_best_ = false;
  double best_ = 0;
  int64_t standing_ = 0;
};

}  // namespace kdgat::train
