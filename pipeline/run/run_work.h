// How far the steps of runs are that are at work now: what `kdgat top` shows from another shell. A
// step says it in now.json of its folder while it works, about once a second; a file that is there
// without a process that holds the run was left by one that was killed, and says nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "pipeline/run/run_record.h"
#include "pipeline/show/status.h"

namespace kdgat {

inline constexpr const char* kNowFile = "now.json";

/// Writes now.json of one step, paced, and takes it away at the end. Never throws: a full disk must
/// not stop the step.
class NowFile {
 public:
  explicit NowFile(const std::filesystem::path& step_folder);
  NowFile(const NowFile&) = delete;
  NowFile& operator=(const NowFile&) = delete;
  ~NowFile();

  void tell(const Progress& now);

 private:
  std::filesystem::path file_;
  Clock clock_ = steady_clock();
  double started_ = 0, last_ = 0;  ///< seconds since 1970; of clock_
  bool is_written_ = false;
};

/// A step at work.
struct StepWork {
  std::string step, stage;
  Progress now;         ///< of a step that has said nothing yet without a unit
  double seconds = -1;  ///< since its process began; -1 = not known
  double left = -1;     ///< seconds, if it goes on as it did; -1 = not known
};

/// A run at work.
struct RunWork {
  RunRecord run;
  std::string owner;  ///< "machine process" of who holds it
  std::vector<StepWork> steps;
};

/// Of runs that a living process holds: `runs` are looked through for state "running".
std::vector<RunWork> runs_at_work(const std::vector<RunRecord>& runs);

}  // namespace kdgat
