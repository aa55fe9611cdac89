#include "pipeline/run/run_work.h"

#include <unistd.h>

#include <exception>
#include <fstream>
#include <utility>

#include "pipeline/run/run_lock.h"
#include "pipeline/show/json_lookup.h"
#include "pipeline/system/clock.h"
#include "pipeline/system/json_file.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double kPace = 1;  // seconds from one writing to the next

StepWork work_of(const StepRecord& step) {
  StepWork out;
  out.step = step.step;
  out.stage = step.stage;
  const json told = read_json(step.folder / kNowFile);
  out.now.step = step.step;
  out.now.phase = word(told, "phase");
  out.now.unit = word(told, "unit");
  out.now.done = static_cast<int64_t>(number(told, "done", 0));
  out.now.total = static_cast<int64_t>(number(told, "total", 0));
  out.now.memory_bytes = static_cast<uint64_t>(number(told, "memory_bytes", 0));
  if (const json& metrics = below(told, "metrics"); metrics.is_object()) out.now.metrics = metrics;
  const double started = number(told, "started"), at = number(told, "unix");
  if (started < 0) return out;
  out.seconds = unix_now() - started;
  if (out.now.done > 0 && out.now.total > out.now.done && at > started) {
    out.left = (at - started) / static_cast<double>(out.now.done) *
               static_cast<double>(out.now.total - out.now.done);
  }
  return out;
}

}  // namespace

NowFile::NowFile(const fs::path& step_folder)
    : file_(step_folder / kNowFile), started_(unix_now()), last_(clock_() - kPace) {
  std::error_code ignored;
  fs::remove(file_, ignored);  // of an attempt that was killed
}

NowFile::~NowFile() {
  std::error_code ignored;
  if (is_written_) fs::remove(file_, ignored);
}

void NowFile::tell(const Progress& now) {
  if (clock_() - last_ < kPace) return;
  last_ = clock_();
  try {
    const json told = {{"started", started_},    {"unix", unix_now()},
                       {"phase", now.phase},     {"unit", now.unit},
                       {"done", now.done},       {"total", now.total},
                       {"metrics", now.metrics}, {"memory_bytes", now.memory_bytes}};
    fs::path temporary = file_;
    temporary += ".tmp." + std::to_string(::getpid());
    std::ofstream(temporary) << told.dump(-1, ' ', false, json::error_handler_t::replace);
    std::error_code ignored;
    fs::rename(temporary, file_, ignored);
    is_written_ = true;
  } catch (const std::exception&) {
    return;
  }
}

std::vector<RunWork> runs_at_work(const std::vector<RunRecord>& runs) {
  std::vector<RunWork> out;
  for (const RunRecord& run : runs) {
    if (run.state != "running") continue;
    RunWork& work = out.emplace_back(RunWork{run, owner_of(run.folder), {}});
    for (const StepRecord& step : run.steps) {
      if (step.status == "running") work.steps.push_back(work_of(step));
    }
  }
  return out;
}

}  // namespace kdgat
