#include "engine/decision/stream/stream_model.h"

#include <utility>

#include "engine/data/can/vehicles/learn_profile.h"
#include "engine/data/can/vehicles/vehicles.h"
#include "engine/decision/detector/detector_model.h"
#include "engine/decision/stream/detector_scoring.h"
#include "engine/decision/stream/log_scorer.h"
#include "engine/decision/stream/network_judge.h"
#include "engine/decision/stream/network_scoring.h"
#include "engine/decision/stream/window_network.h"
#include "engine/file/safetensors.h"
#include "engine/file/tensor_hash.h"
#include "kdgat/atomic_file.h"
#include "kdgat/text.h"

namespace kdgat::decision {
namespace {

class DetectorStreams : public StreamModel {
 public:
  DetectorStreams(DetectorModel model, std::string hash, ScoreOptions options, data::DbcNames names)
      : StreamModel(std::move(hash), std::move(options)),
        model_(std::move(model)),
        names_(std::move(names)) {}

  std::unique_ptr<LogJudge> judge(std::string name, JudgeSink sink) const override {
    return std::make_unique<LogScorer>(model_, options_, std::move(name), hash_, std::move(sink),
                                       nullptr, names_);
  }
  std::unique_ptr<StreamLesson> lesson() const override;
  double threshold() const override {
    return options_.threshold.empty() ? 0 : options_.threshold.front();
  }

 private:
  class Lesson;

  DetectorModel model_;
  data::DbcNames names_;
};

class DetectorStreams::Lesson : public StreamLesson {
 public:
  explicit Lesson(const DetectorStreams& of)
      : of_(of), builder_(of.model_.classifier.reads_graphs()) {}

  void add(const data::CanFrame& frame, bool restarts) override {
    data::learn_row(frame, restarts, builder_);
    finder_.add(frame);
  }
  int64_t windows() const override { return builder_.frames() / of_.model_.window; }
  std::unique_ptr<StreamModel> learned(const std::string& name,
                                       const std::filesystem::path& file) const override {
    if (windows() < data::kLeastOwn) {
      throw Error(ExitCode::kData,
                  "only " + std::to_string(windows()) + " windows of traffic to calibrate on",
                  "at least " + std::to_string(data::kLeastOwn) +
                      " are needed to learn what is usual: calibrate for longer");
    }
    DetectorModel model = of_.model_;
    data::VehicleProfile profile = builder_.profile();
    const data::Vehicle* former = finder_.find(model.vehicles, profile);
    const std::string called = former != nullptr ? former->name : escaped_name(name);
    data::put_vehicle({called, std::move(profile), windows()}, former, model.vehicles);
    std::string hash = of_.hash_;
    if (!file.empty()) {
      const std::string text = model.text();  // the file may be a pipe, which cannot be read again
      write_file(file, text);
      hash = file::hash_bytes(text.data(), text.size());
    }
    ScoreOptions options = of_.options_;
    options.vehicle = called;
    return std::make_unique<DetectorStreams>(std::move(model), std::move(hash), std::move(options),
                                             of_.names_);
  }

 private:
  const DetectorStreams& of_;
  data::ProfileBuilder builder_;
  data::VehicleFinder finder_;
};

std::unique_ptr<StreamLesson> DetectorStreams::lesson() const {
  return std::make_unique<Lesson>(*this);
}

class NetworkStreams : public StreamModel {
 public:
  NetworkStreams(WindowNetwork network, std::string hash, ScoreOptions options)
      : StreamModel(std::move(hash), std::move(options)),
        network_(std::move(network)),
        vocabulary_(network_.vocabulary) {}

  std::unique_ptr<LogJudge> judge(std::string name, JudgeSink sink) const override {
    return std::make_unique<NetworkJudge>(network_, vocabulary_, options_, std::move(name), hash_,
                                          std::move(sink));
  }
  std::unique_ptr<StreamLesson> lesson() const override {
    throw Error(
        ExitCode::kUsage,
        network_.path.string() + " knows no vehicles: it is calibrated by a number of windows",
        "--calibrate 300 sets its threshold by the first 300 windows");
  }
  double threshold() const override {
    return options_.threshold.empty() ? network_.threshold.value_or(0) : options_.threshold.front();
  }

 private:
  WindowNetwork network_;
  data::Vocabulary vocabulary_;
};

}  // namespace

std::unique_ptr<StreamModel> open_stream_model(const std::filesystem::path& model,
                                               const ScoreOptions& options, const Warn& warn,
                                               std::function<ExitCode()> cancelled) {
  const std::filesystem::path file = std::filesystem::is_directory(model)
                                         ? detector_file(model).value_or(model / kModelFile)
                                         : model;
  if (is_json_file(file)) {
    DetectorModel detector = DetectorModel::read(file, warn);
    check_options(detector, file.string(), options);
    const JudgeSink sink{
        {}, {}, [](const std::string&, const std::string&) {}, std::move(cancelled)};
    return std::make_unique<DetectorStreams>(std::move(detector), file::hash_file(file), options,
                                             read_names(options.dbc, sink));
  }
  check_network_options(file, options);
  WindowNetwork network = native_network(file);
  require_threshold(network, options);
  return std::make_unique<NetworkStreams>(std::move(network), file::hash_file(file), options);
}

}  // namespace kdgat::decision
