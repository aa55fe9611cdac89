#include "engine/train/fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "engine/file/safetensors.h"
#include "engine/memory/meter.h"
#include "engine/memory/out_of_memory.h"
#include "engine/train/memory_limit.h"
#include "engine/train/probe.h"
#include "engine/train/rank_group.h"
#include "engine/train/resources.h"
#include "engine/train/trainer.h"
#include "kdgat/figures.h"
#include "kdgat/text.h"

namespace kdgat::train {
namespace {

Observer observe(const Host& host) {
  Observer out;
  out.cancelled = [&host] { return host.cancelled(); };
  out.log = log_of(&host);
  out.step = [&host](const StepReport& p) {
    nlohmann::json shown = {
        {"epoch", p.epoch}, {"rate", p.graphs_per_second}, {"rate_unit", "graphs/s"}};
    if (p.loss) shown["loss"] = *p.loss;
    host.progress("train", "step", (p.epoch - 1) * p.steps + p.step, p.epochs * p.steps, shown);
  };
  out.memory = [&host](const nlohmann::json& event) {
    host.metrics("memory", event.value("step", int64_t{0}), event);
    host.log("warning", "out of memory at a batch of " + event.at("graphs").dump() +
                            " graphs: it is computed in two parts" +
                            (event.at("same_step") ? "" : ", with the statistics of each"));
  };
  out.epoch = [&host](int64_t epoch, const nlohmann::json& metrics) {
    host.metrics("epoch", epoch, metrics);
  };
  return out;
}

std::string summary(const TrainOptions& options, const Fit& task, bool has_threshold,
                    const Outcome& outcome) {
  const nlohmann::json& best = outcome.best;
  std::string out = task.size + "  epoch " + std::to_string(outcome.epochs) + "/" +
                    std::to_string(options.max_epochs);
  if (outcome.best_epoch != outcome.epochs) {
    out += " (best " + std::to_string(outcome.best_epoch) + ")";
  }
  const bool has_loss = best.contains("val_loss");
  out += "  " + std::string(has_loss ? "val loss " : "loss ") +
         format_number("%.4f", best.at(has_loss ? "val_loss" : "train_loss"));
  if (const std::string name = "val_" + task.headline; task.judge && best.contains(name)) {
    out += "  val " + task.headline + " " + format_number("%.3f", best.at(name));
  } else if (best.contains("val_auc")) {
    out += has_threshold ? "  val F1 " + format_number("%.3f", best.at("val_f1"))
                         : "  val AUC " + format_number("%.3f", best.at("val_auc"));
  }
  if (outcome.graphs_per_second > 0) {
    out += "  " + grouped(std::llrint(outcome.graphs_per_second)) + " graphs/s";
  }
  return out;
}

/// Bounds of the packs that all processes share: what was settled when the run was submitted, or as
/// many pieces as there are processes.
graph::PackLimits pack_limits(const TrainOptions& options, const memory::MemoryPlan& plan,
                              const Request& request, RankGroup* ranks) {
  if (const auto& packs = request.memory.packs) {
    return {packs->graphs, packs->nodes, packs->edges, packs->min_packs};
  }
  const int64_t world = request.ranks.world;
  std::vector<int64_t> bounds = {std::min(options.batch_size, plan.batch.graphs * world),
                                 plan.batch.nodes * world, plan.batch.edges * world,
                                 plan.min_packs};
  if (ranks != nullptr) {  // each has measured by itself
    bounds = nlohmann::json::parse(ranks->from_first(nlohmann::json(bounds).dump()))
                 .get<std::vector<int64_t>>();
  }
  return {bounds[0], bounds[1], bounds[2], bounds[3]};
}

/// What this device can hold of packs that were settled elsewhere; none = all of it.
memory::Size largest_part(const graph::PackLimits& settled, const memory::MemoryPlan& plan,
                          const Request& request, const Host& host) {
  const auto is_less = [](int64_t here, int64_t there) {
    return here > 0 && (there == 0 || here < there);
  };
  const int64_t world = request.ranks.world;
  memory::Size part = plan.batch;
  part.graphs *= world;
  part.nodes *= world;
  part.edges *= world;
  if (!request.memory.packs || plan.binds != "memory" ||
      (!is_less(part.graphs, settled.graphs) && !is_less(part.nodes, settled.nodes) &&
       !is_less(part.edges, settled.edges))) {
    return {};
  }
  host.metrics("memory", 0,
               {{"event", kMemorySettled},
                {"settled", {{"graphs", settled.graphs}, {"nodes", settled.nodes}}},
                {"fits", {{"graphs", part.graphs}, {"nodes", part.nodes}}}});
  host.log("warning", "the batches were planned for more memory than " + plan.device.name +
                          " has: those of more than " + grouped(plan.batch.nodes) +
                          " nodes are computed in parts, the steps stay the same");
  constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
  part = plan.batch;
  if (part.nodes == 0) part.nodes = kAny;
  if (part.edges == 0) part.edges = kAny;
  return part;
}

/// Of the packs as they are, not of average graphs.
int64_t largest_peak(const memory::Footprint& footprint, const graph::GraphSet& store,
                     const graph::PackPlan& packing, const Ranks& ranks) {
  memory::Size largest;
  int64_t most = 0;
  for (int64_t p = 0; p < packing.packs(); ++p) {
    const std::span<const int64_t> ids = packing.pack(p);
    const auto own = ranks.world == 1 ? ids : piece_of(store, ids, ranks.rank, ranks.world);
    const memory::Size size = size_of(store, own);
    // What an allocator rounds takes long to tell: of the largest alone.
    const int64_t peak =
        footprint.held() + static_cast<int64_t>(footprint.largest(size).cost.of(size));
    if (peak > most) largest = size;
    most = std::max(most, peak);
  }
  return std::max(most, footprint.at(largest).peak(largest));
}

/// What a checkpoint must be of to be continued, beside the seed.
std::string identity_of(const nlohmann::json& of_task, const graph::GraphSet& store,
                        const Parts& parts, const Request& request) {
  const auto hash = [](const std::vector<int64_t>& ids) {
    return file::hash_bytes(ids.data(), ids.size() * sizeof(int64_t));
  };
  const std::string what = of_task.dump() + request.device + store.content_hash() +
                           hash(parts.train) + hash(parts.val_loss) +
                           (parts.sampler != nullptr ? parts.sampler->identity() : "");
  return file::hash_bytes(what.data(), what.size());
}

}  // namespace

nlohmann::json fit(const TrainOptions& options, Objective& objective, const Fit& task,
                   const graph::GraphSet& store, const Parts& parts, const Request& request,
                   const Host& host) {
  const std::string& monitor = options.monitor_metric;
  const bool measured =
      monitor == "train_loss" ||
      (monitor == "val_loss" ? !parts.val_loss.empty() : !parts.val_score.empty());
  if (!measured) {
    throw Error(ExitCode::kUsage,
                "monitor_metric: " + monitor + " needs validation graphs" +
                    (monitor == "val_loss" ? "" : " of both classes") + ", and there are none",
                "raise data.val_fraction, or use monitor_metric=train_loss");
  }
  const torch::Device device(request.device);
  const memory::MemoryPlan plan =
      plan_memory(options, objective, task.footprint, store, parts.train, request);
  nlohmann::json planned = plan.json();
  memory::set_reported_plan(planned);
  host.metrics("memory", 0, {{"event", "plan"}, {"plan", planned}});
  limit_memory(device, request);  // measuring has loaded what was not there before
  std::unique_ptr<RankGroup> ranks;
  if (request.ranks.world > 1) ranks = std::make_unique<RankGroup>(request.ranks, device);
  const graph::PackLimits limits = pack_limits(options, plan, request, ranks.get());
  const graph::PackPlan packing = graph::make_pack_plan(store, parts.train, limits, true,
                                                        static_cast<uint64_t>(request.seed), 0);
  const int64_t graphs = static_cast<int64_t>(parts.train.size());
  const int64_t packs = std::max<int64_t>(1, packing.packs());
  const int64_t each = (graphs + packs - 1) / packs;
  planned["packs"] = packs;
  planned["predicted"] = largest_peak(plan.footprint, store, packing, request.ranks);
  host.log("info",
           std::to_string(graphs) +
               (parts.sampler != nullptr ? " graphs to choose from, at most " : " graphs in ") +
               std::to_string(packs) + " batches an epoch, about " + std::to_string(each) +
               " graphs each; " +
               (request.memory.packs ? "planned beforehand" : "limited by " + plan.binds));
  if (ranks) {
    host.log("info", "rank " + std::to_string(ranks->rank()) + " of " +
                         std::to_string(ranks->world()) + " that share each batch");
  }
  host.log("info", plan.line());
  log_kernels(device, host);

  if (options.precision == "16-mixed" && device.is_cpu()) {
    host.log("warning",
             "16-mixed is slow on a CPU: without fp16 instructions its matrix products take many "
             "times as long as in 32 bits; bf16-mixed is the faster one");
  }

  const auto seed = static_cast<uint64_t>(request.seed);
  const int64_t share = (each + request.ranks.world - 1) / request.ranks.world;
  Training training{store, parts.train, limits};
  training.largest_part = largest_part(limits, plan, request, host);
  training.sampler = parts.sampler;
  training.ranks = ranks.get();
  training.evaluate = [&](const std::function<void()>& check) {
    return validate(objective, task.judge, store, parts, share, seed, ranks.get(), check);
  };
  training.seed = seed;
  training.checkpoint = checkpoint_file(request);
  training.identity = identity_of(task.identity, store, parts, request);
  Trainer trainer(options, objective, std::move(training), observe(host));
  const Outcome outcome = trainer.run();

  nlohmann::json metrics = outcome.best;
  metrics["epochs"] = outcome.epochs;
  if (metrics.contains("val_threshold")) {
    metrics["threshold_from"] = objective.threshold()     ? "fixed"
                                : parts.val_score.empty() ? "benign"
                                                          : "val";
  }
  metrics["best_epoch"] = outcome.best_epoch;
  metrics["steps"] = outcome.steps;
  metrics["train_graphs"] = graphs;
  metrics["graphs_per_second"] = outcome.graphs_per_second;
  if (outcome.checkpoints > 0) {
    metrics["checkpoints"] = {{"count", outcome.checkpoints},
                              {"seconds", outcome.checkpoint_seconds}};
  }
  metrics["batch"] = {{"graphs", each}, {"packs", packs}, {"binds", plan.binds}};
  nlohmann::json actual = outcome.memory;
  actual["context_bytes"] = context_of(device);
  return {{"metrics", metrics},
          {"figures", trained_figures(metrics)},
          {"summary", summary(options, task, objective.threshold().has_value(), outcome)},
          {"memory", {{"planned", std::move(planned)}, {"actual", std::move(actual)}}}};
}

nlohmann::json decision_of(const nlohmann::json& fitted) {
  const nlohmann::json& metrics = fitted.at("metrics");
  if (!metrics.contains("val_threshold")) return nlohmann::json::object();
  return {{"threshold", metrics.at("val_threshold")}, {"from", metrics.at("threshold_from")}};
}

}  // namespace kdgat::train
