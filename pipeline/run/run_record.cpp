#include "pipeline/run/run_record.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <exception>
#include <string_view>
#include <system_error>

#include "kdgat/error.h"
#include "pipeline/run/artifacts.h"
#include "pipeline/run/step_metrics.h"
#include "pipeline/show/json_lookup.h"
#include "pipeline/system/json_file.h"
#include "pipeline/system/log.h"
#include "pipeline/system/parallel.h"
#include "pipeline/system/secrets.h"
#include "pipeline/system/signals.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// -1 if it is no such time.
std::time_t seconds_of(const std::string& iso) {
  std::tm utc{};
  if (::strptime(iso.c_str(), "%Y-%m-%dT%H:%M:%SZ", &utc) == nullptr) return -1;
  return ::timegm(&utc);
}

std::string state_of(const RunRecord& run) {
  if (run.exit_code == 0) return "done";
  if (run.exit_code) return is_stop_code(*run.exit_code) ? "interrupted" : "failed";
  return is_worked_on(run.folder) ? "running" : "interrupted";
}

/// Throws Error(kData) where run.json holds a value of another type than this program writes: who
/// reads it further relies on them. What is null is absent.
void check_types(const json& document, const fs::path& file) {
  std::string problem = record::problem<RunRecord>(document);
  for (const char* name : {"machine", "versions", "records"}) {
    const json& part = below(document, name);
    const bool is_good = part.is_null() || part.is_object();
    if (problem.empty() && !is_good) problem = "\"" + std::string(name) + "\" is not an object";
  }
  if (problem.empty()) {
    for (const json& step : below(document, "steps")) {
      const std::string name = "step \"" + word(step, "step") + "\": ";
      if (!step.is_object()) problem = "a step is not an object";
      if (const std::string of_step = record::problem<StepRecord>(step); !of_step.empty()) {
        problem = name + of_step;
      }
    }
  }
  if (!problem.empty()) throw Error(ExitCode::kData, problem, "", file.string());
}

/// What the run that made a kept step wrote of it.
void follow(StepRecord& step) {
  const json document = read_json(step.folder.parent_path() / "run.json");
  for (const json& state : below(document, "steps")) {
    if (word(state, "step") != step.folder.filename().string()) continue;
    const auto made = record::read<StepRecord>(state);
    step.seconds = made.seconds;
    step.peak_bytes = made.peak_bytes;
  }
}

/// Device, threads and version of runs that did not record them stand with their steps.
void fill_from_steps(RunRecord& run) {
  for (const StepRecord& step : run.steps) {
    if (!run.device.empty()) return;
    if (step.is_kept()) continue;
    const StepConfig config = read_step_config(step.folder);
    run.device = config.device;
    run.threads = config.threads;
  }
}

/// Bytes of the files below an open folder, which is closed. By names relative to it, as a list of
/// thousands of runs asks for all their files: whole paths take half as long again.
uint64_t bytes_below(int folder) {
  if (folder < 0) return 0;
  DIR* entries = ::fdopendir(folder);
  if (entries == nullptr) {
    ::close(folder);
    return 0;
  }
  uint64_t bytes = 0;
  while (const dirent* entry = ::readdir(entries)) {
    const std::string_view name = entry->d_name;
    struct stat about {};
    if (name == "." || name == "..") continue;
    bool is_folder = entry->d_type == DT_DIR;
    if (!is_folder && ::fstatat(folder, entry->d_name, &about, AT_SYMLINK_NOFOLLOW) == 0) {
      is_folder = S_ISDIR(about.st_mode);  // where the file system does not say it with the name
      if (S_ISREG(about.st_mode)) bytes += static_cast<uint64_t>(about.st_size);
    }
    if (!is_folder) continue;
    bytes += bytes_below(
        ::openat(folder, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  }
  ::closedir(entries);
  return bytes;
}

}  // namespace

std::string RunRecord::progress() const {
  const auto count = [&](const char* status) {
    return std::count_if(steps.begin(), steps.end(),
                         [&](const StepRecord& step) { return step.status == status; });
  };
  const auto kept = count("kept");
  std::string out = std::to_string(count("done") + kept) + " of " + std::to_string(steps.size()) +
                    (steps.size() == 1 ? " step done" : " steps done");
  if (kept > 0) out += ", " + std::to_string(kept) + " of them kept";
  for (const char* status : {"failed", "skipped", "interrupted", "running"}) {
    if (const auto some = count(status); some > 0)
      out += ", " + std::to_string(some) + " " + status;
  }
  return out;
}

double RunRecord::seconds() const {
  const std::time_t from = seconds_of(started), to = seconds_of(finished);
  return from < 0 || to < from ? -1 : static_cast<double>(to - from);
}

RunRecord read_run_file(const fs::path& folder) {
  const json document = load_object(folder / "run.json");
  check_types(document, folder / "run.json");
  auto run = record::read<RunRecord>(document);
  static_cast<RunLabels&>(run) = read_labels(folder);
  run.folder = folder;
  const fs::path place = fs::absolute(folder / ".").parent_path();
  run.id = place.filename().string();
  run.dataset = place.parent_path().filename().string();
  run.command = without_secrets(run.command);  // an older program wrote them
  run.cpu = word(below(document, "machine"), "cpu");
  run.gpu = word(below(document, "machine"), "gpu");
  run.libtorch = word(below(document, "versions"), "libtorch");
  run.state = state_of(run);
  for (StepRecord& step : run.steps) {
    if (step.folder.empty()) step.folder = run.folder / step.step;
    if (step.made_by.empty()) step.made_by = run.id;
    // Its process ended without a word.
    if (step.status == "running" && run.state != "running") step.status = "interrupted";
  }
  return run;
}

RunRecord read_run(const fs::path& folder) {
  RunRecord run = read_run_file(folder);
  look_closer(run);
  return run;
}

void look_closer(RunRecord& run) {
  for (StepRecord& step : run.steps) {
    if (step.is_kept()) follow(step);
  }
  fill_from_steps(run);
}

std::vector<RunRecord> list_runs(const fs::path& root, const std::string& dataset) {
  std::vector<fs::path> folders;
  std::error_code ignored;
  for (const auto& set : fs::directory_iterator(root, ignored)) {
    if (!dataset.empty() && set.path().filename() != dataset) continue;
    for (const auto& run : fs::directory_iterator(set.path(), ignored)) {
      folders.push_back(run.path());
    }
  }
  std::vector<std::optional<RunRecord>> found(folders.size());
  for_each_at_once(folders.size(), [&](std::size_t i) {
    try {
      found[i] = read_run_file(folders[i]);
    } catch (const std::exception&) {
      return;  // no run, or half of one: nothing to list
    }
  });
  std::vector<RunRecord> runs;
  for (std::optional<RunRecord>& run : found) {
    if (run) runs.push_back(std::move(*run));
  }
  std::sort(runs.begin(), runs.end(),
            [](const RunRecord& a, const RunRecord& b) { return a.id > b.id; });
  return runs;
}

uint64_t size_on_disk(const fs::path& folder) {
  return bytes_below(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

StepFiles read_step_files(const fs::path& step_folder) {
  constexpr int kLogLines = 20;
  StepFiles files;
  files.config = read_step_config(step_folder);
  files.metrics = read_metrics(step_folder);
  files.figures = read_figures(step_folder);
  files.curves = read_json(step_folder / "curves.json");
  files.pictures = read_json(step_folder / "pictures.json");
  files.result = read_result(step_folder);
  files.log_tail = last_lines(step_folder / "log.txt", kLogLines);
  files.oom_report = file_text(step_folder / "oom-report.md", kLargestNotes).value_or("");
  return files;
}

double best_epoch(const StepFiles& files, const StepJournal& journal) {
  if (const double best = best_epoch_of(files.metrics); best > 0) return best;
  const json& options = files.config.options;
  const auto series = journal.series.find(word(options, "monitor_metric"));
  if (series == journal.series.end() || series->second.empty()) return 0;
  const bool is_less = word(options, "monitor_mode") != "max";
  const auto best = std::min_element(series->second.begin(), series->second.end(),
                                     [&](const auto& a, const auto& b) {
                                       return is_less ? a.second < b.second : a.second > b.second;
                                     });
  return best->first;
}

std::string format_when(const std::string& iso) {
  constexpr std::time_t kDay = std::time_t{24} * 60 * 60;
  const std::time_t then = seconds_of(iso);
  if (then < 0) return iso;
  const auto local = [](std::time_t time, const char* format) {
    std::tm parts{};
    ::localtime_r(&time, &parts);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), format, &parts);
    return std::string(text.data());
  };
  const std::string day = local(then, "%Y-%m-%d");
  const std::time_t now = std::time(nullptr);
  const std::string name = day == local(now, "%Y-%m-%d")          ? "today"
                           : day == local(now - kDay, "%Y-%m-%d") ? "yesterday"
                                                                  : day;
  return name + local(then, " %H:%M");
}

}  // namespace kdgat
