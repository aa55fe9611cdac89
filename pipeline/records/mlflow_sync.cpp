#include "pipeline/records/mlflow_sync.h"

#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "kdgat/small_file.h"
#include "pipeline/records/records.h"
#include "pipeline/run/artifacts.h"
#include "pipeline/system/json_file.h"
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

std::string text_at(const json& object, const std::string& place) {
  const json::json_pointer at(place);
  return object.contains(at) && object.at(at).is_string() ? object.at(at).get<std::string>() : "";
}

/// Every key of a step's configuration.
MlflowPairs params_of(const json& config) {
  json all = config.value("options", json::object());
  for (const char* key : {"stage", "step", "seed", "device", "threads", "kdgat"}) {
    if (!all.contains(key) && config.contains(key)) all[key] = config.at(key);
  }
  MlflowPairs out;
  for (const auto& [key, value] : all.items()) out.emplace_back(key, text_of(value));
  return out;
}

/// "<run>/<step>" of the step a teacher is from, or the path it was named by.
std::string teacher_of(const json& config) {
  const fs::path path = text_at(config, "/inputs/teacher/0/path");
  if (!path.empty()) return (path.parent_path().filename() / path.filename()).string();
  return text_at(config, "/options/teacher_path");
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
        all_(read_object(run / kStateFile)),
        document_(read_object(run / "run.json")) {
    state_ = all_.value(uri_, json::object());
    if (state_.value("experiment", experiment_) != experiment_) state_ = json::object();
  }

  int64_t go() {
    const bool knew = !state_.empty();
    try {
      return pass();
    } catch (const MlflowRefusal& e) {
      if (!knew || e.code() != ExitCode::kData) throw;
      state_ = json::object();  // its runs were removed there: once more from the beginning
      return pass();
    }
  }

 private:
  int64_t pass() {
    sent_ = 0;
    fresh_.clear();
    for (const json& step : document_.value("steps", json::array())) {
      // A kept step is told by the run that made it.
      if (step.value("status", "") != "kept") sync_step(step.value("step", ""));
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
    json& state = state_["steps"][name];
    if (state.is_null()) state = json::object();
    JournalReader reader(step.journal(), state.value("offset", int64_t{0}));
    const std::vector<JournalReader::Line> lines = reader.read();
    if (!lines.empty()) {
      const MlflowRun run = step_run(step, name, lines.front().event, state);
      int64_t begin = state.value("offset", int64_t{0});
      for (const JournalReader::Line& line : lines) {
        add(step, run, line, begin, state);
        begin = line.end;
      }
      flush(run, lines.back().end, state);
    }
    if (state.value("open", false) && !is_worked_on(run_)) close_lost(state);
  }

  /// Of a step whose process was killed: no line says that it ended.
  void close_lost(json& state) {
    const MlflowRun run{state_.at("experiment_id"), state.at("run")};
    store_.log(run, {}, {}, {{"status", "failed"}, {"error_msg", "its process was killed"}});
    store_.set_status(run, "KILLED", milliseconds(state.value("last", 0.0)));
    state["open"] = false;
    save();
  }

  /// Whatever fails here is done again from `begin` on, so what is said twice without harm (states,
  /// tags, files) comes before the numbers of the same line.
  void add(const RecordedStep& step, const MlflowRun& run, const JournalReader::Line& line,
           int64_t begin, json& state) {
    constexpr std::size_t kMost = 10000;  // then what was sent is noted on disk
    const json& event = line.event;
    state["last"] = unix_of(event);
    const EventKind kind = kind_of(event);
    if (kind == EventKind::kStart) {
      if (state.contains("open")) store_.set_status(run, "RUNNING", 0);  // once more
      store_.log(run, {}, {}, {{"start_time", time_of(event)}, {"status", "running"}});
      state["open"] = true;
    } else if (kind == EventKind::kEnd) {
      flush(run, begin, state);
      end_step(step, run, event);
      state["open"] = false;
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
    const json facts = step.facts();
    if (const std::string size = text_at(facts, "/size"); !size.empty()) {
      tags.emplace_back("model_size", size);
    }
    if (const std::string model = text_at(facts, "/model"); !model.empty()) {
      tags.emplace_back("model_arch", model);
    }
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
  void flush(const MlflowRun& run, int64_t offset, json& state) {
    if (!fresh_.empty()) store_.log(run, fresh_, {}, {});
    sent_ += static_cast<int64_t>(fresh_.size());
    fresh_.clear();
    state["offset"] = offset;
    save();
  }

  MlflowRun step_run(const RecordedStep& step, const std::string& name, const json& first,
                     json& state) {
    const json config = step.config();
    if (!state.contains("run")) {
      const std::string parent = run_of_all().id;
      MlflowPairs tags = {{"mlflow.parentRunId", parent},
                          {"stage", text_at(config, "/stage")},
                          {"step", name},
                          {"dataset", dataset()}};
      const json options = config.value("options", json::object());
      if (options.contains("use_kd")) tags.emplace_back("use_kd", text_of(options.at("use_kd")));
      if (const std::string teacher = teacher_of(config); !teacher.empty()) {
        tags.emplace_back("teacher_run_id", teacher);
      }
      state["run"] = made_run(id_ + "/" + name, unix_of(first), std::move(tags));
      save();
    }
    MlflowRun run{state_.at("experiment_id"), state.at("run")};
    if (!state.value("params", false)) {
      MlflowPairs params = params_of(config);
      params.emplace_back("dataset", dataset());
      try {
        store_.log(run, {}, params, {});
      } catch (const MlflowRefusal& e) {
        // One that differs from an earlier attempt's: the first one's stay, numbers come anyway.
        if (e.code() == ExitCode::kData) throw;
      }
      state["params"] = true;
      save();
    }
    return run;
  }

  /// The run that stands for all steps.
  MlflowRun run_of_all() {
    if (!state_.contains("experiment_id")) {
      state_["experiment"] = experiment_;
      state_["experiment_id"] = store_.experiment(experiment_);
    }
    if (!state_.contains("run")) {
      const double started = unix_of({{"time", text_at(document_, "/started")}});
      state_["run"] = made_run(id_, started, {{"dataset", dataset()}, {"status", "running"}});
      save();
      MlflowPairs params = {{"dataset", dataset()}};
      for (const char* key : {"profile", "plan", "kdgat", "host"}) {
        params.emplace_back(key, text_at(document_, std::string("/") + key));
      }
      try {
        store_.log({state_.at("experiment_id"), state_.at("run")}, {}, params, {});
      } catch (const MlflowRefusal& e) {
        if (e.code() == ExitCode::kData) throw;
      }
    }
    return {state_.at("experiment_id"), state_.at("run")};
  }

  /// One that an earlier process made and did not come to remember, or a new one.
  std::string made_run(const std::string& name, double started, MlflowPairs tags) {
    const std::string experiment = state_.at("experiment_id");
    if (std::string found = store_.find_run(experiment, kId, name); !found.empty()) return found;
    tags.insert(tags.begin(), {{kId, name},
                               {"mlflow.runName", name},
                               {"mlflow.source.name", "kdgat"},
                               {"mlflow.source.type", "LOCAL"}});
    return store_.create_run(experiment, name, milliseconds(started), tags);
  }

  void sync_run() {
    const std::string finished = text_at(document_, "/finished");
    if (!state_.contains("run") || finished == state_.value("finished", "")) return;
    const MlflowRun run = run_of_all();
    if (finished.empty()) {
      store_.set_status(run, "RUNNING", 0);
      store_.log(run, {}, {}, {{"status", "running"}});
    } else {
      const int code = document_.value("exit_code", 1);
      store_.log(run, {}, {}, {{"end_time", finished}, {"status", status_tag(code)}});
      store_.set_status(run, status_word(code), milliseconds(unix_of({{"time", finished}})));
    }
    state_["finished"] = finished;
    save();
  }

  std::string dataset() const { return fs::absolute(run_).parent_path().filename().string(); }

  void save() {
    all_[uri_] = state_;
    write_guarded(run_ / kStateFile,
                  all_.dump(1, ' ', false, json::error_handler_t::replace) + "\n");
  }

  fs::path run_;
  std::string id_, uri_, experiment_;
  MlflowStore& store_;
  json all_;       ///< the state of every address
  json document_;  ///< run.json
  json state_;     ///< of this address
  std::vector<MlflowMetric> fresh_;
  int64_t sent_ = 0;
};

}  // namespace

int64_t sync_mlflow(const fs::path& run, const std::string& uri, const std::string& experiment,
                    MlflowStore& store) {
  return Sync(run, uri, experiment, store).go();
}

}  // namespace kdgat
