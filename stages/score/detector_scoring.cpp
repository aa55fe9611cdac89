#include "score/detector_scoring.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "data/can/can_log.h"
#include "detector/alarms.h"
#include "detector/detector_model.h"
#include "detector/traffic.h"
#include "detector/watch.h"
#include "score/explanations.h"

namespace kdgat::score {
namespace {

using detector::AlarmStream;
using detector::DetectorModel;
using detector::JudgedWindow;
using detector::Vehicle;
using nlohmann::json;

/// Told of a flagged window.
constexpr std::size_t kReasons = 3;

/// Throws Error(kUsage) where the model knows no vehicle of that name.
const Vehicle& vehicle_named(const DetectorModel& model, const std::string& name) {
  std::string all;
  for (const Vehicle& one : model.vehicles) {
    if (one.name == name) return one;
    all += (all.empty() ? "" : ", ") + one.name;
  }
  throw Error(ExitCode::kUsage, "the detector has no vehicle " + name, "there are: " + all);
}

/// Judges one log, and tells what it hears.
class LogWatch {
 public:
  LogWatch(const DetectorModel& model, const ScoreOptions& options, const graph::LogFile& file,
           const Host& host, Explanations& explanations)
      : file_(file),
        host_(host),
        explanations_(explanations),
        gives_reasons_(options.reasons),
        threshold_(options.threshold.empty() ? 0 : options.threshold.front()),
        alarms_(threshold_),
        watch_(model, file.name, options.calibrate > 0 ? options.calibrate : model.own_windows,
               [this](const JudgedWindow& window) { tell(window); }) {
    if (!options.vehicle.empty()) watch_.take(vehicle_named(model, options.vehicle));
  }

  void read(graph::CanLog& log) {
    constexpr int64_t kOften = 0x1000;  // rows between two looks whether to stop
    graph::CanFrame frame;
    while (!explanations_.is_done() && log.next(frame)) {
      watch_.add(frame, log.restarted());
      problems_.add(frame.key(), frame.time, frame.label == 1, log.restarted());
      if (log.rows() % kOften == 0) stop_if_cancelled();
    }
    if (explanations_.is_done()) return;
    watch_.finish();
    for (const std::string& sentence : problems_.sentences()) {
      host_.log("warning", file_.name + ": " + sentence);
    }
    if (alarms_.finish() == AlarmStream::Change::kClosed) tell_alarm(false);
    explanations_.finish_log(file_.name, windows_, alarm_);
  }

  int64_t windows() const { return windows_; }
  int64_t flagged() const { return flagged_; }
  int64_t alarms() const { return alarm_; }
  int64_t own() const { return watch_.is_listening() ? 0 : watch_.own(); }

 private:
  void stop_if_cancelled() const {
    if (const ExitCode code = host_.cancelled(); code != ExitCode::kOk) {
      throw Error(code,
                  "interrupted after " + std::to_string(windows_) + " windows of " + file_.name);
    }
  }

  void tell(const JudgedWindow& window) {
    stop_if_cancelled();
    if (windows_++ == 0) tell_vehicle();
    const bool is_flagged = !window.is_own && window.score > threshold_;
    flagged_ += is_flagged ? 1 : 0;
    const char* decision = window.is_own ? "calibration" : is_flagged ? "attack" : "benign";
    std::optional<detector::Reasons> reasons;
    // Of one that those ahead of it have flagged there is nothing to say.
    if (is_flagged && gives_reasons_ && window.alone > threshold_) {
      reasons = watch_.reasons(kReasons);
    }
    host_.emit(WindowEvent{file_.name, window.number, time_json(window.time),
                           window.relative.first_row, window.ids, window.score, decision,
                           texts_of(reasons)});
    const AlarmStream::Change change =
        window.is_own ? AlarmStream::Change::kNone : alarms_.add(window.number, window.score);
    const bool opens = change == AlarmStream::Change::kOpened;
    if (opens) begin_ = window.time;
    if (is_flagged) end_ = window.relative.end;
    if (is_flagged && (opens || window.score > explained_ + detector::kDeadband)) {
      explained_ = window.score;
      if (!reasons) reasons = watch_.reasons(kReasons);
      ids_ = ids_of(*reasons);
    }
    if (change != AlarmStream::Change::kNone) tell_alarm(opens);
    explanations_.add(file_.name, window, threshold_, alarms_, alarm_, watch_);
  }

  static std::vector<std::string> texts_of(const std::optional<detector::Reasons>& reasons) {
    std::vector<std::string> out;
    if (!reasons) return out;
    for (const detector::Reason& one : reasons->reasons) out.push_back(one.text());
    return out;
  }
  static std::vector<std::string> ids_of(const detector::Reasons& reasons) {
    std::vector<std::string> out;
    for (const uint32_t key : reasons.keys) {
      if (out.size() < kReasons) out.push_back(detector::id_text(key));
    }
    return out;
  }

  void tell_vehicle() const {
    if (const Vehicle* vehicle = watch_.vehicle()) {
      return host_.log("info", file_.name + ": judged as the vehicle of " + vehicle->name);
    }
    host_.log("info", file_.name + ": a vehicle never seen; what is usual on it was learned from " +
                          std::to_string(watch_.own()) + " windows, which are taken as benign" +
                          (watch_.ended_early() ? "; an odd one ended them" : ""));
  }

  void tell_alarm(bool is_open) {
    const detector::Alarm& alarm = alarms_.alarm();
    host_.emit(AlarmEvent{file_.name, alarm_, is_open, time_json(begin_), time_json(end_),
                          alarm.first, alarm.last, alarm.windows, alarm.peak, ids_});
    if (is_open) return;
    explanations_.close(alarm, begin_, end_);
    ++alarm_;
  }

  const graph::LogFile& file_;
  const Host& host_;
  Explanations& explanations_;
  bool gives_reasons_;
  double threshold_;
  AlarmStream alarms_;
  detector::Watch watch_;
  detector::LogProblems problems_;
  double begin_ = 0, end_ = 0;    // of the alarm
  float explained_ = 0;           // score of the window that ids_ are of
  std::vector<std::string> ids_;  // of its reasons
  int64_t windows_ = 0, flagged_ = 0, alarm_ = 0;
};

class DetectorScoring : public LogScoring {
 public:
  DetectorScoring(DetectorModel model, const ScoreOptions& options, const Host& host)
      : model_(std::move(model)), options_(options), host_(host), explanations_(options, host) {
    if (options.reasons) host.metrics("reasons", kReasons, json::object());
  }

  void read(const graph::LogFile& file) override {
    const auto stopped = [this] { return host_.cancelled() != ExitCode::kOk; };
    graph::CanLog log(graph::LineReader(file.path, stopped), options_.format, options_.strict);
    LogWatch watch(model_, options_, file, host_, explanations_);
    watch.read(log);
    if (explanations_.is_done()) {
      windows_ += watch.windows();
      return;
    }
    if (log.rows() == 0) throw Error(ExitCode::kData, log.problems());
    for (const Diagnostic& problem : log.problems()) host_.log("warning", problem.text());
    if (watch.windows() == 0) {
      throw Error(ExitCode::kData,
                  "no window: a window of this model needs " + std::to_string(model_.window) +
                      " rows, the log has " + std::to_string(log.rows()),
                  "", file.name);
    }
    if (watch.own() == watch.windows()) {
      host_.log("warning", file.name + ": all of its " + std::to_string(watch.windows()) +
                               " windows were learned from; nothing was decided");
    }
    windows_ += watch.windows();
    attacks_ += watch.flagged();
    alarms_ += watch.alarms();
  }

  StageResult result() const override {
    explanations_.send();
    StageResult out = LogScoring::result();
    out.metrics["alarms"] = alarms_;
    *out.summary += ", " + grouped(alarms_) + (alarms_ == 1 ? " alarm" : " alarms");
    return out;
  }

 private:
  DetectorModel model_;
  const ScoreOptions& options_;
  const Host& host_;
  Explanations explanations_;
  int64_t alarms_ = 0;
};

}  // namespace

bool is_json_file(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::array<char, 8> head{};
  stream.read(head.data(), head.size());
  const auto end = head.begin() + stream.gcount();
  const auto first = std::find_if_not(
      head.begin(), end, [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; });
  // The length of a header fits seven of its eight bytes.
  return first != end && *first == '{' && std::find(head.begin(), end, '\0') == end;
}

std::unique_ptr<LogScoring> open_detector(const std::filesystem::path& file,
                                          const ScoreOptions& options, const Request& request,
                                          const Host& host) {
  if (request.device != Request().device) {
    throw Error(ExitCode::kUsage, file.string() + " is a detector, which has no need of a device",
                "leave --device away");
  }
  if (options.false_alarms != ScoreOptions().false_alarms) {
    throw Error(ExitCode::kUsage,
                "false_alarms is a share of windows, and " + file.string() +
                    " is a detector: it has thresholds for a budget of false alarms an hour",
                "train with another budget: detector.false_alarms=N; or move the threshold: "
                "--threshold X, in log-odds");
  }
  DetectorModel model = DetectorModel::read(file);
  if (options.calibrate > detector::own_windows_of(options.calibrate, model.window)) {
    throw Error(ExitCode::kUsage,
                "calibrate: a profile is learned from " + std::to_string(detector::kMostOwnFrames) +
                    " frames of a log at most, " +
                    std::to_string(detector::own_windows_of(options.calibrate, model.window)) +
                    " windows of this detector");
  }
  if (!options.vehicle.empty()) vehicle_named(model, options.vehicle);
  return std::make_unique<DetectorScoring>(std::move(model), options, host);
}

}  // namespace kdgat::score
