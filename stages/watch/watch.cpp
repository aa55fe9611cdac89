#include "watch/watch.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>

#include "engine/data/core/dataset_files.h"
#include "engine/decision/detector/alarms.h"
#include "engine/decision/stream/stream_model.h"
#include "engine/live/bell.h"
#include "engine/live/bus_reader.h"
#include "engine/live/replay.h"
#include "kdgat/text.h"
#include "watch/own_frames.h"
#include "watch/traffic_report.h"

namespace kdgat::watch {
namespace {

using live::LiveFrame;
using live::monotonic_now;
using nlohmann::json;

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) out.push_back(part);
  return out;
}

std::unique_ptr<live::FrameSource> open_source(const WatchOptions& options, const std::string& bus,
                                               const Host& host) {
  if (!options.replay) {
    live::BusOptions of_bus;
    of_bus.filters = options.filters;
    of_bus.receive_buffer = static_cast<int>(options.receive_buffer);
    auto reader = std::make_unique<live::BusReader>(parts_of(bus), of_bus);
    for (const std::string& name : reader->exposed()) {
      host.log("warning",
               name +
                   " takes frames from every computer that reaches it, and the sender of "
                   "a datagram can be forged; use 127.0.0.1, or a network of its own");
    }
    return reader;
  }
  live::ReplayOptions of_log;
  of_log.speed = options.speed > 0 ? options.speed : live::kMostSpeed;
  of_log.format = options.format;
  of_log.strict = options.strict;
  of_log.reading = options;
  return std::make_unique<live::Replay>(bus, of_log);
}

/// As `kdgat score` calls the log.
std::string stream_name(const WatchOptions& options, const std::string& bus) {
  if (!options.replay) return bus;
  data::Notes notes;
  const std::vector<data::LogFile> files = data::find_log_files(bus, {}, false, notes);
  if (files.size() == 1) return files.front().name;
  throw Error(ExitCode::kUsage, bus + " holds " + std::to_string(files.size()) + " logs",
              "name one of them: each is a stream of its own");
}

std::vector<std::string> names_of(const live::FrameSource& source) {
  std::vector<std::string> out;
  for (const live::BusCounts& bus : source.counts()) out.push_back(bus.name);
  return out;
}

std::string seconds_text(double seconds) { return format_number("%.0f", seconds) + " s"; }

/// The frames of one source, judged by one model after another while it calibrates.
class LiveScoring {
 public:
  LiveScoring(const WatchOptions& options, std::unique_ptr<decision::StreamModel> model,
              live::FrameSource& source, std::string name, const Host& host)
      : options_(options),
        source_(source),
        name_(std::move(name)),
        host_(host),
        clock_(!options.replay),
        report_(options.bitrate, options.silence, !options.replay),
        own_(options.own_frames, names_of(source)),
        model_(std::move(model)) {
    if (options.calibrate_seconds > 0) lesson_ = model_->lesson();
    judge_ = new_judge();
  }

  void run() {
    const auto heartbeat = static_cast<int64_t>(options_.heartbeat * 1e9);
    // How long the source is waited for, and how often is looked what changed.
    constexpr std::chrono::milliseconds kWait(100);
    constexpr int64_t kLook = 500'000'000;
    source_.start();
    begin_ = monotonic_now();
    int64_t beat = begin_, look = begin_ + kLook;
    while (!source_.is_ended()) {
      for (const LiveFrame& frame : source_.next(kWait)) take(frame);
      const int64_t now = monotonic_now();
      if (now >= look) {
        say_changes(now);
        look = now + kLook;
      }
      if (now >= beat) {
        say_traffic(now);
        beat = now + heartbeat;
      }
      if (host_.cancelled() != ExitCode::kOk) source_.stop();
    }
    if (phase() != Phase::kWatch) end_early();
    current_ = nullptr;
    judge_->finish();
    say_changes(monotonic_now());
    say_traffic(monotonic_now());
  }

  const decision::LogJudge& judge() const { return *judge_; }
  int64_t frames() const { return frames_; }
  /// No frame was left to be judged.
  bool ended_early() const { return ended_early_; }

 private:
  enum class Phase { kWatch, kLearn, kBudget };

  std::unique_ptr<decision::LogJudge> new_judge() {
    decision::JudgeSink sink;
    sink.alarm = [this](const AlarmEvent& alarm) {
      if (phase() == Phase::kBudget) return;
      own_.raise(alarm);
      host_.emit(alarm);
      is_alarm_open_ = alarm.open;
      if (current_ != nullptr && alarm.open) report_.told(*current_, monotonic_now());
    };
    sink.log = [this](const std::string& level, const std::string& text) {
      // Thresholds are about to change: what the present ones make of the traffic is no news.
      if (phase() == Phase::kBudget && level == "warning") return;
      host_.log(level, text);
    };
    sink.cancelled = [] { return ExitCode::kOk; };  // looked for between batches
    return model_->judge(name_, std::move(sink));
  }

  Phase phase() const {
    return lesson_ ? Phase::kLearn : measures_ ? Phase::kBudget : Phase::kWatch;
  }

  void take(const LiveFrame& live) {
    const bool is_cut = live.restarts || live.lost > 0;
    if (own_.is_own(live)) {
      is_cut_ = is_cut_ || is_cut;  // what was lost ahead of it is lost ahead of the next one
      return;
    }
    const bool restarts = std::exchange(is_cut_, false) || is_cut;
    current_ = &live;
    ++frames_;
    clock_.add(live);
    if (phase() != Phase::kWatch) calibrate(live, restarts);
    if (lesson_) return;
    const int64_t before = judge_->windows();
    judge_->add(live.frame, restarts);
    report_.add(live, *judge_);
    if (judge_->windows() == before) return;
    report_.judged(live, judge_->last_score(), monotonic_now());
    if (phase() != Phase::kBudget) return;
    // No threshold is chosen for an id that is missing: it is a finding by itself.
    constexpr float kUsual = std::numeric_limits<float>::lowest();
    scores_.push_back(judge_->is_missing() ? kUsual : judge_->last_score());
  }

  void calibrate(const LiveFrame& live, bool restarts) {
    const double learns_until =
        options_.budget > 0 ? options_.calibrate_seconds * 2 / 3 : options_.calibrate_seconds;
    if (lesson_ && clock_.seconds() < learns_until) return lesson_->add(live.frame, restarts);
    if (lesson_) finish_lesson();
    if (measures_ && clock_.seconds() >= options_.calibrate_seconds) finish_budget();
  }

  /// The source ended, or somebody stopped it, while it calibrates.
  void end_early() {
    const bool is_stopped = host_.cancelled() != ExitCode::kOk;
    host_.log("warning", name_ + ": calibration got " + seconds_text(clock_.seconds()) +
                             " of traffic, not the " + seconds_text(options_.calibrate_seconds) +
                             " that were asked for" + (is_stopped ? "; it was stopped" : ""));
    if (is_stopped) return;
    ended_early_ = true;
    if (measures_) {
      finish_budget();
    } else if (lesson_) {
      finish_lesson();
      if (std::exchange(measures_, false)) {
        host_.log("warning", name_ +
                                 ": no traffic was left for the budget; the thresholds are "
                                 "those of the model");
      }
    }
  }

  void finish_lesson() {
    const int64_t windows = lesson_->windows();
    learned_seconds_ = clock_.seconds();
    std::unique_ptr<decision::StreamModel> learned =
        lesson_->learned(options_.vehicle.empty() ? name_ : options_.vehicle, options_.save);
    lesson_.reset();
    judge_.reset();
    model_ = std::move(learned);
    measures_ = options_.budget > 0;
    judge_ = new_judge();
    report_.forget_ids();
    host_.log("info", name_ + ": calibrated by " + grouped(windows) + " windows, " +
                          seconds_text(learned_seconds_) +
                          " of traffic, which were taken as benign" +
                          (options_.save.empty() ? "" : "; the detector is " + options_.save));
  }

  /// The lowest threshold that keeps the budget in the benign traffic that was not learned from, at
  /// least the model's own.
  void finish_budget() {
    measures_ = false;
    decision::Stretch stretch{std::move(scores_), clock_.seconds() - learned_seconds_};
    const decision::Flagged allowed = decision::allowed_in({&stretch, 1}, options_.budget);
    double threshold = model_->threshold();
    if (!stretch.scores.empty()) {
      threshold = std::max(threshold, decision::threshold_for({&stretch, 1}, allowed));
    }
    judge_.reset();
    model_->set_threshold(threshold);
    judge_ = new_judge();
    host_.log("info", name_ + ": threshold " + format_number("%.3f", threshold) + ", with " +
                          std::to_string(allowed.windows) + " flagged windows allowed in " +
                          seconds_text(stretch.seconds) + " of benign traffic");
  }

  void say_changes(int64_t now) {
    for (const std::string& change : report_.changes(source_.counts(), now)) {
      host_.log("warning", change);
    }
  }

  void say_traffic(int64_t now) {
    std::vector<live::BusCounts> buses = source_.counts();
    for (std::size_t i = 0; i < buses.size(); ++i) buses[i].own_frames = own_.count(i);
    json values = report_.report(*judge_, buses);
    values["alarm_open"] = is_alarm_open_;
    if (phase() != Phase::kWatch) values["fits"] = true;
    values["calibrating"] = phase() != Phase::kWatch;
    values["seconds"] = static_cast<double>(now - begin_) * 1e-9;
    host_.metrics("traffic", reports_++, std::move(values));
  }

  const WatchOptions& options_;
  live::FrameSource& source_;
  std::string name_;
  const Host& host_;
  TrafficClock clock_;
  TrafficReport report_;
  OwnFrames own_;
  std::unique_ptr<decision::StreamModel> model_;
  std::unique_ptr<decision::StreamLesson> lesson_;  // while it learns
  bool is_alarm_open_ = false;
  bool measures_ = false;      // while the budget is measured
  std::vector<float> scores_;  // the same
  std::unique_ptr<decision::LogJudge> judge_;
  const LiveFrame* current_ = nullptr;
  bool ended_early_ = false;    // the calibration
  bool is_cut_ = false;         // frames were lost ahead of the next one
  double learned_seconds_ = 0;  // when the lesson was over, of clock_
  int64_t frames_ = 0, reports_ = 0, begin_ = 0;
};

}  // namespace

StageInfo Watch::info() {
  StageInfo out;
  out.inputs = {{"model", kind::kModel}, {"bus", kind::kBus}};
  out.summary = "Judge a live bus with a model, without LibTorch; used by kdgat watch.";
  out.name = "watch";
  return out;
}

json Watch::plan(const Options&, const Request&) { return json::object(); }

json Watch::run(const Options& options, const Request& request, Host& host) {
  const std::string bus = request.input("bus").path.string();
  std::unique_ptr<decision::StreamModel> model =
      decision::open_stream_model(request.input("model").path, options.of_scoring(),
                                  decision::warning_to(host), [&host] { return host.cancelled(); });
  const std::string hash = model->hash();
  if (!options.expect.empty() && options.expect != hash) {
    throw Error(ExitCode::kData, request.input("model").path.string() + " has the hash " + hash +
                                     ", not " + options.expect);
  }
  const std::string name = stream_name(options, bus);
  const std::unique_ptr<live::FrameSource> source = open_source(options, bus, host);
  host.metrics("model", 0, {{"hash", hash}, {"name", name}});
  LiveScoring watching(options, std::move(model), *source, name, host);
  watching.run();
  if (const auto* replay = dynamic_cast<const live::Replay*>(source.get())) {
    if (watching.frames() == 0 && host.cancelled() == ExitCode::kOk) {
      throw Error(ExitCode::kData, replay->problems());
    }
    for (const Diagnostic& problem : replay->problems()) host.log("warning", problem.text());
    if (host.cancelled() == ExitCode::kOk && !watching.ended_early()) {
      watching.judge().check(watching.frames());
    }
  }
  StageResult out;
  const decision::LogJudge& judge = watching.judge();
  out.metrics = {{"frames", watching.frames()},
                 {"windows", judge.windows()},
                 {"attacks", judge.flagged()},
                 {"alarms", judge.alarms()}};
  out.summary = grouped(watching.frames()) + " frames, " + grouped(judge.windows()) + " windows, " +
                grouped(judge.alarms()) + (judge.alarms() == 1 ? " alarm" : " alarms");
  return out;
}

}  // namespace kdgat::watch
