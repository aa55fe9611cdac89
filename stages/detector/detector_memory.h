// What training and judging of a detector need, counted from the lengths of its logs: all of it is
// plain memory of the process, none of it tensors.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>

#include "detector/detector_options.h"
#include "engine/data/can/vehicles/stored_log.h"
#include "engine/memory/memory_plan.h"
#include "kdgat/stage.h"

namespace kdgat::detector {

/// Phases are those of a run, each with the bytes that the process holds while it lasts beyond its
/// context. `ids`: distinct ones of all logs, at most.
memory::Footprint memory_footprint(std::span<const data::StoredLog> logs,
                                   const DetectorOptions& options, int64_t ids, int64_t threads);

/// The "memory" of what plan() answers, of all logs of a store: on this machine's own memory,
/// whatever device other stages are planned for. Throws Error(kDoesNotFit), which names the options
/// that would help.
nlohmann::json planned_memory(std::span<const data::StoredLog> logs, int64_t ids,
                              const DetectorOptions& options, const Request& request);

}  // namespace kdgat::detector
