#include "pipeline/slurm/job_script.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "kdgat/margins.h"
#include "pipeline/run/memory_plan.h"
#include "pipeline/show/quantity.h"
#include "pipeline/show/text.h"
#include "pipeline/system/program.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr uint64_t kMiB = margins::kMiB, kMappedBytes = margins::kMappedBytes,
                   kUnplannedBytes = margins::kUnplannedBytes,
                   kCardHostBytes = margins::kCardHostBytes;

uint64_t rounded(double bytes) {
  constexpr auto kStep = static_cast<double>(margins::kJobStep);
  return static_cast<uint64_t>(std::ceil(bytes / kStep) * kStep);
}

/// What a plan says a process holds at its peak: tensors and what is beside them.
uint64_t planned_peak(const json& memory) {
  const auto plan = record::read<MemoryPlan>(memory);
  return static_cast<uint64_t>(plan.predicted.value_or(0) + plan.table.context.value_or(0));
}

void set_memory(JobResources& out, const SiteOptions& site, const StepNeeds& needs) {
  const auto mapped = static_cast<double>(kMappedBytes + needs.data_bytes);
  if (!site.mem.empty()) {
    out.memory = parse_job_memory(site.mem);
    out.memory_from = "mem of the site profile";
    if (out.memory == 0) {
      out.memory_from = "mem=0 of the site profile: all of the node";
      return;
    }
  } else if (site.gpus > 0) {
    out.memory =
        rounded(static_cast<double>(kCardHostBytes) + 2 * static_cast<double>(needs.data_bytes));
    out.memory_from = "what drives a card, and twice the data";
  } else if (needs.memory.is_object()) {
    const uint64_t peak = planned_peak(needs.memory);
    out.memory = rounded(static_cast<double>(peak) * (1 + site.memory_margin) + mapped);
    out.memory_from = "planned " + format_bytes(peak) + ", " +
                      std::to_string(std::lround(site.memory_margin * 100)) + " % more, and " +
                      format_bytes(static_cast<uint64_t>(mapped)) + " of mapped files";
  } else {
    out.memory = rounded(static_cast<double>(kUnplannedBytes) + mapped);
    out.memory_from = "the step plans none: " + format_bytes(kUnplannedBytes) + " and " +
                      format_bytes(static_cast<uint64_t>(mapped)) + " of mapped files";
  }
  out.memory = std::max(kMiB, out.memory / kMiB * kMiB);
  out.max_memory = site.max_mem.empty() ? 4 * out.memory : parse_job_memory(site.max_mem);
  out.max_memory = std::max(out.max_memory, out.memory);
}

void set_time(JobResources& out, const SiteOptions& site, const StepNeeds& needs) {
  constexpr double kSpare = 3, kStartMinutes = 10;
  out.minutes = parse_minutes(site.time);
  out.time_from = "time of the site profile";
  if (needs.seconds <= 0) return;
  const double wanted =
      kStartMinutes + kSpare * std::max(1.0, needs.epochs_ratio) * needs.seconds / 60;
  if (wanted >= static_cast<double>(out.minutes)) return;
  // A job must be able to checkpoint before its end.
  out.minutes = std::min(out.minutes, static_cast<int64_t>(std::ceil(wanted)) + site.signal / 60);
  out.time_from = "three times what it took in run " + needs.run;
}

std::string commented(const std::string& text) {
  std::istringstream lines(printable(text));
  std::string out;
  for (std::string line; std::getline(lines, line);) out += "# " + line + "\n";
  return out;
}

/// The value of an option of sbatch inside a script, which sbatch takes apart itself: a blank or #
/// ends it outside of quotes, and there is no sure way to write a quote or a backslash.
std::string sbatch_value(const std::string& option, const std::string& text) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
  if (holds_control(text) || text.find_first_of("\"\\") != std::string::npos) {
    throw Error(ExitCode::kUsage,
                "--" + option +
                    " of sbatch cannot hold a control character, a double quote or a "
                    "backslash: " +
                    shell_line({text}),
                option == "output" ? "rename the folder, or name another with root=" : "");
  }
  return text.find_first_not_of(kPlain) == std::string::npos ? text : '"' + text + '"';
}

/// A folder in which sbatch finds nothing to put a number in the place of.
std::string without_patterns(const std::string& folder) {
  std::string out;
  for (const char c : folder) out += c == '%' ? "%%" : std::string(1, c);
  return out;
}

/// The words of a line, each quoted.
std::string quoted_words(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return shell_line(words);
}

/// Stands first, so that no signal ends the script while it loads modules.
constexpr const char* kSignals = R"sh(
# What SLURM signals to this script goes on to kdgat: USR1 = write a checkpoint and end with 85, TERM
# = the same with 143.
child= early=
forward() {
  interrupted=yes
  if [ -n "$child" ]; then kill -s "$1" "$child" 2> /dev/null; else early=$1; fi
}
trap 'forward USR1' USR1
trap 'forward TERM' TERM

)sh";

/// Starts kdgat, waits for it, and queues the job again where kdgat asks for it.
constexpr const char* kSupervision = R"sh(
"${kdgat[@]}" &
child=$!
if [ -n "$early" ]; then
  sleep 2  # until kdgat listens
  forward "$early"
fi
code=0
while
  interrupted=
  wait "$child"  # comes back early when a signal was passed on: then again
  code=$?
  [ -n "$interrupted" ]
do :; done

if [ "$code" -eq 85 ]; then
  restarts=${SLURM_RESTART_COUNT:-0}
  if [ "$restarts" -ge "$requeues" ]; then
    echo "kdgat: checkpointed, but not queued again: job $job was restarted $restarts times" \
      "(requeues: $requeues of the site profile)" >&2
  elif ! command -v scontrol > /dev/null; then
    echo "kdgat: checkpointed, but not queued again: there is no scontrol on this node;" \
      "kdgat jobs $run --retry continues the step" >&2
  elif scontrol requeue "$job"; then
    echo "kdgat: checkpointed; job $job is queued again" >&2
  else
    echo "kdgat: checkpointed, but scontrol requeue $job failed;" \
      "kdgat jobs $run --retry continues the step" >&2
  fi
fi
exit "$code"
)sh";

}  // namespace

std::string JobResources::memory_text() const {
  return memory == 0 ? "all of a node" : format_bytes(memory);
}

JobResources resources_for(const SiteOptions& site, const StepNeeds& needs) {
  JobResources out;
  set_memory(out, site, needs);
  set_time(out, site, needs);
  out.cpus = site.cpus_per_task;
  out.gpus = site.gpus;
  out.exclude = site.exclude;
  return out;
}

uint64_t stage_limit(uint64_t job_memory, uint64_t data_bytes) {
  const uint64_t mapped = kMappedBytes + data_bytes;
  return std::max(job_memory / 2, job_memory > mapped ? job_memory - mapped : 0);
}

fs::path JobScript::output_of(const std::string& job, std::optional<int64_t> task) const {
  return output_folder /
         (file_name_of(step) + "-" + job + (task ? "_" + std::to_string(*task) : "") + ".out");
}

std::string JobScript::text() const {
  std::ostringstream out;
  out << "#!/bin/bash\n"
      << commented("Step " + step + " of " +
                   (is_array() ? "runs with the seeds " + seed_list(tasks)
                               : "run " + tasks.front().run_folder.filename().string()) +
                   ". Written by kdgat " KDGAT_VERSION " for:\n  " + command);
  const auto say = [&](const std::string& option, const std::string& value,
                       const std::string& why = "") {
    if (value.empty()) return;
    if (!why.empty()) out << "# " << why << "\n";
    out << "#SBATCH --" << option << '=' << sbatch_value(option, value) << "\n";
  };
  const JobResources& r = resources;
  say("job-name", "kdgat-" + file_name_of(step));
  // sbatch puts the number of the job (%j; of an array %A, and of its task %a) in its place.
  say("output", without_patterns(output_folder.string()) + "/" + file_name_of(step) +
                    (is_array() ? "-%A_%a.out" : "-%j.out"));
  out << "#SBATCH --open-mode=append\n#SBATCH --requeue\n";
  say("signal", "B:USR1@" + std::to_string(site.signal));
  say("time", slurm_time(r.minutes), r.time_from);
  say("mem", r.memory == 0 ? "0" : std::to_string(r.memory / kMiB) + "M", r.memory_from);
  say("cpus-per-task", std::to_string(r.cpus));
  if (r.gpus > 0) {
    say("gpus-per-node",
        (site.gpu_type.empty() ? "" : site.gpu_type + ":") + std::to_string(r.gpus));
  }
  say("account", site.account);
  say("partition", site.partition);
  say("qos", site.qos);
  say("constraint", site.constraint);
  say("exclude", r.exclude);
  for (const std::string& line : site.sbatch) out << "#SBATCH " << line << "\n";

  out << kSignals;
  for (const std::string& module : site.modules) {
    out << "module load " << quoted_words(module) << "\n";
  }
  for (const std::string& line : site.environment) {
    const std::size_t equal = line.find('=');
    out << "export " << line.substr(0, equal + 1) << shell_line({line.substr(equal + 1)}) << "\n";
  }
  for (const std::string& line : site.before) out << line << "\n";

  if (is_array()) {
    out << "declare -A runs=(\n";
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      out << "  [" << i << "]=" << shell_line({tasks[i].run_folder.string()}) << "  # seed "
          << tasks[i].seed << "\n";
    }
    out << ")\nrun=${runs[$SLURM_ARRAY_TASK_ID]}\n"
        << "job=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID\n";
  } else {
    out << "run=" << shell_line({tasks.front().run_folder.string()}) << "\n"
        << "job=${SLURM_JOB_ID:-}\n";
  }
  out << "requeues=" << site.requeues << "\n";
  out << "kdgat=(" << (site.container.empty() ? "" : site.container + " ")
      << shell_line({executable.string()}) << " job \"$run\" " << shell_line({step});
  if (r.memory_limit > 0) out << " --memory-limit " << exact_bytes(r.memory_limit);
  for (const fs::path& folder : plugin_folders) {
    out << " --plugin-dir " << shell_line({folder.string()});
  }
  out << ")\n" << kSupervision;
  return out.str();
}

std::vector<std::string> sbatch_words(const fs::path& script, const std::vector<JobTask>& tasks,
                                      const std::vector<std::string>& needs) {
  std::vector<std::string> words = {"sbatch", "--parsable"};
  if (tasks.size() > 1) words.push_back("--array=0-" + std::to_string(tasks.size() - 1));
  if (!needs.empty()) {
    std::string jobs;
    for (const std::string& job : needs) jobs += ":" + job;
    words.push_back("--dependency=" + std::string(tasks.size() > 1 ? "aftercorr" : "afterok") +
                    jobs);
    words.emplace_back("--kill-on-invalid-dep=yes");
  }
  words.push_back(script.string());
  return words;
}

std::string seed_list(const std::vector<JobTask>& tasks) {
  std::string out;
  for (std::size_t i = 0; i < tasks.size();) {
    std::size_t last = i;
    while (last + 1 < tasks.size() && tasks[last + 1].seed == tasks[last].seed + 1) ++last;
    out += (out.empty() ? "" : ",") + std::to_string(tasks[i].seed);
    if (last > i) out += "-" + std::to_string(tasks[last].seed);
    i = last + 1;
  }
  return out;
}

std::string file_name_of(const std::string& step) {
  std::string out = step;
  std::replace(out.begin(), out.end(), ' ', '_');
  return out;
}

}  // namespace kdgat
