#include "pipeline/execute/stage_process.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "kdgat/event.h"
#include "kdgat/exact_json.h"
#include "pipeline/show/text.h"
#include "pipeline/system/log.h"
#include "pipeline/system/signals.h"

namespace kdgat {
namespace {

using nlohmann::json;

/// How often a stage's memory is looked at: short peaks must not hide between two looks, and
/// looking takes some 40 microseconds.
constexpr int kPollMilliseconds = 20;
constexpr int kLogLines = 5;
constexpr int kHostMemory = static_cast<int>(ExitCode::kHostMemory);

/// What a death by signal means; `oom_kills` counted while the stage ran.
StageAnswer answer_of_death(int signal, uint64_t oom_kills, uint64_t peak_bytes,
                            const Machine& machine, const std::string& log_tail) {
  StageAnswer answer;
  answer.code = static_cast<int>(ExitCode::kStageFailed);
  const std::string tail = log_tail.empty() ? "" : "\nlast lines of its log:\n" + log_tail;
  const char* name = ::sigabbrev_np(signal);
  const std::string signal_name = "SIG" + std::string(name == nullptr ? "?" : name);
  const auto limit = machine.memory_limit();
  const bool at_limit =
      limit && static_cast<double>(peak_bytes) >= 0.95 * static_cast<double>(*limit);
  if (signal == SIGKILL && (oom_kills > 0 || at_limit)) {
    answer.code = kHostMemory;
    answer.diagnostics.push_back({"",
                                  "out of host memory: the kernel killed the stage at " +
                                      format_bytes(peak_bytes) +
                                      (limit ? " of " + format_bytes(*limit) : "") + tail,
                                  "a smaller batch_size, or more memory for the job"});
  } else if (signal == SIGABRT && log_tail.find("bad_alloc") != std::string::npos) {
    answer.code = kHostMemory;
    answer.diagnostics.push_back(
        {"",
         "out of host memory: the stage could get no more at " + format_bytes(peak_bytes) + tail,
         "a smaller batch_size, or more memory for the job"});
  } else {
    answer.diagnostics.push_back(
        {"", "the stage's process was killed by " + signal_name + tail, ""});
  }
  return answer;
}

StageAnswer answer_of_exit(int code, const std::string& log_tail) {
  StageAnswer answer;
  if (code == kHostMemory) {
    answer.code = code;
    answer.diagnostics.push_back({"", "out of host memory", "more memory for the job"});
    return answer;
  }
  answer.code = static_cast<int>(ExitCode::kStageFailed);
  answer.diagnostics.push_back(
      {"",
       "the stage's process ended with status " + std::to_string(code) + " and without an answer" +
           (log_tail.empty() ? "" : "\nlast lines of its log:\n" + log_tail),
       ""});
  return answer;
}

}  // namespace

ChildSpec child_spec(const ProcessSettings& settings, const std::string& allocator) {
  ChildSpec spec;
  spec.executable = settings.executable;
  spec.lock_fd = settings.lock_fd;
  spec.environment = {"OMP_NUM_THREADS=" + std::to_string(settings.threads)};
  // Threads wait some microseconds for the next operation before they sleep: waking one takes
  // longer, and those that spin for long take the cores from those that work.
  if (std::getenv("OMP_WAIT_POLICY") == nullptr && std::getenv("GOMP_SPINCOUNT") == nullptr) {
    spec.environment.insert(spec.environment.end(),
                            {"OMP_WAIT_POLICY=active", "GOMP_SPINCOUNT=5000"});
  }
  // LibTorch reads it while it loads. The second name is the first one's newer form.
  if (!allocator.empty() && std::getenv("PYTORCH_CUDA_ALLOC_CONF") == nullptr &&
      std::getenv("PYTORCH_ALLOC_CONF") == nullptr) {
    for (const char* name : {"PYTORCH_CUDA_ALLOC_CONF=", "PYTORCH_ALLOC_CONF="}) {
      spec.environment.push_back(name + allocator);
    }
  }
  return spec;
}

StageAnswer answer_of_end(const ChildEnd& end, uint64_t oom_kills, uint64_t peak_bytes,
                          const Machine& machine, const std::filesystem::path& log_file) {
  const std::string log_tail = last_lines(log_file, kLogLines);
  return end.signal != 0 ? answer_of_death(end.signal, oom_kills, peak_bytes, machine, log_tail)
                         : answer_of_exit(end.exit_code, log_tail);
}

StageProcess::StageProcess(const StageCall& call, int request_fd,
                           const std::filesystem::path& log_file, const ProcessSettings& settings)
    : settings_(settings),
      log_file_(log_file),
      clock_(steady_clock()),
      started_(clock_()),
      kills_before_(settings.machine.oom_kills()) {
  ChildSpec spec = child_spec(settings, call.allocator.value_or(settings.allocator));
  spec.request_fd = request_fd;
  if (!log_file.empty()) {
    output_ = open_file(log_file, O_WRONLY | O_APPEND | O_CREAT);
    spec.output_fd = output_.get();
  }
  child_ = std::make_unique<Child>(spec);
}

bool StageProcess::poll(int milliseconds, const OnEvent& on_event) {
  if (has_ended_) return false;
  memory_ = settings_.machine.anonymous_memory(child_->pid());
  if (memory_ > 0) seen_.anonymous.add(clock_() - started_, memory_);  // 0 = it has just ended
  const bool is_alive = child_->poll(milliseconds, [&](std::string_view text) {
    const json line = json::parse(text, nullptr, false);
    if (!line.is_object()) return;
    if (const auto end = record::read<StageEndLine>(line); !end.answer.is_null()) {
      answer_ = StageAnswer::from_json(end.answer);
      seen_.peak_resident_bytes = end.peak_resident_bytes;
    } else {
      if (kind_of(line) == EventKind::kProgress) seen_.last_progress = line;
      on_event(line, memory_);
    }
  });
  has_ended_ = !is_alive;
  return is_alive;
}

void StageProcess::forward_signals() {
  if (has_ended_) return;
  if (is_urgent()) child_->kill();
  const int code = pending_signal();
  if (code != 0 && code != told_) child_->cancel(told_ = code);
}

StepOutcome StageProcess::outcome() const {
  StepOutcome out = seen_;
  const ChildEnd& end = child_->end();
  // The system's number counts what the host held when it started the process, too.
  if (!answer_) out.peak_resident_bytes = end.peak_resident_bytes;
  if (answer_) {
    out.answer = *answer_;
  } else if (is_urgent()) {
    out.answer.code = pending_signal();
    out.answer.diagnostics.push_back({"", "stopped at once", ""});
  } else {
    out.answer = answer_of_end(end, settings_.machine.oom_kills() - kills_before_,
                               out.peak_resident_bytes, settings_.machine, log_file_);
  }
  return out;
}

StepOutcome supervise(StageProcess& process, const OnEvent& on_event) {
  do {
    process.forward_signals();
  } while (process.poll(kPollMilliseconds, on_event));
  return process.outcome();
}

Execute execute_in_child(const ProcessSettings& settings) {
  return [settings](const StageCall& call, const StepFolder& folder, const OnEvent& on_event) {
    const OwnedFd request = open_file(folder.path() / "request.json", O_RDONLY);
    StageProcess process(call, request.get(), folder.path() / "log.txt", settings);
    return supervise(process, on_event);
  };
}

Execute execute_here() {
  return [](const StageCall& call, const StepFolder&, const OnEvent& on_event) {
    StepOutcome outcome;
    outcome.answer = call_stage(
        call,
        [&](const json& event) {
          if (kind_of(event) == EventKind::kProgress) outcome.last_progress = event;
          on_event(event, 0);
        },
        [] {
          if (is_urgent()) ::_exit(pending_signal());  // there is no child that could be killed
          return pending_signal();
        });
    return outcome;
  };
}

StageAnswer plan_in_child(const StageCall& call, const ProcessSettings& settings) {
  const OwnedFd request = memory_file(exact_dump(call.to_json()));
  StageProcess process(call, request.get(), "", settings);
  return supervise(process, [](const json&, uint64_t) {}).answer;
}

}  // namespace kdgat
