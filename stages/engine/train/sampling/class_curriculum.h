// ClassCurriculum: graphs of each class by difficulty. Pure: no files, no model; scores come from a
// closure.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/train/sampling/difficulty_sampler.h"

namespace kdgat::train {

/// Labelled graphs to choose among, each once.
struct LabelledGraphs {
  std::vector<int64_t> graph;      ///< [G] ids
  std::vector<int64_t> label;      ///< [G] the class of each
  std::vector<double> difficulty;  ///< [G] more is harder; empty where it is not used
};

/// The curricula of CurriculumSampler for classes of which none is the benign one. With S graphs in
/// the smallest class, an epoch has of a class of n
///  ratio     min(n, max(1, floor(S ratio))), drawn from its hardest: those above the percentile of
///            ratio_step() within the class, and never fewer than are wanted. So the classes are
///            as the ratio says in every epoch, whatever the pool holds.
///  momentum  S + floor(p (n - S)) with p = natural_share(): balanced at first, natural in the
///            end. Of these floor(hard_buffer_share ...) are the hardest of the class.
/// Every class is there in every epoch, and the smallest one as a whole from a ratio of 1 on.
/// Ranks of a difficulty scored again are those within a class.
class ClassCurriculum : public DifficultySampler {
 public:
  /// Throws as DifficultySampler, and Error(kData) without graphs.
  ClassCurriculum(const SamplingOptions& options, int64_t max_epochs, LabelledGraphs graphs,
                  uint64_t seed, DifficultyScore score);

  std::vector<int64_t> draw(int64_t epoch, nlohmann::json& composition) override;

  int64_t classes() const { return static_cast<int64_t>(members_.size()); }
  int64_t smallest() const { return smallest_; }
  int64_t largest() const;  ///< graphs in the largest class
  /// Graphs of a class of `size` in an epoch.
  int64_t count(int64_t size, int64_t epoch) const;

 private:
  std::vector<double> mixed(const std::vector<double>& scores) const override;
  /// Positions in graphs(), of the class with these `members`.
  std::vector<int64_t> draw_of(const std::vector<int64_t>& members, int64_t epoch,
                               arrays::Random& random) const;

  std::vector<std::vector<int64_t>> members_;  ///< of each class that occurs: positions in graphs()
  int64_t smallest_ = 0;
};

}  // namespace kdgat::train
