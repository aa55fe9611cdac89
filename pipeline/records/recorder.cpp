#include "pipeline/records/recorder.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <istream>
#include <ostream>

#include "kdgat/error.h"
#include "kdgat/exact_json.h"
#include "pipeline/records/record_files.h"
#include "pipeline/run/journal.h"
#include "pipeline/run/run_lock.h"
#include "pipeline/system/json_file.h"
#include "pipeline/system/record.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// What a run waits at its end for the last numbers to be sent; a request may take half of it.
constexpr double kEndSeconds = 10;
/// What is waited for another process that writes the same records.
constexpr double kLockSeconds = 5;

/// What the process of the records is told.
struct RecordOrder {
  fs::path run;
  RecordTargets targets;
  static auto keys() {
    return std::tuple{key("run", &RecordOrder::run), key("targets", &RecordOrder::targets)};
  }
};

/// What it says at its end.
struct RecordReport {
  std::vector<std::string> problems;
  double cpu_seconds = 0;
  static auto keys() {
    return std::tuple{key("problems", &RecordReport::problems),
                      key("cpu_seconds", &RecordReport::cpu_seconds)};
  }
};

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

}  // namespace

RunRecords::RunRecords(const fs::path& run, const RecordTargets& targets, double seconds)
    : run_(fs::absolute(run).lexically_normal()) {
  if (!run_.has_filename()) run_ = run_.parent_path();
  for (const SinkKind& kind : sink_kinds()) {
    if (auto sink = kind.make(run_, targets, seconds)) {
      sinks_.push_back({kind.label, std::move(sink)});
    }
  }
}

RunRecords::Outcome RunRecords::update(bool now) {
  Outcome outcome;
  const std::string sizes = size_of_journals();
  if (sizes == done_) return outcome;
  if (!lock(now ? kLockSeconds : 0)) {
    if (now) outcome.problems.push_back({"", "records: another process is at them", ""});
    return outcome;
  }
  for (const Sink& one : sinks_) {
    try {
      outcome.sent += now ? one.sink->finish() : one.sink->update();
    } catch (const nlohmann::json::exception&) {
      outcome.problems.push_back(
          {"", one.label + ": run.json or a journal holds what kdgat does not write", ""});
    } catch (const Error& e) {
      for (const Diagnostic& d : e.diagnostics()) {
        outcome.problems.push_back(
            {"", one.label + ": " + Diagnostic{d.where, d.message, ""}.text(), d.hint});
      }
    } catch (const std::exception& e) {
      outcome.problems.push_back({"", one.label + ": " + e.what(), ""});
    }
  }
  lock_.reset();
  if (outcome.problems.empty()) done_ = sizes;
  return outcome;
}

bool RunRecords::lock(double seconds) {
  constexpr useconds_t kLook = 20'000;
  const fs::path path = run_ / kRecordsLock;
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

std::string RunRecords::size_of_journals() const {
  std::string out;
  std::error_code ignored;
  for (const fs::path& folder : recorded_steps(run_)) {
    out += std::to_string(fs::file_size(folder / kJournalFile, ignored)) + " ";
  }
  const auto changed = fs::last_write_time(run_ / "run.json", ignored);
  return out + std::to_string(changed.time_since_epoch().count());
}

Recorder::Recorder(const fs::path& run, const RecordTargets& targets) {
  if (!targets.any()) return;
  try {
    process_.emplace(std::vector<std::string>{"/proc/self/exe", "records-child"});
    const json order = record::write<json>(RecordOrder{fs::absolute(run), targets});
    process_->write(exact_dump(order) + "\n", deadline_in(1));
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
  const json said = line ? json::parse(*line, nullptr, false) : json();
  if (!said.is_object()) return {"records: not written in time"};
  RecordReport report = record::read<RecordReport>(said);
  cpu_seconds_ = report.cpu_seconds;
  return std::move(report.problems);
}

int record_from_input(std::istream& in, std::ostream& out) {
  constexpr int kLookMilliseconds = 2000;
  constexpr int kNice = 10;
  constexpr auto kSlow = std::chrono::seconds(1);
  // It ends with its input, whatever signals a job sends to all of its processes.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGPIPE}) {
    std::signal(signal, SIG_IGN);
  }
  if (::nice(kNice) < 0) errno = 0;  // no matter
  std::string text;
  if (!std::getline(in, text)) return static_cast<int>(ExitCode::kUsage);
  const auto order = record::read<RecordOrder>(exact_parse(text));
  RunRecords records(order.run, order.targets, kEndSeconds / 2);
  const auto has_ended = [](int milliseconds) {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    return ::poll(&input, 1, milliseconds) > 0;
  };
  while (true) {
    const bool last = has_ended(kLookMilliseconds);
    const auto before = std::chrono::steady_clock::now();
    const RunRecords::Outcome outcome = records.update(last);
    // A server that did not answer while the run ended is not asked once more.
    const bool failed_slowly =
        !outcome.problems.empty() && std::chrono::steady_clock::now() - before > kSlow;
    if (!last && !(failed_slowly && has_ended(0))) continue;
    RecordReport report{{}, cpu_seconds()};
    for (const Diagnostic& one : outcome.problems) report.problems.push_back(one.text());
    out << record::write<json>(report).dump(-1, ' ', false, json::error_handler_t::replace)
        << std::endl;
    return 0;
  }
}

}  // namespace kdgat
