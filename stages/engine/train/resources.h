// What a stage may use of a device, and whether what it wants to train fits: threads, limits, plans
// of memory.
#pragma once

#include <c10/core/Device.h>

#include <functional>
#include <string>
#include <vector>

#include "engine/graph/graph_store.h"
#include "engine/kernels/kernels_for.h"
#include "engine/memory/memory_plan.h"
#include "engine/train/objective.h"
#include "engine/train/train_options.h"
#include "kdgat/stage.h"

namespace kdgat::train {

/// Sets threads, seed and determinism; the device of `request`. Throws Error(kUsage) if LibTorch
/// cannot use it. The generator that is seeded belongs to all threads of the process: whoever draws
/// weights from it holds model::hold_generator() from here on.
c10::Device prepare(const TrainOptions& options, const Request& request);

/// One line of the log: by which kernels a device computes. Where it has none, a warning with the
/// reason, which also ends the step's summary. Nothing on the CPU.
void log_kernels(c10::Device device, const Host& host);

/// By which kernels the device computes that memory is planned for: that of `request`, or the card
/// that it names.
kernels::KernelSet planned_kernels(const Request& request);

/// Plans the memory of training on the graphs `ids`, on the device of `request` or on the one it
/// names, from what was counted. With memory_estimation = measured a few packs are run. Throws
/// Error(kDoesNotFit).
memory::MemoryPlan plan_memory(const TrainOptions& options, Objective& objective,
                               const memory::Footprint& counted, const graph::GraphSet& store,
                               const std::vector<int64_t>& ids, const Request& request);
/// The same from counts and the facts of a data set alone.
memory::MemoryPlan plan_memory(const TrainOptions& options, const memory::Footprint& counted,
                               const nlohmann::json& graph_facts, const Request& request);

/// The plan as a stage's plan() answers it, with the words of its cache policy, how its teacher is
/// kept ("none" without one) and the epochs: measured by `measured()` where the request asks for it
/// and no teacher is to be loaded, else `counted`. Counts refuse nothing that a measurement before
/// training may find to fit. {"memory": plan}, or {}.
nlohmann::json planned_memory(const TrainOptions& options, const std::string& teacher,
                              const memory::Footprint& counted, const Request& request,
                              const std::function<memory::MemoryPlan()>& measured);

}  // namespace kdgat::train
