#include "engine/decision/detector/window_scorer.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "engine/data/can/vehicles/learn_profile.h"
#include "engine/data/can/vehicles/vehicles.h"
#include "engine/decision/detector/blame.h"
#include "kdgat/error.h"

namespace kdgat::decision {

WindowScorer::WindowScorer(const DetectorModel& model, std::string name, int64_t own_windows,
                           Sink sink)
    : model_(model),
      name_(std::move(name)),
      own_windows_(own_windows),
      sink_(std::move(sink)),
      filter_(model) {}

void WindowScorer::add(const data::CanFrame& frame, bool restarts) {
  if (windows_) return judge({frame, restarts});
  if (frame.label == 1 && first_attack_ < 0) first_attack_ = std::ssize(heard_);
  is_labelled_ = is_labelled_ || frame.label >= 0;
  heard_.push_back({frame, restarts});
  heard_time_.add(frame.time);
  if (trial_) try_on(heard_.back());
  if (frame.label == 1 || std::ssize(heard_) % model_.window == 0) listen(false);
}

void WindowScorer::finish() {
  if (!windows_ && !heard_.empty()) listen(true);
  if (!windows_) return;
  while (windows_->finish()) give();
}

/// Windows that its own profile is learned from, as far as what was heard says.
int64_t WindowScorer::most_own() const {
  const bool is_long = heard_time_.seconds() >= model_.own_seconds;
  const int64_t heard = is_long ? std::ssize(heard_) / model_.window : data::kMostOwnFrames;
  return data::own_windows_of(own_windows_ > 0 ? own_windows_ : heard, model_.window);
}

/// Begins to judge where enough was heard.
void WindowScorer::listen(bool is_end) {
  const auto rows = static_cast<int64_t>(heard_.size());
  int64_t ahead = std::numeric_limits<int64_t>::max();  // windows ahead of the first attack row
  if (first_attack_ >= 0) ahead = first_attack_ / model_.window;
  if (first_attack_ < 0 && is_end) ahead = rows / model_.window;
  if (!is_unknown_) {
    const int64_t most = std::min({data::kMatchWindows, most_own(), ahead});
    int64_t wanted = std::max(most, data::kLeastOwn) * model_.window;
    if (is_end) wanted = std::min(wanted, rows);
    if (rows < wanted) return;
    data::VehicleFinder finder;
    for (int64_t row = 0; row < wanted; ++row) {
      finder.add(heard_[static_cast<std::size_t>(row)].frame);
    }
    if (const data::Vehicle* vehicle = finder.find(model_.vehicles, learned_from(wanted))) {
      return begin(vehicle->profile, vehicle, 0);
    }
    is_unknown_ = true;
  }
  const int64_t own = std::min({most_own(), ahead, odd_});
  if (own < data::kLeastOwn) {
    throw Error(
        ExitCode::kData,
        name_ + ": a vehicle never seen, and only " + std::to_string(own) +
            " windows of its own traffic" +
            (first_attack_ >= 0 ? " ahead of the first attack" : ""),
        "at least " + std::to_string(data::kLeastOwn) + " are needed to learn what is usual");
  }
  if (rows < own * model_.window) {
    if (is_labelled_ || trial_ || rows < data::kMatchWindows * model_.window) return;
    trial_profile_ = learned_from(data::kMatchWindows * model_.window);
    trial_.emplace(*trial_profile_, model_.window, model_.classifier.reads_graphs());
    for (const LogRow& row : heard_) try_on(row);
    return;
  }
  learned_ = learned_from(own * model_.window);
  begin(*learned_, nullptr, own);
}

/// Looks whether the next window is odd compared with the first ones, and others near it.
void WindowScorer::try_on(const LogRow& row) {
  if (row.restarts) trial_->restart();
  if (!trial_->add(row.frame)) return;
  const data::RelativeWindow& window = trial_->window();
  const int64_t number = window.first_row / model_.window;
  if (number < data::kMatchWindows) return;
  if (model_.score(window, model_.decision(data::kMatchWindows)) > 0) trial_odd_.push_back(number);
  while (!trial_odd_.empty() && trial_odd_.front() <= number - kOddOf) trial_odd_.pop_front();
  if (std::ssize(trial_odd_) < kOddWindows) return;
  // What made the first of these odd may have begun in the window ahead of it.
  odd_ = std::min(odd_, std::max(data::kMatchWindows, trial_odd_.front() - 1));
}

data::VehicleProfile WindowScorer::learned_from(int64_t rows) const {
  data::ProfileBuilder builder(model_.classifier.reads_graphs());
  for (int64_t row = 0; row < rows; ++row) {
    const LogRow& heard = heard_[static_cast<std::size_t>(row)];
    data::learn_row(heard.frame, heard.restarts, builder);
  }
  return builder.profile();
}

void WindowScorer::begin(const data::VehicleProfile& profile, const data::Vehicle* vehicle,
                         int64_t own) {
  trial_.reset();
  trial_profile_.reset();
  vehicle_ = vehicle;
  own_ = own;
  decision_ = &model_.decision(vehicle != nullptr ? vehicle->own : own);
  windows_.emplace(profile, model_.window, model_.classifier.reads_graphs());
  recent_.resize(static_cast<std::size_t>((kKeptAhead + 2) * model_.window));
  for (const LogRow& row : std::exchange(heard_, {})) judge(row);
}

void WindowScorer::judge(const LogRow& row) {
  recent_[static_cast<std::size_t>(judged_++) % recent_.size()] = row;
  if (row.restarts) windows_->restart();
  if (keys_.empty()) time_ = row.frame.time;
  keys_.push_back(row.frame.key());
  const bool is_complete = std::ssize(keys_) == model_.window;
  if (is_complete) {
    std::sort(keys_.begin(), keys_.end());
    facts_.push_back({time_, std::unique(keys_.begin(), keys_.end()) - keys_.begin()});
    keys_.clear();
  }
  if (windows_->add(row.frame)) give();
}

Reasons WindowScorer::reasons(std::size_t most) const {
  const Blame parts = blame_of(model_, *decision_, *windows_, most);
  const auto size = static_cast<int64_t>(recent_.size());
  const int64_t from = std::max<int64_t>(0, judged_ - size);
  std::vector<LogRow> rows;
  rows.reserve(recent_.size());
  for (int64_t row = from; row < judged_; ++row) {
    rows.push_back(recent_[static_cast<std::size_t>(row % size)]);
  }
  const Evidence evidence{profile(), *windows_, rows,
                          static_cast<std::size_t>(next_.relative.first_row - from), names_};
  Reasons out{parts.score, {}, parts.rest, {}};
  for (const BlamedIds& part : parts.parts) {
    out.reasons.push_back(reason_of(part, evidence));
    out.keys.insert(out.keys.end(), part.keys.begin(), part.keys.end());
  }
  return out;
}

void WindowScorer::give() {
  next_.relative = windows_->window();
  next_.time = facts_.front().time;
  next_.ids = facts_.front().ids;
  facts_.pop_front();
  next_.until = facts_.empty() ? std::numeric_limits<double>::quiet_NaN() : facts_.front().time;
  const PartScores alone = model_.scores_of(next_.relative, *decision_);
  next_.alone = next_.score = static_cast<float>(DetectorModel::score(alone, *decision_));
  next_.is_own = next_.number < own_;
  if (!next_.is_own) {
    next_.score = static_cast<float>(DetectorModel::score(filter_.add(alone), *decision_));
  }
  sink_(next_);
  ++next_.number;
}

}  // namespace kdgat::decision
