#include "train/trainer.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "memory/arena.h"
#include "memory/out_of_memory.h"
#include "train/checkpoint.h"
#include "train/probe.h"

namespace kdgat::train {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

NamedTensors buffers_of(const torch::nn::Module& module) {
  NamedTensors out;
  for (const auto& item : module.named_buffers()) out.emplace_back(item.key(), item.value());
  return out;
}

NamedTensors weights_of(const torch::nn::Module& module) {
  NamedTensors out = parameters_of(module);
  for (auto& item : buffers_of(module)) out.push_back(std::move(item));
  return out;
}

NamedTensors clones(const NamedTensors& tensors) {
  NamedTensors out;
  for (const auto& [name, tensor] : tensors) out.emplace_back(name, tensor.detach().clone());
  return out;
}

void copy(const NamedTensors& from, const NamedTensors& to) {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < from.size(); ++i) to[i].second.copy_(from[i].second);
}

memory::CachePolicy policy_of(const TrainOptions& options) {
  std::vector<Diagnostic> problems;  // the options were checked when they were read
  memory::CachePolicy out = memory::CachePolicy::parse(options.cache_policy, problems);
  if (options.clear_cache_every_n > 0) out.every = options.clear_cache_every_n;
  if (options.synchronize_every > 0) out.synchronize_every = options.synchronize_every;
  return out;
}

}  // namespace

Trainer::Trainer(TrainOptions options, Job job, const graph::GraphStore& store,
                 std::vector<int64_t> ids, graph::PackLimits limits, uint64_t seed,
                 std::filesystem::path checkpoint, Observer observer)
    : options_(std::move(options)),
      job_(std::move(job)),
      store_(store),
      ids_(std::move(ids)),
      limits_(limits),
      seed_(seed),
      checkpoint_(std::move(checkpoint)),
      observer_(std::move(observer)),
      weights_(weights_of(*job_.module)),
      best_weights_(clones(weights_)),
      optimizer_(parameters_of(*job_.module), options_.optimizer == "adamw", options_.weight_decay),
      scaler_(options_.precision, weights_.front().second.device()),
      schedule_(options_),
      loss_sum_(at::zeros({}, weights_.front().second.options().dtype(at::kDouble))),
      meter_(memory::meter(loss_sum_.device())),
      cache_(meter_, policy_of(options_), observer_.note),
      buffers_(buffers_of(*job_.module)),
      buffers_before_(clones(buffers_)),
      largest_part_(job_.largest_part) {
  if (ids_.empty()) throw Error(ExitCode::kData, "there are no graphs to train on");
}

Outcome Trainer::run() {
  resume();
  while (epoch_ < options_.max_epochs && standing_ < options_.patience) {
    train_epoch();
    finish_epoch();
  }
  writer_.finish();
  copy(best_weights_, weights_);
  optimizer_.zero_grad();
  batch_ = {};
  cache_.after_stage();
  nlohmann::json memory = cache_.totals();
  memory["peak_tensor_bytes"] = peak_allocated_;
  memory["peak_reserved_bytes"] = peak_reserved_;
  memory["splits"] = splits_;
  return {epoch_,
          step_,
          best_epoch_,
          best_,
          seconds_ > 0 ? static_cast<double>(trained_) / seconds_ : 0,
          saves_,
          save_seconds_,
          std::move(memory)};
}

graph::PackPlan Trainer::plan_epoch() {
  if (job_.sampler == nullptr) {
    return graph::make_pack_plan(store_, ids_, limits_, /*shuffle=*/true, seed_, epoch_);
  }
  composition_ = nlohmann::json::object();
  std::vector<int64_t> ids;
  if (job_.ranks == nullptr || job_.ranks->is_first()) {
    if (pack_ == 0) {
      const at::NoGradGuard no_grad;
      job_.module->eval();
      job_.sampler->prepare(epoch_, check());
    }
    ids = job_.sampler->draw(epoch_, composition_);
  }
  if (job_.ranks != nullptr) {
    ids = nlohmann::json::parse(job_.ranks->from_first(nlohmann::json(ids).dump()))
              .get<std::vector<int64_t>>();
  }
  return graph::make_pack_plan(store_, ids, limits_, /*shuffle=*/true, seed_, epoch_);
}

void Trainer::train_epoch() {
  const graph::PackPlan plan = plan_epoch();
  job_.module->train();
  meter_.reset_peaks();
  const double lr = schedule_.rate(epoch_);
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
    ++step_;
    const bool with_loss = step_ % options_.log_every_n_steps == 0;
    if (with_loss || seconds_since(shown) > 0.2) {
      report(plan.packs(), with_loss);
      shown = Clock::now();
    }
    const bool is_writer = job_.ranks == nullptr || job_.ranks->is_first();
    if (is_writer && !checkpoint_.empty() && seconds_since(saved_) >= options_.checkpoint_seconds) {
      save();
      cache_.after_checkpoint();
      saved_ = Clock::now();
    }
    cache_.after_step(step_);
  }
  const memory::Counters counters = meter_.counters();
  peak_allocated_ = std::max(peak_allocated_, counters.peak_allocated);
  peak_reserved_ = std::max(peak_reserved_, counters.peak_reserved);
}

torch::Tensor Trainer::step(const graph::PackPlan& plan, int64_t first, int64_t end, double lr) {
  const auto from = static_cast<std::size_t>(plan.ptr[static_cast<std::size_t>(first)]);
  const auto to = static_cast<std::size_t>(plan.ptr[static_cast<std::size_t>(end)]);
  const graph::StepTotals totals = size_of(store_, std::span(plan.order).subspan(from, to - from));
  RankGroup* ranks = job_.ranks;
  parts_.clear();
  for (int64_t pack = first; pack < end; ++pack) {
    add_part(ranks == nullptr ? plan.pack(pack)
                              : piece_of(store_, plan.pack(pack), ranks->rank(), ranks->world()));
  }
  copy(buffers_, buffers_before_);
  torch::Tensor sum = sum_of_step(totals);
  if (ranks != nullptr) {
    ranks->sum_gradients(optimizer_.parameters());
    ranks->sum(sum);
  }
  const memory::Label label("optimizer");
  scaler_.step(optimizer_, options_.gradient_clip, lr);
  return sum;  // stays on the device: item() waits, so it is called per report, not per step
}

/// Tries until there is memory for every part, here and in the other processes.
torch::Tensor Trainer::sum_of_step(const graph::StepTotals& totals) {
  RankGroup* ranks = job_.ranks;
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
    if (ranks != nullptr && job_.parts_differ) ranks->abandon_step();
  }
}

/// Loss of the step, its gradients in the parameters.
torch::Tensor Trainer::gradients(const graph::StepTotals& totals) {
  optimizer_.zero_grad();
  torch::Tensor sum;
  for (part_ = 0; part_ < parts_.size(); ++part_) {
    const memory::Label batch("batch");
    graph::gather(store_, parts_[part_], job_.with_edge_attr, batch_);
    batch_.exchange = job_.ranks;
    const memory::Label forward("forward");
    torch::Tensor loss;
    {
      const Autocast in_16_bits(options_.precision, loss_sum_.device());
      loss = job_.loss(batch_, totals, step_);
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
  const graph::StepTotals size = size_of(store_, ids);
  const bool fits = largest_part_.graphs == 0 ||
                    (size.nodes <= largest_part_.nodes && size.edges <= largest_part_.edges);
  if (fits || ids.size() == 1) return parts_.push_back(ids);
  add_part(ids.first(ids.size() / 2));
  add_part(ids.subspan(ids.size() / 2));
}

void Trainer::undo_step() {
  batch_ = {};
  optimizer_.zero_grad();
  copy(buffers_before_, buffers_);
  cache_.release();
}

/// After out of memory: the step begins anew with the part that failed in two. Weights and
/// optimiser were not touched; noise depends on step and graph ids alone.
void Trainer::split_part(const std::string& failure) {
  undo_step();
  const std::span<const int64_t> failed = parts_[part_];
  const graph::StepTotals size = size_of(store_, failed);
  if (failed.size() == 1) {
    throw memory::OutOfMemory(
        loss_sum_.device(),
        "in training on one graph alone (graph " + std::to_string(failed.front()) + ", " +
            std::to_string(size.nodes) + " nodes, " + std::to_string(size.edges) + " edges)",
        failure);
  }
  // Where two halves do not fit either, they fail and are cut again.
  const auto lower = [](int64_t value) { return std::max<int64_t>(1, value * 9 / 10); };
  largest_part_ = {lower(size.graphs), lower(size.nodes), lower(size.edges)};
  parts_[part_] = failed.first(failed.size() / 2);
  parts_.insert(parts_.begin() + static_cast<std::ptrdiff_t>(part_) + 1,
                failed.subspan(failed.size() / 2));
  ++splits_;
  if (observer_.memory) {
    observer_.memory({{"event", "split"},
                      {"epoch", epoch_ + 1},
                      {"step", step_ + 1},
                      {"graphs", size.graphs},
                      {"nodes", size.nodes},
                      {"edges", size.edges},
                      {"same_step", !job_.parts_differ},
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
  nlohmann::json metrics = {{"train_loss", mean_loss()}, {"lr", schedule_.rate(epoch_)}};
  metrics.update(scaler_.report());
  const memory::Label label("validation");
  if (job_.sampler != nullptr) metrics["sample"] = composition_;
  if (job_.evaluate) {
    const at::NoGradGuard no_grad;
    job_.module->eval();
    metrics.update(job_.evaluate(check()));
    job_.module->train();
  }
  if (job_.ranks != nullptr) {  // what follows is decided from the same numbers everywhere
    const std::vector<uint8_t> bytes = nlohmann::json::to_cbor(metrics);
    metrics =
        nlohmann::json::from_cbor(job_.ranks->from_first(std::string(bytes.begin(), bytes.end())));
  }
  if (!metrics.contains(options_.monitor_metric)) {
    throw Error(ExitCode::kUsage,
                "monitor_metric: " + options_.monitor_metric + " is not measured in this run",
                "without validation data use monitor_metric=train_loss");
  }
  const double value = metrics.at(options_.monitor_metric);
  check_finite(value, options_.monitor_metric);
  const bool less = options_.monitor_mode == "min";
  ++epoch_;
  pack_ = 0;
  graphs_ = 0;
  loss_sum_.zero_();
  bool better = best_epoch_ == 0;
  if (!better) {
    const double best = best_.at(options_.monitor_metric);
    better = less ? value < best : value > best;
  }
  if (better) {
    standing_ = 0;
    best_epoch_ = epoch_;
    best_ = metrics;
    copy(weights_, best_weights_);
  } else {
    ++standing_;
  }
  schedule_.observe(value, less);
  metrics["memory"] = memory_now();
  if (observer_.epoch) observer_.epoch(epoch_, metrics);
  cache_.after_epoch();
}

double Trainer::mean_loss() const {
  const double loss = loss_sum_.item<double>() / static_cast<double>(graphs_);
  check_finite(loss, "train_loss");
  return loss;
}

void Trainer::check_finite(double value, const std::string& name) const {
  if (std::isfinite(value)) return;
  throw Error(ExitCode::kStageFailed,
              name + " is not finite (epoch " + std::to_string(epoch_ + 1) + ", step " +
                  std::to_string(step_) + ")",
              options_.precision == "16-mixed" ? "use precision=bf16-mixed, or lower lr"
                                               : "lower lr, or gradient_clip");
}

void Trainer::report(int64_t packs, bool with_loss) const {
  if (!observer_.step) return;
  const int64_t group = options_.accumulate_grad_batches;
  Progress progress{epoch_ + 1,
                    options_.max_epochs,
                    (pack_ + group - 1) / group,
                    (packs + group - 1) / group,
                    std::nullopt,
                    static_cast<double>(trained_) / seconds_};
  if (with_loss) progress.loss = mean_loss();
  observer_.step(progress);
}

/// Between two steps: all processes leave at the same one.
void Trainer::check_cancelled() {
  ExitCode code = observer_.cancelled ? observer_.cancelled() : ExitCode::kOk;
  if (job_.ranks != nullptr) {
    code = static_cast<ExitCode>(job_.ranks->largest(static_cast<int64_t>(code)));
  }
  if (code != ExitCode::kOk) stop(code);
}

/// For what is computed between steps. With other processes it waits for the next step.
std::function<void()> Trainer::check() {
  if (job_.ranks != nullptr) return [] {};
  return [this] {
    const ExitCode code = observer_.cancelled ? observer_.cancelled() : ExitCode::kOk;
    if (code != ExitCode::kOk) stop(code);
  };
}

void Trainer::stop(ExitCode code) {
  std::string what =
      "stopped in epoch " + std::to_string(epoch_ + 1) + ", after step " + std::to_string(step_);
  if (!checkpoint_.empty()) {
    if (job_.ranks == nullptr || job_.ranks->is_first()) {
      save();
      writer_.finish();
    }
    what = "checkpoint at epoch " + std::to_string(epoch_ + 1) + ", step " + std::to_string(step_);
  }
  throw Error(code, what);
}

NamedTensors Trainer::tensors() const {
  NamedTensors out;
  const auto add = [&out](const std::string& group, const NamedTensors& tensors) {
    for (const auto& [name, tensor] : tensors)
      out.emplace_back(std::string(group).append(".").append(name), tensor);
  };
  add("model", weights_);
  add("best", best_weights_);
  add("optimizer", optimizer_.state());
  add("scaler", scaler_.state());
  if (job_.sampler != nullptr) add("sampler", job_.sampler->state());
  out.emplace_back("progress.loss_sum", loss_sum_);
  return out;
}

void Trainer::save() {
  const Clock::time_point start = Clock::now();
  writer_.save(checkpoint_, tensors(),
               {{"identity", job_.identity},
                {"seed", seed_},
                {"limits", {limits_.graphs, limits_.nodes, limits_.edges, limits_.min_packs}},
                {"largest_part", {largest_part_.graphs, largest_part_.nodes, largest_part_.edges}},
                {"epoch", epoch_},
                {"pack", pack_},
                {"graphs", graphs_},
                {"step", step_},
                {"standing", standing_},
                {"best_epoch", best_epoch_},
                {"best", best_},
                {"schedule", schedule_.state()}});
  ++saves_;
  save_seconds_ += seconds_since(start);
}

void Trainer::resume() {
  const bool is_reader = job_.ranks == nullptr || job_.ranks->is_first();
  std::optional<nlohmann::json> state;
  if (is_reader && !checkpoint_.empty()) state = read_checkpoint_state(checkpoint_);
  if (job_.ranks != nullptr) {
    const std::string text = job_.ranks->from_first(state ? state->dump() : "");
    if (!text.empty()) state = nlohmann::json::parse(text);
  }
  if (!state) {
    if (job_.ranks != nullptr) job_.ranks->from_first(weights_);
    return;
  }
  if (state->at("identity") != job_.identity || state->at("seed") != seed_) {
    if (observer_.note) observer_.note("the checkpoint is of other options or data: starting over");
    if (job_.ranks != nullptr) job_.ranks->from_first(weights_);
    return;
  }
  if (is_reader) load_checkpoint(checkpoint_, tensors());
  if (job_.ranks != nullptr) job_.ranks->from_first(tensors());
  // The packs of the run that wrote it: the memory free today may be another.
  const std::vector<int64_t> limits = state->at("limits");
  limits_ = {limits.at(0), limits.at(1), limits.at(2), limits.at(3)};
  const std::vector<int64_t> part = state->at("largest_part");
  largest_part_ = {part.at(0), part.at(1), part.at(2)};
  epoch_ = state->at("epoch");
  pack_ = state->at("pack");
  graphs_ = state->at("graphs");
  step_ = state->at("step");
  standing_ = state->at("standing");
  best_epoch_ = state->at("best_epoch");
  best_ = state->at("best");
  schedule_.restore(state->at("schedule"));
  if (observer_.note) {
    observer_.note("continues from the checkpoint at epoch " + std::to_string(epoch_ + 1) +
                   ", step " + std::to_string(step_));
  }
}

}  // namespace kdgat::train
