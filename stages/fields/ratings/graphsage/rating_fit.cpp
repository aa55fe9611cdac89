#include "fields/ratings/graphsage/rating_fit.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "engine/arrays/index.h"
#include "engine/arrays/random.h"

namespace kdgat::graphsage {
namespace {

using nlohmann::json;

enum : uint64_t { kOrderStream = 0x0EDE5, kValNegatives = ~uint64_t{0} };
constexpr int64_t kShownSteps = 16;
constexpr const char* kFiniteHint = "lower lr";

using arrays::at;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

RatingFit::RatingFit(const GraphsageOptions& options, const RatingData& data, ratings::SageNet& net,
                     uint64_t seed, train::Progress progress, const Host* host)
    : options_(options),
      data_(data),
      net_(net),
      seed_(seed),
      progress_(std::move(progress)),
      host_(host),
      best_weights_(at::empty_like(net.weights())) {
  if (options.leave_target_out) {
    reduced_.emplace(data.store);
    reduced_->drop(data.val);
  }
  use_graph(false);
}

void RatingFit::use_graph(bool whole) {
  if (!reduced_ || whole) return net_.set_graph(whole_graph(data_.store));
  reduced_->leave_out({}, {});
  net_.set_graph(reduced_->graph());
}

ratings::PairLoss RatingFit::loss_rule() const {
  ratings::PairLoss out;
  out.mse_weight = options_.loss == "bpr" ? 0 : options_.loss == "mse" ? 1 : options_.mse_weight;
  out.bpr_weight = options_.loss == "mse" ? 0 : options_.loss == "bpr" ? 1 : options_.bpr_weight;
  out.clamp = options_.legacy_clamp;
  out.low = static_cast<double>(data_.low);
  out.high = static_cast<double>(data_.high);
  return out;
}

FitOutcome RatingFit::run() {
  resume();
  while (progress_.goes_on(options_.max_epochs, options_.patience)) {
    train_epoch();
    finish_epoch();
  }
  net_.weights().copy_(best_weights_);
  return {progress_.epoch, progress_.step, progress_.best_epoch, progress_.best,
          seconds_,        timed_steps_,   progress_.saves()};
}

void RatingFit::train_epoch() {
  order_.resize(at(data_.fit.size()));
  std::iota(order_.begin(), order_.end(), 0);
  arrays::Random(arrays::Random(seed_, kOrderStream).next(), static_cast<uint64_t>(progress_.epoch))
      .shuffle(order_);
  const int64_t steps = (data_.fit.size() + options_.batch_size - 1) / options_.batch_size;
  while (pair_ < data_.fit.size()) {
    check_cancelled();
    const double start = now();
    step(pair_);
    seconds_ += now() - start;
    ++timed_steps_;
    pair_ = std::min(pair_ + options_.batch_size, data_.fit.size());
    const int64_t done = (pair_ + options_.batch_size - 1) / options_.batch_size;
    if (host_ != nullptr && (done % kShownSteps == 0 || done == steps)) {
      host_->progress("train", "step", progress_.epoch * steps + done, options_.max_epochs * steps,
                      {{"epoch", progress_.epoch + 1},
                       {"loss", loss_sum_ / static_cast<double>(pair_)},
                       {"rate", static_cast<double>(timed_steps_) / seconds_},
                       {"rate_unit", "steps/s"}});
    }
    if (progress_.is_due(options_.checkpoint_seconds)) save();
  }
}

void RatingFit::step(int64_t first) {
  const int64_t last = std::min(first + options_.batch_size, data_.fit.size());
  user_.clear();
  item_.clear();
  rating_.clear();
  for (int64_t p = first; p < last; ++p) {
    const auto pair = at(order_[at(p)]);
    user_.push_back(data_.fit.user[pair]);
    item_.push_back(data_.fit.item[pair]);
    rating_.push_back(data_.fit.rating[pair]);
  }
  const ratings::PairLoss rule = loss_rule();
  if (rule.bpr_weight > 0) {
    draw_negatives(data_.store, user_, seed_, static_cast<uint64_t>(progress_.step), negative_);
  }
  if (reduced_) {
    reduced_->leave_out(user_, item_);
    net_.set_graph(reduced_->graph());
  }
  const double loss =
      net_.gradient({user_, item_, negative_, rating_}, rule, {seed_, progress_.step});
  progress_.check_finite(loss, "train_loss", kFiniteHint);
  ++progress_.step;
  // The gradient of c sum p^2 is 2 c p, that of a weight decay d is d p.
  const double decay = options_.weight_decay + 2 * rule.bpr_weight * options_.bpr_l2;
  net_.adam({options_.lr, decay, progress_.step});
  loss_sum_ += loss * static_cast<double>(last - first);
}

Predictions RatingFit::predict(const Pairs& pairs) {
  const ratings::SageHead head(net_, net_.embed());
  Predictions out;
  for (std::size_t p = 0; p < pairs.user.size(); ++p) {
    const ratings::Prediction one = head.predict(pairs.user[p], pairs.item[p]);
    out.rating.push_back(static_cast<float>(one.rating));
    out.rank.push_back(static_cast<float>(options_.loss == "bpr" ? one.score : one.rating));
  }
  return out;
}

json RatingFit::validate() {
  use_graph(false);
  const ratings::PairLoss rule = loss_rule();
  const ratings::SageHead head(net_, net_.embed());
  std::vector<int32_t> negative;
  if (rule.bpr_weight > 0) {
    draw_negatives(data_.store, data_.val.user, seed_, kValNegatives, negative);
  }
  std::vector<float> predicted;
  double square = 0, ranked = 0;
  for (std::size_t p = 0; p < data_.val.user.size(); ++p) {
    const ratings::Prediction one = head.predict(data_.val.user[p], data_.val.item[p]);
    predicted.push_back(static_cast<float>(one.rating));
    const double y = rule.clamp ? std::clamp(one.rating, rule.low, rule.high) : one.rating;
    const double error = y - static_cast<double>(data_.val.rating[p]);
    square += error * error;
    if (negative.empty()) continue;
    const double other = head.predict(data_.val.user[p], negative[p]).score;
    ranked -= std::log(1 / (1 + std::exp(other - one.score)) + 1e-10);
  }
  const auto n = static_cast<double>(data_.val.size());
  json out = rating_errors(data_.val.rating, predicted, rule.low, rule.high);
  out["loss"] = (rule.mse_weight * square + rule.bpr_weight * ranked) / n;
  return out;
}

void RatingFit::finish_epoch() {
  json metrics = {{"train_loss", loss_sum_ / static_cast<double>(data_.fit.size())},
                  {"lr", options_.lr}};
  const json judged = validate();
  for (const auto& [name, value] : judged.items()) metrics["val_" + name] = value;
  const double loss = judged.at("loss");
  progress_.check_finite(loss, "val_loss", kFiniteHint);
  ++progress_.epoch;
  pair_ = 0;
  loss_sum_ = 0;
  if (progress_.judge(metrics, loss < best_loss_ - options_.min_delta)) {
    best_loss_ = loss;
    best_weights_.copy_(net_.weights());
  }
  if (host_ != nullptr) host_->metrics("epoch", progress_.epoch, metrics);
}

void RatingFit::check_cancelled() {
  const ExitCode code = host_ == nullptr ? ExitCode::kOk : host_->cancelled();
  if (code == ExitCode::kOk) return;
  if (progress_.has_checkpoint()) save();
  progress_.leave(code);
}

train::NamedTensors RatingFit::tensors() const {
  return {{"weights", net_.weights()},
          {"first_moments", net_.first_moments()},
          {"second_moments", net_.second_moments()},
          {"best_weights", best_weights_}};
}

void RatingFit::save() {
  progress_.save(tensors(), {{"pair", pair_}, {"loss_sum", loss_sum_}, {"best_loss", best_loss_}});
}

void RatingFit::resume() {
  const std::optional<json> state = progress_.read();
  if (!state || !progress_.resume(*state, train::log_of(host_))) return;
  progress_.load(tensors());
  state->at("pair").get_to(pair_);
  state->at("loss_sum").get_to(loss_sum_);
  state->at("best_loss").get_to(best_loss_);
}

}  // namespace kdgat::graphsage
