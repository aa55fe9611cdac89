#include "pipeline/run/artifacts.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <set>

#include "kdgat/atomic_file.h"
#include "pipeline/run/journal.h"
#include "pipeline/run/run_lock.h"
#include "pipeline/run/run_record.h"
#include "pipeline/run/run_work.h"
#include "pipeline/show/json_lookup.h"
#include "pipeline/system/clock.h"
#include "pipeline/system/json_file.h"
#include "pipeline/system/secrets.h"
#include "pipeline/system/signals.h"
#include "pipeline/system/temporary.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kRunFile = "run.json";
constexpr const char* kStepFile = "step.json";
constexpr const char* kBin = ".removing";

std::string text_of(const json& content) {
  return content.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

[[noreturn]] void fail(const std::string& what, const fs::path& path, int reason) {
  throw Error(ExitCode::kData, what + " " + path.string() + ": " + std::strerror(reason));
}

void make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) fail("cannot create folder", path, error.value());
}

bool is_temporary(const fs::path& path) {
  return path.filename().string().find(".tmp.") != std::string::npos;
}

std::vector<fs::path> temporaries_below(const fs::path& folder) {
  std::error_code ignored;
  std::vector<fs::path> found;
  for (fs::recursive_directory_iterator at(folder, ignored);
       at != fs::recursive_directory_iterator(); at.increment(ignored)) {
    if (is_temporary(at->path())) found.push_back(at->path());
  }
  return found;
}

/// What killed writers left; only for who holds the run's lock.
void remove_temporaries(const fs::path& folder) {
  std::error_code ignored;
  for (const fs::path& leftover : temporaries_below(folder)) fs::remove_all(leftover, ignored);
}

/// Size by name of what a step leaves to others; the host's own bookkeeping, records made of it and
/// what serves only to continue are left out.
json list_outputs(const fs::path& folder) {
  static const std::set<std::string> kOwn{kJournalFile,  "log.txt",     "request.json",
                                          "config.json", "memory.json", "step.json",
                                          "metrics.csv", "lock",        kNowFile};
  json files = json::object();
  for (auto at = fs::recursive_directory_iterator(folder); at != fs::recursive_directory_iterator();
       ++at) {
    const fs::path name = at->path().lexically_relative(folder);
    if (name == "checkpoint" || name == "tensorboard") at.disable_recursion_pending();
    if (!at->is_regular_file() || kOwn.contains(name.string()) || is_temporary(name)) continue;
    files[name.string()] = at->file_size();
  }
  return files;
}

/// The first recorded output that is gone or has another size; "" if all stand.
std::string first_missing(const fs::path& folder, const json& files) {
  for (const auto& [name, size] : files.items()) {
    struct stat found {};
    if (::stat((folder / name).c_str(), &found) != 0 ||
        size != static_cast<uint64_t>(found.st_size)) {
      return (folder / name).string();
    }
  }
  return "";
}

/// "the stage of <run>/<step>", as far as the document of the run says which.
std::string stage_at_work(const json& document, const fs::path& folder) {
  for (const json& state : document.value("steps", json::array())) {
    if (word(state, "status") != "running") continue;
    return "the stage of " + (folder / word(state, "step")).string();
  }
  return "the stage of " + folder.string();
}

std::vector<fs::path> run_folders(const fs::path& dataset_root) {
  std::error_code ignored;
  std::vector<fs::path> folders;
  for (const fs::directory_entry& entry : fs::directory_iterator(dataset_root, ignored)) {
    if (fs::exists(entry.path() / kRunFile, ignored)) folders.push_back(entry.path());
  }
  std::sort(folders.rbegin(), folders.rend());
  return folders;
}

json step_states(const Plan& plan) {
  json steps = json::array();
  for (const PlannedStep& step : plan.steps) {
    json state = {{"step", step.spec.name},
                  {"stage", step.spec.stage},
                  {"fingerprint", step.fingerprint},
                  {"status", step.action == Action::kKeep ? "kept" : "pending"},
                  {"reason", step.reason}};
    if (step.kept) {
      state["run"] = step.kept->run;
      state["folder"] = step.kept->folder.string();
    }
    steps.push_back(std::move(state));
  }
  return steps;
}

PastStep past_step(const std::string& run, const fs::path& folder, const json& record) {
  PastStep past;
  past.run = run;
  past.step = record.at("step");
  past.stage = record.at("stage");
  past.fingerprint = record.at("fingerprint");
  past.ingredients = record.at("ingredients");
  past.folder = folder;
  past.facts = record.at("facts");
  past.finished = record.at("finished");
  past.library_hash = record.at("library_hash");
  past.missing = first_missing(folder, record.at("files"));
  return past;
}

/// How a run stands whose steps are jobs: 0 if all are done, the code of one that failed, -1 if
/// there is none and some wait. `last`: what ended just now.
int code_of_steps(const json& document, int last) {
  bool is_complete = true;
  int failed = -1;
  for (const json& state : document.at("steps")) {
    const std::string status = state.value("status", "");
    is_complete = is_complete && (status == "done" || status == "kept");
    if (failed < 0 && status == "failed") failed = state.value("exit_code", 1);
  }
  const bool is_stopped = (is_stop_code(last) && last != static_cast<int>(ExitCode::kRequeue)) ||
                          last == static_cast<int>(ExitCode::kUsage);
  return is_complete ? 0 : failed >= 0 ? failed : is_stopped ? last : -1;
}

/// A step of a plan, and whether it was found in the runs looked at so far.
struct Sought {
  explicit Sought(const PlannedStep& step) : step(&step) {}
  const PlannedStep* step;
  bool has_same = false, has_latest = false;
};

/// Adds what a run has of the steps that are still sought. Thousands of runs are looked at: which
/// of them has a fingerprint the text of its run.json says, before any JSON is read.
void look_into(const fs::path& run, std::vector<Sought>& sought, std::vector<PastStep>& found) {
  const std::string text = file_text(run / kRunFile).value_or("");
  for (Sought& one : sought) {
    const StepSpec& spec = one.step->spec;
    const bool may_be_same = !one.has_same && text.find(one.step->fingerprint) != std::string::npos;
    if (one.has_latest && !may_be_same) continue;
    std::optional<PastStep> past = find_past_step(run.filename().string(), run / spec.name);
    if (!past || past->step != spec.name) continue;
    const bool is_same =
        !one.has_same && past->fingerprint == one.step->fingerprint && past->missing.empty();
    const bool is_latest = !one.has_latest && past->stage == spec.stage;
    one.has_same = one.has_same || is_same;
    one.has_latest = one.has_latest || is_latest;
    if (is_same || is_latest) found.push_back(std::move(*past));
  }
}

/// Removes what killed writers left in a run that nobody works on. Locks the run only if there is
/// something to remove, as who wants to continue the run must not find it taken.
void clear_killed(const fs::path& folder, const json& document) {
  if (document.contains("submitted") || temporaries_below(folder).empty()) return;
  try {
    const OwnedFd lock = try_lock(folder);
    if (lock.get() >= 0 && !are_records_written(folder)) remove_temporaries(folder);
  } catch (const Error&) {
    return;  // somebody else's, who may write there
  }
}

bool is_unfinished(const json& document, const Plan& plan) {
  return document.contains("plan") && document.at("plan") == plan.fingerprint &&
         !document.contains("submitted") &&
         (!document.contains("exit_code") || document.at("exit_code") != 0);
}

}  // namespace

StepFolder::StepFolder(fs::path folder, const json& config) : path_(std::move(folder)) {
  make_folder(path_);
  std::error_code ignored;
  fs::remove(path_ / kStepFile, ignored);
  remove_temporaries(path_);
  write("config.json", config);
  const fs::path journal = path_ / kJournalFile;
  journal_ = open_file(journal, O_RDWR | O_CREAT | O_APPEND);
  // A killed writer may have left half a line: the next one must not be glued to it.
  const off_t size = ::lseek(journal_.get(), 0, SEEK_END);
  char last = '\n';
  if (size > 0 && ::pread(journal_.get(), &last, 1, size - 1) == 1 && last != '\n' &&
      ::write(journal_.get(), "\n", 1) != 1) {
    fail("cannot write", journal, errno);
  }
}

void StepFolder::journal(json event) {
  event["time"] = iso_now();
  event["unix"] = unix_now();
  const std::string line = event.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  if (!write_all(journal_.get(), line)) fail("cannot write", path_ / kJournalFile, errno);
}

void StepFolder::write(const std::string& file, const json& content) {
  write_file(path_ / file, text_of(content));
}

void StepFolder::finish(const PlannedStep& step, const std::string& library_hash,
                        const json& result) {
  write(kStepFile, {{"step", step.spec.name},
                    {"stage", step.spec.stage},
                    {"fingerprint", step.fingerprint},
                    {"ingredients", step.ingredients},
                    {"facts", result.value("facts", json::object())},
                    {"library_hash", library_hash},
                    {"finished", iso_now()},
                    {"files", list_outputs(path_)},
                    {"result", result}});
}

Run::Run(fs::path folder, OwnedFd lock, json document)
    : id_(folder.filename().string()),
      folder_(std::move(folder)),
      lock_(std::move(lock)),
      document_(std::move(document)) {}

Run Run::create(const fs::path& dataset_root, const std::string& profile, const Plan& plan) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::string id =
      make_run_id(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
  const fs::path folder = dataset_root / id;
  clear_removed(dataset_root);
  make_folder(folder);
  OwnedFd lock = try_lock(folder);
  Run run(folder, std::move(lock),
          {{"id", id},
           {"profile", profile},
           {"plan", plan.fingerprint},
           {"kdgat", KDGAT_VERSION},
           {"host", host_name()},
           {"started", iso_now()},
           {"steps", step_states(plan)}});
  run.change([](json&) {});
  return run;
}

Run Run::join(const fs::path& folder, const std::string& step, const OnWait& on_wait) {
  json document = read_object(folder / kRunFile);
  if (!document.contains("submitted")) {
    throw Error(ExitCode::kData, folder.string() + ": not the folder of a submitted run",
                "kdgat submit makes one");
  }
  OwnedFd together = lock_file(folder / "lock", LOCK_SH | LOCK_NB);
  if (together.get() < 0) {
    throw Error(ExitCode::kStageFailed,
                "another process has run " + folder.string() + " to itself: " + owner_of(folder));
  }
  OwnedFd lock;
  if (!step.empty()) {
    make_folder(folder / step);
    lock = lock_after_orphan(folder / step, "the stage of " + (folder / step).string(), on_wait);
    if (lock.get() < 0) {
      throw Error(ExitCode::kStageFailed,
                  step + ": another process works on this step: " + owner_of(folder / step),
                  "kdgat jobs shows the jobs of a run, kdgat cancel ends them");
    }
  }
  Run run(folder, std::move(lock), std::move(document));
  run.run_lock_ = std::move(together);
  run.is_shared_ = true;
  return run;
}

std::optional<Run> Run::resume(const fs::path& dataset_root, const Plan& plan, std::string& busy,
                               const OnWait& on_wait) {
  for (const fs::path& folder : run_folders(dataset_root)) {
    const std::optional<std::string> text = file_text(folder / kRunFile);
    if (!text) continue;
    const bool may_be_same = text->find(plan.fingerprint) != std::string::npos;
    if (!may_be_same && text->find("\n \"exit_code\":") != std::string::npos) continue;
    const json before = read_object(folder / kRunFile);
    if (!may_be_same || !is_unfinished(before, plan)) {
      clear_killed(folder, before);
      continue;
    }
    OwnedFd lock = lock_after_orphan(folder, stage_at_work(before, folder), on_wait);
    if (lock.get() < 0) {
      busy = folder.filename().string();
      continue;
    }
    // Its owner may have ended it while the lock was waited for.
    json document = read_object(folder / kRunFile);
    if (!is_unfinished(document, plan)) continue;
    remove_temporaries(folder);
    Run run(folder, std::move(lock), std::move(document));
    run.change([](json& d) {
      d.erase("exit_code");
      d.erase("finished");
      d.erase("headline");
    });
    return run;
  }
  return std::nullopt;
}

void Run::record_plan(const Plan& plan) {
  change([&](json& document) {
    document["steps"] = step_states(plan);
    for (json& state : document["steps"]) {
      if (state.value("run", "") == id_) state["status"] = "done";
    }
  });
}

void Run::record_step(const std::string& step, const std::string& status, const json& more) {
  change([&](json& document) {
    for (json& state : document["steps"]) {
      if (state.at("step") != step) continue;
      state["status"] = status;
      if (status != "failed") {
        state.erase("error");
        state.erase("exit_code");
      }
      state.update(more);
    }
  });
}

std::string Run::status_of(const std::string& step) const {
  for (const json& state : below(document_, "steps")) {
    if (word(state, "step") == step) return word(state, "status");
  }
  return "";
}

void Run::set_records(json targets, double cpu_seconds) {
  change([&](json& document) {
    document["records"] = std::move(targets);
    if (cpu_seconds > 0) document["records"]["cpu_seconds"] = cpu_seconds;
  });
}

void Run::finish(int exit_code, const std::optional<std::string>& headline) {
  change([&](json& document) {
    const int code = is_shared_ ? code_of_steps(document, exit_code) : exit_code;
    document.erase("exit_code");
    document.erase("finished");
    document.erase("headline");
    document.erase("bytes");
    if (code < 0) return;
    document["finished"] = iso_now();
    document["exit_code"] = code;
    if (headline) document["headline"] = *headline;
    document["bytes"] = size_on_disk(folder());
  });
}

void Run::describe(const json& more) {
  change([&](json& document) { document.update(more); });
}

void Run::record_requirements(const json& list) {
  change([&](json& document) {
    json& all = document["requirements"];
    for (const json& judged : list) {
      const auto is_same = [&](const json& other) {
        return other.at("name") == judged.at("name") &&
               other.at("relation") == judged.at("relation") &&
               other.at("wanted") == judged.at("wanted");
      };
      const auto found = std::find_if(all.begin(), all.end(), is_same);
      if (found == all.end()) {
        all.push_back(judged);
      } else {
        *found = judged;
      }
    }
  });
}

void Run::mark_submitted() {
  change([](json& document) { document["submitted"] = true; });
}

void Run::change(const std::function<void(json& document)>& apply) {
  OwnedFd turn;
  if (is_shared_) {
    turn = lock_file(folder_ / "run.lock", LOCK_EX);
    if (json now = read_object(folder_ / kRunFile); !now.empty()) document_ = std::move(now);
  }
  apply(document_);
  write_guarded(folder_ / kRunFile, text_of(document_));
}

void check_can_create(const fs::path& dataset_root) {
  std::error_code ignored;
  fs::path nearest = fs::absolute(dataset_root);
  while (!fs::exists(nearest, ignored) && nearest.has_relative_path()) {
    nearest = nearest.parent_path();
  }
  if (!fs::is_directory(nearest, ignored)) fail("cannot create folder", dataset_root, ENOTDIR);
  if (::access(nearest.c_str(), W_OK | X_OK) != 0) {
    fail("cannot create folder", dataset_root, errno);
  }
}

std::optional<PastStep> find_past_step(const std::string& run, const fs::path& step_folder) {
  const json record = read_object(step_folder / kStepFile);
  if (record.empty()) return std::nullopt;
  try {
    return past_step(run, step_folder, record);
  } catch (const json::exception&) {
    return std::nullopt;  // not written by this program: no such step
  }
}

std::vector<PastStep> find_past_steps(const fs::path& dataset_root, const Plan& plan) {
  std::vector<Sought> sought(plan.steps.begin(), plan.steps.end());
  std::vector<PastStep> steps;
  for (const fs::path& folder : run_folders(dataset_root)) {
    const auto is_found = [](const Sought& one) { return one.has_same && one.has_latest; };
    if (std::all_of(sought.begin(), sought.end(), is_found)) break;
    look_into(folder, sought, steps);
  }
  return steps;
}

void clear_removed(const fs::path& dataset_root) {
  const fs::path bin = dataset_root / kBin;
  std::error_code ignored;
  std::vector<fs::path> left;
  for (fs::directory_iterator at(bin, ignored); at != fs::directory_iterator();
       at.increment(ignored)) {
    left.push_back(at->path());
  }
  for (const fs::path& run : left) {
    if (const OwnedFd lock = lock_folder(run); lock.get() >= 0) fs::remove_all(run, ignored);
  }
  fs::remove(bin, ignored);  // unless a run is being removed
}

void remove_run(const fs::path& run_folder) {
  const OwnedFd lock = try_lock(run_folder);
  if (lock.get() < 0) {
    throw Error(ExitCode::kUsage, run_folder.string() + ": a process works on this run",
                "end it first; the file lock in the folder names its machine and process");
  }
  clear_removed(run_folder.parent_path());
  const fs::path bin = run_folder.parent_path() / kBin;
  const fs::path gone = bin / run_folder.filename();
  const OwnedFd mine = lock_folder(run_folder);  // goes with it: see clear_removed()
  std::error_code error, ignored;
  fs::create_directories(bin, error);
  if (!error) fs::rename(run_folder, gone, error);
  if (!error) fs::remove_all(gone, error);
  fs::remove(bin, ignored);  // unless another run is being removed
  if (error) fail("cannot remove", run_folder, error.value());
}

json read_result(const fs::path& step_folder) {
  return read_object(step_folder / kStepFile).value("result", json::object());
}

}  // namespace kdgat
