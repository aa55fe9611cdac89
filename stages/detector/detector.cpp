#include "detector/detector.h"

#include <optional>
#include <string>
#include <utility>

#include "data/graph_domain.h"
#include "detector/figures.h"
#include "detector/judging.h"
#include "detector/pictures.h"
#include "detector/training.h"
#include "graph/graph_store.h"
#include "kdgat/atomic_file.h"

namespace kdgat::detector {
namespace {

using nlohmann::json;

constexpr double kValFraction = 0.2;  // of a log, at its end, for the thresholds of baselines

void stop_if_cancelled(const Host& host) {
  const ExitCode code = host.cancelled();
  if (code != ExitCode::kOk) {
    throw Error(code, "stopped while training or judging",
                "a detector keeps no checkpoint: it starts again");
  }
}

std::optional<Baselines> fit_baselines(const std::vector<Log>& training,
                                       const DetectorOptions& options, const Request& request,
                                       const Host& host) {
  if (!options.baselines) return {};
  return Baselines::fit(
      training, {options.window, kValFraction, options.own_windows, request.seed, request.threads},
      [&] { stop_if_cancelled(host); });
}

}  // namespace

StageInfo Detector::info() {
  StageInfo out;
  out.name = "detector";
  out.version = 2;  // baselines, suspects, figures by kind of attack
  out.summary =
      "Learn what is usual on a vehicle's bus, detect attacks on it, at a budget of false alarms.";
  out.inputs = {graphs_of("can")};
  out.outputs = {{"detector", kind::kModel}};
  out.speaks = 5;
  out.model_file = kDetectorFile;
  return out;
}

json Detector::plan(const Options& options, const Request& request) {
  json out = {{"figures", kFigures}};
  if (request.input("graphs").facts.empty()) return out;
  out["model"] = "detector";
  out["size"] = std::to_string(options.trees) + " trees";
  return out;
}

StageResult Detector::run(const Options& options, const Request& request, Host& host) {
  const graph::GraphStore store = graph::GraphStore::open(
      std::filesystem::path(request.input("graphs").path) / graph::kStoreName);
  std::vector<Log> logs = logs_of(store), training, tests;
  for (Log& log : logs) {
    if (options.monotonic) log.make_monotonic();
    (log.trains() ? training : tests).push_back(log);
  }
  if (training.empty()) throw Error(ExitCode::kData, "the data has no training log");
  for (const Log& log : logs) {
    for (const std::string& sentence : log.problems()) host.log("warning", sentence);
  }
  const auto progress = [&](const std::string& phase, double share) {
    stop_if_cancelled(host);
    constexpr int64_t kWhole = 100;
    host.progress(phase, "%", static_cast<int64_t>(share * kWhole), kWhole);
  };
  const TrainedDetector trained =
      train_detector(training, options, request.seed, request.threads,
                     {progress, [&](const std::string& text) { host.log("note", text); }});
  stop_if_cancelled(host);
  const DetectorModel& model = trained.model;
  model.write(request.run_dir / kDetectorFile);
  const std::optional<Baselines> baselines = fit_baselines(training, options, request, host);
  std::vector<JudgedLog> judged;
  for (const Log& log : tests) {
    stop_if_cancelled(host);
    host.progress("test", "log", static_cast<int64_t>(judged.size()),
                  static_cast<int64_t>(tests.size()));
    try {
      judged.push_back(judge(log, model, options.own_windows, baselines ? &*baselines : nullptr));
    } catch (const Error& error) {
      if (error.code() != ExitCode::kData) throw;
      host.log("warning", error.diagnostics().front().message);
    }
  }
  write_windows(judged, request.run_dir / "windows.csv");
  const Comparison comparison(judged, {kDetector}, same_content(logs));
  write_file(request.run_dir / kPicturesFile, pictures_of(judged, comparison).dump() + "\n");
  for (const std::string& sentence : comparison.notes()) host.log("warning", sentence);
  for (const std::string& sentence : comparison.shortfalls()) host.log("warning", sentence);
  return result_of(request.step, trained, comparison);
}

}  // namespace kdgat::detector
