#include "pipeline/execute/ranks.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>
#include <vector>

#include "kdgat/atomic_file.h"
#include "kdgat/event.h"
#include "kdgat/exact_json.h"
#include "kdgat/stage.h"
#include "pipeline/system/json_file.h"
#include "pipeline/system/log.h"
#include "pipeline/system/record.h"
#include "pipeline/system/signals.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kRankPollMilliseconds = 10;
/// What a process whose others have ended may take to say why it ends, too.
constexpr double kGraceSeconds = 10;
/// Between two signs of life of the first program; without one for so long it is gone.
constexpr std::chrono::seconds kBeat{1};
constexpr double kSilenceSeconds = 60;
/// How long the others wait for the first to begin.
constexpr double kPatienceSeconds = 600;

std::string name_of(int rank, int world) {
  return "rank " + std::to_string(rank) + " of " + std::to_string(world);
}

/// The call as it is for one of several processes.
StageCall call_of_rank(StageCall call, int rank, int world, const std::string& store) {
  call.request["ranks"] = {{"rank", rank}, {"world", world}, {"store", store}};
  return call;
}

/// What of a request changes from rank to rank.
struct RankRequest {
  std::string device;
  MemoryRequest memory;
  static auto keys() {
    return std::tuple{key("device", &RankRequest::device), key("memory", &RankRequest::memory)};
  }
};

/// "cuda" becomes the device of this process.
void choose_device(StageCall& call, int local_rank) {
  if (record::read<RankRequest>(call.request).device == "cuda") {
    call.request["device"] = "cuda:" + std::to_string(local_rank);
  }
}

/// A message of a process that has no place of its own in the records.
void pass_on(const json& event, int rank, const OnEvent& on_event) {
  LogEvent log = event.get<LogEvent>();
  if (kind_of(event) != EventKind::kLog || log.level == "info") return;
  log.message.insert(0, "rank " + std::to_string(rank) + ": ");
  on_event(log, 0);
}

/// The processes of one stage on this machine.
class LocalRanks {
 public:
  LocalRanks(const StageCall& call, const fs::path& folder, const ProcessSettings& settings,
             int world, uint64_t memory)
      : folder_(folder), world_(world), clock_(steady_clock()) {
    const std::string store = (folder / ".meeting").string();
    fs::remove(store);
    for (int rank = 0; rank < world; ++rank) {
      StageCall own = call_of_rank(call, rank, world, "file:" + store);
      const auto asked = record::read<RankRequest>(own.request);
      const bool is_cpu = asked.device == "cpu";
      own.request["memory"]["limit"] = asked.memory.limit == 0 && !is_cpu
                                           ? 0
                                           : static_cast<int64_t>(memory) / (is_cpu ? world : 1);
      choose_device(own, rank);
      if (rank > 0) {
        fs::create_directories(scratch(rank));
        own.request["run_dir"] = fs::absolute(scratch(rank)).string();
      }
      const OwnedFd request = memory_file(exact_dump(own.to_json()));
      processes_.push_back(
          std::make_unique<StageProcess>(own, request.get(), folder / "log.txt", settings));
    }
  }

  ~LocalRanks() {
    processes_.clear();  // kills what still runs
    std::error_code ignored;
    for (int rank = 1; rank < world_; ++rank) fs::remove_all(scratch(rank), ignored);
    fs::remove(folder_ / ".meeting", ignored);
  }
  LocalRanks(const LocalRanks&) = delete;
  LocalRanks& operator=(const LocalRanks&) = delete;

  StepOutcome run(const OnEvent& on_event) {
    while (!all_ended()) {
      for (int rank = 0; rank < world_; ++rank) poll(rank, on_event);
      if (deadline_ > 0 && clock_() > deadline_) {
        for (const auto& process : processes_) {
          if (!process->has_ended()) process->kill();
        }
      }
    }
    return outcome();
  }

 private:
  fs::path scratch(int rank) const { return folder_ / (".rank" + std::to_string(rank)); }

  bool all_ended() const {
    return std::all_of(processes_.begin(), processes_.end(),
                       [](const auto& process) { return process->has_ended(); });
  }

  void poll(int rank, const OnEvent& on_event) {
    StageProcess& process = *processes_[static_cast<std::size_t>(rank)];
    if (process.has_ended()) return;
    process.forward_signals();
    const bool is_alive =
        process.poll(kRankPollMilliseconds / world_ + 1, [&](const json& event, uint64_t memory) {
          if (rank == 0) return on_event(event, memory);
          pass_on(event, rank, on_event);
        });
    if (is_alive) return;
    const bool is_failure = process.outcome().answer.code != 0;
    // The first to fail is the cause; one that died says nothing, while its others may be quicker.
    const bool was_killed = deadline_ > 0 && clock_() > deadline_;
    if (is_failure && !was_killed && (cause_ < 0 || (is_dead(rank) && !is_dead(cause_)))) {
      cause_ = rank;
    }
    if (deadline_ == 0 && (is_failure || rank == 0)) deadline_ = clock_() + kGraceSeconds;
  }

  bool is_dead(int rank) const {
    return !processes_[static_cast<std::size_t>(rank)]->has_answered();
  }

  StepOutcome outcome() const {
    StepOutcome first = processes_.front()->outcome();
    if (first.answer.code == 0 || is_stop_code(first.answer.code) || cause_ <= 0) return first;
    const StageAnswer cause = processes_[static_cast<std::size_t>(cause_)]->outcome().answer;
    first.answer.code = cause.code;
    first.answer.diagnostics = cause.diagnostics;
    for (Diagnostic& d : first.answer.diagnostics) {
      d.message = name_of(cause_, world_) + ": " + d.message;
      if (d.hint.empty()) d.hint = "kdgat run continues from the last checkpoint";
    }
    return first;
  }

  fs::path folder_;
  int world_;
  Clock clock_;
  std::vector<std::unique_ptr<StageProcess>> processes_;
  int cause_ = -1;
  double deadline_ = 0;  ///< when those that still run are killed; 0 = not yet
};

/// Folders of earlier starts that came to their end an hour ago.
void remove_old(const fs::path& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const fs::path end = entry.path() / "end";
    if (!fs::exists(end, ignored)) continue;
    if (fs::file_time_type::clock::now() - fs::last_write_time(end, ignored) <
        std::chrono::hours(1)) {
      continue;
    }
    fs::remove_all(entry.path(), ignored);
  }
}

int number_in(const std::string& name, const char* text) {
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  if (end == text || *end != '\0' || value < 0 || value > 1 << 20) {
    throw Error(ExitCode::kUsage, "the environment's " + name + "=" + text + " is not a number");
  }
  return static_cast<int>(value);
}

}  // namespace

std::string first_host(const std::string& nodes) {
  const std::size_t bracket = nodes.find('[');
  const std::size_t comma = nodes.find(',');
  if (bracket == std::string::npos || comma < bracket) return nodes.substr(0, comma);
  const std::string inside = nodes.substr(bracket + 1);
  return nodes.substr(0, bracket) + inside.substr(0, inside.find_first_of(",-]"));
}

Place place_of(const std::function<const char*(const char*)>& variable) {
  const auto text = [&](const char* name) {
    const char* value = variable(name);
    return std::string(value == nullptr ? "" : value);
  };
  const auto number = [&](const char* name, int otherwise) {
    const char* value = variable(name);
    return value == nullptr ? otherwise : number_in(name, value);
  };
  Place out;
  std::string host = text("MASTER_ADDR");
  std::string port = text("MASTER_PORT");
  if (variable("RANK") != nullptr && variable("WORLD_SIZE") != nullptr) {
    out.world = number("WORLD_SIZE", 1);
    out.rank = number("RANK", 0);
    out.local_rank = number("LOCAL_RANK", out.rank);
    if (out.world > 1 && (host.empty() || port.empty())) {
      throw Error(ExitCode::kUsage,
                  "WORLD_SIZE=" + std::to_string(out.world) +
                      ", and MASTER_ADDR and MASTER_PORT do not say where the first process is",
                  "unset RANK and WORLD_SIZE to run in one process");
    }
    out.name = host + "-" + port + "-" + text("TORCHELASTIC_RUN_ID");
  } else if (variable("SLURM_STEP_ID") != nullptr && variable("SLURM_STEP_NUM_TASKS") != nullptr) {
    out.world = number("SLURM_STEP_NUM_TASKS", 1);
    out.rank = number("SLURM_PROCID", 0);
    out.local_rank = number("SLURM_LOCALID", out.rank);
    const int job = number("SLURM_JOB_ID", 0), step = number("SLURM_STEP_ID", 0);
    if (host.empty()) host = first_host(text("SLURM_STEP_NODELIST"));
    if (host.empty()) host = "127.0.0.1";
    // Of jobs that share a node each has a port of its own.
    constexpr int kFirstPort = 20000, kPorts = 10000;
    if (port.empty()) port = std::to_string(kFirstPort + (job * 7 + step) % kPorts);
    out.name = "slurm-" + std::to_string(job) + "-" + std::to_string(step) + "-" +
               std::to_string(number("SLURM_RESTART_COUNT", 0));
  }
  if (out.world < 1 || out.rank >= out.world) {
    throw Error(ExitCode::kUsage, "the environment names " + name_of(out.rank, out.world));
  }
  out.address = host + ":" + port;
  return out;
}

Execute execute_in_ranks(const ProcessSettings& settings, int processes, uint64_t memory,
                         const PluginCatalog& catalog) {
  const Execute alone = execute_in_child(settings);
  return [=, &catalog](const StageCall& call, const StepFolder& folder, const OnEvent& on_event) {
    const PluginDescription* plugin = catalog.find(call.plugin.name);
    if (processes == 1 || plugin == nullptr || !plugin->trains_in_ranks) {
      return alone(call, folder, on_event);
    }
    return LocalRanks(call, folder.path(), settings, processes, memory).run(on_event);
  };
}

Gathering::Gathering(const fs::path& dataset_root, Place place)
    : folder_(fs::absolute(dataset_root) / ".ranks" / place.name), place_(std::move(place)) {
  if (!is_first()) return;
  remove_old(folder_.parent_path());
  fs::remove_all(folder_);
  fs::create_directories(folder_);
  heart_ = std::thread([this] { beat(); });
}

Gathering::~Gathering() {
  if (!is_first()) return;
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
  }
  ended_.notify_all();
  heart_.join();
}

/// Files appear whole, and the last one says that no other will.
void Gathering::beat() {
  std::unique_lock lock(mutex_);
  for (int64_t count = 0; !has_ended_; ++count) {
    try {
      write_file(folder_ / "alive", std::to_string(count));
    } catch (const Error&) {
      // A full disk fails where results are written; the others then see no sign of life.
    }
    ended_.wait_for(lock, kBeat);
  }
  try {
    write_file(folder_ / "end", "");
  } catch (const Error&) {
    return;
  }
}

/// What the others said of why they ended in a call.
std::string Gathering::failures(int call) const {
  std::string out;
  for (int rank = 1; rank < place_.world; ++rank) {
    const fs::path file = folder_ / ("failed-" + std::to_string(call) + "-" + std::to_string(rank));
    std::string text = last_lines(file, 5);
    if (!text.empty()) out += "\n" + name_of(rank, place_.world) + ": " + text;
  }
  return out;
}

Execute Gathering::lead(const ProcessSettings& settings, const PluginCatalog& catalog) {
  const Execute alone = execute_in_child(settings);
  return [=, this, &catalog](const StageCall& call, const StepFolder& folder,
                             const OnEvent& on_event) {
    const PluginDescription* plugin = catalog.find(call.plugin.name);
    if (plugin == nullptr || !plugin->trains_in_ranks) return alone(call, folder, on_event);
    const int number = calls_++;
    write_file(folder_ / ("call-" + std::to_string(number)), exact_dump(call.to_json()));
    StageCall own = call_of_rank(call, 0, place_.world, place_.address);
    choose_device(own, place_.local_rank);
    const OwnedFd request = memory_file(exact_dump(own.to_json()));
    StageProcess process(own, request.get(), folder.path() / "log.txt", settings);
    StepOutcome outcome = supervise(process, on_event);
    if (outcome.answer.code != 0 && !is_stop_code(outcome.answer.code)) {
      ::sleep(1);  // the others end for the same reason, or are the reason
      if (const std::string others = failures(number); !others.empty()) {
        outcome.answer.diagnostics.push_back({"", "the other processes:" + others, ""});
      }
    }
    return outcome;
  };
}

int Gathering::follow(const ProcessSettings& settings) {
  const Clock clock = steady_clock();
  const double started = clock();
  double heard = 0;  // 0 = never: what lies there may be of an earlier start
  std::string beats = last_lines(folder_ / "alive", 1);
  for (;;) {
    if (const int code = pending_signal(); code != 0) return code;
    if (const std::string now = last_lines(folder_ / "alive", 1); now != beats && !now.empty()) {
      beats = now;
      heard = clock();
    }
    const double silence = heard > 0 ? clock() - heard : 0;
    if (silence > kSilenceSeconds || (heard == 0 && clock() - started > kPatienceSeconds)) {
      throw Error(ExitCode::kStageFailed,
                  name_of(place_.rank, place_.world) + ": the first process gives no sign of life",
                  "all processes must see the same folder " + folder_.string());
    }
    const fs::path file = folder_ / ("call-" + std::to_string(calls_));
    if (heard == 0 || (!fs::exists(file) && !fs::exists(folder_ / "end"))) {
      ::usleep(100000);
      continue;
    }
    if (!fs::exists(file)) return 0;
    json written = load_object(file);
    restore_exact(written);
    StageCall call =
        call_of_rank(StageCall::from_json(written), place_.rank, place_.world, place_.address);
    choose_device(call, place_.local_rank);
    const fs::path scratch = folder_ / ("rank" + std::to_string(place_.rank));
    fs::remove_all(scratch);
    fs::create_directories(scratch);
    call.request["run_dir"] = scratch.string();
    const OwnedFd request = memory_file(exact_dump(call.to_json()));
    StageProcess process(call, request.get(), "", settings);
    const StageAnswer answer = supervise(process, [](const json&, uint64_t) {}).answer;
    if (answer.code != 0 && !is_stop_code(answer.code)) {
      std::string text;
      for (const Diagnostic& d : answer.diagnostics) text += d.text() + "\n";
      write_file(folder_ / ("failed-" + std::to_string(calls_) + "-" + std::to_string(place_.rank)),
                 text);
    }
    ++calls_;
  }
}

}  // namespace kdgat
