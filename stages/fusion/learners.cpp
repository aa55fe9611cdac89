#include "fusion/learners.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/train/optimizer.h"
#include "fusion/lin_ucb.h"
#include "fusion/reward.h"

namespace kdgat::fusion {
namespace {

constexpr double kWeightDecay = 1e-5, kGradientClip = 1;  // as published

/// Net, optimizer and random numbers.
class Base : public Learner {
 public:
  Base(const FusionOptions& options, model::FusionNet net, const States& states, uint64_t seed)
      : options_(options),
        net_(std::move(net)),
        states_(states),
        optimizer_(train::parameters_of(*net_), /*decoupled=*/true, kWeightDecay),
        random_(at::make_generator<at::CPUGeneratorImpl>(seed)) {
    net_->dropout = random_;
  }

 protected:
  /// `count` numbers below `end`.
  at::Tensor draw(int64_t end, int64_t count) {
    return at::randint(0, end, {count}, random_, at::kLong);
  }

  double step(const at::Tensor& loss) {
    optimizer_.zero_grad();
    loss.backward();
    optimizer_.clip(kGradientClip);
    optimizer_.step(options_.fusion_lr);
    return loss.item<double>();
  }

  FusionOptions options_;
  model::FusionNet net_;
  States states_;
  train::Optimizer optimizer_;
  at::Generator random_;
};

class Mlp : public Base {
 public:
  using Base::Base;

  nlohmann::json episode(const at::Tensor& rows) override {
    net_->train();
    double sum = 0;
    for (int64_t i = 0; i < options_.gpu_training_steps; ++i) {
      const at::Tensor some = rows.index_select(0, draw(rows.size(0), options_.dqn_batch_size));
      const at::Tensor logit = net_->forward(states_.x_GS.index_select(0, some)).squeeze(1);
      const at::Tensor target = states_.y_G.index_select(0, some).to(at::kFloat);
      sum += step(at::binary_cross_entropy_with_logits(logit, target));
    }
    net_->eval();
    return {{"train_loss", sum / static_cast<double>(options_.gpu_training_steps)}};
  }
};

/// The newest decisions: which graph, which weight, which reward.
class Replay {
 public:
  explicit Replay(int64_t size)
      : row_(at::empty({size}, at::kLong)),
        action_(at::empty({size}, at::kLong)),
        reward_(at::empty({size}, at::kFloat)) {}

  void add(const at::Tensor& row, const at::Tensor& action, const at::Tensor& reward) {
    const int64_t size = row_.size(0), added = row.size(0);
    const int64_t kept = std::min(size, added);
    const at::Tensor place = (at::arange(kept, at::kLong) + next_).remainder(size);
    row_.index_copy_(0, place, row.slice(0, added - kept));
    action_.index_copy_(0, place, action.slice(0, added - kept));
    reward_.index_copy_(0, place, reward.slice(0, added - kept));
    next_ = (next_ + kept) % size;
    filled_ = std::min(size, filled_ + kept);
  }

  int64_t size() const { return filled_; }
  at::Tensor row() const { return row_.slice(0, 0, filled_); }
  at::Tensor action() const { return action_.slice(0, 0, filled_); }
  at::Tensor reward() const { return reward_.slice(0, 0, filled_); }

 private:
  at::Tensor row_, action_, reward_;
  int64_t next_ = 0, filled_ = 0;
};

/// What dqn and bandit share: deciding and regressing the values of decisions on their rewards.
class Chooser : public Base {
 public:
  Chooser(const FusionOptions& options, model::FusionNet net, const States& states, uint64_t seed)
      : Base(options, std::move(net), states, seed), replay_(options.dqn_buffer_size) {}

 protected:
  /// Remembers the weights `action` chosen for `rows`; their rewards.
  at::Tensor remember(const at::Tensor& rows, const at::Tensor& x, const at::Tensor& action) {
    const at::Tensor alpha = action.to(at::kFloat) / static_cast<double>(options_.alpha_steps - 1);
    at::Tensor reward_G = reward(net_, x, states_.y_G.index_select(0, rows), alpha);
    replay_.add(rows, action, reward_G);
    return reward_G;
  }

  /// One gradient step on remembered decisions; `next` adds what comes after a state, if anything.
  template <class Next>
  void regress(const Next& next) {
    const at::Tensor some = draw(replay_.size(), options_.dqn_batch_size);
    const at::Tensor x = states_.x_GS.index_select(0, replay_.row().index_select(0, some));
    const at::Tensor target = replay_.reward().index_select(0, some) + next(x);
    const at::Tensor action = replay_.action().index_select(0, some).unsqueeze(1);
    net_->train();
    step(at::smooth_l1_loss(net_->forward(x).gather(1, action).squeeze(1), target));
    net_->eval();
  }

  Replay replay_;
};

/// Double Q-learning (arXiv 1509.06461) with a net copied now and then. The published next state is
/// the same graph and no episode ever ends.
class Dqn : public Chooser {
 public:
  Dqn(const FusionOptions& options, model::FusionNet net, const States& states, uint64_t seed)
      : Chooser(options, std::move(net), states, seed),
        target_(model::make_model(net_->config())),
        epsilon_(options.dqn_epsilon) {
    copy_target();
    target_->eval();
  }

  nlohmann::json episode(const at::Tensor& rows) override {
    const at::Tensor rewards = act(rows);
    for (int64_t i = 0; i < options_.gpu_training_steps; ++i) {
      regress([this](const at::Tensor& x) { return after(x); });
      if (++steps_ % options_.dqn_target_update == 0) copy_target();
    }
    nlohmann::json out = {{"reward", rewards.mean().item<double>()}, {"epsilon", epsilon_}};
    epsilon_ = std::max(std::min(epsilon_, options_.dqn_min_epsilon),
                        epsilon_ * options_.dqn_epsilon_decay);
    return out;
  }

 private:
  at::Tensor act(const at::Tensor& rows) {
    const at::NoGradGuard no_grad;
    const at::Tensor x = states_.x_GS.index_select(0, rows);
    const at::Tensor is_random = at::rand({rows.size(0)}, random_, at::kFloat).lt(epsilon_);
    return remember(
        rows, x,
        at::where(is_random, draw(options_.alpha_steps, rows.size(0)), net_->forward(x).argmax(1)));
  }

  at::Tensor after(const at::Tensor& x) {
    const at::NoGradGuard no_grad;
    if (options_.dqn_gamma == 0) return at::zeros({}, x.options());
    const at::Tensor best = net_->forward(x).argmax(1, /*keepdim=*/true);
    return options_.dqn_gamma * target_->forward(x).gather(1, best).squeeze(1);
  }

  void copy_target() { train::copy(train::weights_of(*net_), train::weights_of(*target_)); }

  model::FusionNet target_;
  double epsilon_;
  int64_t steps_ = 0;
};

/// Neural-LinUCB (arXiv 2012.01780): exploration in the last layer alone, which is a ridge
/// regression; the layers below are trained now and then on what was seen.
class Bandit : public Chooser {
 public:
  Bandit(const FusionOptions& options, model::FusionNet net, const States& states, uint64_t seed)
      : Chooser(options, std::move(net), states, seed), arms_(fresh()) {}

  nlohmann::json episode(const at::Tensor& rows) override {
    at::Tensor rewards;
    {
      const at::NoGradGuard no_grad;
      const at::Tensor x = states_.x_GS.index_select(0, rows);
      const at::Tensor phi = features(x);
      const at::Tensor arm = arms_.choose(phi, options_.bandit_exploration);
      rewards = remember(rows, x, arm);
      arms_.update(phi, arm, rewards);
    }
    if (++episodes_ % options_.bandit_retrain == 0) retrain();
    publish();
    return {{"reward", rewards.mean().item<double>()}};
  }

 private:
  LinUcb fresh() const {
    return {options_.alpha_steps, net_->config().hidden + 1, options_.bandit_ridge};
  }

  /// Hidden units, scaled so that their square sum is about one, and a constant: [N, H + 1].
  at::Tensor features(const at::Tensor& x) {
    return at::cat({net_->hidden(x) * unit(), at::ones({x.size(0), 1})}, 1);
  }
  double unit() const { return 1 / std::sqrt(static_cast<double>(net_->config().hidden)); }

  void retrain() {
    const int64_t steps = options_.bandit_retrain * options_.gpu_training_steps;
    for (int64_t i = 0; i < steps; ++i) {
      regress([](const at::Tensor& x) { return at::zeros({}, x.options()); });
    }
    // The features are others now: what was seen is summed up anew.
    const at::NoGradGuard no_grad;
    arms_ = fresh();
    constexpr int64_t kRows = 8192;
    for (int64_t at = 0; at < replay_.size(); at += kRows) {
      const auto some = [&](const at::Tensor& t) { return t.slice(0, at, at + kRows); };
      arms_.update(features(states_.x_GS.index_select(0, some(replay_.row()))),
                   some(replay_.action()), some(replay_.reward()));
    }
  }

  /// Makes the regressions the last layer of the net.
  void publish() {
    const at::NoGradGuard no_grad;
    const at::Tensor theta = arms_.theta();
    net_->last()->weight.copy_(theta.slice(1, 0, -1) * unit());
    net_->last()->bias.copy_(theta.select(1, -1));
  }

  LinUcb arms_;
  int64_t episodes_ = 0;
};

}  // namespace

std::unique_ptr<Learner> make_learner(const FusionOptions& options, model::FusionNet net,
                                      const States& states, uint64_t seed) {
  net->eval();
  if (options.method == "mlp") return std::make_unique<Mlp>(options, net, states, seed);
  if (options.method == "dqn") return std::make_unique<Dqn>(options, net, states, seed);
  if (options.method == "bandit") return std::make_unique<Bandit>(options, net, states, seed);
  return nullptr;
}

}  // namespace kdgat::fusion
