#include "detector/learning.h"

#include <deque>
#include <limits>
#include <memory>
#include <optional>

#include "engine/compare/rule.h"
#include "engine/data/can/vehicles/learning_size.h"

namespace kdgat::detector {
namespace {

using data::kRelativeColumns;
using data::RelativeWindow;
using data::SeenWindow;

/// Windows of one stretch, with what the rule says of each.
class RowTaker : public data::WindowTaker {
 public:
  RowTaker(const data::VehicleProfile& profile, const DetectorOptions& options,
           std::span<const data::StoredLog> logs, const NetworkSource& network, Learning& out)
      : options_(options),
        logs_(logs),
        network_(network),
        rule_(profile, options.window),
        out_(out) {}

  ~RowTaker() override {
    for (Held& held : held_) out_.held.push_back(std::move(held));
  }

  void add(const data::CanFrame& frame, bool restarts) override {
    if (restarts) rule_.restart();
    if (rule_.add(frame)) odd_.push_back(rule_.odd());
  }

  void take(const data::RelativeWindows& windows, const SeenWindow* seen) override {
    const float odd = odd_.front();
    odd_.pop_front();
    if (seen == nullptr) return;
    const RelativeWindow& window = windows.window();
    const bool is_injected = seen->kind >= 0;
    const bool is_plain = !is_injected && !seen->is_forgetful && !window.attack && !seen->is_shadow;
    std::optional<float> by_network;
    if (network_ && network_.held_out.has(logs_[seen->log], *seen)) {
      by_network = static_cast<float>(network_.network->score(windows.graph()));
    }
    out_.frames.add(windows);
    add_row(window, odd, *seen, is_plain);
    if (network_) {
      out_.rows.network.push_back(by_network.value_or(std::numeric_limits<float>::lowest()));
    }
    // Thresholds follow from the benign windows of a profile that forgot nothing.
    if (is_plain) hold(window, *seen, by_network);
  }

 private:
  void add_row(const RelativeWindow& window, float odd, const SeenWindow& seen, bool is_plain) {
    LearningSet& rows = out_.rows;
    rows.values.insert(rows.values.end(), window.x.begin(), window.x.end());
    rows.labels.push_back(window.attack ? 1 : 0);
    rows.folds.push_back(seen.fold);
    rows.own.push_back(seen.own);
    rows.plain.push_back(is_plain ? 1 : 0);
    rows.forgetful.push_back(seen.is_forgetful ? 1 : 0);
    rows.begins.push_back(seen.begins ? 1 : 0);
    rows.kinds.push_back(seen.kind);
    rows.rule.push_back(odd);
    rows.weights.push_back(window.attack ? 1 : static_cast<float>(options_.benign_weight));
  }

  void hold(const RelativeWindow& window, const SeenWindow& seen, std::optional<float> by_network) {
    const bool is_next = !held_.empty() && held_.back().fold == seen.fold &&
                         held_.back().network.empty() != by_network.has_value();
    if (!is_next) held_.push_back({{}, {}, 0, seen.own, seen.fold, seen.log});
    if (!is_timeless_) is_timeless_ = logs_[seen.log].is_timeless();
    Held& back = held_.back();
    back.values.insert(back.values.end(), window.x.begin(), window.x.end());
    if (by_network) back.network.push_back(*by_network);
    back.seconds +=
        *is_timeless_ ? static_cast<double>(window.frames) / data::kAssumedRate : window.seconds;
  }

  const DetectorOptions& options_;
  std::span<const data::StoredLog> logs_;
  const NetworkSource& network_;
  compare::RuleWindows rule_;
  std::deque<float> odd_;  // of windows that wait for the one behind them
  std::vector<Held> held_;
  std::optional<bool> is_timeless_;  // the log
  Learning& out_;
};

/// Vectors that grow hold what they held twice for a moment.
void reserve(LearningSet& set, std::size_t count, bool with_network) {
  set.values.reserve(count * kRelativeColumns);
  set.labels.reserve(count);
  set.weights.reserve(count);
  for (std::vector<int32_t>* one : {&set.folds, &set.own}) one->reserve(count);
  for (std::vector<uint8_t>* one : {&set.plain, &set.forgetful, &set.begins}) one->reserve(count);
  set.kinds.reserve(count);
  set.rule.reserve(count);
  if (with_network) set.network.reserve(count);
}

}  // namespace

trees::Table LearningSet::table() const {
  return {values, static_cast<int64_t>(kRelativeColumns), labels, weights};
}

Learning learn(std::span<const data::StoredLog> logs,
               const std::vector<std::vector<std::size_t>>& vehicles,
               const DetectorOptions& options, int64_t seed,
               const std::function<void(double share)>& told, const NetworkSource& network) {
  const int64_t windows = data::learning_size(logs, options.window, options).rows;
  Learning out{{}, FrameSample(windows, options.window), {}, {}, 0};
  out.kinds = options.inject;
  for (const data::StoredLog& log : logs) out.windows += log.rows() / options.window;
  reserve(out.rows, static_cast<std::size_t>(windows), static_cast<bool>(network));
  data::WindowLearner learner(
      logs, vehicles, options.window, options, seed,
      [&](const data::VehicleProfile& profile) {
        return std::make_unique<RowTaker>(profile, options, logs, network, out);
      },
      static_cast<bool>(network));
  std::size_t done = 0;
  for (const std::vector<std::size_t>& vehicle : vehicles) {
    for (const std::size_t log : vehicle) {
      told(static_cast<double>(done++) / static_cast<double>(logs.size()));
      learner.learn(log);
    }
  }
  return out;
}

}  // namespace kdgat::detector
