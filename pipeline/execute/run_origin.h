// What a run was made with, for its record: the state of the source it stands in, the processor and
// the GPU, the versions of what computes. Decides nothing.
#pragma once

#include <nlohmann/json.hpp>

#include "pipeline/execute/run_session.h"
#include "pipeline/run/plan.h"
#include "pipeline/system/machine.h"

namespace kdgat {

/// {"cpu","cores","memory_bytes","gpu"}; "gpu" only for a device that is not the CPU.
nlohmann::json machine_json(const Machine& machine, const std::string& device);

/// {"machine": machine_json(), "versions": {"kdgat","libtorch","stages"},
/// "git": {"folder","commit","branch","dirty"}}; what is not known is not there. Git's is the
/// working tree of the profile's file, else of the current folder.
nlohmann::json run_origin(const RunSession& session, const Plan& plan);

}  // namespace kdgat
