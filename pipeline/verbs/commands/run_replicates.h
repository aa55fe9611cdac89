// kdgat run --seeds: several runs that differ in the seed alone, as one run of replicates.
#pragma once

#include <string>
#include <vector>

#include "pipeline/execute/run_session.h"
#include "pipeline/show/status.h"
#include "pipeline/tune/replicate_table.h"

namespace kdgat {

/// What was typed: the words, the line to type again, and with how many programs
/// of its kind this one was started.
struct ReplicateWords {
  std::vector<std::string> words;
  std::string command;
  int world = 1;
};

/// Runs one replicate for each of session.seeds. Returns the exit code: 0 only if all ended well.
int run_with_seeds(RunSession& session, Status& status, const ReplicateWords& typed);

/// What they would do: see preview_run(). Returns the exit code.
int preview_replicates(RunSession& session, Status& status, int world);

}  // namespace kdgat
