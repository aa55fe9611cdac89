#include "pipeline/records/recorder.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <istream>
#include <ostream>

#include "pipeline/records/mlflow_sync.h"
#include "pipeline/system/json_file.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kPublished = "kd-gat-pipeline";
/// What a run waits at its end for the last numbers to be sent; a request may take half of it.
constexpr double kEndSeconds = 10;
/// What is waited for another process that writes the same records.
constexpr double kLockSeconds = 5;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Of this process and those it has waited for.
double cpu_seconds() {
  constexpr double kMicro = 1e-6;
  double sum = 0;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    ::getrusage(who, &usage);
    for (const timeval& part : {usage.ru_utime, usage.ru_stime}) {
      sum += static_cast<double>(part.tv_sec) + kMicro * static_cast<double>(part.tv_usec);
    }
  }
  return sum;
}

/// As it is kept: a folder by its whole path, whatever form it was given in.
std::string settled_uri(const std::string& uri) {
  if (uri.empty() || mlflow_kind(uri) == MlflowKind::kServer) return uri;
  return fs::absolute(mlflow_folder(uri)).lexically_normal().string();
}

}  // namespace

json RecordTargets::json() const {
  return {{"csv", csv},
          {"tensorboard", tensorboard},
          {"mlflow_uri", mlflow_uri},
          {"experiment", experiment}};
}

json RecordTargets::public_json() const {
  nlohmann::json out = json();
  out["mlflow_uri"] = without_password(mlflow_uri);
  return out;
}

RecordTargets RecordTargets::from_json(const nlohmann::json& json) {
  RecordTargets out;
  out.csv = json.value("csv", out.csv);
  out.tensorboard = json.value("tensorboard", out.tensorboard);
  out.mlflow_uri = json.value("mlflow_uri", out.mlflow_uri);
  out.experiment = json.value("experiment", out.experiment);
  return out;
}

RecordTargets make_targets(const std::vector<std::string>& records, const std::string& mlflow_uri,
                           const std::string& experiment) {
  const auto has = [&](const char* name) {
    return std::find(records.begin(), records.end(), name) != records.end();
  };
  RecordTargets out{has("csv"), has("tensorboard"), "", experiment};
  if (mlflow_uri != "none") {
    out.mlflow_uri = settled_uri(mlflow_uri.empty() ? variable("MLFLOW_TRACKING_URI") : mlflow_uri);
  }
  if (const std::string name = variable("MLFLOW_EXPERIMENT_NAME");
      experiment == kPublished && !name.empty()) {
    out.experiment = name;
  }
  return out;
}

RecordTargets targets_of_run(const fs::path& run, const std::string& uri) {
  RecordTargets out =
      RecordTargets::from_json(read_object(run / "run.json").value("records", json::object()));
  const std::string set = settled_uri(uri.empty() ? variable("MLFLOW_TRACKING_URI") : uri);
  // The environment's serves a run that named none, and knows the password of one that did.
  const bool same = out.mlflow_uri.empty() || without_password(set) == out.mlflow_uri;
  if (!set.empty() && (!uri.empty() || same)) out.mlflow_uri = set;
  return out;
}

RunRecords::RunRecords(const fs::path& run, RecordTargets targets, double seconds)
    : run_(fs::absolute(run).lexically_normal()), targets_(std::move(targets)) {
  if (!run_.has_filename()) run_ = run_.parent_path();
  if (targets_.mlflow_uri.empty()) return;
  store_ = mlflow_kind(targets_.mlflow_uri) == MlflowKind::kServer
               ? mlflow_server(targets_.mlflow_uri, http_process(seconds))
               : mlflow_files(mlflow_folder(targets_.mlflow_uri));
}

RunRecords::Outcome RunRecords::update(bool now) {
  Outcome outcome;
  const std::string sizes = size_of_journals();
  if (sizes == done_) return outcome;
  if (!lock(now ? kLockSeconds : 0)) {
    if (now) outcome.problems.push_back("records: another process is at them");
    return outcome;
  }
  update_files(outcome);
  if (store_) update_mlflow(outcome, now);
  lock_.reset();
  if (outcome.problems.empty()) done_ = sizes;
  return outcome;
}

bool RunRecords::lock(double seconds) {
  constexpr useconds_t kLook = 20'000;
  const fs::path path = run_ / "records.lock";
  lock_ = OwnedFd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  // Where nothing can be written the problem is told by what cannot write.
  if (lock_.get() < 0) return true;
  const Deadline until = deadline_in(seconds);
  while (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    // A file system that refuses locks says nothing of another process: there is none to wait for.
    if (errno != EWOULDBLOCK && errno != EINTR) return true;
    if (std::chrono::steady_clock::now() >= until) return false;
    ::usleep(kLook);
  }
  return true;
}

void RunRecords::update_files(Outcome& outcome) {
  for (const fs::path& folder : step_folders()) {
    const auto [at, is_new] =
        files_.try_emplace(folder.filename().string(), folder, targets_.csv, targets_.tensorboard);
    try {
      at->second.update();
    } catch (const std::exception& e) {
      outcome.problems.push_back(std::string("records: ") + e.what());
      return;  // the next one would say the same
    }
  }
}

void RunRecords::update_mlflow(Outcome& outcome, bool now) {
  constexpr double kFirstPause = 5, kLongest = 300;
  if (!now && pause_ > 0 && std::chrono::steady_clock::now() < not_before_) {
    outcome.problems.push_back(refused_);
    return;
  }
  try {
    outcome.sent =
        sync_mlflow(run_, without_password(targets_.mlflow_uri), targets_.experiment, *store_);
    pause_ = 0;
  } catch (const std::exception& e) {
    pause_ = std::min(kLongest, std::max(kFirstPause, 2 * pause_));
    not_before_ = deadline_in(pause_);
    refused_ = std::string("mlflow: ") + e.what();
    outcome.problems.push_back(refused_);
  }
}

std::vector<fs::path> RunRecords::step_folders() const {
  std::vector<fs::path> out;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(run_, ignored)) {
    if (fs::exists(entry.path() / kJournalFile, ignored)) out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string RunRecords::size_of_journals() const {
  std::string out;
  std::error_code ignored;
  for (const fs::path& folder : step_folders()) {
    out += std::to_string(fs::file_size(folder / kJournalFile, ignored)) + " ";
  }
  const auto changed = fs::last_write_time(run_ / "run.json", ignored);
  return out + std::to_string(changed.time_since_epoch().count());
}

Recorder::Recorder(const fs::path& run, const RecordTargets& targets) {
  if (!targets.any()) return;
  try {
    process_.emplace(std::vector<std::string>{"/proc/self/exe", "records-child"});
    nlohmann::json request = targets.json();
    request["run"] = fs::absolute(run).string();
    process_->write(request.dump() + "\n", deadline_in(1));
  } catch (const Error& e) {
    process_.reset();
    problems_.push_back(std::string("records: ") + e.what());
  }
}

std::vector<std::string> Recorder::finish(const std::function<bool()>& hurry) {
  if (!process_) return std::move(problems_);
  process_->close_input();
  constexpr std::size_t kMost = 1 << 20;
  const auto line = process_->read_line(deadline_in(kEndSeconds + 2), kMost, hurry);
  process_.reset();
  const nlohmann::json said =
      line ? nlohmann::json::parse(*line, nullptr, false) : nlohmann::json();
  if (!said.is_object()) return {"records: not written in time"};
  cpu_seconds_ = said.value("cpu_seconds", 0.0);
  return said.value("problems", std::vector<std::string>());
}

int record_from_input(std::istream& in, std::ostream& out) {
  constexpr int kLookMilliseconds = 2000;
  constexpr int kNice = 10;
  constexpr auto kSlow = std::chrono::seconds(1);
  // It ends with its input, whatever signals a job sends to all of its processes.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGPIPE}) {
    std::signal(signal, SIG_IGN);
  }
  if (::nice(kNice) < 0) errno = 0;  // no matter
  std::string text;
  if (!std::getline(in, text)) return static_cast<int>(ExitCode::kUsage);
  const nlohmann::json request = nlohmann::json::parse(text);
  std::optional<RunRecords> records(std::in_place, request.at("run").get<std::string>(),
                                    RecordTargets::from_json(request), kEndSeconds / 2);
  const auto has_ended = [](int milliseconds) {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    return ::poll(&input, 1, milliseconds) > 0;
  };
  while (true) {
    const bool last = has_ended(kLookMilliseconds);
    const auto before = std::chrono::steady_clock::now();
    const RunRecords::Outcome outcome = records->update(last);
    // A server that did not answer while the run ended is not asked once more.
    const bool failed_slowly =
        !outcome.problems.empty() && std::chrono::steady_clock::now() - before > kSlow;
    if (!last && !(failed_slowly && has_ended(0))) continue;
    records.reset();  // waits for the process that speaks HTTP, and so counts its time
    const nlohmann::json said = {{"problems", outcome.problems}, {"cpu_seconds", cpu_seconds()}};
    out << said.dump(-1, ' ', false, json::error_handler_t::replace) << std::endl;
    return 0;
  }
}

}  // namespace kdgat
