#include "engine/compare/judging.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "engine/compare/rule.h"
#include "engine/decision/detector/window_scorer.h"

namespace kdgat::compare {
namespace {

std::vector<float> drop_first(std::vector<float> values, int64_t count) {
  values.erase(values.begin(), values.begin() + count);
  return values;
}

/// Of a window that is not flagged all frames are taken for true ones.
void count_frames(const decision::WindowScorer& watch, const decision::JudgedWindow& window,
                  FrameCounts& out) {
  std::vector<decision::InjectedFrame> injected;
  if (window.score > 0) injected = watch.injected();
  auto next = injected.begin();
  int64_t row = window.relative.first_row;
  for (const data::ComparedFrame& frame : watch.frames()) {
    const bool is_found = next != injected.end() && next->row == row;
    ++row;
    if (is_found) ++next;
    if (frame.attack) {
      ++(is_found ? out.found : out.missed);
    } else {
      out.wrong += is_found ? 1 : 0;
    }
  }
}

}  // namespace

JudgedLog judge(const data::StoredLog& log, const decision::DetectorModel& model,
                const Baselines* baselines) {
  JudgedLog out;
  out.name = log.name();
  out.part = log.part();
  out.size = model.window;
  std::vector<float> scores;
  std::optional<FrameCounts> frames;
  if (model.frames) frames.emplace();
  int64_t windows = 0;
  decision::WindowScorer watch(model, log.name(), 0, [&](const decision::JudgedWindow& window) {
    ++windows;
    if (window.is_own) return;
    if (frames && window.relative.is_labelled) count_frames(watch, window, *frames);
    scores.push_back(window.score);
    out.first_row.push_back(window.relative.first_row);
    out.labels.push_back(window.relative.attack ? 1 : 0);
    out.begin.push_back(window.relative.begin);
    out.end.push_back(window.relative.end);
    out.seconds.push_back(window.relative.seconds);
  });
  for (int64_t row = 0; row < log.rows(); ++row) watch.add(log.frame(row), log.restarts(row));
  watch.finish();
  if (scores.empty()) {
    throw Error(ExitCode::kData,
                log.name() + ": no window is left to judge: all " + std::to_string(windows) +
                    " were learned from to know what is usual",
                "a longer log, or a smaller own_seconds");
  }
  const data::Vehicle* known = watch.vehicle();
  if (known != nullptr) out.profile = known->name;
  out.own = watch.own();
  const auto add = [&](const std::string& method, std::vector<float> said, double threshold) {
    out.said.push_back({method, std::move(said), threshold, method == kDetector});
  };
  const auto rule = [&](const data::VehicleProfile& profile, int64_t from) {
    return drop_first(rule_scores(log, profile, model.window), from);
  };
  add(kDetector, std::move(scores), 0);
  out.said.back().frames = frames;
  add(kRule, rule(watch.profile(), out.own), RuleWindows::kThreshold);
  if (baselines != nullptr) {
    std::vector<int64_t> numbers;  // of the windows that count
    for (int64_t w = out.own; w < windows; ++w) numbers.push_back(w);
    for (Verdicts& said : baselines->judge(log, numbers)) out.said.push_back(std::move(said));
  } else if (const data::OwnBeginning own = data::learn_own(
                 log, model.window, data::own_windows_in(log, model.window, model.own_seconds));
             own.profile) {
    add(kOwnRule, rule(*own.profile, own.windows), RuleWindows::kThreshold);
  }
  mark_windows(log, known != nullptr ? known->ids() : std::vector<uint32_t>(), out);
  return out;
}

}  // namespace kdgat::compare
