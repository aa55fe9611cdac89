#include "fields/texts/textgcn/text_trainer.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>
#include <utility>

#include "engine/memory/arena.h"
#include "engine/memory/meter.h"

namespace kdgat::textgcn {

namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::json;

constexpr const char* kFiniteHint = "lower lr";

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

at::Tensor cross_entropy(const at::Tensor& logits, const TextSplit& split) {
  return at::cross_entropy_loss(logits.index_select(0, split.documents), split.labels);
}

}  // namespace

TextTrainer::TextTrainer(const TextGcnOptions& options, const TextSplits& splits,
                         texts::TextGcn model, uint64_t seed, train::Progress progress,
                         const Host& host)
    : options_(options),
      splits_(splits),
      model_(std::move(model)),
      seed_(seed),
      progress_(std::move(progress)),
      host_(host),
      weights_(train::weights_of(*model_)),
      optimizer_(train::parameters_of(*model_), /*decoupled=*/false, options.weight_decay) {
  const int64_t layers = model_->config().layers();
  const bool all_nodes = options_.use_bn;
  const texts::NodeMask train = splits_.train.mask(), val = splits_.val.mask();
  train_chain_ = texts::make_chain(splits_.matrix, train, layers, all_nodes);
  if (splits_.val.is_empty()) return;
  val_chain_ = texts::make_chain(splits_.matrix, val, layers, all_nodes);
  // The first product is shared: it gives what either chain reads.
  texts::NodeMask either = train;
  for (std::size_t i = 0; i < either.size(); ++i) either[i] = either[i] || val[i];
  train_chain_.front() = texts::make_chain(splits_.matrix, either, layers, all_nodes).front();
  val_chain_.front() = train_chain_.front();
}

TextOutcome TextTrainer::run() {
  resume();
  for (;;) {
    check_cancelled();
    const Clock::time_point start = Clock::now();
    at::Tensor sum = model_->begin(*train_chain_.front());
    if (progress_.epoch > 0 && is_over(sum.detach())) break;
    if (progress_.epoch == options_.max_epochs) break;
    learn(std::exchange(sum, {}));
    seconds_.push_back(seconds_since(start));
    host_.progress("train", "epoch", progress_.epoch, options_.max_epochs, {{"loss", train_loss_}});
    if (progress_.is_due(options_.checkpoint_seconds)) save();
  }
  const bool keeps_best = !best_weights_.empty();
  if (keeps_best) train::copy(best_weights_, weights_);
  optimizer_.zero_grad();
  return {progress_.epoch,  progress_.best_epoch, progress_.best,          stopped_by_,
          median(seconds_), progress_.saves(),    progress_.save_seconds()};
}

/// One step. `sum` is the first product, and its gradient's beginning.
void TextTrainer::learn(at::Tensor sum) {
  model_->train();
  at::Tensor loss;
  {
    const memory::Label forward("forward");
    loss = cross_entropy(
        model_->finish(std::move(sum), train_chain_, graph::NoiseKey{seed_, progress_.epoch}),
        splits_.train);
  }
  const memory::Label backward("backward");
  optimizer_.zero_grad();
  loss.backward();
  optimizer_.step(options_.lr);
  optimizer_.zero_grad();  // the next forward pass does without
  train_loss_ = loss.item<double>();
  progress_.check_finite(train_loss_, "train_loss", kFiniteHint);
  ++progress_.epoch;
  ++progress_.step;
}

json TextTrainer::validate(const at::Tensor& sum) {
  json out = {{"train_loss", train_loss_}};
  if (splits_.val.is_empty()) return out;
  const memory::Label label("validation");
  const at::NoGradGuard no_grad;
  model_->eval();
  const at::Tensor logits = model_->finish(sum, val_chain_, {});
  const double loss = cross_entropy(logits, splits_.val).item<double>();
  progress_.check_finite(loss, "val_loss", kFiniteHint);
  const at::Tensor right =
      logits.index_select(0, splits_.val.documents).argmax(1).eq(splits_.val.labels);
  out["val_loss"] = loss;
  out["val_accuracy"] = right.to(at::kDouble).mean().item<double>();
  return out;
}

/// Judges the epoch whose weights gave `sum`, and whether it is the last.
bool TextTrainer::is_over(const at::Tensor& sum) {
  json metrics = validate(sum);
  const bool is_validated = metrics.contains("val_loss");
  val_losses_.push_back(metrics.value("val_loss", train_loss_));
  const bool by_best = is_validated && options_.stop == "best";
  const bool is_better = !by_best || (progress_.best_epoch > 0 &&
                                      metrics["val_accuracy"] > progress_.best.at("val_accuracy"));
  if (progress_.judge(metrics, is_better) && by_best) {
    if (best_weights_.empty()) {
      best_weights_ = train::clones(weights_);
    } else {
      train::copy(weights_, best_weights_);
    }
  }
  metrics["lr"] = options_.lr;
  const memory::Counters counters = memory::meter(at::kCPU).counters();
  metrics["memory"] = {{"allocated", counters.allocated},
                       {"peak_allocated", counters.peak_allocated},
                       {"rss_anon", memory::anonymous_memory()}};
  host_.metrics("epoch", progress_.epoch, metrics);
  if (!is_validated || options_.stop == "never") return false;
  bool is_over = false;
  if (by_best) {
    // Not by accuracy: with use_bn it stands still at first, while running statistics catch up.
    const auto least = std::min_element(val_losses_.begin(), val_losses_.end());
    is_over = val_losses_.end() - 1 - least >= options_.patience;
  } else if (progress_.epoch > options_.patience) {
    const auto last = val_losses_.end() - 1;
    const double mean = std::accumulate(last - options_.patience, last, 0.0) /
                        static_cast<double>(options_.patience);
    is_over = *last > mean;
  }
  if (is_over) stopped_by_ = options_.stop;
  return is_over;
}

// ---- checkpoints

train::NamedTensors TextTrainer::tensors() const {
  train::NamedTensors out;
  train::add_group(out, "weights", weights_);
  train::add_group(out, "optimizer", optimizer_.state());
  train::add_group(out, "best", best_weights_);
  return out;
}

void TextTrainer::save() {
  progress_.save(tensors(), {{"train_loss", train_loss_}, {"val_losses", val_losses_}});
}

void TextTrainer::resume() {
  const std::optional<json> state = progress_.read();
  if (!state || !progress_.resume(*state, train::log_of(&host_))) return;
  if (options_.stop == "best" && !splits_.val.is_empty() && progress_.best_epoch > 0) {
    best_weights_ = train::clones(weights_);
  }
  progress_.load(tensors());
  train_loss_ = state->at("train_loss");
  val_losses_ = state->at("val_losses").get<std::vector<double>>();
}

void TextTrainer::check_cancelled() {
  const ExitCode code = host_.cancelled();
  if (code == ExitCode::kOk) return;
  if (progress_.has_checkpoint()) save();
  progress_.leave(code);
}

}  // namespace kdgat::textgcn
