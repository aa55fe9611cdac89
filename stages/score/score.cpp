#include "score/score.h"

#include <cmath>
#include <filesystem>
#include <memory>
#include <utility>

#include "data/can/log_streams.h"
#include "data/can/log_windows.h"
#include "data/dataset_files.h"
#include "score/detector_scoring.h"
#include "score/joined_scoring.h"
#include "score/log_scoring.h"
#include "score/network.h"
#include "setup/trained_model.h"
#include "train/calibration.h"

namespace kdgat::score {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

/// Decides on the windows of one log, in order.
class Judge {
 public:
  Judge(const ScoreOptions& options, const Network& model)
      : options_(options),
        threshold_(options.threshold.empty() ? model.threshold.value_or(0)
                                             : options.threshold.front()) {}

  const char* decide(float raw, float score) {
    if (options_.calibrate == 0) return score > threshold_ ? "attack" : "benign";
    if (static_cast<int64_t>(benign_.size()) < options_.calibrate) {
      benign_.push_back(raw);
      if (!is_calibrating()) threshold_ = train::calibrate(benign_, options_.false_alarms);
      return "calibration";
    }
    return raw > threshold_ ? "attack" : "benign";
  }
  bool is_calibrating() const { return static_cast<int64_t>(benign_.size()) < options_.calibrate; }

 private:
  const ScoreOptions& options_;
  double threshold_;  // of scores; of raw scores where it is calibrated
  std::vector<float> benign_;
};

/// Scores one log after another.
class Scoring : public LogScoring {
 public:
  Scoring(const ScoreOptions& options, Network model, const Host& host)
      : options_(options),
        model_(std::move(model)),
        vocabulary_(model_.vocabulary),
        host_(host),
        scores_(model_) {}

  void read(const graph::LogFile& file) override {
    const auto stopped = [this] { return host_.cancelled() != ExitCode::kOk; };
    graph::CanLog log(graph::ByteReader(file.path, stopped), options_.format, options_.strict,
                      file.channel);
    graph::LogWindows windows(std::move(log), model_.shape, vocabulary_);
    Judge judge(options_, model_);
    int64_t window = 0;
    while (const int64_t graphs = windows.read(options_.batch)) {
      if (const ExitCode code = host_.cancelled(); code != ExitCode::kOk) {
        throw Error(code, "interrupted after " + std::to_string(windows_) + " windows");
      }
      const std::vector<float> raw = scores_.of(windows, graphs);
      for (int64_t g = 0; g < graphs; ++g) {
        const float r = raw[static_cast<std::size_t>(g)];
        const auto s = static_cast<float>(model_.scorer->score_of(r));
        const std::string decision = judge.decide(r, s);
        attacks_ += decision == "attack" ? 1 : 0;
        const json time = std::isnan(windows.time(g)) ? json() : json(windows.time(g));
        host_.emit(WindowEvent{
            file.name, window++, time, windows.row(g), windows.ids(g), s, decision, {}});
      }
    }
    windows_ += window;
    for (const Diagnostic& problem : windows.log().problems()) {
      if (windows.log().rows() == 0) throw Error(ExitCode::kData, windows.log().problems());
      host_.log("warning", problem.text());
    }
    if (judge.is_calibrating()) {
      host_.log("warning", file.name + ": " + std::to_string(window) + " windows, fewer than the " +
                               std::to_string(options_.calibrate) +
                               " to calibrate on; nothing was decided");
    }
  }

 private:
  const ScoreOptions& options_;
  const Network model_;
  const graph::Vocabulary vocabulary_;
  const Host& host_;
  NetworkScores scores_;
};

/// Throws Error(kUsage) where the options and the model together give no threshold.
std::unique_ptr<LogScoring> open_network(const fs::path& file, const ScoreOptions& options,
                                         const Request& request, const Host& host) {
  const torch::Device device = setup::prepare_scoring(request);
  if (!options.vehicle.empty()) {
    throw Error(ExitCode::kUsage,
                file.string() + " knows no vehicles: --vehicle is for a detector");
  }
  if (!options.dbc.empty()) {
    throw Error(ExitCode::kUsage, file.string() + " gives no reasons in which --dbc could name ids",
                "leave it away, or score with a detector.json");
  }
  if (options.explain != "none") {
    throw Error(ExitCode::kUsage, file.string() + ": reasons are told by a detector alone",
                "train one: kdgat run --preset detector; it is a detector.json");
  }
  Network model = load_network(file, device);
  if (!model.threshold && options.threshold.empty() && options.calibrate == 0) {
    throw Error(ExitCode::kUsage,
                model.path.string() + ": the model has no threshold: it was trained without labels",
                "give --threshold, or --calibrate N if the logs begin with benign traffic");
  }
  return std::make_unique<Scoring>(options, std::move(model), host);
}

}  // namespace

StageInfo Score::info() {
  StageInfo out;
  out.name = "score";
  out.summary = "Score the windows of raw logs with a model file; used by kdgat score.";
  out.inputs = {{"model", "model"}, {"log", "log"}};
  return out;
}

json Score::plan(const Options&, const Request&) { return json::object(); }

json Score::run(const Options& options, const Request& request, Host& host) {
  const fs::path model = request.input("model").path;
  const std::unique_ptr<LogScoring> scoring =
      is_json_file(model)  ? open_detector(model, options, request, host)
      : has_channel(model) ? open_joined(model, options, request, host)
                           : open_network(model, options, request, host);
  std::vector<Diagnostic> notes;
  const std::vector<graph::LogFile> files = graph::by_channel(
      graph::find_log_files(request.input("log").path, {}, false, notes), options.channel,
      options.format, [&host] { return host.cancelled() != ExitCode::kOk; });
  if (files.size() > 1 && options.explains_one()) {
    throw Error(ExitCode::kUsage,
                request.input("log").path.string() + " holds " + std::to_string(files.size()) +
                    " logs, and each has a " + options.explain + " of that number",
                options.channel == graph::kEachChannel
                    ? "name one of the logs, and one of its buses: --channel N"
                    : "name one of the logs");
  }
  for (const graph::LogFile& file : files) scoring->read(file);
  if (scoring->windows() == 0) {
    throw Error(ExitCode::kData, "no window: a window needs two rows", "",
                request.input("log").path.string());
  }
  return scoring->result();
}

}  // namespace kdgat::score
