// The words by which `kdgat runs list`, `pivot` and `export` choose runs.
#pragma once

#include <string>
#include <vector>

#include "pipeline/cli/command_line.h"
#include "pipeline/run/run_query.h"

namespace kdgat {

struct RunWords {
  std::string root = "runs";
  RunFilter filter;

  /// Declares --root, --dataset, --name, --tag and --where. This must outlive the reading.
  void declare(CommandLine& line);
  /// "runs/hcrl_sa"
  std::string place() const;
};

/// Says on `context.err` that there are none, and that some are not as asked where that is why.
void tell_no_runs(Context& context, const RunWords& words, std::size_t all);

}  // namespace kdgat
