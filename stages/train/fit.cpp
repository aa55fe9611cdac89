#include "train/fit.h"

#include <ATen/Context.h>
#include <ATen/DeviceAccelerator.h>
#include <ATen/Parallel.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>

#include "file/safetensors.h"
#include "kdgat/figures.h"
#include "kdgat/text.h"
#include "memory/meter.h"
#include "memory/out_of_memory.h"
#include "train/metrics/metrics.h"
#include "train/probe.h"
#include "train/rank_group.h"

namespace kdgat::train {
namespace {

// Of a memory limit: what the process holds beside tensors may grow by so much.
constexpr int64_t kSpareBytes = int64_t{6} << 20;
constexpr double kSpareShare = 0.015;
// Beside it on a device: what LibTorch and its kernels hold there.
constexpr int64_t kDeviceContext = int64_t{500} << 20;

std::filesystem::path checkpoint_file(const Request& request) {
  return request.run_dir / "checkpoint" / "state.safetensors";
}

/// Whether each process takes a share of the graphs: with fewer graphs than processes all take all.
bool is_shared(const std::vector<int64_t>& ids, const RankGroup* ranks) {
  return ranks != nullptr && static_cast<int64_t>(ids.size()) >= ranks->world();
}

std::vector<int64_t> own_share(const std::vector<int64_t>& ids, const RankGroup* ranks) {
  if (!is_shared(ids, ranks)) return ids;
  const Share share = share_of(static_cast<int64_t>(ids.size()), ranks->rank(), ranks->world());
  return {ids.begin() + share.first, ids.begin() + share.end};
}

/// The scores of all `count` graphs from those of each process's share.
std::vector<float> joined(const std::vector<float>& own, std::size_t count, RankGroup& ranks) {
  const Share share = share_of(static_cast<int64_t>(count), ranks.rank(), ranks.world());
  std::vector<float> out(count, 0.0F);
  std::copy(own.begin(), own.end(), out.begin() + share.first);
  ranks.sum(at::from_blob(out.data(), {static_cast<int64_t>(count)}, at::kFloat));
  return out;
}

nlohmann::json validate(const Learner& learner, const Data& data, const Parts& parts,
                        int64_t graphs, RankGroup* ranks, const std::function<void()>& check) {
  nlohmann::json out = nlohmann::json::object();
  if (!parts.val_loss.empty()) {
    const graph::StepTotals totals = size_of(data.store, parts.val_loss);
    std::map<std::string, torch::Tensor> sums;
    for_batches(
        data.store, own_share(parts.val_loss, ranks), learner.with_edge_attr,
        [&](const graph::GraphBatch& batch, std::span<const int64_t>) {
          check();
          std::map<std::string, torch::Tensor> next = sums;
          const auto add = [&next](const std::string& name, const torch::Tensor& value) {
            torch::Tensor& sum = next[name];
            sum = sum.defined() ? sum + value : value.to(at::kDouble);
          };
          add("val_loss", learner.loss(batch, totals, 0));
          if (learner.parts) {
            for (const auto& [name, value] : learner.parts()) add("val_" + name, value);
          }
          sums = std::move(next);
        },
        graphs);
    if (is_shared(parts.val_loss, ranks)) {
      for (const auto& [name, sum] : sums) ranks->sum(sum);
    }
    for (const auto& [name, sum] : sums) out[name] = sum.item<double>();
  }
  if (!parts.val_score.empty() && learner.judge) {
    const nlohmann::json judged = learner.judge(parts.val_score, check);
    for (const auto& [name, value] : judged.items()) out["val_" + name] = value;
  } else if (!parts.val_score.empty()) {
    std::vector<float> scores = score_all(
        data.store, own_share(parts.val_score, ranks), learner.with_edge_attr, learner.score,
        [&](int64_t) { check(); }, graphs);
    if (is_shared(parts.val_score, ranks)) scores = joined(scores, parts.val_score.size(), *ranks);
    const std::vector<int64_t> labels = data.labels(parts.val_score);
    const double threshold =
        learner.threshold ? *learner.threshold : best_threshold(scores, labels).value;
    const nlohmann::json r = rates(confusion(scores, labels, threshold));
    out["val_auc"] = auc(scores, labels);
    out["val_f1"] = r.at("f1");
    out["val_accuracy"] = r.at("accuracy");
    out["val_threshold"] = threshold;
  }
  return out;
}

Observer observe(const Host& host) {
  Observer out;
  out.cancelled = [&host] { return host.cancelled(); };
  out.note = [&host](const std::string& text) { host.log("info", text); };
  out.step = [&host](const Progress& p) {
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

std::string summary(const TrainOptions& options, const Learner& learner, const Outcome& outcome) {
  const nlohmann::json& best = outcome.best;
  std::string out = learner.size + "  epoch " + std::to_string(outcome.epochs) + "/" +
                    std::to_string(options.max_epochs);
  if (outcome.best_epoch != outcome.epochs) {
    out += " (best " + std::to_string(outcome.best_epoch) + ")";
  }
  const bool has_loss = best.contains("val_loss");
  out += "  " + std::string(has_loss ? "val loss " : "loss ") +
         format_number("%.4f", best.at(has_loss ? "val_loss" : "train_loss"));
  if (const std::string name = "val_" + learner.headline; learner.judge && best.contains(name)) {
    out += "  val " + learner.headline + " " + format_number("%.3f", best.at(name));
  } else if (best.contains("val_auc")) {
    out += learner.threshold ? "  val F1 " + format_number("%.3f", best.at("val_f1"))
                             : "  val AUC " + format_number("%.3f", best.at("val_auc"));
  }
  if (outcome.graphs_per_second > 0) {
    out += "  " + grouped(std::llrint(outcome.graphs_per_second)) + " graphs/s";
  }
  return out;
}

/// What this process holds beside tensors, and may come to hold; not of one stage among several.
int64_t beside_tensors(const Request& request) {
  if (request.memory.own) return 0;
  const int64_t held = memory::anonymous_memory() - memory::meter(torch::kCPU).counters().reserved;
  return std::max<int64_t>(0, held) + kSpareBytes +
         static_cast<int64_t>(kSpareShare * static_cast<double>(request.memory.limit));
}

memory::DeviceMemory device_memory(const Request& request) {
  const torch::Device device(request.device);
  memory::DeviceMemory out;
  out.is_limit = request.memory.limit > 0;
  if (!request.memory.device.empty()) {
    out.name = request.memory.device;
    out.total = request.memory.total;
    out.context = request.memory.context;
  } else if (device.is_cpu()) {
    out.total = memory::meter(device).free() + memory::anonymous_memory();
    out.context = beside_tensors(request);
  } else {
    const memory::MemoryMeter& meter = memory::meter(device);
    out.name = device.str();
    out.total = meter.total();
    // Before the first kernel has run, its context is not there yet.
    out.context =
        std::max(kDeviceContext, meter.total() - meter.free() - meter.counters().reserved);
  }
  if (out.is_limit) out.total = request.memory.limit;
  return out;
}

/// Of this process's pieces of the packs.
memory::BatchOptions batch_options(const TrainOptions& options, int64_t world) {
  return {(options.batch_size + world - 1) / world, options.optimize_batch_size,
          options.safety_factor, options.min_steps_per_epoch, options.accumulate_grad_batches};
}

memory::GraphSizes share_of(memory::GraphSizes sizes, int64_t world) {
  for (int64_t* sum : {&sizes.sum.graphs, &sizes.sum.nodes, &sizes.sum.edges, &sizes.sum.paths}) {
    *sum = (*sum + world - 1) / world;
  }
  return sizes;
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
  host.log("warning", "the packs were settled for more memory than " + plan.device.name +
                          " has: those of more than " + grouped(plan.batch.nodes) +
                          " nodes are computed in parts, the steps stay the same");
  constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
  part = plan.batch;
  if (part.nodes == 0) part.nodes = kAny;
  if (part.edges == 0) part.edges = kAny;
  return part;
}

/// Of the packs as they are, not of average graphs.
int64_t largest_peak(const memory::Footprint& footprint, const graph::GraphStore& store,
                     const graph::PackPlan& packing, const Ranks& ranks) {
  int64_t out = 0;
  for (int64_t p = 0; p < packing.packs(); ++p) {
    const std::span<const int64_t> ids = packing.pack(p);
    const auto own = ranks.world == 1 ? ids : piece_of(store, ids, ranks.rank, ranks.world);
    out = std::max(out, footprint.peak(size_of(store, own)));
  }
  return out;
}

Job job_of(const Learner& learner) {
  Job job;
  job.module = learner.module;
  job.loss = learner.loss;
  job.with_edge_attr = learner.with_edge_attr;
  job.parts_differ = learner.parts_differ;
  return job;
}

}  // namespace

void limit_memory(torch::Device device, const Request& request) {
  memory::MemoryMeter& meter = memory::meter(device);
  if (request.memory.limit > 0) {
    meter.set_limit(std::max<int64_t>(1, request.memory.limit - beside_tensors(request)));
  } else if (device.is_cpu()) {
    meter.set_limit(meter.counters().reserved + meter.free() / 20 * 19);
  }
}

torch::Device prepare(const TrainOptions& options, const Request& request) {
  // Numbers below 1e-38 count as zero: a net that has learnt its data by heart is full of them, and
  // on some processors each costs a hundred times as much as another. Of this thread and of those
  // it begins.
  at::globalContext().setFlushDenormal(true);
  at::set_num_threads(std::max(1, request.threads));
  at::globalContext().setDeterministicAlgorithms(options.deterministic, /*warn_only=*/false);
  torch::manual_seed(static_cast<uint64_t>(request.seed));
  const torch::Device device(request.device);
  if (device.is_cpu()) return device;
  const std::optional<c10::DeviceType> found = at::getAccelerator();
  if (!found || *found != device.type()) {
    throw Error(ExitCode::kUsage, "device " + request.device + " is not usable by this LibTorch",
                "use device=cpu; kdgat doctor shows what this machine has");
  }
  return device;
}

memory::MemoryPlan plan_memory(const TrainOptions& options, const Learner& learner,
                               const graph::GraphStore& store, const std::vector<int64_t>& ids,
                               const Request& request) {
  const int64_t room = request.memory.limit > 0
                           ? std::max<int64_t>(1, request.memory.limit - beside_tensors(request) -
                                                      learner.footprint.held())
                           : 0;
  const bool may_run = request.memory.measure || !request.run_dir.empty();
  const memory::Footprint footprint =
      options.memory_estimation == "measured" && may_run
          ? measure(job_of(learner), options.precision, store, ids, learner.footprint, room)
          : learner.footprint;
  const int64_t world = request.ranks.world;
  return memory::make_plan(footprint, share_of(sizes_of(store, ids), world), device_memory(request),
                           batch_options(options, world));
}

memory::MemoryPlan plan_memory(const TrainOptions& options, const memory::Footprint& counted,
                               const nlohmann::json& graph_facts, const Request& request) {
  const auto sum = [&graph_facts](const char* pointer) {
    return graph_facts.value(nlohmann::json::json_pointer(pointer), int64_t{0});
  };
  const memory::GraphSizes sizes = {
      {graph_facts.value("graphs", int64_t{0}), sum("/nodes/sum"), sum("/edges/sum")},
      {1, sum("/nodes/max"), sum("/edges/max")},
      -1};
  const int64_t world = request.ranks.world;
  return memory::make_plan(counted, share_of(sizes, world), device_memory(request),
                           batch_options(options, world));
}

void for_batches(
    const graph::GraphStore& store, const std::vector<int64_t>& ids, bool with_edge_attr,
    const std::function<void(const graph::GraphBatch&, std::span<const int64_t>)>& visit,
    int64_t graphs) {
  graph::GraphBatch batch;
  auto most = static_cast<std::size_t>(std::clamp<int64_t>(graphs, 1, kScoreGraphs));
  for (std::size_t at = 0; at < ids.size();) {
    const auto some = std::span(ids).subspan(at, std::min(most, ids.size() - at));
    bool done = false;
    try {
      graph::gather(store, some, with_edge_attr, batch);
      visit(batch, some);
      done = true;
    } catch (const std::exception& error) {
      if (some.size() == 1 || !memory::is_out_of_memory(error)) throw;
    }
    if (done) {
      at += some.size();
    } else {
      batch = {};
      most = some.size() / 2;
    }
  }
}

std::vector<float> score_all(const graph::GraphStore& store, const std::vector<int64_t>& ids,
                             bool with_edge_attr,
                             const std::function<torch::Tensor(const graph::GraphBatch&)>& score,
                             const std::function<void(int64_t done)>& progress, int64_t graphs) {
  std::vector<float> out;
  out.reserve(ids.size());
  for_batches(
      store, ids, with_edge_attr,
      [&](const graph::GraphBatch& batch, std::span<const int64_t>) {
        const torch::Tensor scores = score(batch).contiguous();
        const float* data = scores.const_data_ptr<float>();
        out.insert(out.end(), data, data + scores.numel());
        if (progress) progress(static_cast<int64_t>(out.size()));
      },
      graphs);
  return out;
}

nlohmann::json fit(const TrainOptions& options, const Learner& learner, const Data& data,
                   const Parts& parts, const nlohmann::json& all_options, const Request& request,
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
  const memory::MemoryPlan plan = plan_memory(options, learner, data.store, parts.train, request);
  nlohmann::json planned = plan.json();
  memory::set_reported_plan(planned);
  host.metrics("memory", 0, {{"event", "plan"}, {"plan", planned}});
  limit_memory(device, request);  // measuring has loaded what was not there before
  std::unique_ptr<RankGroup> ranks;
  if (request.ranks.world > 1) ranks = std::make_unique<RankGroup>(request.ranks, device);
  const graph::PackLimits limits = pack_limits(options, plan, request, ranks.get());
  const graph::PackPlan packing = graph::make_pack_plan(data.store, parts.train, limits, true,
                                                        static_cast<uint64_t>(request.seed), 0);
  const int64_t graphs = static_cast<int64_t>(parts.train.size());
  const int64_t packs = std::max<int64_t>(1, packing.packs());
  const int64_t each = (graphs + packs - 1) / packs;
  planned["packs"] = packs;
  planned["predicted"] = largest_peak(plan.footprint, data.store, packing, request.ranks);
  host.log("info",
           std::to_string(graphs) +
               (parts.sampler != nullptr ? " graphs to choose from, at most " : " graphs in ") +
               std::to_string(packs) + " batches an epoch, about " + std::to_string(each) +
               " graphs each; " +
               (request.memory.packs ? "settled beforehand" : plan.binds + " binds"));
  if (ranks) {
    host.log("info", "rank " + std::to_string(ranks->rank()) + " of " +
                         std::to_string(ranks->world()) + " that share each batch");
  }
  host.log("info", plan.line());

  if (options.precision == "16-mixed" && device.is_cpu()) {
    host.log("warning",
             "16-mixed is slow on a CPU: without fp16 instructions its matrix products take many "
             "times as long as in 32 bits; bf16-mixed is the faster one");
  }

  Job job = job_of(learner);
  job.sampler = parts.sampler;
  job.ranks = ranks.get();
  job.largest_part = largest_part(limits, plan, request, host);
  const int64_t share = (each + request.ranks.world - 1) / request.ranks.world;
  job.evaluate = [&](const std::function<void()>& check) {
    return validate(learner, data, parts, share, ranks.get(), check);
  };
  const std::string what =
      all_options.dump() + request.device + data.store.content_hash() +
      graph::hash_bytes(parts.train.data(), parts.train.size() * sizeof(int64_t)) +
      graph::hash_bytes(parts.val_loss.data(), parts.val_loss.size() * sizeof(int64_t)) +
      (parts.sampler != nullptr ? parts.sampler->identity() : "");
  job.identity = graph::hash_bytes(what.data(), what.size());
  const std::filesystem::path checkpoint =
      request.run_dir.empty() ? std::filesystem::path() : checkpoint_file(request);
  Trainer trainer(options, job, data.store, parts.train, limits,
                  static_cast<uint64_t>(request.seed), checkpoint, observe(host));
  const Outcome outcome = trainer.run();

  nlohmann::json metrics = outcome.best;
  metrics["epochs"] = outcome.epochs;
  if (metrics.contains("val_threshold")) {
    metrics["threshold_from"] = learner.threshold ? "fixed" : "val";
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
  actual["context_bytes"] =
      memory::anonymous_memory() - memory::meter(torch::kCPU).counters().reserved;
  return {{"metrics", metrics},
          {"figures", step_figures(metrics)},
          {"summary", summary(options, learner, outcome)},
          {"memory", {{"planned", std::move(planned)}, {"actual", std::move(actual)}}}};
}

nlohmann::json decision_of(const nlohmann::json& fitted) {
  const nlohmann::json& metrics = fitted.at("metrics");
  if (!metrics.contains("val_threshold")) return nlohmann::json::object();
  return {{"threshold", metrics.at("val_threshold")}, {"from", metrics.at("threshold_from")}};
}

void clear_checkpoint(const Request& request) {
  if (!request.run_dir.empty()) std::filesystem::remove_all(request.run_dir / "checkpoint");
}

}  // namespace kdgat::train
