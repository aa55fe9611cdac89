#include "engine/train/sampling/class_curriculum.h"

#include <algorithm>
#include <map>
#include <utility>

#include "kdgat/error.h"

namespace kdgat::train {

ClassCurriculum::ClassCurriculum(const SamplingOptions& options, int64_t max_epochs,
                                 LabelledGraphs from, uint64_t seed, DifficultyScore score)
    : DifficultySampler(options, max_epochs, std::move(from.graph), std::move(from.difficulty),
                        "graphs", seed, std::move(score)) {
  std::map<int64_t, std::vector<int64_t>> by_class;
  for (std::size_t i = 0; i < graphs().size(); ++i) {
    by_class[from.label[i]].push_back(static_cast<int64_t>(i));
  }
  if (by_class.empty()) throw Error(ExitCode::kData, "sampling: there is no labelled graph");
  smallest_ = std::ssize(graphs());
  members_.reserve(by_class.size());
  for (auto& [label, members] : by_class) {
    smallest_ = std::min(smallest_, std::ssize(members));
    members_.push_back(std::move(members));
  }
}

int64_t ClassCurriculum::largest() const {
  int64_t out = 0;
  for (const std::vector<int64_t>& members : members_) out = std::max(out, std::ssize(members));
  return out;
}

std::vector<double> ClassCurriculum::mixed(const std::vector<double>& scores) const {
  std::vector<double> out(scores.size());
  for (const std::vector<int64_t>& members : members_) {
    std::vector<double> now, before;
    now.reserve(members.size());
    before.reserve(members.size());
    for (const int64_t i : members) {
      now.push_back(scores[static_cast<std::size_t>(i)]);
      before.push_back(given()[static_cast<std::size_t>(i)]);
    }
    const std::vector<double> ranks = half_ranks(now, before);
    for (std::size_t k = 0; k < members.size(); ++k) {
      out[static_cast<std::size_t>(members[k])] = ranks[k];
    }
  }
  return out;
}

int64_t ClassCurriculum::count(int64_t size, int64_t epoch) const {
  if (!is_momentum()) {
    return std::min(size, ratio_step(options(), max_epochs(), smallest_, size, epoch).wanted);
  }
  const double natural = natural_share(options(), max_epochs(), epoch);
  return smallest_ + static_cast<int64_t>(natural * static_cast<double>(size - smallest_));
}

std::vector<int64_t> ClassCurriculum::draw(int64_t epoch, nlohmann::json& composition) {
  say_when_scored(epoch, composition);
  if (is_momentum()) {
    composition["natural_share"] = natural_share(options(), max_epochs(), epoch);
  } else {
    const RatioStep step = ratio_step(options(), max_epochs(), smallest_, largest(), epoch);
    composition["ratio_wanted"] = step.ratio;
    composition["percentile"] = step.percentile;
  }
  arrays::Random random = draws_of(epoch);
  double sum = 0;
  std::vector<int64_t> out;
  for (const std::vector<int64_t>& members : members_) {
    for (const int64_t i : draw_of(members, epoch, random)) {
      sum += difficulty()[i];
      out.push_back(graphs()[static_cast<std::size_t>(i)]);
    }
  }
  composition["classes"] = members_.size();
  composition["of_smallest_class"] = count(smallest_, epoch);
  composition["of_largest_class"] = count(largest(), epoch);
  composition["mean_difficulty"] = sum / static_cast<double>(out.size());
  return out;
}

std::vector<int64_t> ClassCurriculum::draw_of(const std::vector<int64_t>& members, int64_t epoch,
                                              arrays::Random& random) const {
  const int64_t size = std::ssize(members), wanted = count(size, epoch);
  std::vector<int64_t> order = members;
  hardest_first(order, difficulty());
  if (is_momentum()) {
    const auto hard =
        static_cast<int64_t>(options().hard_buffer_share * static_cast<double>(wanted));
    return hardest_and_others(std::move(order), hard, wanted, random);
  }
  const RatioStep step = ratio_step(options(), max_epochs(), smallest_, size, epoch);
  order.resize(static_cast<std::size_t>(std::max(wanted, size - step.rank)));
  return choose(std::move(order), wanted, random);
}

}  // namespace kdgat::train
