// What `kdgat submit` is told on its command line, beyond what `kdgat run` takes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/execute/run_session.h"
#include "pipeline/memory/memory_options.h"

namespace kdgat {

/// What kdgat submit takes beyond the words of kdgat run.
struct SubmitFlags {
  std::string site = "slurm";
  std::vector<ProfileRequest::Override> overrides;
  std::vector<int64_t> seeds;  ///< of an array; empty: the profile's alone
  MemoryOptions memory;

  /// Of kdgat run, with these words added; keep this object while they are read.
  RunFlags declare();

 private:
  /// seeds=1..5, seeds=1,2,7, seeds=1..3,9
  void read_seeds(CommandLine& line, const std::string& word);
};

}  // namespace kdgat
