// What is asked of SLURM for one step, and the batch script that carries it out. Pure text and
// numbers: starts nothing, writes nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/slurm/site_profile.h"
#include "pipeline/system/record.h"

namespace kdgat {

struct JobResources {
  int64_t minutes = 0;
  uint64_t memory = 0;      ///< bytes, a multiple of 1 MiB; 0 = all of the node
  uint64_t max_memory = 0;  ///< what a retry may ask for at most
  int64_t cpus = 1, gpus = 0;
  /// Bytes the stage's process may hold, less than what was planned: packs that no longer fit are
  /// computed in parts. 0 = no such ceiling.
  uint64_t memory_limit = 0;
  std::string exclude;      ///< nodes
  std::string memory_from;  ///< why so much, in words
  std::string time_from;

  std::string memory_text() const;  ///< "2.0 GiB", "all of a node"

  static auto keys() {
    using T = JobResources;
    return std::tuple{key("minutes", &T::minutes, "of time"),
                      key("memory", &T::memory, "bytes"),
                      key("max_memory", &T::max_memory, "up to which a retry may ask, bytes"),
                      key("cpus", &T::cpus, "cores"),
                      key("gpus", &T::gpus, "cards"),
                      key("memory_limit", &T::memory_limit, "of the stage, bytes; 0 = none"),
                      key("exclude", &T::exclude, "nodes that are left out"),
                      key("memory_from", &T::memory_from, "where the memory comes from, in words"),
                      key("time_from", &T::time_from, "where the time comes from, in words")};
  }
};

/// What is known of a step before it runs.
struct StepNeeds {
  nlohmann::json memory;    ///< the "memory" of the answer of plan(); null if it plans none
  uint64_t data_bytes = 0;  ///< of the graph store, which every process maps
  double seconds = 0;       ///< that the same step took in an earlier run, 0 = never ran
  double epochs_ratio = 1;  ///< epochs it may take now to those it took then
  std::string run;          ///< that run, for people
};

JobResources resources_for(const SiteOptions& site, const StepNeeds& needs);

/// What a stage may hold of a job's memory on the CPU: files that are mapped (libraries, the graph
/// store) count for the job, not for the stage's limit.
uint64_t stage_limit(uint64_t job_memory, uint64_t data_bytes);

/// One task of an array, or the only one. The number of a task is its place among them, from 0, as
/// SLURM takes no numbers from MaxArraySize on, and seeds may be any.
struct JobTask {
  int64_t seed = 0;
  std::filesystem::path run_folder;
};

struct JobScript {
  std::string step;
  std::string command;  ///< what the user typed, for people
  std::filesystem::path executable;
  std::vector<std::filesystem::path> plugin_folders;
  std::filesystem::path output_folder;  ///< of the job's own output
  std::vector<JobTask> tasks;           ///< several: a job array
  SiteOptions site;
  JobResources resources;

  bool is_array() const { return tasks.size() > 1; }
  /// The whole script; runs by `sbatch FILE`, too. Paths are absolute. Throws Error(kUsage) if a
  /// folder or an option of the site cannot stand in a line for sbatch.
  std::string text() const;
  /// Where a job writes.
  std::filesystem::path output_of(const std::string& job, std::optional<int64_t> task) const;
};

/// sbatch, its options that only the submission knows, and the script. `needs`: jobs that must have
/// ended well; tasks of arrays wait for the same task of each.
std::vector<std::string> sbatch_words(const std::filesystem::path& script,
                                      const std::vector<JobTask>& tasks,
                                      const std::vector<std::string>& needs);

/// "1-3,7": the seeds of tasks, for people.
std::string seed_list(const std::vector<JobTask>& tasks);

/// A step's name as part of a file name.
std::string file_name_of(const std::string& step);

}  // namespace kdgat
