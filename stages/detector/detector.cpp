#include "detector/detector.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "detector/detector_memory.h"
#include "detector/figures.h"
#include "detector/sentences.h"
#include "detector/training.h"
#include "engine/compare/judging.h"
#include "engine/compare/pictures.h"
#include "engine/data/core/graph_domain.h"
#include "engine/graph/graph_store.h"
#include "engine/memory/meter.h"
#include "kdgat/atomic_file.h"

namespace kdgat::detector {
namespace {

using nlohmann::json;

void stop_if_cancelled(const Host& host) {
  const ExitCode code = host.cancelled();
  if (code != ExitCode::kOk) {
    throw Error(code, "stopped while training or judging",
                "a detector keeps no checkpoint: it starts again");
  }
}

std::optional<compare::Baselines> fit_baselines(const std::vector<data::StoredLog>& training,
                                                const DetectorOptions& options,
                                                const Request& request, const Host& host) {
  if (!options.baselines) return {};
  compare::BaselineOptions how;
  how.window = options.window;
  how.own_seconds = options.own_seconds;
  how.seed = request.seed;
  how.threads = request.threads;
  return compare::Baselines::fit(training, how, [&] { stop_if_cancelled(host); });
}

/// Takes out the logs that are for validation; what is to be said of them, "" where there is none.
std::string take_validation_logs(std::vector<data::StoredLog>& logs) {
  const auto first = std::stable_partition(
      logs.begin(), logs.end(), [](const data::StoredLog& log) { return !log.validates(); });
  if (first == logs.end()) return "";
  std::string sentence = data::counted(std::distance(first, logs.end()), "log") +
                         " for validation not used, the first is " + first->name() +
                         ": a detector needs none; in a folder named test they are scored";
  logs.erase(first, logs.end());
  return sentence;
}

constexpr const char* kNetwork = "network";

/// The network in the place of the trees, where the step has one.
NetworkSource network_of(const Request& request, const graph::GraphStore& store,
                         const DetectorOptions& options) {
  namespace fs = std::filesystem;
  const auto given = request.inputs.find(kNetwork);
  if (given == request.inputs.end() || given->second.empty()) return {};
  const fs::path made = given->second.front().path;
  const fs::path file = fs::is_directory(made) ? made / kModelFile : made;
  NetworkSource out{decision::RelativeNetwork::read(file), {}};
  if (out.network->window() != options.window) {
    throw Error(ExitCode::kUsage,
                file.string() + ": a network of windows of " +
                    std::to_string(out.network->window()) + " frames, the detector's have " +
                    std::to_string(options.window),
                "give both the same window");
  }
  const fs::path folder = request.input("graphs").path;
  out.held_out = HeldOutWindows(store, graph::load_split(folder / data::kSplitName, store));
  return out;
}

/// Distinct ones, where the store says.
int64_t ids_of(const graph::GraphStore& store) {
  return store.ids() == nullptr ? static_cast<int64_t>(data::ProfileBuilder::kMostIds)
                                : store.ids()->count();
}

}  // namespace

StageInfo Detector::info() {
  StageInfo out;
  out.name = "detector";
  out.version = 10;  // it says which frames were injected
  out.summary =
      "Learn what is usual on a vehicle's bus, detect attacks on it, at a budget of false windows.";
  out.inputs = {graphs_of("can"), {kNetwork, kind::kClassifier, /*required=*/false}};
  out.outputs = {{"detector", kind::kModel}, {"channel", kind::kData}};
  out.speaks = 5;
  out.model_file = decision::kDetectorFile;
  return out;
}

json Detector::plan(const Options& options, const Request& request) {
  json out = {{"figures", kFigures}};
  const Input& graphs = request.input("graphs");
  if (graphs.facts.empty()) return out;
  out["model"] = "detector";
  out["size"] = std::to_string(options.trees) + " trees";
  if (graphs.path.empty()) return out;
  const graph::GraphStore store = graph::GraphStore::open(graphs.path / data::kStoreName);
  // Of a store without frames run() has more to say.
  if (store.frames() == nullptr) return out;
  std::vector<data::StoredLog> logs = data::stored_logs(store);
  take_validation_logs(logs);
  out["memory"] = planned_memory(logs, ids_of(store), options, request);
  return out;
}

StageResult Detector::run(const Options& options, const Request& request, Host& host) {
  const graph::GraphStore store = graph::GraphStore::open(
      std::filesystem::path(request.input("graphs").path) / data::kStoreName);
  const int64_t context = memory::anonymous_memory();
  std::vector<data::StoredLog> logs = data::stored_logs(store), training, tests;
  const NetworkSource network = network_of(request, store, options);
  // By those for validation the thresholds of a network are chosen.
  const std::string unused = network ? "" : take_validation_logs(logs);
  json planned = planned_memory(logs, ids_of(store), options, request);
  host.metrics("memory", 0, {{"event", "plan"}, {"plan", planned}});
  host.log("info", planned.at("line"));
  for (data::StoredLog& log : logs) {
    if (options.monotonic) log.make_monotonic();
    (log.trains() || log.validates() ? training : tests).push_back(log);
  }
  if (training.empty()) throw Error(ExitCode::kData, "the data has no training log");
  for (const data::StoredLog& log : logs) {
    for (const std::string& sentence : log.problems()) host.log("warning", sentence);
  }
  std::vector<std::string> warnings;
  const auto warn = [&](std::string sentence) {
    if (sentence.empty()) return;
    host.log("warning", sentence);
    warnings.push_back(std::move(sentence));
  };
  warn(unused);
  warn(sentence_of_unlabelled(training));
  const auto progress = [&](const std::string& phase, double share) {
    stop_if_cancelled(host);
    constexpr int64_t kWhole = 100;
    host.progress(phase, "%", static_cast<int64_t>(share * kWhole), kWhole);
  };
  const TrainedDetector trained =
      train_detector(training, options, request.seed, request.threads,
                     {progress, [&](const std::string& text) { host.log("note", text); }}, network);
  stop_if_cancelled(host);
  const decision::DetectorModel& model = trained.model;
  for (const std::string& sentence : trained.not_learned) warn(sentence);
  warn(sentence_of_odd_benign(trained.left_out, model));
  model.write(request.run_dir / decision::kDetectorFile);
  const std::optional<compare::Baselines> baselines =
      fit_baselines(training, options, request, host);
  std::vector<compare::JudgedLog> judged;
  for (const data::StoredLog& log : tests) {
    stop_if_cancelled(host);
    host.progress("test", "log", static_cast<int64_t>(judged.size()),
                  static_cast<int64_t>(tests.size()));
    try {
      judged.push_back(compare::judge(log, model, baselines ? &*baselines : nullptr));
    } catch (const Error& error) {
      if (error.code() != ExitCode::kData) throw;
      host.log("warning", error.diagnostics().front().message);
    }
  }
  write_windows(judged, request.run_dir / "windows.csv");
  const compare::Comparison comparison(judged, {compare::kDetector}, data::same_content(logs));
  write_file(request.run_dir / compare::kPicturesFile,
             Host::dump(compare::pictures_of(judged, comparison)) + "\n");
  for (const std::string& sentence : comparison.notes()) host.log("warning", sentence);
  for (const std::string& sentence : comparison.shortfalls()) host.log("warning", sentence);
  StageResult out = result_of(request.step, trained, comparison);
  if (!warnings.empty()) out.metrics["warnings"] = warnings;
  out.memory = {{"planned", std::move(planned)}, {"actual", {{"context_bytes", context}}}};
  return out;
}

}  // namespace kdgat::detector
