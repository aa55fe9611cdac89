// A process in which several stages run at once, each in a thread: one start of LibTorch, one CUDA
// context and one mapping of the data for all trials of a sweep. Knows no sweep.
//
// Lines to its standard input: {"start": ID, "call": CALL}, {"cancel": ID, "code": CODE}; it ends
// when that is closed. Lines from it: {"id": ID, "event": ...} and {"id": ID, "answer": ANSWER,
// "seconds", "cpu_seconds"}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "pipeline/execute/child.h"
#include "pipeline/execute/stage_process.h"

namespace kdgat {

/// How a call of a trial process ended.
struct TrialEnd {
  StageAnswer answer;
  double seconds = 0;
  double cpu_seconds = 0;  ///< of its thread
  bool died = false;       ///< the process ended under it, through this trial or another
};

class TrialProcess {
 public:
  /// `log_file` gets its output.
  TrialProcess(std::filesystem::path log_file, const ProcessSettings& settings);
  /// Lets it end, or kills it if calls are still out.
  ~TrialProcess();
  TrialProcess(const TrialProcess&) = delete;
  TrialProcess& operator=(const TrialProcess&) = delete;

  /// `id` is not out already.
  void start(int64_t id, const StageCall& call);
  /// Asks a trial to leave with this code after a checkpoint.
  void cancel(int64_t id, int code);
  void kill();

  using OnTrialEvent = std::function<void(int64_t id, const nlohmann::json& event)>;
  using OnTrialEnd = std::function<void(int64_t id, const TrialEnd& end)>;
  /// Waits up to `milliseconds`. False once the process has ended: then every call that was out has
  /// been given an end.
  bool poll(int milliseconds, const OnTrialEvent& on_event, const OnTrialEnd& on_end);

  std::size_t out() const { return out_.size(); }
  /// Anonymous memory of the process now.
  uint64_t memory() const;

 private:
  void write(const nlohmann::json& line);

  const ProcessSettings& settings_;
  std::filesystem::path log_file_;
  OwnedFd output_, requests_;
  uint64_t kills_before_;
  uint64_t peak_ = 0;
  std::unique_ptr<Child> child_;
  std::set<int64_t> out_;  ///< calls without an end
};

}  // namespace kdgat
