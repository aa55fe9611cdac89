#include "detector/judging.h"

#include <algorithm>
#include <optional>

#include "data/can/protocol_ids.h"
#include "detector/rule.h"

namespace kdgat::detector {
namespace {

struct Windows {
  std::vector<float> scores;
  std::vector<int64_t> labels;
  std::vector<double> begin, end, seconds;
};

Windows score(const Log& log, const graph::VehicleProfile& profile, const DetectorModel& model,
              const Decision& decision) {
  Windows out;
  graph::RelativeWindows windows(profile, model.window);
  const auto take = [&] {
    const graph::RelativeWindow& window = windows.window();
    out.scores.push_back(static_cast<float>(model.score(window, decision)));
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

template <class T>
void drop_first(std::vector<T>& values, int64_t count) {
  values.erase(values.begin(), values.begin() + count);
}

constexpr double kMostUnknown = 0.01;

/// Of benign rows below `end` the share whose id is not one of `ids`; 0 of none.
double unknown_share(const Log& log, int64_t end, const std::vector<uint32_t>& ids) {
  int64_t rows = 0, unknown = 0;
  for (int64_t row = 0; row < std::min(end, log.rows()); ++row) {
    if (log.is_attack(row) || graph::is_diagnostic(log.id(row))) continue;
    ++rows;
    unknown += std::binary_search(ids.begin(), ids.end(), log.key(row)) ? 0 : 1;
  }
  return rows == 0 ? 0 : static_cast<double>(unknown) / static_cast<double>(rows);
}

}  // namespace

JudgedLog judge(const Log& log, const DetectorModel& model, int64_t own_windows,
                const Baselines* baselines) {
  JudgedLog out;
  out.name = log.name();
  out.part = log.part();
  const OwnBeginning beginning = learn_own(log, model.window, own_windows);
  const auto& [own, learned] = beginning;
  const int64_t beginning_rows = std::max(own, kLeastOwn) * model.window;
  const std::vector<uint32_t> ids = log.benign_ids(beginning_rows);
  const Vehicle* known = nullptr;
  double best = kSameVehicle;
  for (const Vehicle& one : model.vehicles) {
    const std::vector<uint32_t> its = one.ids();
    const double share = overlap(ids, its);
    // Cars of one maker share most ids, but each sends some all the time that others do not have.
    if (share > best && unknown_share(log, beginning_rows, its) < kMostUnknown) {
      known = &one;
      best = share;
    }
  }
  if (!learned && known == nullptr) {
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
  Windows windows = score(log, profile, model, model.decision(out.own));
  if (static_cast<int64_t>(windows.scores.size()) <= out.own) {
    throw Error(ExitCode::kData,
                log.name() + ": no window is left to judge: all " +
                    std::to_string(windows.scores.size()) +
                    " were learned from to know what is usual",
                "a longer log, or a smaller own_windows");
  }
  std::vector<float> rule = rule_scores(log, profile, model.window);
  rule.resize(windows.scores.size());
  std::vector<int64_t> numbers;  // of the windows that count
  for (int64_t w = out.own; w < std::ssize(windows.scores); ++w) {
    numbers.push_back(w);
    out.first_row.push_back(w * model.window);
  }
  const auto add = [&](const std::string& method, std::vector<float>& scores, double threshold,
                       int64_t first) {
    drop_first(scores, first);
    out.said.push_back({method, std::move(scores), threshold, method == kDetector});
  };
  add(kDetector, windows.scores, 0, out.own);
  add(kRule, rule, RuleWindows::kThreshold, out.own);
  if (baselines != nullptr) {
    for (Verdicts& said : baselines->judge(log, numbers)) out.said.push_back(std::move(said));
  } else if (learned) {
    std::vector<float> with_own = rule_scores(log, *learned, model.window);
    add(kOwnRule, with_own, RuleWindows::kThreshold, own);
  }
  drop_first(windows.labels, out.own);
  drop_first(windows.begin, out.own);
  drop_first(windows.end, out.own);
  drop_first(windows.seconds, out.own);
  out.labels = std::move(windows.labels);
  out.begin = std::move(windows.begin);
  out.end = std::move(windows.end);
  out.seconds = std::move(windows.seconds);
  out.size = model.window;
  mark_windows(log, known != nullptr ? known->ids() : std::vector<uint32_t>(), out);
  return out;
}

}  // namespace kdgat::detector
