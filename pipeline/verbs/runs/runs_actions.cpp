#include "pipeline/verbs/runs/runs_actions.h"

#include <algorithm>
#include <ostream>

#include "pipeline/run/find_model.h"
#include "pipeline/run/run_figures.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

json figures_json(const std::vector<Figure>& figures) {
  json out = json::array();
  for (const Figure& figure : figures) {
    out.push_back({{"step", figure.model},
                   {"part", figure.part},
                   {"name", figure.name},
                   {"value", figure.value}});
  }
  return out;
}

json steps_json(const RunRecord& run) {
  const auto known = [](double value) { return value < 0 ? json() : json(value); };
  json out = json::array();
  for (const StepRecord& step : run.steps) {
    out.push_back({{"step", step.step},
                   {"stage", step.stage},
                   {"status", step.status},
                   {"reason", step.reason},
                   {"error", step.error},
                   {"run", step.made_by},
                   {"folder", step.folder.string()},
                   {"seconds", known(step.seconds)},
                   {"peak_resident_bytes", known(step.peak_bytes)}});
  }
  return out;
}

json notes_json(const RunRecord& run) {
  json out = json::array();
  for (const RunNote& note : run.labels.notes) {
    out.push_back({{"time", note.time}, {"text", note.text}});
  }
  return out;
}

}  // namespace

json run_json(const RunRecord& run) {
  return {{"id", run.id},
          {"name", run.labels.name},
          {"tags", run.labels.tags},
          {"notes", notes_json(run)},
          {"folder", run.folder.string()},
          {"profile", run.profile},
          {"dataset", run.dataset},
          {"state", run.state},
          {"exit_code", run.exit_code ? json(*run.exit_code) : json()},
          {"started", run.started},
          {"finished", run.finished},
          {"host", run.host},
          {"device", run.device},
          {"threads", run.threads},
          {"cpu", run.cpu},
          {"gpu", run.gpu},
          {"kdgat", run.version},
          {"libtorch", run.libtorch},
          {"git", run.git},
          {"command", run.command},
          {"data", run.data},
          {"requirements", run.requirements.is_array() ? run.requirements : json::array()},
          {"bytes", size_on_disk(run.folder)},
          {"steps", steps_json(run)},
          {"figures", figures_json(figures(run))}};
}

std::vector<RunRecord> read_runs(const std::vector<std::string>& names, const std::string& root,
                                 std::size_t least, const std::string& verb) {
  if (names.size() < least) {
    throw Error(ExitCode::kUsage, verb + (least == 1 ? " needs a run" : " needs two runs or more"),
                "ids, names or folders; kdgat runs list shows them");
  }
  std::vector<RunRecord> runs;
  for (const std::string& name : names) {
    RunRecord run = read_run(find_run(name, root));
    const bool is_there = std::any_of(runs.begin(), runs.end(), [&](const RunRecord& other) {
      return fs::equivalent(other.folder, run.folder);
    });
    if (!is_there) runs.push_back(std::move(run));
  }
  return runs;
}

std::string first_few(const std::vector<std::string>& list) {
  constexpr std::size_t kShown = 5;
  std::string out;
  for (std::size_t i = 0; i < std::min(list.size(), kShown); ++i) {
    out += (i == 0 ? "" : ", ") + list[i];
  }
  if (list.size() > kShown) out += " and " + std::to_string(list.size() - kShown) + " more";
  return out;
}

}  // namespace kdgat
