#include "train/resources.h"

#include <ATen/Context.h>
#include <ATen/DeviceAccelerator.h>
#include <ATen/Parallel.h>
#include <torch/utils.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "memory/meter.h"
#include "train/probe.h"

namespace kdgat::train {
namespace {

// Of a memory limit: what the process holds beside tensors may grow by so much.
constexpr int64_t kSpareBytes = int64_t{6} << 20;
constexpr double kSpareShare = 0.015;
// Beside it on a device: what LibTorch and its kernels hold there.
constexpr int64_t kDeviceContext = int64_t{500} << 20;

/// What this process holds beside tensors, and may come to hold; not of one stage among several.
int64_t beside_tensors(const Request& request) {
  if (request.memory.own) return 0;
  const int64_t held = memory::anonymous_memory() - memory::meter(c10::kCPU).counters().reserved;
  return std::max<int64_t>(0, held) + kSpareBytes +
         static_cast<int64_t>(kSpareShare * static_cast<double>(request.memory.limit));
}

memory::DeviceMemory device_memory(const Request& request) {
  const c10::Device device(request.device);
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

}  // namespace

void limit_memory(c10::Device device, const Request& request) {
  memory::MemoryMeter& meter = memory::meter(device);
  if (request.memory.limit > 0) {
    meter.set_limit(std::max<int64_t>(1, request.memory.limit - beside_tensors(request)));
  } else if (device.is_cpu()) {
    meter.set_limit(meter.counters().reserved + meter.free() / 20 * 19);
  }
}

c10::Device prepare(const TrainOptions& options, const Request& request) {
  // Numbers below 1e-38 count as zero: a net that has learnt its data by heart is full of them, and
  // on some processors each costs a hundred times as much as another. Of this thread and of those
  // it begins.
  at::globalContext().setFlushDenormal(true);
  at::set_num_threads(std::max(1, request.threads));
  at::globalContext().setDeterministicAlgorithms(options.deterministic, /*warn_only=*/false);
  torch::manual_seed(static_cast<uint64_t>(request.seed));
  const c10::Device device(request.device);
  if (device.is_cpu()) return device;
  const std::optional<c10::DeviceType> found = at::getAccelerator();
  if (!found || *found != device.type()) {
    throw Error(ExitCode::kUsage, "device " + request.device + " is not usable by this LibTorch",
                "use device=cpu; kdgat doctor shows what this machine has");
  }
  return device;
}

memory::MemoryPlan plan_memory(const TrainOptions& options, Objective& objective,
                               const memory::Footprint& counted, const graph::GraphStore& store,
                               const std::vector<int64_t>& ids, const Request& request) {
  const int64_t room =
      request.memory.limit > 0
          ? std::max<int64_t>(1, request.memory.limit - beside_tensors(request) - counted.held())
          : 0;
  const bool may_run = request.memory.measure || !request.run_dir.empty();
  const memory::Footprint footprint =
      options.memory_estimation == "measured" && may_run
          ? measure(objective, options.precision, static_cast<uint64_t>(request.seed), store, ids,
                    counted, room)
          : counted;
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
