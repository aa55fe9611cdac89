#include "engine/train/sampling/class_sampler.h"

#include <algorithm>

#include "engine/arrays/random.h"
#include "kdgat/error.h"

namespace kdgat::train {

ClassSampler::ClassSampler(const std::vector<int64_t>& ids, const std::vector<int64_t>& labels,
                           uint64_t seed)
    : seed_(seed) {
  for (std::size_t i = 0; i < ids.size(); ++i) by_class_[labels[i]].push_back(ids[i]);
  if (by_class_.empty()) throw Error(ExitCode::kData, "sampling: there is no labelled graph");
  of_each_ = ids.size();
  for (const auto& [label, members] : by_class_) of_each_ = std::min(of_each_, members.size());
}

std::vector<int64_t> ClassSampler::draw(int64_t epoch, nlohmann::json& composition) {
  constexpr uint64_t kStream = 0x636C617373ULL;
  arrays::Random random(seed_ ^ kStream, static_cast<uint64_t>(epoch));
  std::vector<int64_t> out;
  for (const auto& [label, members] : by_class_) {
    std::vector<int64_t> drawn = members;
    random.shuffle(drawn);
    out.insert(out.end(), drawn.begin(), drawn.begin() + static_cast<std::ptrdiff_t>(of_each_));
  }
  composition["classes"] = by_class_.size();
  composition["of_each_class"] = of_each_;
  return out;
}

}  // namespace kdgat::train
