// kdgat plan --estimate: the memory of one stage without data, for sizes that the data would have;
// and beside it what is published of the memory of a recommender.
#pragma once

#include "pipeline/cli/command_line.h"
#include "pipeline/execute/run_options.h"
#include "pipeline/memory/data_sizes.h"
#include "pipeline/memory/memory_options.h"

namespace kdgat {

/// What an estimate is asked. Each of these flags asks for one, so --estimate is for the defaults.
struct EstimateFlags {
  bool estimate = false, legacy = false, interactive = false;
  GraphSizes graphs;
  RatingSizes ratings;

  void declare(CommandLine& line);
  bool is_asked() const { return estimate || is_published(); }
  /// Of the published program, which knows one stage.
  bool is_published() const { return legacy || interactive; }
};

/// `options` are of words read with `flags` and `memory` declared. Returns the exit code.
int estimate_memory(Context& context, RunOptions options, EstimateFlags& flags,
                    const MemoryOptions& memory);

}  // namespace kdgat
