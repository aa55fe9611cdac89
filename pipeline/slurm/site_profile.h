// What a cluster wants to hear of a job: profiles/slurm/*.yaml. Owns the keys, their defaults and
// checks; knows no stage but by name, and starts nothing.
//
//   preset: [slurm]                  # another site profile below this one
//   account: PAS1234
//   partition: gpu
//   time: 6h
//   gpus: 1
//   card: v100-16                    # what batches are planned for
//   modules: [cuda/12.4]
//   stages:                          # a stage, or one step of it
//     evaluate: {time: 2h, mem: 32GiB, gpus: 0}
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kdgat/options.h"
#include "pipeline/profile/profile_layers.h"

namespace kdgat {

struct SiteOptions {
  std::string account, partition, qos, constraint, exclude, gpu_type, card, container;
  std::string time = "4h";
  std::string mem, max_mem;
  double memory_margin = 0.25;
  int64_t cpus_per_task = 4;
  int64_t gpus = 0;
  int64_t signal = 300;
  int64_t requeues = 20;
  int64_t retries = 3;
  std::vector<std::string> sbatch, modules, before, environment;

  static auto table() {
    return std::tuple{
        field("account", &SiteOptions::account, "Account that is charged."),
        field("partition", &SiteOptions::partition, "Partition or queue; several with commas."),
        field("qos", &SiteOptions::qos, "Quality of service."),
        field("constraint", &SiteOptions::constraint, "Features a node must have."),
        field("exclude", &SiteOptions::exclude, "Nodes not to use, as SLURM lists them."),
        field("time", &SiteOptions::time,
              "Longest time of a job: 90min, 6h, 2d or as SLURM writes it. A job that needs more "
              "is queued again and continues. A step that ran before asks for less."),
        field(
            "mem", &SiteOptions::mem,
            "Memory of a job as SLURM reads it: 32G, 16000 (MiB), 0 = all of the node; empty = the "
            "planned peak with its margin."),
        field("max_mem", &SiteOptions::max_mem,
              "Most memory a retry may ask for; empty = four times the first."),
        field("memory_margin", &SiteOptions::memory_margin,
              "Part of the planned peak that is asked for on top.")
            .range(0, 10),
        field("cpus_per_task", &SiteOptions::cpus_per_task, "Cores of a job.").range(1, 4096),
        field("gpus", &SiteOptions::gpus, "Cards of a job; 0 = it runs on the CPU.")
            .range(0, 64)
            .alias("gpus_per_node"),
        field("gpu_type", &SiteOptions::gpu_type, "What the cluster calls the card, if it must."),
        field("card", &SiteOptions::card,
              "The card batches are planned for, as in kdgat plan --gpu; needed where the machine "
              "that submits has none."),
        field("signal", &SiteOptions::signal,
              "Seconds before the time limit at which a job is told to checkpoint.")
            .range(10, 65535),
        field("requeues", &SiteOptions::requeues,
              "How often a job that was told to checkpoint may queue itself again.")
            .range(0, 1000),
        field("retries", &SiteOptions::retries,
              "How often kdgat jobs --retry may submit a failed step again.")
            .range(0, 100),
        field("sbatch", &SiteOptions::sbatch, "Further options of sbatch, e.g. --mail-type=END."),
        field("modules", &SiteOptions::modules, "Environment modules to load."),
        field("before", &SiteOptions::before, "Shell lines before kdgat is started, as they are."),
        field("environment", &SiteOptions::environment, "Variables, each NAME=VALUE."),
        field("container", &SiteOptions::container,
              "Shell words before kdgat, as they are, e.g. apptainer exec --nv kdgat.sif; it must "
              "see the same paths.")};
  }
  std::vector<Diagnostic> validate() const;
};

/// JSON Schema of the keys.
const nlohmann::json& site_schema();
/// A paragraph a key, for help.
std::string site_keys_text();

/// Whole minutes, rounded up, of 45s, 90min, 6h, 2d, 90 (minutes), 1:30:00, 2-00:00:00. Throws
/// Error(kUsage).
int64_t parse_minutes(const std::string& text);
/// As SLURM reads it: 06:00:00, 2-00:00:00.
std::string slurm_time(int64_t minutes);

/// Bytes of a size as SLURM reads it: a number without a unit is MiB, and K, M, G, T, with B or iB
/// behind them or not, are powers of 1,024. Throws Error(kUsage).
uint64_t parse_job_memory(const std::string& text);

class SiteProfile {
 public:
  /// `name`: a file, or a name in `folders` (profiles/slurm). `overrides`: key=value or
  /// stage.key=value of the command line. Throws Error(kUsage) with every problem, each with
  /// file:line and the nearest key.
  static SiteProfile read(const std::string& name,
                          const std::vector<std::filesystem::path>& folders,
                          const std::vector<ProfileRequest::Override>& overrides);

  const std::string& name() const { return name_; }
  /// What holds for a step: the file's keys, those of its stage, its own.
  SiteOptions of_step(const std::string& step, const std::string& stage) const;
  /// The names that keys are given for below stages:, with the place of each.
  std::vector<Diagnostic> unknown_steps(const std::vector<std::string>& steps,
                                        const std::vector<std::string>& stages) const;

 private:
  std::string name_;
  std::vector<Assignment> assignments_;  ///< checked, in rising precedence
};

/// <preset folder>/slurm of each.
std::vector<std::filesystem::path> site_folders();
/// Names of the site profiles there are.
std::vector<std::string> site_names(const std::vector<std::filesystem::path>& folders);

}  // namespace kdgat
