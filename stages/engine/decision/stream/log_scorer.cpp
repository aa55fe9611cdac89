#include "engine/decision/stream/log_scorer.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "engine/file/line_reader.h"
#include "kdgat/text.h"

namespace kdgat::decision {
namespace {

/// The reason of a window that the other channel alone flags.
constexpr const char* kOfChannel = "what the fusion's networks say of it";

std::vector<std::string> texts_of(const std::optional<Reasons>& reasons) {
  std::vector<std::string> out;
  if (!reasons) return out;
  for (const Reason& one : reasons->reasons) out.push_back(one.text());
  return out;
}

std::vector<std::string> ids_of(const Reasons& reasons) {
  std::vector<std::string> out;
  for (const uint32_t key : reasons.keys) {
    if (out.size() < kReasons) out.push_back(data::id_text(key));
  }
  return out;
}

/// Of the same ids; none where none of them has a name.
std::vector<std::string> names_of(const Reasons& reasons, const data::DbcNames& names) {
  std::vector<std::string> out;
  bool any = false;
  for (const uint32_t key : reasons.keys) {
    if (out.size() == kReasons) break;
    const data::DbcMessage* message = names.of_key(key);
    out.push_back(message != nullptr ? message->name : "");
    any |= message != nullptr;
  }
  return any ? out : std::vector<std::string>();
}

}  // namespace

data::DbcNames read_names(const std::string& file, const JudgeSink& sink) {
  if (file.empty()) return {};
  data::DbcNames names(
      file::LineReader(file, [&sink] { return sink.cancelled() != ExitCode::kOk; }));
  for (const Diagnostic& fault : names.warnings()) sink.log("warning", fault.text());
  for (const Diagnostic& note : names.notes()) sink.log("info", note.text());
  return names;
}

/// Throws Error(kUsage) where the model knows no vehicle of that name.
const data::Vehicle& vehicle_named(const DetectorModel& model, const std::string& name) {
  std::string all;
  std::vector<const data::Vehicle*> short_named;
  for (const data::Vehicle& one : model.vehicles) {
    if (one.name == name) return one;
    const std::string file = std::filesystem::path(one.name).filename().string();
    if (file == name || file.substr(0, file.find('.')) == name) short_named.push_back(&one);
    all += (all.empty() ? "" : ", ") + one.name;
  }
  if (short_named.size() == 1) return *short_named.front();
  throw Error(ExitCode::kUsage,
              short_named.empty() ? "the detector has no vehicle " + name
                                  : "the detector has several vehicles of that name: " + name,
              "there are: " + all);
}

void check_options(const DetectorModel& model, const std::string& file,
                   const ScoreOptions& options) {
  if (options.false_alarms != ScoreOptions().false_alarms) {
    throw Error(ExitCode::kUsage,
                "false_alarms is a share of windows, and " + file +
                    " is a detector: it has thresholds for a budget of false windows an hour",
                "train with another budget: detector.false_alarms=N; or move the threshold: "
                "--threshold X, in log-odds");
  }
  if (options.calibrate * model.window > data::kMostOwnFrames) {
    throw Error(ExitCode::kUsage, "calibrate: a profile is learned from " +
                                      std::to_string(data::kMostOwnFrames) +
                                      " frames of a log at most, " +
                                      std::to_string(data::kMostOwnFrames / model.window) +
                                      " windows of this detector");
  }
  if (!options.vehicle.empty()) vehicle_named(model, options.vehicle);
  if (options.frames && !model.frames) {
    throw Error(ExitCode::kUsage, file + " cannot say which frames of a window were injected",
                "it was trained without attacks, or by an earlier version: train it again");
  }
}

LogScorer::LogScorer(const DetectorModel& model, const ScoreOptions& options, std::string file,
                     std::string hash, JudgeSink sink, Explanations* explanations,
                     const data::DbcNames& names, Channel channel)
    : model_(model),
      file_(std::move(file)),
      hash_(std::move(hash)),
      sink_(std::move(sink)),
      explanations_(explanations),
      channel_(std::move(channel)),
      gives_reasons_(options.reasons),
      gives_frames_(options.frames),
      threshold_(options.threshold.empty() ? 0 : options.threshold.front()),
      stream_(threshold_),
      names_(names),
      watch_(model, file_, options.calibrate,
             [this](const JudgedWindow& window) { tell(window); }) {
  watch_.name_by(names_);
  if (!options.vehicle.empty()) watch_.take(vehicle_named(model, options.vehicle));
}

void LogScorer::add(const data::CanFrame& frame, bool restarts) {
  constexpr int64_t kOften = 0x1000;  // rows between two looks whether to stop
  watch_.add(frame, restarts);
  problems_.add(frame.key(), frame.time, frame.label == 1, restarts);
  if (++rows_ % kOften == 0) stop_if_cancelled();
}

void LogScorer::finish() {
  if (is_done()) return;
  watch_.finish();
  for (const std::string& sentence : problems_.sentences()) {
    sink_.log("warning", file_ + ": " + sentence);
  }
  if (stream_.finish() == AlarmStream::Change::kClosed) tell_alarm(false);
  if (explanations_ != nullptr) explanations_->finish_log(file_, windows_, alarms_);
}

void LogScorer::stop_if_cancelled() const {
  if (const ExitCode code = sink_.cancelled(); code != ExitCode::kOk) {
    throw Error(code, "interrupted after " + std::to_string(windows_) + " windows of " + file_);
  }
}

void LogScorer::tell(const JudgedWindow& judged) {
  constexpr double kClearlyMore = 2;  // log-odds: a window that explains the alarm better
  const float other = channel_ ? channel_(judged) : judged.score;
  JudgedWindow window = judged;
  if (!window.is_own) window.score = std::max(window.score, other);
  stop_if_cancelled();
  if (windows_++ == 0) tell_vehicle();
  const bool is_flagged = !window.is_own && window.score > threshold_;
  flagged_ += is_flagged ? 1 : 0;
  last_score_ = window.score;
  ids_ = window.ids;
  is_missing_ = decision::is_missing(window.relative.x);
  const AlarmStream::Change change =
      window.is_own ? AlarmStream::Change::kNone
                    : stream_.add(window.number, window.score, window.time, window.relative.end);
  if (!window.is_own && fit_.add(window.relative.seconds, is_flagged)) tell_misfit();
  fits_ = fit_.fits();
  const bool opens = change == AlarmStream::Change::kOpened;
  const bool is_explained = is_flagged && (opens || window.score > explained_ + kClearlyMore);
  std::optional<Reasons> reasons;
  // Of one that those ahead of it have flagged there is nothing to say.
  const bool tells_why =
      is_flagged && gives_reasons_ && window.alone > threshold_ && sink_.window != nullptr;
  if (tells_why || is_explained) reasons = watch_.reasons(kReasons);
  if (sink_.window) {
    tell_window(window, is_flagged, is_flagged && judged.score <= threshold_,
                tells_why ? reasons : std::nullopt);
  }
  if (opens) begin_ = window.time;
  if (is_flagged) end_ = window.relative.end;
  if (is_explained) {
    explained_ = window.score;
    why_ids_ = ids_of(*reasons);
    called_ = names_of(*reasons, names_);
    why_ = gives_reasons_ ? texts_of(reasons) : std::vector<std::string>();
  }
  if (change != AlarmStream::Change::kNone) tell_alarm(opens);
  if (explanations_ != nullptr) {
    explanations_->add(file_, window, threshold_, stream_, alarms_, watch_);
  }
}

void LogScorer::tell_window(const JudgedWindow& window, bool is_flagged, bool is_of_channel,
                            const std::optional<Reasons>& reasons) const {
  const char* decision = window.is_own ? "calibration" : is_flagged ? "attack" : "benign";
  WindowEvent event{file_,
                    window.number,
                    time_json(window.time),
                    window.relative.first_row,
                    window.ids,
                    window.score,
                    decision,
                    is_of_channel ? std::vector<std::string>{kOfChannel} : texts_of(reasons),
                    {}};
  if (is_flagged && gives_frames_) {
    for (const InjectedFrame& one : watch_.injected()) {
      event.frames.push_back({one.row, time_json(one.time), data::id_text(one.key), one.score});
    }
  }
  sink_.window(event);
}

void LogScorer::tell_vehicle() const {
  if (const data::Vehicle* vehicle = watch_.vehicle()) {
    return sink_.log("info", file_ + ": judged as the vehicle of " + vehicle->name);
  }
  sink_.log("info", file_ + ": a vehicle never seen; what is usual on it was learned from " +
                        std::to_string(watch_.own()) + " windows, which are taken as benign" +
                        (watch_.ended_early() ? "; an odd one ended them" : ""));
}

void LogScorer::tell_misfit() const {
  sink_.log("warning",
            file_ + ": for a minute more than " +
                format_number("%.0f %%", 100 * BusFit::kMostFlagged) +
                " of the windows have been flagged: an attack that goes on, or a car or a way of "
                "driving that the detector does not know. Where nobody attacks, learn from such "
                "traffic: kdgat fit, kdgat adapt, or kdgat watch --calibrate");
}

void LogScorer::tell_alarm(bool is_open) {
  const kdgat_alarm& alarm = stream_.alarm();
  sink_.alarm(AlarmEvent{file_, alarms_, is_open, time_json(begin_), time_json(end_),
                         alarm.first_window, alarm.last_window, alarm.windows, alarm.peak, why_ids_,
                         called_, why_, hash_});
  if (is_open) return;
  if (explanations_ != nullptr) explanations_->close(alarm, begin_, end_);
  ++alarms_;
}

void LogScorer::check(int64_t rows) const {
  if (windows_ == 0) {
    throw Error(ExitCode::kData,
                "no window: a window of this model needs " + std::to_string(model_.window) +
                    " rows, the log has " + std::to_string(rows),
                "", file_);
  }
  if (own() == windows_) {
    sink_.log("warning", file_ + ": all of its " + std::to_string(windows_) +
                             " windows were learned from; nothing was decided");
  }
}

StageResult with_alarms(StageResult result, int64_t alarms) {
  result.metrics["alarms"] = alarms;
  *result.summary += ", " + grouped(alarms) + (alarms == 1 ? " alarm" : " alarms");
  return result;
}

}  // namespace kdgat::decision
