#include "pipeline/slurm/job_retry.h"

#include <algorithm>
#include <map>

#include "pipeline/show/text.h"
#include "pipeline/system/clock.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMebibyte = uint64_t{1} << 20;

NextAttempt refused(std::string why) { return {true, {}, std::move(why)}; }

NextAttempt more_memory(const StepState& state, JobResources next) {
  const uint64_t asked = next.memory;
  if (asked == 0) return refused("all of a node was not enough");
  if (asked >= next.max_memory) {
    return refused(format_bytes(asked) +
                   " were not enough, and no more may be asked for (max_mem)");
  }
  const uint64_t wanted = std::max(2 * asked, state.memory_used() / 4 * 5);
  next.memory = std::min(wanted, next.max_memory) / kMebibyte * kMebibyte;
  next.memory_from = "a retry: " + format_bytes(asked) + " were not enough";
  return {false, next, "more memory: " + format_bytes(asked) + " -> " + format_bytes(next.memory)};
}

/// The packs stay; a lower ceiling has them computed in parts.
NextAttempt smaller_packs(const StepState& state, JobResources next) {
  constexpr uint64_t kLeast = uint64_t{1} << 30;
  const uint64_t before = next.memory_limit > 0 ? next.memory_limit : state.trace.device_memory;
  if (before == 0) return refused("how much memory the card has is not known");
  if (before / 2 < kLeast) {
    return refused("the ceiling is " + format_bytes(before) + " already; half of it is too little");
  }
  next.memory_limit = before / 2 / kMebibyte * kMebibyte;
  return {false, next,
          "smaller packs: a ceiling of " + format_bytes(next.memory_limit) +
              " of device memory, was " + format_bytes(before)};
}

NextAttempt without_node(const StepState& state, JobResources next) {
  const std::string nodes = state.report == nullptr ? "" : state.report->nodes;
  if (nodes.empty()) return {false, next, "submitted again after a node failure"};
  next.exclude += (next.exclude.empty() ? "" : ",") + nodes;
  return {false, next, "without the node " + nodes};
}

/// The step's script of this attempt, in a file of its own.
JobScript script_of(const fs::path& run_folder, const Submission& submission,
                    const SubmittedStep& step, const JobResources& resources) {
  JobScript script;
  script.step = step.step;
  script.command = submission.command;
  script.executable = submission.executable;
  script.plugin_folders = submission.plugin_folders;
  script.output_folder = run_folder / "slurm";
  script.tasks = {{submission.seed, run_folder}};
  script.site = step.site;
  script.resources = resources;
  return script;
}

bool is_over(const StepState& state) { return state.verdict.phase == JobPhase::kEnded; }

}  // namespace

int64_t StepState::restarts() const {
  if (report != nullptr && report->restarts) return *report->restarts;
  return std::max<int64_t>(0, trace.starts - 1);
}

uint64_t StepState::memory_used() const {
  return std::max(trace.memory_used, report == nullptr ? 0 : report->memory_used);
}

NextAttempt next_attempt(const StepState& state) {
  const auto tries = static_cast<int64_t>(state.step->attempts.size()) - 1;
  const JobResources& last = state.step->attempts.back().resources;
  const FailureClass failure = state.verdict.failure;
  if (state.verdict.remedy() == Remedy::kStop) {
    return refused(state.verdict.because + "; see " + state.step->attempts.back().output.string());
  }
  // What a person ended, and what never began, has not failed.
  const bool counts = failure != FailureClass::kCancelled && failure != FailureClass::kNeed;
  if (counts && tries >= state.step->site.retries) {
    return refused("submitted again " + std::to_string(tries) + " times already (retries)");
  }
  switch (state.verdict.remedy()) {
    case Remedy::kMoreMemory:
      return more_memory(state, last);
    case Remedy::kSmallerPacks:
      return smaller_packs(state, last);
    case Remedy::kExcludeNode:
      return without_node(state, last);
    default:
      return {false, last, "continued: " + name_of(failure)};
  }
}

std::vector<RetryNote> retry_steps(const fs::path& run_folder, Submission& submission,
                                   const std::vector<StepState>& states, const RunProgram& run) {
  std::vector<RetryNote> notes;
  Submitter submitter(run);
  std::map<std::string, const StepState*> stands;
  std::map<std::string, std::string> lost;  // not submitted again, and why
  for (const StepState& state : states) {
    SubmittedStep& step = *state.step;
    stands[step.step] = &state;
    if (!is_over(state)) continue;
    NextAttempt next = next_attempt(state);
    std::vector<std::string> jobs;
    for (const std::string& need : step.needs) {
      if (lost.contains(need)) next = refused("needs " + need + ", which is not submitted again");
      const auto at = stands.find(need);
      if (at == stands.end() || at->second->verdict.phase == JobPhase::kDone) continue;
      jobs.push_back(at->second->step->attempts.back().id());  // the new one if there is one
    }
    if (next.is_refused) {
      lost[step.step] = next.because;
      notes.push_back({step.step, "", next.because});
      continue;
    }
    // SLURM may still hold a job that can never start.
    if (state.report != nullptr && state.report->state == "PENDING") {
      run({"scancel", step.attempts.back().id()});
    }
    const JobScript script = script_of(run_folder, submission, step, next.resources);
    const fs::path file = script.output_folder / (file_name_of(step.step) + "-" +
                                                  std::to_string(step.attempts.size() + 1) + ".sh");
    Attempt attempt;
    attempt.unix_time = unix_now();
    attempt.submitted = iso_now();
    attempt.job = submitter.submit(script, file, jobs);
    attempt.script = file;
    attempt.output = script.output_of(attempt.job, std::nullopt);
    attempt.resources = next.resources;
    attempt.because = next.because;
    notes.push_back({step.step, attempt.job, next.because});
    step.attempts.push_back(std::move(attempt));
    submission.save(run_folder);
  }
  return notes;
}

}  // namespace kdgat
