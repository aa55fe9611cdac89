#include "pipeline/execute/frozen_run.h"

#include <algorithm>

#include "kdgat/exact_json.h"
#include "pipeline/run/artifacts.h"
#include "pipeline/system/json_file.h"
#include "pipeline/system/program.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kVersion = 1;  // of the file's form

json step_json(const PlannedStep& step) {
  const StepSpec& spec = step.spec;
  json out = {{"step", spec.name},
              {"stage", spec.stage},
              {"where", spec.where},
              {"options", spec.options.values},
              {"origin", spec.options.origin},
              {"needs", step.needs},
              {"inputs", step.inputs},
              {"fingerprint", step.fingerprint},
              {"ingredients", step.ingredients},
              {"reason", step.reason}};
  if (spec.allocator) out["allocator"] = *spec.allocator;
  if (step.kept) out["kept"] = {{"run", step.kept->run}, {"folder", step.kept->folder.string()}};
  return out;
}

PlannedStep read_step(const json& in) {
  PlannedStep step;
  step.spec.name = in.at("step");
  step.spec.stage = in.at("stage");
  step.spec.where = in.at("where");
  step.spec.options.values = in.at("options");
  step.spec.options.origin = in.at("origin").get<std::map<std::string, std::string>>();
  if (in.contains("allocator")) step.spec.allocator = in.at("allocator").get<std::string>();
  step.needs = in.at("needs").get<std::vector<std::string>>();
  step.inputs = in.at("inputs").get<std::map<std::string, std::vector<std::string>>>();
  step.fingerprint = in.at("fingerprint");
  step.ingredients = in.at("ingredients");
  step.reason = in.at("reason");
  if (in.contains("kept")) {
    step.action = Action::kKeep;
    PastStep kept;
    kept.run = in.at("kept").at("run");
    kept.folder = in.at("kept").at("folder").get<std::string>();
    step.kept = std::move(kept);
  }
  return step;
}

json data_json(const PreparedData& data) {
  return {{"folder", data.folder.string()},
          {"fingerprint", data.fingerprint},
          {"facts", data.facts},
          {"summary", data.summary}};
}

PreparedData read_data(const json& in) {
  PreparedData data;
  data.folder = in.at("folder").get<std::string>();
  data.fingerprint = in.at("fingerprint");
  data.facts = in.at("facts");
  data.summary = in.at("summary");
  return data;
}

FrozenRun read_run(const json& in) {
  FrozenRun run;
  run.profile = in.at("profile");
  run.seed = in.at("seed");
  run.threads = in.at("threads");
  run.nproc = in.at("nproc");
  run.memory_limit = in.at("memory_limit");
  run.allocator = in.at("allocator");
  if (in.contains("require")) run.require = in.at("require").get<std::vector<std::string>>();
  if (!in.at("data").is_null()) run.data = read_data(in.at("data"));
  run.plan.fingerprint = in.at("plan");
  for (const json& item : in.at("steps")) {
    PlannedStep step = read_step(item);
    run.device[step.spec.name] = item.at("device");
    if (const json& packs = item.at("packs"); !packs.is_null()) run.packs[step.spec.name] = packs;
    run.plan.steps.push_back(std::move(step));
  }
  return run;
}

/// A need as it stands now: what this run made, else what another run had made before.
PlannedStep finished_need(PlannedStep need, const fs::path& run_folder, const std::string& of) {
  const fs::path own = run_folder / need.spec.name;
  std::optional<PastStep> past = find_past_step(run_folder.filename().string(), own);
  if (!past && need.kept) past = find_past_step(need.kept->run, need.kept->folder);
  const bool stands = past && past->fingerprint == need.fingerprint && past->missing.empty();
  if (!stands) {
    throw Error(ExitCode::kData,
                of + ": needs " + need.spec.name + ", which is not done" +
                    (past && !past->missing.empty() ? ": " + past->missing + " is gone"
                                                    : " in " + own.string()),
                "kdgat jobs " + shell_line({run_folder.string()}) + " shows why");
  }
  need.action = Action::kKeep;
  need.reason = "done";
  need.kept = std::move(past);
  return need;
}

}  // namespace

json FrozenRun::to_json() const {
  json steps = json::array();
  for (const PlannedStep& step : plan.steps) {
    json item = step_json(step);
    item["device"] = device.at(step.spec.name);
    const auto found = packs.find(step.spec.name);
    item["packs"] = found == packs.end() ? json() : json(found->second);
    steps.push_back(std::move(item));
  }
  return {{"version", kVersion},          {"kdgat", KDGAT_VERSION},
          {"profile", profile},           {"seed", seed},
          {"threads", threads},           {"nproc", nproc},
          {"memory_limit", memory_limit}, {"allocator", allocator},
          {"require", require},           {"data", data ? data_json(*data) : json()},
          {"plan", plan.fingerprint},     {"steps", std::move(steps)}};
}

FrozenRun FrozenRun::from_json(const json& json, const std::string& where) {
  try {
    if (const int version = json.at("version"); version != kVersion) {
      throw Error(ExitCode::kData,
                  where + ": its form is version " + std::to_string(version) +
                      ", this program reads " + std::to_string(kVersion),
                  "submit again with this program");
    }
    return read_run(json);
  } catch (const nlohmann::json::exception& e) {
    throw Error(ExitCode::kData, where + ": not what kdgat submit wrote: " + e.what());
  }
}

std::optional<FrozenPacks> packs_of(const json& memory_plan) {
  if (!memory_plan.is_object() || !memory_plan.contains("bounds")) return std::nullopt;
  const json& bounds = memory_plan.at("bounds");
  return FrozenPacks{bounds.value("graphs", int64_t{0}), bounds.value("nodes", int64_t{0}),
                     bounds.value("edges", int64_t{0}), memory_plan.value("min_packs", int64_t{0})};
}

fs::path frozen_file(const fs::path& run_folder) { return run_folder / "slurm" / "frozen.json"; }

FrozenRun load_frozen_run(const fs::path& run_folder) {
  const fs::path file = frozen_file(run_folder);
  if (!fs::exists(file)) {
    throw Error(ExitCode::kData, "cannot read " + file.string() + ": the run was not submitted",
                "kdgat submit makes such a run, kdgat run one without jobs");
  }
  json content = load_object(file);
  restore_exact(content);
  return FrozenRun::from_json(content, file.string());
}

Plan plan_of_step(const FrozenRun& frozen, const fs::path& run_folder, const std::string& step) {
  const auto find = [&](const std::string& name) {
    return std::find_if(frozen.plan.steps.begin(), frozen.plan.steps.end(),
                        [&](const PlannedStep& s) { return s.spec.name == name; });
  };
  const auto wanted = find(step);
  if (wanted == frozen.plan.steps.end()) {
    std::string names;
    for (const PlannedStep& s : frozen.plan.steps)
      names += (names.empty() ? "" : ", ") + s.spec.name;
    throw Error(ExitCode::kUsage, "no step of " + run_folder.string() + " is called " + step,
                "there are " + names);
  }
  Plan plan;
  plan.fingerprint = frozen.plan.fingerprint;
  for (const std::string& need : wanted->needs) {
    if (const auto at = find(need); at != frozen.plan.steps.end()) {
      plan.steps.push_back(finished_need(*at, run_folder, step));
    }
  }
  plan.steps.push_back(*wanted);
  return plan;
}

}  // namespace kdgat
