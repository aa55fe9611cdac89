#include "engine/decision/detector/blame.h"

#include <algorithm>
#include <map>

namespace kdgat::decision {
namespace {

using data::ComparedFrame;
using data::RelativeWindow;
using data::RelativeWindows;

// What is taken out must make so large a share of all that ids make, and so much in log-odds.
constexpr double kLeastShare = 0.05, kLeast = 0.05;

/// What can be taken out: an id, or the unknown ids together.
struct Candidate {
  std::vector<uint32_t> keys;
  int64_t frames = 0;
  double alone = 0;  // the score of a window with nothing else
};

std::vector<Candidate> candidates_of(const RelativeWindows& windows) {
  std::map<uint32_t, int64_t> known, unknown;
  int64_t unknown_frames = 0;
  for (const ComparedFrame& frame : windows.frames()) {
    const bool is_known = frame.kind() == ComparedFrame::Kind::kKnown;
    ++(is_known ? known : unknown)[frame.key];
    unknown_frames += is_known ? 0 : 1;
  }
  for (const data::Silence& silence : windows.silences()) known[silence.key];
  std::vector<Candidate> out;
  out.reserve(known.size() + 2);
  for (const auto& [key, frames] : known) out.push_back({{key}, frames, 0});
  std::vector<std::pair<uint32_t, int64_t>> by_frames(unknown.begin(), unknown.end());
  std::stable_sort(by_frames.begin(), by_frames.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  Candidate together;
  for (const auto& [key, frames] : by_frames) {
    if (2 * frames > unknown_frames) {
      out.push_back({{key}, frames, 0});
    } else {
      together.keys.push_back(key);
      together.frames += frames;
    }
  }
  if (!together.keys.empty()) out.push_back(std::move(together));
  return out;
}

/// Takes candidates out of a window and scores what is left.
class Leftover {
 public:
  Leftover(const DetectorModel& model, const Decision& decision, const RelativeWindows& windows)
      : model_(model),
        decision_(decision),
        windows_(windows),
        window_(windows.window()),
        score_(model.score(window_, decision)) {}

  double score() const { return score_; }
  const RelativeWindow& window() const { return window_; }
  double score_without(const Candidate& one) const {
    const RelativeWindow less = without(one);
    const bool is_same = !less.graph && less.x == window_.x && less.broken == window_.broken;
    return is_same ? score_ : model_.score(less, decision_);
  }
  double score_alone(const Candidate& one) const {
    return model_.score(windows_.only(one.keys), decision_);
  }
  /// Of a window in which nothing is looked at.
  double score_of_none() const { return model_.score(windows_.only({}), decision_); }
  void take(const Candidate& one) {
    window_ = without(one);
    gone_.insert(gone_.end(), one.keys.begin(), one.keys.end());
    score_ = model_.score(window_, decision_);
  }

 private:
  RelativeWindow without(const Candidate& one) const {
    std::vector<uint32_t> keys = gone_;
    keys.insert(keys.end(), one.keys.begin(), one.keys.end());
    return windows_.without(keys);
  }

  const DetectorModel& model_;
  const Decision& decision_;
  const RelativeWindows& windows_;
  std::vector<uint32_t> gone_;
  RelativeWindow window_;
  double score_;
};

/// Of candidates the one with the least value; of equal ones that with more frames, then the lower
/// id.
template <class Value>
std::vector<Candidate>::iterator least_by(std::vector<Candidate>& candidates, Value value) {
  auto best = candidates.begin();
  double least = value(*best);
  for (auto one = best + 1; one != candidates.end(); ++one) {
    const double of_this = value(*one);
    const bool is_better = of_this != least              ? of_this < least
                           : one->frames != best->frames ? one->frames > best->frames
                                                         : one->keys < best->keys;
    if (!is_better) continue;
    best = one;
    least = of_this;
  }
  return best;
}

}  // namespace

Blame blame_of(const DetectorModel& model, const Decision& decision, const RelativeWindows& windows,
               std::size_t most) {
  std::vector<Candidate> candidates = candidates_of(windows);
  Leftover left(model, decision, windows);
  const double nothing = left.score_of_none();
  const double least = std::max(kLeast, kLeastShare * (left.score() - nothing));
  Blame out{left.score(), {}, left.score()};
  while (out.parts.size() < most && left.score() - nothing > least) {
    const double before = left.score();
    const RelativeWindow as_it_was = left.window();
    BlamedIds part;
    const auto take = [&](std::vector<Candidate>::iterator one) {
      left.take(*one);
      part.keys.insert(part.keys.end(), one->keys.begin(), one->keys.end());
      candidates.erase(one);
    };
    const auto best =
        least_by(candidates, [&](const Candidate& one) { return left.score_without(one); });
    if (before - left.score_without(*best) > least) {
      take(best);
    } else if (before <= 0) {
      break;  // what is left would not be flagged: of no single id more is to be said
    } else {
      for (Candidate& one : candidates) one.alone = left.score_alone(one);
      while (!candidates.empty() && before - left.score() <= least) {
        take(least_by(candidates, [](const Candidate& one) { return -one.alone; }));
      }
    }
    part.score = before - left.score();
    for (std::size_t c = 0; c < part.columns.size(); ++c) {
      part.columns[c] = left.window().x[c] < as_it_was.x[c];
    }
    part.laws = left.window().broken < as_it_was.broken;
    out.parts.push_back(std::move(part));
  }
  out.rest = left.score();
  return out;
}

}  // namespace kdgat::decision
