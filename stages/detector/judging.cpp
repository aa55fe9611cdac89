#include "detector/judging.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "detector/rule.h"
#include "train/metrics/metrics.h"

namespace kdgat::detector {
namespace {

using nlohmann::json;

constexpr int64_t kLeastOwn = 20;  // windows; fewer say too little of what is usual
constexpr double kHour = 3600;

struct Windows {
  std::vector<float> scores;
  std::vector<int64_t> labels;
  std::vector<double> begin, end, seconds;
};

Windows score(const Log& log, const graph::VehicleProfile& profile, const DetectorModel& model) {
  Windows out;
  graph::RelativeWindows windows(profile, model.window);
  const auto take = [&] {
    const graph::RelativeWindow& window = windows.window();
    out.scores.push_back(static_cast<float>(model.score(window)));
    out.labels.push_back(window.attack ? 1 : 0);
    out.begin.push_back(window.begin);
    out.end.push_back(window.end);
    out.seconds.push_back(window.seconds);
  };
  for (int64_t row = 0; row < log.rows(); ++row) {
    if (log.restarts(row)) windows.restart();
    if (windows.add(log.frame(row))) take();
  }
  while (windows.finish()) take();
  return out;
}

std::vector<float> rule_scores(const Log& log, const graph::VehicleProfile& profile,
                               int64_t window) {
  std::vector<float> out;
  RuleWindows rule(profile, window);
  for (int64_t row = 0; row < log.rows(); ++row) {
    if (log.restarts(row)) rule.restart();
    if (rule.add(log.frame(row))) out.push_back(rule.odd());
  }
  return out;
}

template <class T>
void drop_first(std::vector<T>& values, int64_t count) {
  values.erase(values.begin(), values.begin() + count);
}

/// Attacks of a log: attacked windows, those near one another together.
struct Found {
  int64_t events = 0, found = 0, false_events = 0;
  std::vector<double> delays;
};

void count(const JudgedLog& log, const Verdicts& said, Found& out) {
  const std::size_t n = said.scores.size();
  const std::size_t skip = log.labels.size() - n;
  bool open = false, is_found = false;
  int64_t since_attack = kMergeWindows;
  std::vector<float> benign;  // an alarm beside an attack is that attack's
  double begin = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t w = i + skip;
    const bool flagged = said.scores[i] > said.threshold;
    if (log.labels[w] == 1) {
      if (!open || since_attack >= kMergeWindows) {
        ++out.events;
        begin = log.begin[w];
        is_found = false;
      }
      open = true;
      since_attack = 0;
      if (flagged && !is_found) {
        is_found = true;
        ++out.found;
        const double delay = log.end[w] - begin;
        if (std::isfinite(delay)) out.delays.push_back(delay);  // not without times
      }
    } else {
      ++since_attack;
    }
    const bool beside = open && since_attack <= kMergeWindows;
    benign.push_back(beside ? -std::numeric_limits<float>::infinity() : said.scores[i]);
  }
  out.false_events += count_events(benign, said.threshold);
}

}  // namespace

JudgedLog judge(const Log& log, const DetectorModel& model, int64_t own_windows) {
  JudgedLog out;
  out.name = log.name();
  out.part = log.part();
  const int64_t benign = log.first_attack() / model.window;
  const int64_t own = std::min(own_windows, benign);
  const std::vector<uint32_t> ids = log.benign_ids(std::max(own, kLeastOwn) * model.window);
  const Vehicle* known = nullptr;
  double best = kSameVehicle;
  for (const Vehicle& one : model.vehicles) {
    const double share = overlap(ids, one.ids());
    if (share > best) {
      known = &one;
      best = share;
    }
  }
  std::optional<graph::VehicleProfile> learned;
  if (own >= kLeastOwn) {
    learned = learn_profile(std::array{Piece{&log, 0, own * model.window}});
  } else if (known == nullptr) {
    throw Error(ExitCode::kData,
                log.name() + ": a vehicle never seen, and only " + std::to_string(own) +
                    " windows of its own traffic ahead of the first attack",
                "at least " + std::to_string(kLeastOwn) + " are needed to learn what is usual");
  }
  const graph::VehicleProfile& profile = known != nullptr ? known->profile : *learned;
  if (known != nullptr) {
    out.profile = known->name;
  } else {
    out.own = own;
  }
  Windows windows = score(log, profile, model);
  if (static_cast<int64_t>(windows.scores.size()) <= out.own) {
    throw Error(ExitCode::kData,
                log.name() + ": no window is left to judge: all " +
                    std::to_string(windows.scores.size()) +
                    " were learned from to know what is usual",
                "a longer log, or a smaller own_windows");
  }
  std::vector<float> rule = rule_scores(log, profile, model.window);
  rule.resize(windows.scores.size());
  if (learned) {
    out.own_rule = {rule_scores(log, *learned, model.window), RuleWindows::kThreshold};
    drop_first(out.own_rule.scores, own);
  }
  drop_first(windows.scores, out.own);
  drop_first(windows.labels, out.own);
  drop_first(windows.begin, out.own);
  drop_first(windows.end, out.own);
  drop_first(windows.seconds, out.own);
  drop_first(rule, out.own);
  out.own_rule_first = static_cast<int64_t>(windows.scores.size() - out.own_rule.scores.size());
  out.detector = {std::move(windows.scores),
                  known != nullptr ? model.known.threshold : model.adapted.threshold};
  out.rule = {std::move(rule), RuleWindows::kThreshold};
  out.labels = std::move(windows.labels);
  out.begin = std::move(windows.begin);
  out.end = std::move(windows.end);
  out.seconds = std::move(windows.seconds);
  for (std::size_t w = 0; w < out.labels.size(); ++w) {
    out.shadow.push_back(out.labels[w] == 0 && w > 0 && out.labels[w - 1] == 1 ? 1 : 0);
  }
  return out;
}

json summarise(std::span<const JudgedLog> logs, const Verdicts JudgedLog::*method) {
  std::vector<float> above;  // the threshold: logs may have different ones
  std::vector<int64_t> labels;
  int64_t outside = 0;
  double hours = 0;
  Found found;
  for (const JudgedLog& log : logs) {
    const Verdicts& said = log.*method;
    const std::size_t skip = log.labels.size() - said.scores.size();
    for (std::size_t i = 0; i < said.scores.size(); ++i) {
      const std::size_t w = i + skip;
      above.push_back(static_cast<float>(said.scores[i] - said.threshold));
      labels.push_back(log.labels[w]);
      if (log.labels[w] == 1) continue;
      outside += above.back() > 0 && log.shadow[w] == 0 ? 1 : 0;
      hours += log.seconds[w] / kHour;
    }
    count(log, said, found);
  }
  const train::Confusion c = train::confusion(above, labels, 0);
  const json rates = train::rates(c);
  const Interval interval = poisson_interval(c.fp);
  const auto per_hour = [&](double count) { return hours > 0 ? count / hours : 0.0; };
  std::sort(found.delays.begin(), found.delays.end());
  const bool any = !found.delays.empty();
  return {{"n_samples", c.total()},
          {"attacks", c.tp + c.fn},
          {"auc", train::auc(above, labels)},
          {"pr_auc", train::pr_auc(above, labels)},
          {"f1", rates.at("f1")},
          {"mcc", rates.at("mcc")},
          {"false_windows", c.fp},
          {"false_outside_shadows", outside},
          {"missed_windows", c.fn},
          {"benign_hours", hours},
          {"false_per_hour", per_hour(static_cast<double>(c.fp))},
          {"false_per_hour_low", per_hour(interval.low)},
          {"false_per_hour_high", per_hour(interval.high)},
          {"false_events", found.false_events},
          {"events", found.events},
          {"events_found", found.found},
          {"time_to_alarm", any ? json(found.delays[found.delays.size() / 2]) : json()},
          {"worst_time_to_alarm", any ? json(found.delays.back()) : json()}};
}

}  // namespace kdgat::detector
