#include "engine/train/resources.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <utility>

#include "engine/memory/meter.h"
#include "engine/train/card_limits.h"
#include "engine/train/memory_limit.h"
#include "engine/train/probe.h"
#include "kdgat/host_memory.h"

namespace kdgat::train {
namespace {

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

}  // namespace

void log_kernels(c10::Device device, const Host& host) {
  const std::string by = kernels::kernels_in_words(device);
  if (by.empty()) return;
  if (kernels::has_cuda_kernels(device)) {
    host.log("info", by);
  } else {
    host.remark(by);
  }
}

kernels::KernelSet planned_kernels(const Request& request) {
  return request.memory.names_card() ? kernels::kernel_set_of_cards()
                                     : kernels::kernel_set(c10::Device(request.device));
}

c10::Device prepare(const TrainOptions& options, const Request& request) {
  // Numbers below 1e-38 count as zero: a net that has learnt its data by heart is full of them, and
  // on some processors each costs a hundred times as much as another. Of this thread and of those
  // it begins.
  at::globalContext().setFlushDenormal(true);
  at::set_num_threads(std::max(1, request.threads));
  at::globalContext().setDeterministicAlgorithms(options.deterministic, /*warn_only=*/false);
  const c10::Device device(request.device);
  if (!device.is_cpu()) require_card(device, request);
  torch::manual_seed(static_cast<uint64_t>(request.seed));
  return device;
}

memory::MemoryPlan plan_memory(const TrainOptions& options, Objective& objective,
                               const memory::Footprint& counted, const graph::GraphSet& store,
                               const std::vector<int64_t>& ids, const Request& request) {
  const c10::Device device(request.device);
  const bool may_run = request.memory.measure || !request.run_dir.empty();
  memory::Footprint footprint = with_workspaces(counted, request);
  if (may_run && device.is_cpu()) {
    trim_heap();
    HostMemory().wait_until_settled();
  }
  // Trials of a sweep share a device's counters: what one measured would be of others, too.
  const bool is_counted = request.memory.own && !device.is_cpu() && !counted.phases.empty();
  if (options.memory_estimation == "measured" && may_run && !is_counted) {
    const LimitWhileMeasuring limit(device, request.memory);
    const int64_t room = room_for_tensors(device_memory(device, request.memory)) - footprint.held();
    footprint = measure(objective, options, static_cast<uint64_t>(request.seed), store, ids,
                        footprint, std::max<int64_t>(1, room));
    trim_heap();
  }
  const int64_t world = request.ranks.world;
  return memory::make_plan(footprint, share_of(sizes_of(store, ids), world),
                           device_memory(device, request.memory), batch_options(options, world));
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
  const c10::Device device(request.device);
  if (device.is_cpu() && !request.run_dir.empty()) trim_heap();
  return memory::make_plan(with_workspaces(counted, request), share_of(sizes, world),
                           device_memory(device, request.memory), batch_options(options, world));
}

nlohmann::json planned_memory(const TrainOptions& options, const std::string& teacher,
                              const memory::Footprint& counted, const Request& request,
                              const std::function<memory::MemoryPlan()>& measured) {
  const Input& graphs = request.input("graphs");
  const bool there = !graphs.path.empty();
  nlohmann::json out;
  try {
    out = request.memory.measure && there && teacher == "none"
              ? measured().json()
              : plan_memory(options, counted, graphs.facts, request).json();
  } catch (const Error& error) {
    const bool may_fit = there && !request.memory.measure && request.memory.device.empty() &&
                         options.memory_estimation == "measured";
    if (error.code() != ExitCode::kDoesNotFit || !may_fit) throw;
    return nlohmann::json::object();
  }
  out["cache_policy"] = options.cache_policy;
  out["teacher"] = teacher;
  out["epochs"] = options.max_epochs;
  return {{"memory", std::move(out)}};
}

}  // namespace kdgat::train
