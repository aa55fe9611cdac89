#include "engine/decision/stream/network_judge.h"

#include <utility>

#include "engine/decision/stream/explanations.h"
#include "engine/train/metrics/benign_threshold.h"

namespace kdgat::decision {

namespace {

double threshold_of(const ScoreOptions& options, const WindowNetwork& network) {
  return options.threshold.empty() ? network.threshold.value_or(0) : options.threshold.front();
}

}  // namespace

NetworkJudge::NetworkJudge(const WindowNetwork& network, const data::Vocabulary& vocabulary,
                           const ScoreOptions& options, std::string file, std::string model,
                           JudgeSink sink)
    : network_(network),
      vocabulary_(vocabulary),
      options_(options),
      file_(std::move(file)),
      model_(std::move(model)),
      sink_(std::move(sink)),
      pending_(network.shape, vocabulary),
      threshold_(threshold_of(options, network)),
      stream_(threshold_) {}

bool NetworkJudge::is_learning() const {
  return static_cast<int64_t>(benign_.size()) < options_.calibrate;
}

bool NetworkJudge::knows(uint32_t key) const {
  return vocabulary_.number(key) < static_cast<float>(network_.vocabulary.size());
}

void NetworkJudge::add(const data::CanFrame& frame, bool restarts) {
  pending_.add(frame, restarts);
  if (pending_.complete() >= options_.batch) score();
}

void NetworkJudge::finish() {
  pending_.finish();
  score();
  if (stream_.finish() == AlarmStream::Change::kClosed) tell_alarm(false);
}

void NetworkJudge::check(int64_t) const {
  if (!is_learning()) return;
  sink_.log("warning", file_ + ": " + std::to_string(windows_) + " windows, fewer than the " +
                           std::to_string(options_.calibrate) +
                           " to calibrate on; nothing was decided");
}

void NetworkJudge::score() {
  const int64_t graphs = pending_.complete();
  if (graphs == 0) return;
  if (const ExitCode code = sink_.cancelled(); code != ExitCode::kOk) {
    throw Error(code, "interrupted after " + std::to_string(windows_) + " windows");
  }
  const std::span<const float> raw = network_.scorer->raw_scores(pending_.graphs(), graphs);
  for (int64_t g = 0; g < graphs; ++g) judge(g, raw[static_cast<std::size_t>(g)]);
  pending_.clear();
}

void NetworkJudge::judge(int64_t graph, float raw) {
  const auto score = static_cast<float>(network_.scorer->score_of(raw));
  const bool is_own = is_learning();
  const float compared = options_.calibrate > 0 ? raw : score;
  const bool is_flagged = !is_own && compared > threshold_;
  if (is_own) {
    benign_.push_back(raw);
    if (!is_learning()) {
      threshold_ = train::calibrate(benign_, options_.false_alarms);
      stream_ = AlarmStream(threshold_);
    }
  }
  last_score_ = score;
  ids_ = pending_.ids(graph);
  flagged_ += is_flagged ? 1 : 0;
  const int64_t number = windows_++;
  if (sink_.window) {
    const char* decision = is_own ? "calibration" : is_flagged ? "attack" : "benign";
    sink_.window(WindowEvent{file_,
                             number,
                             time_json(pending_.time(graph)),
                             pending_.row(graph),
                             ids_,
                             score,
                             decision,
                             {},
                             {}});
  }
  if (is_own) return;
  const AlarmStream::Change change =
      stream_.add(number, compared, pending_.time(graph), pending_.end(graph));
  const bool opens = change == AlarmStream::Change::kOpened;
  if (opens) begin_ = pending_.time(graph);
  if (is_flagged) end_ = pending_.end(graph);
  if (change != AlarmStream::Change::kNone) tell_alarm(opens);
}

void NetworkJudge::tell_alarm(bool is_open) {
  const kdgat_alarm& alarm = stream_.alarm();
  sink_.alarm(AlarmEvent{file_,
                         alarms_,
                         is_open,
                         time_json(begin_),
                         time_json(end_),
                         alarm.first_window,
                         alarm.last_window,
                         alarm.windows,
                         alarm.peak,
                         {},
                         {},
                         {},
                         model_});
  if (!is_open) ++alarms_;
}

}  // namespace kdgat::decision
