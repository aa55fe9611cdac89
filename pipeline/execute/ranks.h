// A stage in several processes that train one model together: on this machine (--nproc), or one on
// each of the places where the whole program was started (srun, or RANK and WORLD_SIZE as torchrun
// sets them). Only the first has a run folder; the others carry out what it hands them. Knows how
// processes find each other; what they tell each other is theirs
// (stages/engine/train/rank_group.h).
#pragma once

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "pipeline/execute/stage_process.h"

namespace kdgat {

/// The place of this program among those started together.
struct Place {
  int rank = 0, world = 1;
  int local_rank = 0;   ///< on its machine
  std::string address;  ///< "HOST:PORT" where the stages meet
  std::string name;     ///< of the common start: the same for all of them, and for nobody else
};

/// What RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT say, else SLURM_* inside of srun;
/// world = 1 without either. `variable` returns null for what is not set. Throws Error(kUsage).
Place place_of(const std::function<const char*(const char*)>& variable);

/// The first host of a SLURM node list: "node[03-07,9],x1" -> "node03".
std::string first_host(const std::string& nodes);

/// Stages that can, in `processes` processes on this machine; others, and with one process, as
/// execute_in_child(). `memory`: bytes all of them may use together.
Execute execute_in_ranks(const ProcessSettings& settings, int processes, uint64_t memory,
                         const PluginCatalog& catalog);

/// The folder through which the first program hands stages to the others. A shared file system must
/// hold it.
class Gathering {
 public:
  Gathering(const std::filesystem::path& dataset_root, Place place);
  /// Of the first: tells the others that all is done.
  ~Gathering();
  Gathering(const Gathering&) = delete;
  Gathering& operator=(const Gathering&) = delete;

  /// The first one's: stages that can are run together with the others.
  Execute lead(const ProcessSettings& settings, const PluginCatalog& catalog);
  /// The others': carries out what the first hands over until that ends. Returns the exit code.
  /// Throws Error(kStageFailed) when the first does not come, or is gone.
  int follow(const ProcessSettings& settings);

 private:
  bool is_first() const { return place_.rank == 0; }
  void beat();
  std::string failures(int call) const;

  std::filesystem::path folder_;
  Place place_;
  int calls_ = 0;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool has_ended_ = false;
  std::thread heart_;
};

}  // namespace kdgat
