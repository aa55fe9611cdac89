#include "engine/train/resources.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <utility>

#include "engine/memory/arena.h"
#include "engine/memory/meter.h"
#include "engine/train/card_limits.h"
#include "engine/train/probe.h"
#include "kdgat/host_memory.h"

namespace kdgat::train {
namespace {

// Of a memory limit: what the process holds beside tensors may grow by so much, with its batches by
// that share.
constexpr int64_t kSpareBytes = int64_t{6} << 20;
constexpr double kSpareShare = 0.015;
// Of a limit of the machine, which kills who goes beyond: page tables and other processes that
// share it grow, too.
constexpr double kHardSpareShare = 0.03;
int64_t part_of(int64_t bytes, double share) {
  return static_cast<int64_t>(share * static_cast<double>(bytes));
}

/// What this process holds beside tensors, and may come to hold; not of one stage among several.
int64_t beside_tensors(const MemoryRequest& asked) {
  if (asked.own) return 0;
  const int64_t held = memory::anonymous_memory() - memory::meter(c10::kCPU).counters().reserved;
  return std::max<int64_t>(0, held) + kSpareBytes;
}

/// Of the host's memory: what this process can come to hold in all, as read here or by the program
/// that started it, and what bounds it. A limit of the user's may be more than is free just now,
/// not more than what the machine's limits leave.
memory::DeviceMemory host_memory(const MemoryRequest& asked) {
  const HostMemory host;
  const std::vector<MemoryBound> bounds = asked.limit > 0 ? host.hard_bounds() : host.bounds();
  const int64_t held = memory::anonymous_memory();
  const MemoryBound* least = tightest(bounds);
  memory::DeviceMemory out;
  out.total = held + memory::Arena::instance().room();
  if (least != nullptr) {
    out.total = std::min(out.total, held + static_cast<int64_t>(least->room()));
  }
  if (least != nullptr && least->is_hard()) out.bound = least->name;
  if (asked.available > 0 && asked.available < out.total) {
    out.total = asked.available;
    // The program may have seen more than a stage is shown.
    if (out.bound.empty()) out.bound = "what kdgat was given";
  }
  if (least != nullptr && least->is_hard()) {
    out.others = std::max<int64_t>(0, static_cast<int64_t>(least->limit) - out.total);
  }
  out.context = beside_tensors(asked);
  if (asked.limit > 0 && (asked.own || asked.limit <= out.total)) {
    out = {"cpu", asked.limit, out.context, true, asked.own ? 1 : 1 - kSpareShare, asked.own};
  }
  return out;
}

memory::DeviceMemory device_memory(c10::Device device, const MemoryRequest& asked) {
  if (asked.device.empty() && device.is_cpu()) return host_memory(asked);
  memory::DeviceMemory out = {asked.device, asked.total, asked.context};
  if (asked.device.empty()) {
    const memory::MemoryMeter& meter = memory::meter(device);
    out.name = device.str();
    out.context = context_of(device);
    // What other processes hold of the device is not to be had.
    out.total = meter.free() + meter.counters().reserved + out.context;
  }
  out.is_limit = asked.limit > 0;
  if (out.is_limit) out.total = asked.limit;
  // What is measured beforehand says what the context is; who then runs has a limit without it.
  out.is_of_tensors = out.is_limit && asked.own && !asked.measure;
  if (out.is_of_tensors) out.context = 0;
  return out;
}

/// Most bytes of tensors; 0 = no limit. It leaves room for what else the process holds.
int64_t tensor_limit(c10::Device device, const MemoryRequest& asked) {
  if (!device.is_cpu()) {
    return asked.limit > 0 ? std::max<int64_t>(1, asked.limit - beside_tensors(asked)) : 0;
  }
  const memory::DeviceMemory host = host_memory(asked);
  int64_t most = part_of(host.total, host.share) - host.context;
  if (!host.bound.empty()) {
    most -= part_of(host.total + host.others, kHardSpareShare);
  } else if (!host.is_limit) {
    const int64_t reserved = memory::meter(device).counters().reserved;
    most = reserved + (host.total - memory::anonymous_memory()) / 20 * 19;
  }
  return std::max<int64_t>(1, most);
}

/// Keeps tensors to what the machine has while a plan measures: packs that need more are no reason
/// to be killed. The user's limit does not count here: what its floor is has yet to be found.
class LimitWhileMeasuring {
 public:
  LimitWhileMeasuring(c10::Device device, MemoryRequest asked)
      : meter_(memory::meter(device)), before_(meter_.limit()) {
    asked.limit = 0;
    if (device.is_cpu()) meter_.set_limit(tensor_limit(device, asked));
  }
  LimitWhileMeasuring(const LimitWhileMeasuring&) = delete;
  LimitWhileMeasuring& operator=(const LimitWhileMeasuring&) = delete;
  ~LimitWhileMeasuring() { meter_.set_limit(before_); }

 private:
  memory::MemoryMeter& meter_;
  int64_t before_;
};

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
  const int64_t limit = tensor_limit(device, request.memory);
  if (limit > 0) memory::meter(device).set_limit(limit);
}

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

int64_t context_of(c10::Device device) {
  if (!device.is_cpu()) return context_of_card(device);
  return memory::anonymous_memory() - memory::meter(device).counters().reserved;
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
    const memory::DeviceMemory has = device_memory(device, request.memory);
    const int64_t room = part_of(has.total, has.share) - has.context - footprint.held();
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
