// Run folders: <root>/<dataset>/<run>/<step>/. Owns their names, locks and bookkeeping files; the
// only code that writes there, besides a stage inside its own folder and the records made of the
// journals (recorder.h). Knows no stage and draws nothing.
//
//   <run>/run.json              profile, plan, state of every step; rewritten whole, atomically
//   <run>/lock                  held while a process works on the run; by the jobs of a submitted
//                               run together, each with <run>/<step>/lock of its own
//   <run>/<step>/config.json    frozen before the step starts
//   <run>/<step>/journal.jsonl  one event a line, append only; a torn last line is left and ignored
//   <run>/<step>/step.json      written last: where it stands, the step is done
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/run/plan.h"
#include "pipeline/run/run_lock.h"
#include "pipeline/system/owned_fd.h"

namespace kdgat {

/// One step's folder while it is worked on.
class StepFolder {
 public:
  /// Makes the folder, or takes up the one of an earlier attempt: its done marker and the temporary
  /// files of killed writers go, checkpoints stay.
  StepFolder(std::filesystem::path folder, const nlohmann::json& config);

  const std::filesystem::path& path() const { return path_; }
  /// Adds the time ("time" to read, "unix" to count with) and appends one line. Throws Error(kData)
  /// when the disk is full.
  void journal(nlohmann::json event);
  void write(const std::string& file, const nlohmann::json& content);
  /// The step is done from here on. `record`: what PastStep holds, and the stage's result.
  void finish(const PlannedStep& step, const std::string& library_hash,
              const nlohmann::json& result);

 private:
  std::filesystem::path path_;
  OwnedFd journal_;
};

/// One run's folder, locked against other processes.
class Run {
 public:
  /// Clears what a killed removal left beside it (see clear_removed()). Throws Error(kData) naming
  /// the path and the reason if it cannot be made.
  static Run create(const std::filesystem::path& dataset_root, const std::string& profile,
                    const Plan& plan);
  /// The newest run of the same plan that did not end with 0. A run some living process works on is
  /// passed over and told in `busy`; of one whose process died, the last stage is waited for,
  /// however long it takes: throws Error with the code of a signal that comes while waiting. A
  /// submitted run is passed over, too: its jobs continue it. What killed writers left in other
  /// runs goes.
  static std::optional<Run> resume(const std::filesystem::path& dataset_root, const Plan& plan,
                                   std::string& busy, const OnWait& on_wait);

  /// A submitted run, for one of its steps ("" for none), while other jobs are at theirs. Throws
  /// Error(kData) if there is no such run, Error(kStageFailed) if a living process works on the
  /// step; of one whose process died, the last stage is waited for as by resume().
  static Run join(const std::filesystem::path& folder, const std::string& step,
                  const OnWait& on_wait = {});

  const std::string& id() const { return id_; }
  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path step_folder(const std::string& step) const { return folder_ / step; }
  /// Held by the stage's process too, so that nobody takes up the run while it still writes.
  int lock_fd() const { return lock_.get(); }

  /// Takes over what the plan says now: kept steps, reasons.
  void record_plan(const Plan& plan);
  /// `status`: "pending", "running", "done", "failed", "kept", "skipped" or "interrupted".
  void record_step(const std::string& step, const std::string& status,
                   const nlohmann::json& more = nlohmann::json::object());
  /// "" of a step that it has not.
  std::string status_of(const std::string& step) const;
  /// Where its numbers go beside the journals (see RecordTargets::public_json), and the processor
  /// time that took, once it is known.
  void set_records(nlohmann::json targets, double cpu_seconds = 0);
  /// Of a submitted run: 0 once every step is done, that of a failed step, none while steps wait.
  /// `headline`: the figures of the run in a line, so that a list of runs need not look for them.
  void finish(int exit_code, const std::optional<std::string>& headline = {});
  /// Adds judged requirements (requirements.h), each in the place of what was said of the same one.
  void record_requirements(const nlohmann::json& list);
  /// From now on jobs work on it, each by join().
  void mark_submitted();
  /// Adds to the document what was not known when it was made: command, device, data.
  void describe(const nlohmann::json& more);
  const nlohmann::json& document() const { return document_; }
  /// Submitted: its jobs work on it at once.
  bool is_shared() const { return is_shared_; }

 private:
  Run(std::filesystem::path folder, OwnedFd lock, nlohmann::json document);
  /// The one way to run.json: of a submitted run, what stands there now is changed.
  void change(const std::function<void(nlohmann::json& document)>& apply);

  bool is_shared_ = false;
  std::string id_;
  std::filesystem::path folder_;
  OwnedFd lock_, run_lock_;  ///< the second one only of a submitted run
  nlohmann::json document_;
};

/// Throws Error(kData) with the reason if no run can be made there, as far as can be told without
/// making one.
void check_can_create(const std::filesystem::path& dataset_root);

/// What stands in the folder of a step of run `run`, if it is finished.
std::optional<PastStep> find_past_step(const std::string& run,
                                       const std::filesystem::path& step_folder);
/// What the steps of `plan` can be kept from or compared with, among all runs of a data set, the
/// newest first: of each step the newest whole one of its fingerprint, and the newest of its name
/// and stage whatever it was made of. Those whose files are gone say so. Of `plan` only names,
/// stages and fingerprints count.
std::vector<PastStep> find_past_steps(const std::filesystem::path& dataset_root, const Plan& plan);

/// Removes what is left of runs whose removal was killed; what a living process removes is its own.
void clear_removed(const std::filesystem::path& dataset_root);

/// Takes the lock, moves the folder to where no run is looked for (.removing/<id>), then deletes
/// it: the run is whole or not there. Throws Error(kUsage) if a process works on it, Error(kData)
/// if it cannot be removed.
void remove_run(const std::filesystem::path& run_folder);

/// The "result" a finished step left (summary, metrics, tables); an empty object if it is gone.
nlohmann::json read_result(const std::filesystem::path& step_folder);

}  // namespace kdgat
