// Failure classes on what sacct and scontrol printed (slurm/*.txt) and what a journal said.
#include "pipeline/slurm/job_failure.h"

#include <catch2/catch.hpp>

#include "pipeline/slurm/job_retry.h"
#include "support/programs/command.h"

using namespace kdgat;
using namespace kdgat::test;
using Catch::Contains;

namespace {

std::string recorded(const std::string& name) {
  const std::string text = read_text("tests/unit/pipeline/slurm/transcripts/" + name + ".txt");
  REQUIRE_FALSE(text.empty());
  return text;
}

JobReport only(const JobReports& reports) {
  REQUIRE(reports.size() == 1);
  return reports.begin()->second;
}

JobReport sacct(const std::string& name) { return only(parse_sacct(recorded("sacct_" + name))); }

/// A step whose journal has one attempt that ended with `code`; -1: it just stops.
StepTrace began(int code, const std::string& error = "") {
  StepTrace trace;
  trace.starts = 1;
  if (code >= 0) trace.end_code = code;
  trace.error = error;
  return trace;
}

StepTrace done() {
  StepTrace trace = began(0);
  trace.is_done = true;
  return trace;
}

Verdict verdict(const JobReport& report, const StepTrace& trace) { return judge(&report, trace); }

void check(const Verdict& v, FailureClass failure, Remedy remedy) {
  INFO(v.because);
  CHECK(v.phase == JobPhase::kEnded);
  CHECK(name_of(v.failure) == name_of(failure));
  CHECK(name_of(v.remedy()) == name_of(remedy));
  CHECK_FALSE(v.because.empty());
}

/// A failed step of one attempt.
struct Failed {
  explicit Failed(FailureClass failure, uint64_t memory = uint64_t{2} << 30) {
    step.step = "a";
    step.site.retries = 3;
    step.attempts.emplace_back();
    step.attempts.back().resources.memory = memory;
    step.attempts.back().resources.max_memory = 4 * memory;
    state.step = &step;
    state.verdict = {JobPhase::kEnded, failure, "because"};
  }
  NextAttempt next() const { return next_attempt(state); }

  SubmittedStep step;
  JobReport report;
  StepState state;
};

constexpr uint64_t kGiB = uint64_t{1} << 30;

}  // namespace

TEST_CASE("a job out of memory is one whatever its exit code says", "[slurm]") {
  const JobReport zero = sacct("oom_exit_zero");
  CHECK(zero.exit_code == 0);
  check(verdict(zero, began(-1)), FailureClass::kHostMemory, Remedy::kMoreMemory);
  check(verdict(zero, began(0)), FailureClass::kHostMemory, Remedy::kMoreMemory);
  check(verdict(sacct("oom_in_step"), began(-1)), FailureClass::kHostMemory, Remedy::kMoreMemory);
  CHECK(sacct("oom_in_step").memory_used > 31 * kGiB);
}

TEST_CASE("a killed job is out of memory only if something says so", "[slurm]") {
  check(verdict(sacct("killed_at_limit"), began(-1)), FailureClass::kHostMemory,
        Remedy::kMoreMemory);
  check(verdict(sacct("killed_below_limit"), began(-1)), FailureClass::kBug, Remedy::kStop);
  StepTrace told = began(-1);
  told.output_tail =
      "epoch 3\nslurmstepd-n1: error: StepId=1.batch exceeded memory limit (331 > 104), being "
      "killed\nslurmstepd-n1: error: Exceeded job memory limit\n";
  const JobReport report = only(parse_scontrol(recorded("scontrol_killed_for_memory")));
  CHECK(report.memory_asked == 100 << 20);
  check(verdict(report, told), FailureClass::kHostMemory, Remedy::kMoreMemory);
  told.output_tail = "slurmstepd: error: Detected 1 oom_kill event in StepId=4714.batch.\n";
  check(verdict(sacct("killed_below_limit"), told), FailureClass::kHostMemory, Remedy::kMoreMemory);
}

TEST_CASE("a lack of memory needs the journal beside the exit code", "[slurm]") {
  check(verdict(sacct("exit_81"), began(81, "out of GPU memory: 15.2 GiB\nmore")),
        FailureClass::kGpuMemory, Remedy::kSmallerPacks);
  check(verdict(sacct("exit_82"), began(82)), FailureClass::kHostMemory, Remedy::kMoreMemory);
  check(verdict(sacct("exit_81"), began(-1)), FailureClass::kBug, Remedy::kStop);
  check(verdict(sacct("exit_82"), StepTrace{}), FailureClass::kBug, Remedy::kStop);
  StepTrace too_large = began(5, "one graph of 79 nodes does not fit");
  check(verdict(sacct("failed"), too_large), FailureClass::kHostMemory, Remedy::kMoreMemory);
  too_large.is_on_card = true;  // more memory for the job gives the card none
  check(verdict(sacct("failed"), too_large), FailureClass::kBug, Remedy::kStop);
  // A wrapper may have changed the code; the journal has not.
  check(verdict(sacct("failed"), began(81)), FailureClass::kGpuMemory, Remedy::kSmallerPacks);
}

TEST_CASE("time limit, preemption and a lost node are told apart", "[slurm]") {
  check(verdict(sacct("timeout"), began(-1)), FailureClass::kTimeLimit, Remedy::kRequeue);
  check(verdict(sacct("exit_85"), began(85)), FailureClass::kTimeLimit, Remedy::kRequeue);
  check(verdict(sacct("preempted"), began(143)), FailureClass::kPreemption, Remedy::kRequeue);
  const Verdict lost = verdict(sacct("node_fail"), began(-1));
  check(lost, FailureClass::kNodeFailure, Remedy::kExcludeNode);
  CHECK_THAT(lost.because, Contains("gpu0113"));
  JobReport held;
  held.state = "PENDING";
  held.reason = "launch failed requeued held";
  check(verdict(held, StepTrace{}), FailureClass::kNodeFailure, Remedy::kExcludeNode);
}

TEST_CASE("a failure of the step itself stops", "[slurm]") {
  const Verdict failed = verdict(sacct("failed"), began(1, "loss is not finite\nat epoch 3"));
  check(failed, FailureClass::kBug, Remedy::kStop);
  CHECK(failed.because == "loss is not finite");
  CHECK_THAT(verdict(sacct("failed"), StepTrace{}).because, Contains("never began"));
}

TEST_CASE("a job that ended with 0 is done only with a result", "[slurm]") {
  CHECK(verdict(sacct("completed"), done()).phase == JobPhase::kDone);
  const Verdict empty = verdict(sacct("completed"), began(-1));
  check(empty, FailureClass::kBug, Remedy::kStop);
  CHECK_THAT(empty.because, Contains("no step.json"));
  check(verdict(sacct("completed"), began(1)), FailureClass::kBug, Remedy::kStop);
  // The result is written last: whatever happened afterwards, it stands.
  CHECK(verdict(sacct("timeout"), done()).phase == JobPhase::kDone);
}

TEST_CASE("a cancelled job says by what", "[slurm]") {
  check(verdict(sacct("cancelled"), began(143)), FailureClass::kCancelled, Remedy::kRequeue);
  check(verdict(sacct("dependency"), StepTrace{}), FailureClass::kNeed, Remedy::kRequeue);
  check(verdict(only(parse_scontrol(recorded("scontrol_dependency"))), StepTrace{}),
        FailureClass::kNeed, Remedy::kRequeue);
  StepTrace told = began(-1);
  told.output_tail = "slurmstepd: error: Exceeded job memory limit\n";
  check(verdict(sacct("cancelled"), told), FailureClass::kHostMemory, Remedy::kMoreMemory);
}

TEST_CASE("waiting and running jobs have not failed", "[slurm]") {
  const JobReport again = sacct("requeued");
  CHECK(again.restarts == 2);
  CHECK(again.nodes == "n003");
  const Verdict running = verdict(again, began(85));
  CHECK(running.phase == JobPhase::kRunning);
  CHECK(running.failure == FailureClass::kNone);
  const JobReports queue = parse_squeue(recorded("squeue"));
  CHECK(verdict(queue.at("12"), StepTrace{}).phase == JobPhase::kRunning);
  CHECK(verdict(queue.at("13_4"), StepTrace{}).phase == JobPhase::kWaiting);
}

TEST_CASE("without SLURM the journal says what it can", "[slurm]") {
  CHECK(judge(nullptr, done()).phase == JobPhase::kDone);
  check(judge(nullptr, StepTrace{}), FailureClass::kUnknown, Remedy::kRequeue);
  check(judge(nullptr, began(-1)), FailureClass::kUnknown, Remedy::kRequeue);
  check(judge(nullptr, began(82)), FailureClass::kHostMemory, Remedy::kMoreMemory);
  check(judge(nullptr, began(85)), FailureClass::kTimeLimit, Remedy::kRequeue);
  check(judge(nullptr, began(3, "no such file")), FailureClass::kBug, Remedy::kStop);
  StepTrace cancelled;
  cancelled.was_cancelled = true;
  check(judge(nullptr, cancelled), FailureClass::kCancelled, Remedy::kRequeue);
}

TEST_CASE("tasks of an array are read one by one", "[slurm]") {
  const JobReports tasks = parse_sacct(recorded("sacct_array"));
  CHECK(tasks.size() == 5);
  CHECK(tasks.at("4730_1").memory_asked == 4 * kGiB);
  CHECK(tasks.at("4730_2").state == "FAILED");
  for (const char* id : {"4730_3", "4730_4", "4730_6"}) CHECK(tasks.at(id).state == "PENDING");
  const JobReports shown = parse_scontrol(recorded("scontrol_array"));
  CHECK(shown.size() == 5);
  CHECK(shown.at("9_2").restarts == 2);
  CHECK(shown.at("9_5").state == "PENDING");
}

TEST_CASE("states come from the first tool that knows", "[slurm]") {
  std::vector<std::string> asked;
  std::map<std::string, ProgramOutput> answers;
  const RunProgram run = [&](const std::vector<std::string>& words) {
    asked.push_back(words.front());
    const auto found = answers.find(words.front());
    return found == answers.end() ? std::nullopt : std::optional<ProgramOutput>(found->second);
  };
  CHECK(ask_slurm({"12"}, run).empty());
  CHECK(asked == std::vector<std::string>{"sacct", "scontrol", "squeue"});
  answers["sacct"] = {1, "", "Slurm accounting storage is disabled\n"};
  answers["squeue"] = {0, recorded("squeue"), ""};
  CHECK(ask_slurm({"12"}, run).at("12").from == "squeue");
  answers["scontrol"] = {0, recorded("scontrol_killed_for_memory"), ""};
  CHECK(ask_slurm({"1"}, run).at("1").from == "scontrol");
  answers["sacct"] = {0, recorded("sacct_failed"), ""};
  asked.clear();
  CHECK(ask_slurm({"4718"}, run).at("4718").from == "sacct");
  CHECK(asked == std::vector<std::string>{"sacct"});
  CHECK(ask_slurm({}, run).empty());
}

TEST_CASE("a retry asks for more memory up to a ceiling", "[slurm]") {
  Failed failed(FailureClass::kHostMemory);
  NextAttempt next = failed.next();
  CHECK_FALSE(next.is_refused);
  CHECK(next.resources.memory == 4 * kGiB);
  CHECK_THAT(next.because, Contains("2.0 GiB -> 4.0 GiB"));
  failed.state.trace.memory_used = 6 * kGiB;
  CHECK(failed.next().resources.memory == 6 * kGiB / 4 * 5);
  failed.state.trace.memory_used = 20 * kGiB;
  CHECK(failed.next().resources.memory == 8 * kGiB);
  failed.step.attempts.back().resources.memory = 8 * kGiB;
  CHECK(failed.next().is_refused);
}

TEST_CASE("a retry after a lack of GPU memory halves the ceiling and keeps the packs", "[slurm]") {
  Failed failed(FailureClass::kGpuMemory);
  CHECK(failed.next().is_refused);  // nobody knows what the card has
  failed.state.trace.device_memory = 16 * kGiB;
  CHECK(failed.next().resources.memory_limit == 8 * kGiB);
  CHECK(failed.next().resources.memory == 2 * kGiB);
  failed.step.attempts.back().resources.memory_limit = 3 * kGiB;
  CHECK(failed.next().resources.memory_limit == 3 * kGiB / 2);
  failed.step.attempts.back().resources.memory_limit = kGiB;
  CHECK(failed.next().is_refused);
}

TEST_CASE("a retry leaves out the node that failed, and ends after so many", "[slurm]") {
  Failed failed(FailureClass::kNodeFailure);
  failed.report.nodes = "n7";
  failed.state.report = &failed.report;
  failed.step.attempts.back().resources.exclude = "n1";
  CHECK(failed.next().resources.exclude == "n1,n7");
  while (failed.step.attempts.size() < 4) failed.step.attempts.push_back(failed.step.attempts[0]);
  CHECK(failed.next().is_refused);
  failed.state.verdict.failure = FailureClass::kCancelled;  // nothing failed
  CHECK_FALSE(failed.next().is_refused);
  Failed bug(FailureClass::kBug);
  CHECK(bug.next().is_refused);
}
