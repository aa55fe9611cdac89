// What run folders hold, read and put into words: `kdgat runs`, `kdgat report`. Pure reading; a
// file that is gone, half-written or of another version is what is not there. Knows no stage.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/run/journal.h"
#include "pipeline/run/run_labels.h"
#include "pipeline/run/step_config.h"

namespace kdgat {

/// In the folder of a run that is a sweep: its trials (see tune/sweep.h).
inline constexpr const char* kSweepFile = "tune.json";

/// One step as run.json has it.
struct StepRecord {
  std::string step, stage;
  /// "done", "kept", "failed", "skipped", "running", "interrupted" or "pending"
  std::string status;
  std::string reason;            ///< why it ran or was kept
  std::string error;             ///< of a failed one
  std::string made_by;           ///< id of the run whose files these are
  std::filesystem::path folder;  ///< where they are: of a kept step, in the run that made it
  double seconds = -1;           ///< -1 = unknown; of a kept step, what it took there
  double peak_bytes = -1;        ///< most resident memory of its process

  bool is_kept() const { return status == "kept"; }
};

struct RunRecord {
  std::filesystem::path folder;
  std::string id, dataset, profile;
  std::string host, version, command, device;  ///< "" in runs that did not record it
  int threads = 0;                             ///< 0 = not recorded
  std::string cpu, gpu, libtorch;              ///< "" = not recorded, or none
  nlohmann::json git;  ///< {"folder","commit","branch","dirty"}; null if not recorded
  RunLabels labels;
  std::string started, finished;  ///< ISO; "" = not finished
  std::optional<int> exit_code;
  std::string state;  ///< "done", "failed", "interrupted" or "running"
  nlohmann::json
      data;  ///< {"path","folder","options","summary"} as the run began; null if not recorded
  nlohmann::json requirements;  ///< as judged (see requirements.h); null if there were none
  std::vector<StepRecord> steps;
  std::optional<std::string> headline;  ///< its figures in a line, if it recorded them as it ended
  std::optional<uint64_t> bytes;        ///< of its files, as it ended, if it recorded them

  /// "3 of 4 steps done, 1 kept"
  std::string progress() const;
  /// Wall-clock seconds from start to end; -1 while it has none.
  double seconds() const;
};

/// What run.json and the labels say, and nothing else. Throws as read_run().
RunRecord read_run_file(const std::filesystem::path& folder);
/// Throws Error(kData) if run.json cannot be read.
RunRecord read_run(const std::filesystem::path& folder);

/// Every run below `root`, of one data set if it is named, newest first. Of each only its own
/// run.json is read: seconds and memory of kept steps are unknown, as are device and threads of
/// runs that recorded them with their steps alone. look_closer() adds them.
std::vector<RunRecord> list_runs(const std::filesystem::path& root,
                                 const std::string& dataset = "");
/// What read_run() knows beyond list_runs().
void look_closer(RunRecord& run);

/// Bytes of all files below a folder; links count nothing.
uint64_t size_on_disk(const std::filesystem::path& folder);

/// What a step left beside its journal.
struct StepFiles {
  StepConfig config;
  nlohmann::json metrics, curves, pictures;  ///< null where there is none
  nlohmann::json result;                     ///< of a finished step: summary, tables, facts
  std::string log_tail, oom_report;
};

StepFiles read_step_files(const std::filesystem::path& step_folder);

/// The epoch whose weights were kept: as the step says, or, while it runs, the best so far by what
/// it monitors; 0 if there is none.
double best_epoch(const StepFiles& files, const StepJournal& journal);

/// "today 18:04", "yesterday 18:04", "2026-03-01 18:04" of an ISO time, in local time.
std::string format_when(const std::string& iso);

}  // namespace kdgat
