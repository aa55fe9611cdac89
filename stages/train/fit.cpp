#include "train/fit.h"

#include <ATen/Context.h>
#include <ATen/DeviceAccelerator.h>
#include <ATen/Parallel.h>
#include <torch/utils.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <map>

#include "graph/safetensors.h"
#include "train/metrics.h"
#include "train/text.h"

namespace kdgat::train {
namespace {

// Small batches stay in the caches; scoring does not get faster beyond.
constexpr int64_t kScoreGraphs = 512;

std::filesystem::path checkpoint_file(const Request& request) {
  return request.run_dir / "checkpoint" / "state.safetensors";
}

nlohmann::json validate(const Learner& learner, const Data& data, const Parts& parts,
                        const std::function<void()>& check) {
  nlohmann::json out = nlohmann::json::object();
  if (!parts.val_loss.empty()) {
    graph::StepTotals totals;
    for (const int64_t id : parts.val_loss) {
      const auto g = static_cast<std::size_t>(id);
      totals.graphs += 1;
      totals.nodes += data.store.node_ptr()[g + 1] - data.store.node_ptr()[g];
      totals.edges += data.store.edge_ptr()[g + 1] - data.store.edge_ptr()[g];
    }
    std::map<std::string, torch::Tensor> sums;
    const auto add = [&sums](const std::string& name, const torch::Tensor& value) {
      torch::Tensor& sum = sums[name];
      sum = sum.defined() ? sum + value : value.to(at::kDouble);
    };
    for_batches(data.store, parts.val_loss, learner.with_edge_attr,
                [&](const graph::GraphBatch& batch, std::span<const int64_t>) {
                  check();
                  add("val_loss", learner.loss(batch, totals, 0));
                  if (!learner.parts) return;
                  for (const auto& [name, value] : learner.parts()) add("val_" + name, value);
                });
    for (const auto& [name, sum] : sums) out[name] = sum.item<double>();
  }
  if (!parts.val_score.empty()) {
    const std::vector<float> scores = score_all(data.store, parts.val_score, learner.with_edge_attr,
                                                learner.score, [&](int64_t) { check(); });
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
         number("%.4f", best.at(has_loss ? "val_loss" : "train_loss"));
  if (best.contains("val_auc")) {
    out += learner.threshold ? "  val F1 " + number("%.3f", best.at("val_f1"))
                             : "  val AUC " + number("%.3f", best.at("val_auc"));
  }
  if (outcome.graphs_per_second > 0) {
    out += "  " + with_commas(outcome.graphs_per_second) + " graphs/s";
  }
  return out;
}

/// The number in a file such as memory.max; none if it says "max" or is not there.
std::optional<int64_t> read_number(const std::string& path) {
  std::ifstream file(path);
  int64_t value = 0;
  if (file >> value) return value;
  return std::nullopt;
}

}  // namespace

torch::Device prepare(const TrainOptions& options, const Request& request) {
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

graph::PackLimits batch_limits(const TrainOptions& options, double bytes_per_node,
                               int64_t bytes_free) {
  if (!options.optimize_batch_size) return {options.batch_size, 0, 0, 0};
  const double share = std::min(0.85, options.safety_factor + 0.15);
  const double nodes = share * static_cast<double>(bytes_free) / std::max(1.0, bytes_per_node);
  const auto budget = std::bit_floor(static_cast<uint64_t>(std::max(1.0, nodes)));
  return {options.batch_size, static_cast<int64_t>(budget), 0,
          options.min_steps_per_epoch * options.accumulate_grad_batches};
}

int64_t free_memory(torch::Device device) {
  if (!device.is_cpu()) {
    const auto [free, total] = at::accelerator::getMemoryInfo(std::max<int>(0, device.index()));
    return static_cast<int64_t>(free);
  }
  int64_t bytes = int64_t{1} << 30;
  std::ifstream meminfo("/proc/meminfo");
  for (std::string key, line; meminfo >> key; std::getline(meminfo, line)) {
    if (key == "MemAvailable:") meminfo >> bytes, bytes *= 1024;
  }
  for (const char* group : {"/sys/fs/cgroup/memory.", "/sys/fs/cgroup/memory/memory."}) {
    const bool v2 = std::string(group) == "/sys/fs/cgroup/memory.";
    const auto limit = read_number(std::string(group) + (v2 ? "max" : "limit_in_bytes"));
    const auto used = read_number(std::string(group) + (v2 ? "current" : "usage_in_bytes"));
    if (limit && used) bytes = std::min(bytes, std::max<int64_t>(0, *limit - *used));
  }
  return bytes;
}

void for_batches(
    const graph::GraphStore& store, const std::vector<int64_t>& ids, bool with_edge_attr,
    const std::function<void(const graph::GraphBatch&, std::span<const int64_t>)>& visit) {
  graph::GraphBatch batch;
  for (std::size_t at = 0; at < ids.size(); at += kScoreGraphs) {
    const auto some =
        std::span(ids).subspan(at, std::min<std::size_t>(kScoreGraphs, ids.size() - at));
    graph::gather(store, some, with_edge_attr, batch);
    visit(batch, some);
  }
}

std::vector<float> score_all(const graph::GraphStore& store, const std::vector<int64_t>& ids,
                             bool with_edge_attr,
                             const std::function<torch::Tensor(const graph::GraphBatch&)>& score,
                             const std::function<void(int64_t done)>& progress) {
  std::vector<float> out;
  out.reserve(ids.size());
  for_batches(store, ids, with_edge_attr,
              [&](const graph::GraphBatch& batch, std::span<const int64_t>) {
                const torch::Tensor scores = score(batch).contiguous();
                const float* data = scores.const_data_ptr<float>();
                out.insert(out.end(), data, data + scores.numel());
                if (progress) progress(static_cast<int64_t>(out.size()));
              });
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
  const graph::PackLimits limits =
      batch_limits(options, learner.bytes_per_node, free_memory(device));
  const graph::PackPlan plan = graph::make_pack_plan(data.store, parts.train, limits, true,
                                                     static_cast<uint64_t>(request.seed), 0);
  const int64_t graphs = static_cast<int64_t>(parts.train.size());
  const int64_t packs = std::max<int64_t>(1, plan.packs());
  std::string binds = "batch_size";
  if (options.optimize_batch_size && packs > (graphs + limits.graphs - 1) / limits.graphs) {
    binds = packs <= limits.min_packs ? "min_steps_per_epoch" : "memory";
  }
  host.log("info",
           std::to_string(graphs) +
               (parts.sampler != nullptr ? " graphs to choose from, at most " : " graphs in ") +
               std::to_string(packs) + " batches an epoch, about " +
               std::to_string((graphs + packs - 1) / packs) + " graphs each; " + binds +
               " binds (node budget " + std::to_string(limits.nodes) + ")");

  Job job;
  job.module = learner.module;
  job.loss = learner.loss;
  job.sampler = parts.sampler;
  job.with_edge_attr = learner.with_edge_attr;
  job.evaluate = [&](const std::function<void()>& check) {
    return validate(learner, data, parts, check);
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
  metrics["batch"] = {{"graphs", (graphs + packs - 1) / packs},
                      {"packs", packs},
                      {"node_budget", limits.nodes},
                      {"binds", binds}};
  return {{"metrics", metrics}, {"summary", summary(options, learner, outcome)}};
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
