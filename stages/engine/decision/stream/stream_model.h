// StreamModel: a model file, opened so that streams of frames can be judged with it, natively. Owns
// the model and its options.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "engine/data/can/frames/can_frame.h"
#include "engine/decision/detector/sealed_json.h"
#include "engine/decision/stream/judge_sink.h"
#include "engine/decision/stream/log_judge.h"
#include "engine/decision/stream/score_options.h"

namespace kdgat::decision {

class StreamModel;

/// What is usual on one more vehicle, while its benign traffic streams; bounded state.
class StreamLesson {
 public:
  virtual ~StreamLesson() = default;

  virtual void add(const data::CanFrame& frame, bool restarts) = 0;
  virtual int64_t windows() const = 0;  ///< that were learned from
  /// The model with this vehicle, which all streams are then judged as. `name`: of the vehicle.
  /// `file`: where it is written as a detector; "" = nowhere. Throws Error(kData) where too little
  /// was learned.
  virtual std::unique_ptr<StreamModel> learned(const std::string& name,
                                               const std::filesystem::path& file) const = 0;
};

class StreamModel {
 public:
  StreamModel(const StreamModel&) = delete;
  StreamModel& operator=(const StreamModel&) = delete;
  virtual ~StreamModel() = default;

  /// For one stream; this must outlive it. `name`: of the stream, in what it says.
  virtual std::unique_ptr<LogJudge> judge(std::string name, JudgeSink sink) const = 0;
  /// Throws Error(kUsage) where the model knows no vehicles.
  virtual std::unique_ptr<StreamLesson> lesson() const = 0;
  /// Windows that score above it are flagged from now on, of streams that begin later.
  void set_threshold(double threshold) { options_.threshold = {threshold}; }
  /// What is flagged scores above it, where no calibration moves it.
  virtual double threshold() const = 0;
  /// xxh3-128 of the model's file.
  const std::string& hash() const { return hash_; }

 protected:
  StreamModel(std::string hash, ScoreOptions options)
      : hash_(std::move(hash)), options_(std::move(options)) {}

  std::string hash_;
  ScoreOptions options_;
};

/// `model`: a detector.json, the model file of a network, or the folder of one. Throws Error(kData)
/// for what cannot be read or computed, Error(kUsage) for options that it does not have, and
/// Error(kInterrupted) once `cancelled` is not kOk. `warn` is given what is to be said of a
/// detector without a hash.
std::unique_ptr<StreamModel> open_stream_model(
    const std::filesystem::path& model, const ScoreOptions& options, const Warn& warn,
    std::function<ExitCode()> cancelled = [] { return ExitCode::kOk; });

}  // namespace kdgat::decision
