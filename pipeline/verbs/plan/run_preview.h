// What a run would do: kdgat plan --explain, and --dry-run of kdgat run and kdgat fit.
#pragma once

#include "pipeline/execute/run_session.h"
#include "pipeline/show/status.h"

namespace kdgat {

/// Says which steps would run or are kept, and why; with -v also what their stages plan. Writes
/// nothing. Refuses what a run would refuse before its first stage. `has_seeds`: a run for
/// each of session.seeds. Returns the exit code.
int preview_run(RunSession& session, Status& status, bool has_seeds);

}  // namespace kdgat
