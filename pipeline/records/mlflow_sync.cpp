#include "pipeline/records/mlflow_sync.h"

#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "kdgat/small_file.h"
#include "pipeline/records/records.h"
#include "pipeline/run/artifacts.h"
#include "pipeline/run/step_config.h"
#include "pipeline/system/json_file.h"
#include "pipeline/system/record.h"
#include "pipeline/system/secrets.h"
#include "pipeline/system/signals.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kStateFile = "mlflow.json";
constexpr const char* kId = "kdgat.id";  ///< tag: by which a run is found again
constexpr const char* kMetricsFile = "metrics.json";

int64_t milliseconds(double unix) { return std::llround(unix * 1000); }

/// As Python writes it: those who read parameters do so from there.
std::string text_of(const json& value) {
  if (value.is_string()) return value;
  if (value.is_boolean()) return value ? "True" : "False";
  if (value.is_null()) return "None";
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// What mlflow.json keeps of a step.
struct SentStep {
  std::string run;           ///< there; "" = not made yet
  bool params = false;       ///< they are there
  std::optional<bool> open;  ///< an attempt was told, and not its end
  double last = 0;
  int64_t offset = 0;
  static auto keys() {
    return std::tuple{key("run", &SentStep::run), key("params", &SentStep::params),
                      key("open", &SentStep::open), key("last", &SentStep::last),
                      key("offset", &SentStep::offset)};
  }
};

/// What mlflow.json keeps of an address.
struct SentRun {
  std::string experiment, experiment_id, run, finished;
  std::map<std::string, SentStep> steps;
  static auto keys() {
    return std::tuple{key("experiment", &SentRun::experiment),
                      key("experiment_id", &SentRun::experiment_id), key("run", &SentRun::run),
                      key("finished", &SentRun::finished), key("steps", &SentRun::steps)};
  }
};
using Sent = std::map<std::string, SentRun>;  ///< by address

struct StepState {
  std::string step, status;
  static auto keys() {
    return std::tuple{key("step", &StepState::step), key("status", &StepState::status)};
  }
};

/// What is told of run.json.
struct RunState {
  std::string started, finished, profile, plan, kdgat, host;
  int exit_code = 1;
  std::vector<StepState> steps;
  static auto keys() {
    return std::tuple{key("started", &RunState::started),     key("finished", &RunState::finished),
                      key("profile", &RunState::profile),     key("plan", &RunState::plan),
                      key("kdgat", &RunState::kdgat),         key("host", &RunState::host),
                      key("exit_code", &RunState::exit_code), key("steps", &RunState::steps)};
  }
};

/// Options of stages that the published program set as tags.
struct TaggedOptions {
  json use_kd;
  std::string teacher_path;
  static auto keys() {
    return std::tuple{key("use_kd", &TaggedOptions::use_kd),
                      key("teacher_path", &TaggedOptions::teacher_path)};
  }
};

/// Every option of a step, and what else it was asked.
MlflowPairs params_of(const StepConfig& config) {
  std::map<std::string, std::string> all;
  for (const auto& [key, value] : config.options.items()) all[key] = text_of(value);
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) all.emplace(key, value);
  };
  add("stage", config.stage);
  add("step", config.step);
  if (!config.seed.is_null()) add("seed", text_of(config.seed));
  add("device", config.device);
  if (config.threads > 0) add("threads", std::to_string(config.threads));
  add("kdgat", config.kdgat);
  return {all.begin(), all.end()};
}

/// "<run>/<step>" of the step a teacher is from, or the path it was named by.
std::string teacher_of(const StepConfig& config, const TaggedOptions& options) {
  const StepInput* const input = config.input("teacher");
  const fs::path path = input == nullptr ? "" : input->path;
  if (!path.empty()) return (path.parent_path().filename() / path.filename()).string();
  return options.teacher_path;
}

std::string status_tag(int code) {
  return code == 0 ? "complete" : is_stop_code(code) ? "interrupted" : "failed";
}
std::string status_word(int code) {
  return code == 0 ? "FINISHED" : is_stop_code(code) ? "KILLED" : "FAILED";
}

std::string content_of(const fs::path& file) {
  std::ifstream in = regular_file(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

class Sync {
 public:
  Sync(const fs::path& run, const std::string& uri, std::string experiment, MlflowStore& store)
      : run_(run),
        id_(run.filename().string()),
        uri_(uri),
        experiment_(std::move(experiment)),
        store_(store),
        told_(record::read<RunState>(read_json(run / "run.json"))) {
    record::read_into(read_json(run / kStateFile), all_);
    state_ = all_[uri_];
    if (!state_.experiment.empty() && state_.experiment != experiment_) state_ = {};
  }

  int64_t go() {
    const bool knew = !state_.experiment_id.empty();
    try {
      return pass();
    } catch (const MlflowRefusal& e) {
      if (!knew || e.code() != ExitCode::kData) throw;
      state_ = {};  // its runs were removed there: once more from the beginning
      return pass();
    }
  }

 private:
  int64_t pass() {
    sent_ = 0;
    fresh_.clear();
    for (const StepState& step : told_.steps) {
      // A kept step is told by the run that made it.
      if (step.status != "kept") sync_step(step.step);
    }
    sync_run();
    return sent_;
  }

  void sync_step(const std::string& name) {
    // run.json may be another's: its names stay below the run.
    if (name.empty() || name == "." || name == ".." || fs::path(name).filename() != name) {
      throw Error(ExitCode::kData,
                  (run_ / "run.json").string() + ": \"" + name + "\" names no step");
    }
    const RecordedStep step(run_ / name);
    SentStep& state = state_.steps[name];
    JournalReader reader(step.journal(), state.offset);
    const std::vector<JournalReader::Line> lines = reader.read();
    if (!lines.empty()) {
      const MlflowRun run = step_run(step, name, lines.front().event, state);
      int64_t begin = state.offset;
      for (const JournalReader::Line& line : lines) {
        add(step, run, line, begin, state);
        begin = line.end;
      }
      flush(run, lines.back().end, state);
    }
    if (state.open.value_or(false) && !is_worked_on(run_)) close_lost(state);
  }

  /// Of a step whose process was killed: no line says that it ended.
  void close_lost(SentStep& state) {
    const MlflowRun run{state_.experiment_id, state.run};
    store_.log(run, {}, {}, {{"status", "failed"}, {"error_msg", "its process was killed"}});
    store_.set_status(run, "KILLED", milliseconds(state.last));
    state.open = false;
    save();
  }

  /// Whatever fails here is done again from `begin` on, so what is said twice without harm (states,
  /// tags, files) comes before the numbers of the same line.
  void add(const RecordedStep& step, const MlflowRun& run, const JournalReader::Line& line,
           int64_t begin, SentStep& state) {
    constexpr std::size_t kMost = 10000;  // then what was sent is noted on disk
    const json& event = line.event;
    state.last = unix_of(event);
    const EventKind kind = kind_of(event);
    if (kind == EventKind::kStart) {
      if (state.open) store_.set_status(run, "RUNNING", 0);  // once more
      store_.log(run, {}, {}, {{"start_time", time_of(event)}, {"status", "running"}});
      state.open = true;
    } else if (kind == EventKind::kEnd) {
      flush(run, begin, state);
      end_step(step, run, event);
      state.open = false;
    }
    for (const Point& point : step.points(event)) {
      fresh_.push_back({point.key, point.value, milliseconds(point.unix), point.step});
    }
    if (fresh_.size() >= kMost) flush(run, line.end, state);
  }

  void end_step(const RecordedStep& step, const MlflowRun& run, const json& event) {
    const EndEvent end = event.get<EndEvent>();
    const int ended = end.code;
    MlflowPairs tags = {{"end_time", time_of(event)}, {"status", status_tag(ended)}};
    const ModelFacts facts = step.facts();
    if (!facts.size.empty()) tags.emplace_back("model_size", facts.size);
    if (!facts.model.empty()) tags.emplace_back("model_arch", facts.model);
    tags.emplace_back("error_msg", ended == 0 ? "" : end.error);
    if (tags.back().second.empty()) tags.pop_back();
    store_.log(run, {}, {}, tags);
    if (const std::string metrics = content_of(step.folder() / kMetricsFile);
        ended == 0 && !metrics.empty()) {
      store_.put_artifact(run, kMetricsFile, metrics);
    }
    store_.set_status(run, status_word(ended), milliseconds(unix_of(event)));
  }

  /// Sends the numbers that wait; the journal up to `offset` is then done with.
  void flush(const MlflowRun& run, int64_t offset, SentStep& state) {
    if (!fresh_.empty()) store_.log(run, fresh_, {}, {});
    sent_ += static_cast<int64_t>(fresh_.size());
    fresh_.clear();
    state.offset = offset;
    save();
  }

  MlflowRun step_run(const RecordedStep& step, const std::string& name, const json& first,
                     SentStep& state) {
    const StepConfig config = read_step_config(step.folder());
    if (state.run.empty()) {
      const std::string parent = run_of_all().id;
      MlflowPairs tags = {{"mlflow.parentRunId", parent},
                          {"stage", config.stage},
                          {"step", name},
                          {"dataset", dataset()}};
      const auto options = record::read<TaggedOptions>(config.options);
      if (!options.use_kd.is_null()) tags.emplace_back("use_kd", text_of(options.use_kd));
      if (const std::string teacher = teacher_of(config, options); !teacher.empty()) {
        tags.emplace_back("teacher_run_id", teacher);
      }
      state.run = made_run(id_ + "/" + name, unix_of(first), std::move(tags));
      save();
    }
    MlflowRun run{state_.experiment_id, state.run};
    if (!state.params) {
      MlflowPairs params = params_of(config);
      params.emplace_back("dataset", dataset());
      try {
        store_.log(run, {}, params, {});
      } catch (const MlflowRefusal& e) {
        // One that differs from an earlier attempt's: the first one's stay, numbers come anyway.
        if (e.code() == ExitCode::kData) throw;
      }
      state.params = true;
      save();
    }
    return run;
  }

  /// The run that stands for all steps.
  MlflowRun run_of_all() {
    if (state_.experiment_id.empty()) {
      state_.experiment = experiment_;
      state_.experiment_id = store_.experiment(experiment_);
    }
    if (state_.run.empty()) {
      const double started = unix_of({{"time", told_.started}});
      state_.run = made_run(id_, started, {{"dataset", dataset()}, {"status", "running"}});
      save();
      const MlflowPairs params = {{"dataset", dataset()},
                                  {"profile", told_.profile},
                                  {"plan", told_.plan},
                                  {"kdgat", told_.kdgat},
                                  {"host", told_.host}};
      try {
        store_.log({state_.experiment_id, state_.run}, {}, params, {});
      } catch (const MlflowRefusal& e) {
        if (e.code() == ExitCode::kData) throw;
      }
    }
    return {state_.experiment_id, state_.run};
  }

  /// One that an earlier process made and did not come to remember, or a new one.
  std::string made_run(const std::string& name, double started, MlflowPairs tags) {
    if (std::string found = store_.find_run(state_.experiment_id, kId, name); !found.empty()) {
      return found;
    }
    tags.insert(tags.begin(), {{kId, name},
                               {"mlflow.runName", name},
                               {"mlflow.source.name", "kdgat"},
                               {"mlflow.source.type", "LOCAL"}});
    return store_.create_run(state_.experiment_id, name, milliseconds(started), tags);
  }

  void sync_run() {
    const std::string& finished = told_.finished;
    if (state_.run.empty() || finished == state_.finished) return;
    const MlflowRun run = run_of_all();
    if (finished.empty()) {
      store_.set_status(run, "RUNNING", 0);
      store_.log(run, {}, {}, {{"status", "running"}});
    } else {
      const int code = told_.exit_code;
      store_.log(run, {}, {}, {{"end_time", finished}, {"status", status_tag(code)}});
      store_.set_status(run, status_word(code), milliseconds(unix_of({{"time", finished}})));
    }
    state_.finished = finished;
    save();
  }

  std::string dataset() const { return fs::absolute(run_).parent_path().filename().string(); }

  void save() {
    all_[uri_] = state_;
    write_guarded(
        run_ / kStateFile,
        record::write<json>(all_).dump(1, ' ', false, json::error_handler_t::replace) + "\n");
  }

  fs::path run_;
  std::string id_, uri_, experiment_;
  MlflowStore& store_;
  RunState told_;
  Sent all_;
  SentRun state_;  ///< of this address
  std::vector<MlflowMetric> fresh_;
  int64_t sent_ = 0;
};

}  // namespace

int64_t sync_mlflow(const fs::path& run, const std::string& uri, const std::string& experiment,
                    MlflowStore& store) {
  return Sync(run, uri, experiment, store).go();
}

}  // namespace kdgat
