// ClassSampler: as many graphs of each class in every epoch. Pure: no files, no model.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "engine/train/sampler.h"

namespace kdgat::train {

/// Of each class that occurs as many graphs as the smallest has, drawn anew each epoch.
class ClassSampler : public Sampler {
 public:
  /// Graph ids and the class of each. Throws Error(kData) without any.
  ClassSampler(const std::vector<int64_t>& ids, const std::vector<int64_t>& labels, uint64_t seed);

  std::vector<int64_t> draw(int64_t epoch, nlohmann::json& composition) override;

 private:
  std::map<int64_t, std::vector<int64_t>> by_class_;
  std::size_t of_each_ = 0;
  uint64_t seed_;
};

}  // namespace kdgat::train
