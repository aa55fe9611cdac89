#include "pipeline/verbs/runs/runs_actions.h"

#include <algorithm>
#include <ostream>

#include "pipeline/run/find_model.h"
#include "pipeline/run/run_figures.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// A figure by which runs are compared.
struct ComparedFigure {
  std::string step, part, name;
  double value = 0;

  static auto keys() {
    using F = ComparedFigure;
    return std::tuple{key("step", &F::step, "whose figure it is"),
                      key("part", &F::part, "of the data; \"\" = the step as a whole"),
                      key("name", &F::name, "of the figure"),
                      key("value", &F::value, "null = not a finite number").or_null()};
  }
};

}  // namespace

json run_json(const RunRecord& run) {
  auto out = record::write<json>(run);
  out["bytes"] = size_on_disk(run.folder);
  std::vector<ComparedFigure> all;
  for (const Figure& figure : figures(run)) {
    all.push_back({figure.model, figure.part, figure.name, figure.value});
  }
  out["figures"] = record::write<json>(all);
  return out;
}

std::string run_json_keys() {
  return record::keys_text<RunRecord>() + "figures[] object numbers by which runs are compared\n" +
         record::keys_text<ComparedFigure>("figures[].");
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
