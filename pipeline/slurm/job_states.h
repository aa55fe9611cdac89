// What SLURM says of jobs, read from the text of sacct, scontrol or squeue: whichever of them
// knows. Starts them through RunProgram; decides nothing (job_failure.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/system/program.h"

namespace kdgat {

/// One job, or one task of an array.
struct JobReport {
  std::string id;                             ///< "123", "123_4"
  std::string state;                          ///< "COMPLETED", "CANCELLED", ...: one word
  std::string reason;                         ///< why it waits or ended; may be empty
  std::optional<int> exit_code, exit_signal;  ///< of the batch script
  std::optional<int> derived_code;            ///< highest of the job's steps
  std::string elapsed;
  std::optional<int64_t> restarts;
  uint64_t memory_asked = 0, memory_used = 0;  ///< bytes, 0 = unknown
  std::string nodes;
  std::string from;  ///< "sacct", "scontrol" or "squeue"
};

using JobReports = std::map<std::string, JobReport>;

/// `sacct --parsable2 --noheader --duplicates --format=<kSacctFormat>`: a line a job, step and
/// restart.
extern const char* const kSacctFormat;
JobReports parse_sacct(const std::string& text);
/// `scontrol --oneliner show job ID`.
JobReports parse_scontrol(const std::string& text);
/// `squeue --noheader --array --states=all --format=<kSqueueFormat>`.
extern const char* const kSqueueFormat;
JobReports parse_squeue(const std::string& text);

/// What is known of jobs by id (of an array: the array's), from sacct where there is accounting,
/// then scontrol, then squeue. A job none of them knows is left out.
JobReports ask_slurm(const std::vector<std::string>& jobs, const RunProgram& run);

}  // namespace kdgat
