// What run folders hold, read and put into words: `kdgat runs`, `kdgat report`. Pure reading; a
// file that is gone, half-written or of another version is what is not there. Knows no stage.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kdgat/result.h"
#include "pipeline/run/journal.h"
#include "pipeline/run/run_labels.h"
#include "pipeline/run/step_config.h"
#include "pipeline/system/record.h"

namespace kdgat {

/// In the folder of a run that is a sweep: its trials (see tune/sweep.h).
inline constexpr const char* kSweepFile = "tune.json";

/// One step as run.json has it.
struct StepRecord {
  std::string step, stage;
  std::string status;
  std::string reason, error;
  std::string made_by;
  std::filesystem::path folder;  ///< of a kept step, in the run that made it
  std::optional<double> seconds, peak_bytes;

  bool is_kept() const { return status == "kept"; }

  static auto keys() {
    using S = StepRecord;
    return std::tuple{
        key("step", &S::step, "its name"),
        key("stage", &S::stage, "its stage"),
        key("status", &S::status, "done, kept, failed, skipped, interrupted, running or pending"),
        key("reason", &S::reason, "why it ran"),
        key("error", &S::error, "what went wrong"),
        key("run", &S::made_by, "id of the run that made it").own(),
        key("folder", &S::folder, "where it stands").own(),
        key("seconds", &S::seconds, "wall clock, seconds").or_null(),
        key("peak_resident_bytes", &S::peak_bytes, "of its process, bytes").or_null()};
  }
};

/// The repository that the folder of the profile is in.
struct RunGit {
  std::string folder, commit;
  std::optional<std::string> branch;
  std::optional<bool> dirty;

  static auto keys() {
    using G = RunGit;
    return std::tuple{
        key("folder", &G::folder, "of the repository"), key("commit", &G::commit, "its hash"),
        key("branch", &G::branch, "that was checked out"), key("dirty", &G::dirty, "with changes")};
  }
};

/// What the steps of a run read.
struct RunData {
  std::string path, folder, summary;
  nlohmann::json options;

  static auto keys() {
    using D = RunData;
    return std::tuple{key("path", &D::path, "as it was named"),
                      key("folder", &D::folder, "of the imported data"),
                      key("summary", &D::summary, "in words"),
                      key("options", &D::options, "of the import").of_type("open")};
  }
};

/// What run.json, its place and the labels say: `kdgat runs show --json`, too. A text is "" where a
/// run did not record it.
struct RunRecord : RunLabels {
  std::string id;
  std::filesystem::path folder;
  std::string profile, dataset, state;
  std::optional<int> exit_code;
  std::string started, finished;
  std::string host, device;
  int threads = 0;
  std::string cpu, gpu, version, libtorch;
  std::optional<RunGit> git;
  std::string command;
  std::optional<RunData> data;               ///< as the run began
  std::vector<nlohmann::json> requirements;  ///< see requirements.h
  std::optional<uint64_t> bytes;             ///< as it ended, if it recorded them
  std::optional<std::string> headline;       ///< the same
  std::vector<StepRecord> steps;

  static auto keys() {
    using R = RunRecord;
    return std::tuple{
        key("id", &R::id, "of the run").own(),
        key("name", &R::name, "that a user gave; \"\" = none"),
        key("tags", &R::tags, "that a user gave"),
        key("notes", &R::notes, "that a user wrote").of_type("@note"),
        key("folder", &R::folder, "of the run").own(),
        key("profile", &R::profile, "its name"),
        key("dataset", &R::dataset, "its data set"),
        key("state", &R::state, "done, failed, interrupted, stopped or running"),
        key("exit_code", &R::exit_code, "null = it has none yet").or_null(),
        key("started", &R::started, "UTC, ISO 8601").own(),
        key("finished", &R::finished, "UTC, ISO 8601; \"\" = not yet").own(),
        key("host", &R::host, "name of the machine"),
        key("device", &R::device, "cpu or cuda:N"),
        key("threads", &R::threads, "of each process; 0 = not known"),
        key("cpu", &R::cpu, "model of the processor; \"\" = not known"),
        key("gpu", &R::gpu, "models of the cards; \"\" = none"),
        key("kdgat", &R::version, "version of the program"),
        key("libtorch", &R::libtorch, "version of LibTorch; \"\" = none"),
        key("git", &R::git, "of the folder of the profile").of_type("@run_git").or_null(),
        key("command", &R::command, "as it was typed"),
        key("data", &R::data, "what its steps read").of_type("@run_data").or_null(),
        key("requirements", &R::requirements, "of --require, judged").of_type("@requirement"),
        key("bytes", &R::bytes, "on the disk, bytes").of_type("integer"),
        key("headline", &R::headline, "its figures in a line, once it has ended"),
        key("steps", &R::steps, "in the order of the plan")};
  }

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
  std::vector<Figure> figures;
  nlohmann::json result;  ///< of a finished step: summary, tables, facts
  std::string log_tail, oom_report;
};

StepFiles read_step_files(const std::filesystem::path& step_folder);

/// The epoch whose weights were kept: as the step says, or, while it runs, the best so far by what
/// it monitors; 0 if there is none.
double best_epoch(const StepFiles& files, const StepJournal& journal);

/// "today 18:04", "yesterday 18:04", "2026-03-01 18:04" of an ISO time, in local time.
std::string format_when(const std::string& iso);

}  // namespace kdgat
