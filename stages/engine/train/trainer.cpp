#include "engine/train/trainer.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <utility>

#include "engine/memory/arena.h"
#include "engine/memory/out_of_memory.h"
#include "engine/train/checkpoint.h"
#include "engine/train/probe.h"

namespace kdgat::train {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

memory::CachePolicy policy_of(const TrainOptions& options) {
  std::vector<Diagnostic> problems;  // the options were checked when they were read
  memory::CachePolicy out = memory::CachePolicy::parse(options.cache_policy, problems);
  if (options.clear_cache_every_n > 0) out.every = options.clear_cache_every_n;
  if (options.synchronize_every > 0) out.synchronize_every = options.synchronize_every;
  return out;
}

/// What memory given back is told to, if anybody listens.
std::function<void(const std::string&)> note_to(const Log& log) {
  if (!log) return {};
  return [log](const std::string& text) { log("info", text); };
}

}  // namespace

Trainer::Trainer(TrainOptions options, Objective& objective, Training training, Observer observer)
    : options_(std::move(options)),
      objective_(objective),
      module_(objective.module()),
      training_(std::move(training)),
      observer_(std::move(observer)),
      weights_(weights_of(module_)),
      best_weights_(clones(weights_)),
      optimizer_(parameters_of(module_), options_.optimizer == "adamw", options_.weight_decay),
      scaler_(options_.precision, weights_.front().second.device()),
      schedule_(options_),
      loss_sum_(at::zeros({}, weights_.front().second.options().dtype(at::kDouble))),
      meter_(memory::meter(loss_sum_.device())),
      cache_(meter_, policy_of(options_), note_to(observer_.log)),
      buffers_(buffers_of(module_)),
      buffers_before_(clones(buffers_)),
      progress_(training_.checkpoint, training_.identity, training_.seed) {
  if (training_.ids.empty()) throw Error(ExitCode::kData, "there are no graphs to train on");
}

Outcome Trainer::run() {
  resume();
  while (progress_.goes_on(options_.max_epochs, options_.patience)) {
    train_epoch();
    finish_epoch();
  }
  writer_.finish();
  copy(best_weights_, weights_);
  optimizer_.zero_grad();
  batch_ = {};
  ahead_batch_ = {};
  cache_.after_stage();
  nlohmann::json memory = cache_.totals();
  memory["peak_tensor_bytes"] = peak_allocated_;
  memory["peak_reserved_bytes"] = peak_reserved_;
  memory["splits"] = splits_;
  return {progress_.epoch,
          progress_.step,
          progress_.best_epoch,
          progress_.best,
          seconds_ > 0 ? static_cast<double>(trained_) / seconds_ : 0,
          progress_.saves(),
          progress_.save_seconds(),
          std::move(memory)};
}

graph::PackPlan Trainer::plan_epoch() {
  if (training_.sampler == nullptr) {
    return graph::make_pack_plan(training_.store, training_.ids, training_.limits, /*shuffle=*/true,
                                 training_.seed, progress_.epoch);
  }
  composition_ = nlohmann::json::object();
  std::vector<int64_t> ids;
  if (is_first()) {
    if (pack_ == 0) {
      const at::NoGradGuard no_grad;
      module_.eval();
      training_.sampler->prepare(progress_.epoch, check());
    }
    ids = training_.sampler->draw(progress_.epoch, composition_);
  }
  if (training_.ranks != nullptr) {
    ids = nlohmann::json::parse(training_.ranks->from_first(nlohmann::json(ids).dump()))
              .get<std::vector<int64_t>>();
  }
  return graph::make_pack_plan(training_.store, ids, training_.limits, /*shuffle=*/true,
                               training_.seed, progress_.epoch);
}

void Trainer::train_epoch() {
  const graph::PackPlan plan = plan_epoch();
  module_.train();
  meter_.reset_peaks();
  const double lr = schedule_.rate(progress_.epoch);
  Clock::time_point shown = Clock::now();
  while (pack_ < plan.packs()) {
    check_cancelled();
    const Clock::time_point start = Clock::now();
    const int64_t end = std::min(plan.packs(), pack_ + options_.accumulate_grad_batches);
    const int64_t graphs =
        plan.ptr[static_cast<std::size_t>(end)] - plan.ptr[static_cast<std::size_t>(pack_)];
    loss_sum_.add_(step(plan, pack_, end, lr), static_cast<double>(graphs));
    pack_ = end;
    graphs_ += graphs;
    trained_ += graphs;
    seconds_ += seconds_since(start);
    ++progress_.step;
    const bool with_loss = progress_.step % options_.log_every_n_steps == 0;
    if (with_loss || seconds_since(shown) > 0.2) {
      report(plan.packs(), with_loss);
      shown = Clock::now();
    }
    if (is_first() && progress_.is_due(options_.checkpoint_seconds)) {
      save();
      cache_.after_checkpoint();
    }
    cache_.after_step(progress_.step);
  }
  const Clock::time_point waited = Clock::now();
  meter_.synchronize();  // a device may still compute the last steps
  seconds_ += seconds_since(waited);
  const memory::Counters counters = meter_.counters();
  peak_allocated_ = std::max(peak_allocated_, counters.peak_allocated);
  peak_reserved_ = std::max(peak_reserved_, counters.peak_reserved);
}

torch::Tensor Trainer::step(const graph::PackPlan& plan, int64_t first, int64_t end, double lr) {
  const auto from = static_cast<std::size_t>(plan.ptr[static_cast<std::size_t>(first)]);
  const auto to = static_cast<std::size_t>(plan.ptr[static_cast<std::size_t>(end)]);
  const graph::StepTotals totals =
      size_of(training_.store, std::span(plan.order).subspan(from, to - from));
  RankGroup* ranks = training_.ranks;
  parts_.clear();
  for (int64_t pack = first; pack < end; ++pack) add_part(piece(plan, pack));
  next_pack_ = end < plan.packs() ? piece(plan, end) : std::span<const int64_t>();
  copy(buffers_, buffers_before_);
  torch::Tensor sum = sum_of_step(totals);
  if (ranks != nullptr) {
    ranks->sum_gradients(optimizer_.parameters());
    ranks->sum(sum);
  }
  const memory::Label label("optimizer");
  scaler_.step(optimizer_, options_.gradient_clip, lr);
  objective_.after_step();
  return sum;  // stays on the device: item() waits, so it is called per report, not per step
}

/// What this process computes of a pack.
std::span<const int64_t> Trainer::piece(const graph::PackPlan& plan, int64_t pack) const {
  const RankGroup* ranks = training_.ranks;
  return ranks == nullptr
             ? plan.pack(pack)
             : piece_of(training_.store, plan.pack(pack), ranks->rank(), ranks->world());
}

/// Makes batch_ of these graphs.
void Trainer::gather(std::span<const int64_t> ids) {
  if (ahead_.valid()) {
    ahead_.get();
    if (std::equal(ids.begin(), ids.end(), ahead_ids_.begin(), ahead_ids_.end())) {
      return std::swap(batch_, ahead_batch_);
    }
  }
  graph::gather(training_.store, ids, objective_.with_edge_attr(), batch_);
}

/// Begins with the batch after this one, where a device computes and this process waits for it.
void Trainer::gather_ahead() {
  if (loss_sum_.device().is_cpu()) return;
  const std::span<const int64_t> ids = part_ + 1 < parts_.size() ? parts_[part_ + 1] : next_pack_;
  if (ids.empty()) return;
  ahead_ids_.assign(ids.begin(), ids.end());
  ahead_ = std::async(std::launch::async, [this] {
    graph::gather(training_.store, ahead_ids_, objective_.with_edge_attr(), ahead_batch_);
  });
}

/// Tries until there is memory for every part, here and in the other processes.
torch::Tensor Trainer::sum_of_step(const graph::StepTotals& totals) {
  RankGroup* ranks = training_.ranks;
  for (;;) {
    std::string failure;
    bool is_abandoned = false;
    try {
      torch::Tensor sum = gradients(totals);
      if (ranks != nullptr) ranks->finish_step();
      return sum;
    } catch (const StepAbandoned&) {
      is_abandoned = true;
    } catch (const std::exception& error) {
      if (!memory::is_out_of_memory(error)) throw;
      failure = error.what();
    }
    // Outside of the handler: the exception holds on to what it passed through.
    if (is_abandoned) {
      undo_step();
      continue;
    }
    split_part(failure);
    // Where statistics are joint, the others wait for this process's in the middle of a pass.
    if (ranks != nullptr && objective_.parts_differ()) ranks->abandon_step();
  }
}

/// Loss of the step, its gradients in the parameters.
torch::Tensor Trainer::gradients(const graph::StepTotals& totals) {
  optimizer_.zero_grad();
  torch::Tensor sum;
  for (part_ = 0; part_ < parts_.size(); ++part_) {
    const memory::Label batch("batch");
    gather(parts_[part_]);
    gather_ahead();
    batch_.exchange = training_.ranks;
    const memory::Label forward("forward");
    torch::Tensor loss;
    {
      const Autocast in_16_bits(options_.precision, loss_sum_.device());
      loss = objective_.loss(batch_, totals, {training_.seed, progress_.step});
    }
    writer_.release();
    const memory::Label backward("backward");
    scaler_.scale(loss).backward();
    sum = sum.defined() ? sum + loss.detach() : loss.detach();
  }
  return sum.defined() ? sum : at::zeros({}, loss_sum_.options().dtype(at::kFloat));
}

/// Adds graphs to the parts of the step, cut in halves as long as they are larger than what was too
/// large before.
void Trainer::add_part(std::span<const int64_t> ids) {
  if (ids.empty()) return;
  const graph::StepTotals size = size_of(training_.store, ids);
  const bool fits =
      training_.largest_part.graphs == 0 ||
      (size.nodes <= training_.largest_part.nodes && size.edges <= training_.largest_part.edges);
  if (fits || ids.size() == 1) return parts_.push_back(ids);
  add_part(ids.first(ids.size() / 2));
  add_part(ids.subspan(ids.size() / 2));
}

void Trainer::undo_step() {
  if (ahead_.valid()) ahead_.wait();
  ahead_ = {};
  batch_ = {};
  ahead_batch_ = {};
  optimizer_.zero_grad();
  copy(buffers_before_, buffers_);
  cache_.release();
}

/// After out of memory: the step begins anew with the part that failed in two. Weights and
/// optimiser were not touched; noise depends on step and graph ids alone.
void Trainer::split_part(const std::string& failure) {
  undo_step();
  const std::span<const int64_t> failed = parts_[part_];
  const graph::StepTotals size = size_of(training_.store, failed);
  if (failed.size() == 1) {
    throw memory::OutOfMemory(
        loss_sum_.device(),
        "in training on one graph alone (graph " + std::to_string(failed.front()) + ", " +
            std::to_string(size.nodes) + " nodes, " + std::to_string(size.edges) + " edges)",
        failure);
  }
  // Where two halves do not fit either, they fail and are cut again.
  const auto lower = [](int64_t value) { return std::max<int64_t>(1, value * 9 / 10); };
  training_.largest_part = {lower(size.graphs), lower(size.nodes), lower(size.edges)};
  parts_[part_] = failed.first(failed.size() / 2);
  parts_.insert(parts_.begin() + static_cast<std::ptrdiff_t>(part_) + 1,
                failed.subspan(failed.size() / 2));
  ++splits_;
  if (observer_.memory) {
    observer_.memory({{"event", "split"},
                      {"epoch", progress_.epoch + 1},
                      {"step", progress_.step + 1},
                      {"graphs", size.graphs},
                      {"nodes", size.nodes},
                      {"edges", size.edges},
                      {"same_step", !objective_.parts_differ()},
                      {"reason", failure}});
  }
}

nlohmann::json Trainer::memory_now() const {
  const memory::Counters now = meter_.counters();
  return {{"allocated", now.allocated},
          {"reserved", now.reserved},
          {"peak_allocated", now.peak_allocated},
          {"peak_reserved", now.peak_reserved},
          {"fragmentation", static_cast<double>(now.peak_reserved) /
                                static_cast<double>(std::max<int64_t>(1, now.peak_allocated))},
          {"rss_anon", memory::anonymous_memory()}};
}

void Trainer::finish_epoch() {
  nlohmann::json metrics = {{"train_loss", mean_loss()}, {"lr", schedule_.rate(progress_.epoch)}};
  metrics.update(scaler_.report());
  const memory::Label label("validation");
  if (training_.sampler != nullptr) metrics["sample"] = composition_;
  if (training_.evaluate) {
    const at::NoGradGuard no_grad;
    module_.eval();
    metrics.update(training_.evaluate(check()));
    module_.train();
  }
  if (training_.ranks != nullptr) {  // what follows is decided from the same numbers everywhere
    const std::vector<uint8_t> bytes = nlohmann::json::to_cbor(metrics);
    metrics = nlohmann::json::from_cbor(
        training_.ranks->from_first(std::string(bytes.begin(), bytes.end())));
  }
  if (!metrics.contains(options_.monitor_metric)) {
    throw Error(ExitCode::kUsage,
                "monitor_metric: " + options_.monitor_metric + " is not measured in this run",
                "without validation data use monitor_metric=train_loss");
  }
  const double value = metrics.at(options_.monitor_metric);
  check_finite(value, options_.monitor_metric);
  const bool less = options_.monitor_mode == "min";
  bool is_better = false;
  if (progress_.best_epoch > 0) {
    const double best = progress_.best.at(options_.monitor_metric);
    is_better = less ? value < best : value > best;
  }
  ++progress_.epoch;
  pack_ = 0;
  graphs_ = 0;
  loss_sum_.zero_();
  if (progress_.judge(metrics, is_better)) copy(weights_, best_weights_);
  schedule_.observe(value, less);
  metrics["memory"] = memory_now();
  if (observer_.epoch) observer_.epoch(progress_.epoch, metrics);
  cache_.after_epoch();
}

double Trainer::mean_loss() const {
  const double loss = loss_sum_.item<double>() / static_cast<double>(graphs_);
  check_finite(loss, "train_loss");
  return loss;
}

void Trainer::check_finite(double value, const std::string& name) const {
  progress_.check_finite(value, name,
                         options_.precision == "16-mixed" ? "use precision=bf16-mixed, or lower lr"
                                                          : "lower lr, or gradient_clip");
}

void Trainer::report(int64_t packs, bool with_loss) const {
  if (!observer_.step) return;
  const int64_t group = options_.accumulate_grad_batches;
  StepReport report{
      progress_.epoch + 1,         options_.max_epochs, (pack_ + group - 1) / group,
      (packs + group - 1) / group, std::nullopt,        static_cast<double>(trained_) / seconds_};
  if (with_loss) report.loss = mean_loss();
  observer_.step(report);
}

/// Between two steps: all processes leave at the same one.
void Trainer::check_cancelled() {
  ExitCode code = observer_.cancelled ? observer_.cancelled() : ExitCode::kOk;
  if (training_.ranks != nullptr) {
    code = static_cast<ExitCode>(training_.ranks->largest(static_cast<int64_t>(code)));
  }
  if (code != ExitCode::kOk) stop(code);
}

/// For what is computed between steps. With other processes it waits for the next step.
std::function<void()> Trainer::check() {
  if (training_.ranks != nullptr) return [] {};
  return [this] {
    const ExitCode code = observer_.cancelled ? observer_.cancelled() : ExitCode::kOk;
    if (code != ExitCode::kOk) stop(code);
  };
}

void Trainer::stop(ExitCode code) {
  if (progress_.has_checkpoint() && is_first()) {
    save();
    writer_.finish();
  }
  progress_.leave(code);
}

NamedTensors Trainer::tensors() const {
  NamedTensors out;
  add_group(out, "model", weights_);
  add_group(out, "best", best_weights_);
  add_group(out, "optimizer", optimizer_.state());
  add_group(out, "scaler", scaler_.state());
  if (training_.sampler != nullptr) add_group(out, "sampler", training_.sampler->state());
  out.emplace_back("progress.loss_sum", loss_sum_);
  return out;
}

void Trainer::save() {
  const graph::PackLimits& limits = training_.limits;
  const memory::Size& part = training_.largest_part;
  progress_.save(tensors(),
                 {{"limits", {limits.graphs, limits.nodes, limits.edges, limits.min_packs}},
                  {"largest_part", {part.graphs, part.nodes, part.edges}},
                  {"pack", pack_},
                  {"graphs", graphs_},
                  {"schedule", schedule_.state()}},
                 &writer_);
}

void Trainer::resume() {
  RankGroup* ranks = training_.ranks;
  std::optional<nlohmann::json> state;
  if (is_first()) state = progress_.read();
  if (ranks != nullptr) {
    const std::string text = ranks->from_first(state ? state->dump() : "");
    if (!text.empty()) state = nlohmann::json::parse(text);
  }
  if (!state || !progress_.resume(*state, observer_.log)) {
    if (ranks != nullptr) ranks->from_first(weights_);
    return;
  }
  if (is_first()) progress_.load(tensors());
  if (ranks != nullptr) ranks->from_first(tensors());
  // The packs of the run that wrote it: the memory free today may be another.
  const std::vector<int64_t> limits = state->at("limits");
  training_.limits = {limits.at(0), limits.at(1), limits.at(2), limits.at(3)};
  const std::vector<int64_t> part = state->at("largest_part");
  training_.largest_part = {part.at(0), part.at(1), part.at(2)};
  pack_ = state->at("pack");
  graphs_ = state->at("graphs");
  schedule_.restore(state->at("schedule"));
}

}  // namespace kdgat::train
