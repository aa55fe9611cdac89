#include "engine/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace kdgat::train {

namespace {

int64_t patience_of(const TrainOptions& o) {
  return o.scheduler_patience >= 0 ? o.scheduler_patience : std::max<int64_t>(1, o.patience / 2);
}

}  // namespace

double Schedule::rate(int64_t epoch) const {
  const TrainOptions& o = options_;
  if (!o.use_scheduler) return o.lr;
  if (o.scheduler_type == "cosine") {
    const int64_t length = o.scheduler_t_max > 0 ? o.scheduler_t_max : o.max_epochs;
    const double turn = static_cast<double>(epoch) / static_cast<double>(length);
    const double above = 0.5 * (1 + std::cos(std::numbers::pi * turn));
    return o.lr * (o.scheduler_floor + (1 - o.scheduler_floor) * above);
  }
  if (o.scheduler_type == "step") {
    const int64_t steps = epoch / o.scheduler_step_size;
    return o.lr * std::pow(o.scheduler_gamma, static_cast<double>(steps));
  }
  return o.lr * factor_;
}

void Schedule::observe(double metric, bool less) {
  if (!options_.use_scheduler || options_.scheduler_type != "plateau") return;
  constexpr double kLeast = 1e-4;  // relative: smaller improvements are standing still
  const double margin = kLeast * std::abs(best_);
  if (!has_best_ || (less ? metric < best_ - margin : metric > best_ + margin)) {
    has_best_ = true;
    best_ = metric;
    standing_ = 0;
  } else if (++standing_ > patience_of(options_)) {
    factor_ *= options_.scheduler_gamma;
    standing_ = 0;
  }
}

nlohmann::json Schedule::state() const {
  return {{"factor", factor_}, {"has_best", has_best_}, {"best", best_}, {"standing", standing_}};
}

void Schedule::restore(const nlohmann::json& state) {
  factor_ = state.at("factor");
  has_best_ = state.at("has_best");
  best_ = state.at("best");
  standing_ = state.at("standing");
}

}  // namespace kdgat::train
