// What the models of `kdgat score` have in common: logs are scored one after another, and counted.
#pragma once

#include <cstdint>

#include "data/dataset_files.h"
#include "kdgat/result.h"
#include "kdgat/text.h"

namespace kdgat::score {

class LogScoring {
 public:
  virtual ~LogScoring() = default;

  /// Scores a log and sends what it finds. Throws Error(kData) for one that cannot be read.
  virtual void read(const graph::LogFile& file) = 0;
  virtual StageResult result() const {
    StageResult out;
    out.metrics = {{"windows", windows_}, {"attacks", attacks_}};
    out.summary = grouped(windows_) + (windows_ == 1 ? " window" : " windows") + " scored, " +
                  grouped(attacks_) + " flagged";
    return out;
  }
  int64_t windows() const { return windows_; }

 protected:
  int64_t windows_ = 0, attacks_ = 0;
};

}  // namespace kdgat::score
