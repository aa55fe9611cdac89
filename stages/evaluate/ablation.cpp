#include "evaluate/ablation.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/arrays/random.h"
#include "engine/compare/summary.h"
#include "kdgat/text.h"

namespace kdgat::evaluate {
namespace {

using nlohmann::json;

/// Windows of a part by file: the scores of attacks and of benign ones, ascending.
struct FileScores {
  std::vector<float> attack, benign;
};

std::vector<FileScores> by_file(const Predictions& p, std::span<const int32_t> source_of) {
  std::map<int32_t, FileScores> files;
  for (const std::size_t i : judged(p)) {
    FileScores& file = files[source_of[static_cast<std::size_t>(p.graph[i])]];
    (p.label[i] == 1 ? file.attack : file.benign).push_back(p.raw[i]);
  }
  std::vector<FileScores> out;
  for (auto& [source, file] : files) {
    std::sort(file.attack.begin(), file.attack.end());
    std::sort(file.benign.begin(), file.benign.end());
    out.push_back(std::move(file));
  }
  return out;
}

/// AUC of files drawn any number of times, without looking at a score again: it is the share of
/// pairs of an attack and a benign window in the right order (Mann and Whitney), and these are
/// counted once for each two files.
class PairCounts {
 public:
  explicit PairCounts(const std::vector<FileScores>& files) : files_(files) {
    for (const FileScores& a : files) {
      for (const FileScores& b : files) {
        double right = 0;
        for (const float score : a.attack) {
          const auto [low, high] = std::equal_range(b.benign.begin(), b.benign.end(), score);
          right += static_cast<double>(low - b.benign.begin()) +
                   0.5 * static_cast<double>(high - low);  // ties count half
        }
        right_.push_back(right);
      }
    }
  }

  /// `times` each file is there; NaN without attacks or without benign windows.
  double auc(const std::vector<int64_t>& times) const {
    double right = 0, attacks = 0, benign = 0;
    for (std::size_t a = 0; a < files_.size(); ++a) {
      const auto of_a = static_cast<double>(times[a]);
      attacks += of_a * static_cast<double>(files_[a].attack.size());
      benign += of_a * static_cast<double>(files_[a].benign.size());
      if (times[a] == 0) continue;
      for (std::size_t b = 0; b < files_.size(); ++b) {
        right += of_a * static_cast<double>(times[b]) * right_[a * files_.size() + b];
      }
    }
    return attacks > 0 && benign > 0 ? right / (attacks * benign) : std::nan("");
  }

 private:
  const std::vector<FileScores>& files_;
  std::vector<double> right_;
};

std::optional<std::pair<double, double>> interval_of(const PairCounts& whole,
                                                     const PairCounts& rewired, std::size_t files) {
  if (files < 2) return std::nullopt;
  arrays::Random random(compare::kBootstrapSeed, 29);
  std::vector<double> drawn;
  for (int64_t draw = 0; draw < compare::kBootstrapDraws; ++draw) {
    std::vector<int64_t> times(files);
    for (std::size_t i = 0; i < files; ++i) ++times[random.below(files)];
    const double lost = whole.auc(times) - rewired.auc(times);
    if (!std::isnan(lost)) drawn.push_back(lost);
  }
  std::sort(drawn.begin(), drawn.end());
  const std::size_t tail = drawn.size() / 40;
  return std::pair(drawn[tail], drawn[drawn.size() - 1 - tail]);
}

constexpr double kLeast = 0.0005;  // what three digits show; less counts as nothing

std::string three(double value) {
  return format_number("%.3f", std::abs(value) < kLeast ? 0 : value);
}

std::string range_text(double low, double high) { return three(low) + " to " + three(high); }

}  // namespace

std::string Ablation::Loss::verdict() const {
  if (!interval) return "one file, which says nothing of others";
  if (interval->first >= kLeast) return "the graph matters";
  return interval->second <= -kLeast ? "better without the graph"
                                     : "no sign that the graph matters";
}

void Ablation::add(const std::string& model, const Predictions& whole, const Predictions& rewired) {
  const std::vector<FileScores> of_whole = by_file(whole, source_of_),
                                of_rewired = by_file(rewired, source_of_);
  const PairCounts before(of_whole), after(of_rewired);
  const std::vector<int64_t> once(of_whole.size(), 1);
  const double auc = before.auc(once);
  if (std::isnan(auc)) return;
  losses_.push_back(
      {whole.name(), model, auc, after.auc(once), interval_of(before, after, of_whole.size())});
}

std::vector<std::string> Ablation::sentences() const {
  std::vector<std::string> out;
  for (const Loss& loss : losses_) {
    std::string sentence = loss.part + ": AUC of " + loss.model + " " + three(loss.auc) +
                           " with the edges as they are, " + three(loss.rewired) +
                           " with edges rewired at random; lost: " + three(loss.lost());
    if (loss.interval) {
      const auto& [low, high] = *loss.interval;
      sentence += " (95 % over files " + range_text(low, high) + ")";
    }
    out.push_back(sentence + "; " + loss.verdict());
  }
  return out;
}

void Ablation::finish(StageResult& result) const {
  if (losses_.empty()) return;
  ResultTable table{
      {"part", "model", "AUC", "edges rewired", "lost", "lost, 95 % over files", "what it says"},
      {}};
  std::map<std::string, std::pair<double, double>> ranges;  // of what is lost, by model
  for (const Loss& loss : losses_) {
    const auto bound = [&](bool is_high) {
      if (!loss.interval) return json();
      return json(is_high ? loss.interval->second : loss.interval->first);
    };
    result.metrics["rewired"][loss.part][loss.model] = {{"auc", loss.auc},
                                                        {"auc_rewired", loss.rewired},
                                                        {"lost", loss.lost()},
                                                        {"lost_low", bound(false)},
                                                        {"lost_high", bound(true)}};
    table.rows.push_back(
        {loss.part, loss.model, three(loss.auc), three(loss.rewired), three(loss.lost()),
         loss.interval ? range_text(loss.interval->first, loss.interval->second) : "",
         loss.verdict()});
    auto& [low, high] = ranges.try_emplace(loss.model, loss.lost(), loss.lost()).first->second;
    low = std::min(low, loss.lost());
    high = std::max(high, loss.lost());
  }
  result.tables.push_back(std::move(table));
  std::string line;
  for (const auto& [model, range] : ranges) {
    const auto& [low, high] = range;
    line += (line.empty() ? "" : ", ") + model + " " +
            (three(low) == three(high) ? three(low) : range_text(low, high));
  }
  const std::string before = result.summary.value_or("");
  result.summary = "AUC lost with edges rewired: " + line + (before.empty() ? "" : "; " + before);
}

}  // namespace kdgat::evaluate
