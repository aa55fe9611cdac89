#include "pipeline/slurm/submission.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "pipeline/run/artifacts.h"
#include "pipeline/run/journal.h"
#include "pipeline/show/text.h"
#include "pipeline/system/json_file.h"
#include "pipeline/system/log.h"
#include "pipeline/system/secrets.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kVersion = 1;
constexpr int kTailLines = 20;

fs::path file_of(const fs::path& run_folder) { return run_folder / "submission.json"; }

json attempt_json(const Attempt& a) {
  return {{"job", a.job},
          {"task", a.task ? json(*a.task) : json()},
          {"submitted", a.submitted},
          {"unix", a.unix_time},
          {"script", a.script.string()},
          {"output", a.output.string()},
          {"resources", record::write<json>(a.resources)},
          {"because", a.because},
          {"cancelled", a.cancelled}};
}

[[noreturn]] void refuse_value(const std::string& key, const json& value,
                               const std::string& wanted) {
  throw Error(ExitCode::kData, key + ": " + printable(value_text(value)) + " is not " + wanted);
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

/// The job becomes a word of scancel, scontrol and sbatch: "--user=ann" would be an option there.
Attempt read_attempt(const json& in) {
  Attempt a;
  a.job = in.at("job");
  if (!is_number(a.job)) refuse_value("job", in.at("job"), "the number of a job");
  if (!in.at("task").is_null()) a.task = in.at("task").get<int64_t>();
  if (a.task && *a.task < 0) refuse_value("task", in.at("task"), "the number of a task");
  a.submitted = in.at("submitted");
  a.unix_time = in.at("unix");
  a.script = in.at("script").get<std::string>();
  a.output = in.at("output").get<std::string>();
  const std::string wrong = record::problem<JobResources>(in.at("resources"));
  if (!wrong.empty()) throw Error(ExitCode::kData, "resources: " + wrong);
  a.resources = record::read<JobResources>(in.at("resources"));
  a.because = in.at("because");
  a.cancelled = in.at("cancelled");
  return a;
}

Submission read_submission(const json& in) {
  Submission out;
  out.command = in.at("command");
  out.site = in.at("site");
  out.executable = in.at("executable").get<std::string>();
  for (const json& folder : in.at("plugin_folders")) {
    out.plugin_folders.emplace_back(folder.get<std::string>());
  }
  out.seed = in.at("seed");
  for (const json& task : in.at("array")) {
    out.array.push_back({task.at("seed"), task.at("run").get<std::string>()});
  }
  for (const json& item : in.at("steps")) {
    SubmittedStep step;
    step.step = item.at("step");
    if (step.step.empty() || step.step.find('/') != std::string::npos) {
      refuse_value("step", item.at("step"), "the name of a step");  // files are called after it
    }
    step.stage = item.at("stage");
    step.needs = item.at("needs").get<std::vector<std::string>>();
    step.site = load_options<SiteOptions>(item.at("site"));
    step.kept = item.at("kept").get<std::string>();
    for (const json& attempt : item.at("attempts")) step.attempts.push_back(read_attempt(attempt));
    out.steps.push_back(std::move(step));
  }
  return out;
}

/// What sbatch --parsable prints: a number, perhaps with the cluster behind it. "" for other text.
std::string job_number(const std::string& text) {
  const std::string number = text.substr(0, text.find_first_of(";\n"));
  return is_number(number) ? number : "";
}

/// How many tasks an array may have, of what scontrol show config prints; 0 if it does not say.
uint64_t largest_array(const std::string& config) {
  std::istringstream lines(config);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("MaxArraySize")) continue;
    const std::size_t equal = line.find('=');
    return equal == std::string::npos ? 0 : std::strtoull(line.c_str() + equal + 1, nullptr, 10);
  }
  return 0;
}

}  // namespace

Submission Submission::load(const fs::path& run_folder) {
  const fs::path file = file_of(run_folder);
  if (!fs::exists(file)) {
    throw Error(ExitCode::kData, run_folder.string() + " was not submitted: it has no jobs",
                "kdgat submit makes runs that are jobs");
  }
  const json document = load_object(file);
  try {
    return read_submission(document);
  } catch (const json::exception& e) {
    throw Error(ExitCode::kData, file.string() + ": not what kdgat submit wrote: " + e.what());
  } catch (const Error& e) {
    throw Error(ExitCode::kData, e.diagnostics().front().message, "", file.string());
  }
}

void Submission::save(const fs::path& run_folder) const {
  json folders = json::array(), tasks = json::array(), list = json::array();
  for (const fs::path& folder : plugin_folders) folders.push_back(folder.string());
  for (const JobTask& task : array) {
    tasks.push_back({{"seed", task.seed}, {"run", task.run_folder.string()}});
  }
  for (const SubmittedStep& step : steps) {
    json attempts = json::array();
    for (const Attempt& attempt : step.attempts) attempts.push_back(attempt_json(attempt));
    list.push_back({{"step", step.step},
                    {"stage", step.stage},
                    {"needs", step.needs},
                    {"site", dump_options(step.site)},
                    {"kept", step.kept.string()},
                    {"attempts", std::move(attempts)}});
  }
  const json document = {{"version", kVersion},
                         {"kdgat", KDGAT_VERSION},
                         {"command", command},
                         {"site", site},
                         {"executable", executable.string()},
                         {"plugin_folders", std::move(folders)},
                         {"seed", seed},
                         {"array", std::move(tasks)},
                         {"steps", std::move(list)}};
  write_guarded(file_of(run_folder),
                document.dump(1, ' ', false, json::error_handler_t::replace).append("\n"));
}

SubmittedStep* Submission::find(const std::string& step) {
  const auto found = std::find_if(steps.begin(), steps.end(),
                                  [&](const SubmittedStep& s) { return s.step == step; });
  return found == steps.end() ? nullptr : &*found;
}

OwnedFd lock_submission(const fs::path& run_folder) {
  const fs::path file = run_folder / "slurm" / "lock";
  OwnedFd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (fd.get() < 0 || ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    throw Error(ExitCode::kUsage, "cannot lock " + file.string(),
                "another kdgat jobs or cancel of this run is running, or the folder is read only");
  }
  return fd;
}

StepTrace read_trace(const fs::path& run_folder, const SubmittedStep& step) {
  StepTrace trace;
  const Attempt& attempt = step.attempts.back();
  const fs::path folder = step.kept.empty() ? run_folder / step.step : step.kept;
  if (const auto past = find_past_step(run_folder.filename().string(), folder)) {
    trace.is_done = past->missing.empty();
  }
  trace.was_cancelled = attempt.cancelled;
  trace.is_on_card = attempt.resources.gpus > 0;
  for (const JournalAttempt& one : read_journal(folder).attempts) {
    if (one.started >= attempt.unix_time) {
      ++trace.starts;
      trace.end_code.reset();
      trace.error.clear();
    }
    if (!one.ended || *one.ended < attempt.unix_time) continue;
    trace.end_code = one.end.code;
    trace.error = one.end.error;
  }
  const json memory = read_object(folder / "memory.json");
  if (trace.starts > 0) {
    const auto bytes = [&](const char* at) {
      const json::json_pointer place(at);
      return memory.contains(place) && memory.at(place).is_number_unsigned()
                 ? memory.at(place).get<uint64_t>()
                 : 0;
    };
    trace.memory_used = bytes("/actual/peak_resident_bytes");
    trace.device_memory = bytes("/planned/device/total");
  }
  trace.output_tail = last_lines(attempt.output, kTailLines);
  return trace;
}

void Submitter::check(std::size_t tasks) const {
  if (!run_({"sbatch", "--version"})) {
    throw Error(ExitCode::kUsage, "there is no sbatch on this machine",
                "submit from a machine of the cluster; --dry-run shows the scripts anywhere");
  }
  if (tasks < 2) return;
  const auto answer = run_({"scontrol", "show", "config"});
  const uint64_t most = answer && answer->exit_code == 0 ? largest_array(answer->out) : 0;
  if (most == 0 || tasks <= most) return;  // sbatch says what is wrong if it is too many
  throw Error(ExitCode::kUsage,
              std::to_string(tasks) + " seeds are more than an array of this cluster holds, " +
                  std::to_string(most) + " (MaxArraySize)",
              "submit them in several arrays");
}

std::string Submitter::submit(const JobScript& script, const fs::path& file,
                              const std::vector<std::string>& needs) {
  write_guarded(file, script.text());
  const std::vector<std::string> words = sbatch_words(file, script.tasks, needs);
  const auto answer = run_(words);
  std::string job = answer && answer->exit_code == 0 ? job_number(answer->out) : "";
  if (!job.empty()) {
    jobs_.push_back(job);
    return job;
  }
  std::string said = answer ? answer->err + answer->out : "there is no sbatch on this machine";
  while (!said.empty() && said.back() == '\n') said.pop_back();
  throw Error(
      ExitCode::kUsage,
      script.step + ": sbatch did not take the job: " + said + "\n  command: " + shell_line(words),
      take_back());
}

std::string Submitter::take_back() {
  if (jobs_.empty()) return "nothing was submitted";
  std::vector<std::string> words = {"scancel"};
  words.insert(words.end(), jobs_.begin(), jobs_.end());
  const std::string names = joined(std::exchange(jobs_, {}), " ");
  const auto answer = run_(words);
  if (answer && answer->exit_code == 0) return "cancelled what was submitted before: " + names;
  return "scancel failed; cancel what was submitted before by hand: scancel " + names;
}

}  // namespace kdgat
