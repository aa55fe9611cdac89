#include "pipeline/verbs/commands/run_replicates.h"

#include <algorithm>
#include <cstdlib>
#include <ostream>

#include "pipeline/execute/begin_run.h"
#include "pipeline/execute/run_origin.h"
#include "pipeline/records/record_targets.h"
#include "pipeline/run/memory_plan.h"
#include "pipeline/run/plan_reasons.h"
#include "pipeline/run/replicates.h"
#include "pipeline/show/table.h"
#include "pipeline/show/text.h"
#include "pipeline/system/hash.h"
#include "pipeline/system/program.h"
#include "pipeline/system/signals.h"
#include "pipeline/tune/replicate_runs.h"
#include "pipeline/verbs/commands/next_commands.h"
#include "pipeline/verbs/json/json_forms.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kPluginPath = "KDGAT_PLUGIN_PATH";

/// One run of replicates as its verb carries it out.
class SeedsCommand {
 public:
  SeedsCommand(RunSession& session, Status& status, const ReplicateWords& typed)
      : session_(session), status_(status), typed_(typed) {
    if (typed.world > 1) {
      throw Error(
          ExitCode::kUsage,
          "this program was started with others (srun, or RANK and WORLD_SIZE), and --seeds "
          "starts runs of its own",
          "start one program, or give each its --seed");
    }
    if (session.profile.data.path == "-") {
      throw Error(ExitCode::kUsage, "--seeds reads the data for each run, and - can be read once",
                  "kdgat data import - makes a graph store; name that as --data");
    }
    is_cpu_ = session.device == "cpu";
    shape_ =
        plan_replicates(session.seeds.size(), session.machine.threads(), session.profile.threads,
                        session.profile.nproc, is_cpu_, session.options.at_once);
  }

  int preview() {
    const std::optional<PreparedData> data = session_.find_data();
    Table table;
    json plans = json::array();
    for (const Plan& plan : plans_for(data)) {
      session_.check_start(plan);
      const int64_t seed = session_.seeds[plans.size()];
      json steps = json::array();
      for (const PlannedStep& step : plan.steps) {
        table.add({"seed " + std::to_string(seed), step.spec.name, step.kept ? "kept" : "run",
                   step.reason});
        steps.push_back({{"step", step.spec.name},
                         {"action", action_word(step)},
                         {"reason", step.reason},
                         {"fingerprint", step.fingerprint}});
      }
      plans.push_back({{"seed", seed}, {"steps", std::move(steps)}});
    }
    if (session_.context.json) {
      print_json(session_.context, "kdgat.run.seeds_plan",
                 {{"at_once", shape_.at_once},
                  {"threads", shape_.threads},
                  {"replicates", std::move(plans)}});
    } else {
      session_.context.out << table.text();
      status_.message("info", shape_text());
    }
    return 0;
  }

  int run() {
    static_cast<void>(session_.targets());  // may refuse
    std::vector<std::string> names = {"data", "plan", "seeds"};
    for (const int64_t seed : session_.seeds) names.push_back("seed " + std::to_string(seed));
    status_.announce(names);
    session_.tell_notes(status_);
    const std::optional<PreparedData> data = session_.import(status_);
    if (const int code = pending_signal(); code != 0) return code;
    const std::vector<Plan> plans = plans_for(data);
    for (const Plan& plan : plans) session_.check_libraries(plan);
    Plan of_group;
    std::string parts = "replicates";
    for (const Plan& plan : plans) parts += " " + plan.fingerprint;
    of_group.fingerprint = hash_text(parts);
    if (!session_.options.plan.force) {
      if (const fs::path done = finished(of_group.fingerprint, plans); !done.empty()) {
        return report(done, 0, true);
      }
    }
    std::optional<Run> group = begin_run(session_, status_, of_group, {}, true);
    std::vector<Replicate> list = read_replicates(group->folder());
    if (list.size() != session_.seeds.size()) {
      list.clear();
      for (const int64_t seed : session_.seeds) list.push_back({seed, ""});
    }
    describe_run(*group, session_, data,
                 {typed_.command,
                  session_.device,
                  shape_.threads,
                  std::nullopt,
                  {{"replicates", record::write<json>(list)}}});
    group->describe(run_origin(session_, plans.front()));
    label_run(*group, session_);
    status_.end({"plan", "done", shape_text(), 0, 0});
    ReplicateSettings settings = settings_for(group->id(), plans.front(), data);
    const int code = run_replicates(*group, list, status_, settings);
    const NamedRuns runs = read_named_runs({group->folder()});
    group->finish(code, replicates_headline(runs.runs, session_.context.catalog));
    return report(group->folder(), code, false);
  }

 private:
  std::vector<Plan> plans_for(const std::optional<PreparedData>& data) {
    std::vector<Plan> out;
    const int64_t before = session_.profile.seed;
    for (const int64_t seed : session_.seeds) {
      session_.profile.seed = seed;
      out.push_back(session_.plan_for(data));
    }
    session_.profile.seed = before;
    return out;
  }

  std::string shape_text() const {
    std::string out =
        session_.device + ", " + std::to_string(session_.seeds.size()) + " runs, " +
        (shape_.at_once == 1 ? "one after another"
                             : "up to " + std::to_string(shape_.at_once) + " at once") +
        ", each with " + std::to_string(shape_.threads) +
        (shape_.threads == 1 ? " thread" : " threads");
    return out + ", limit " + format_bytes(session_.memory_limit());
  }

  /// The newest run of the same replicates of which everything is still there; "" if there is none.
  fs::path finished(const std::string& fingerprint, const std::vector<Plan>& plans) const {
    if (!std::all_of(plans.begin(), plans.end(),
                     [](const Plan& plan) { return plan.needs_no_work(); })) {
      return "";
    }
    fs::path out;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(session_.dataset_root, ignored)) {
      const auto said = seeds_of_run(entry.path());
      if (!said || said->plan != fingerprint || said->exit_code != 0) continue;
      const std::vector<Replicate> list = said->replicates.value_or(std::vector<Replicate>());
      const bool is_whole = std::all_of(list.begin(), list.end(), [&](const Replicate& one) {
        return fs::exists(replicate_folder(entry.path(), one) / "run.json", ignored);
      });
      if (is_whole) out = std::max(out, entry.path());
    }
    return out;
  }

  ReplicateSettings settings_for(const std::string& group, const Plan& plan,
                                 const std::optional<PreparedData>& data) {
    ReplicateSettings out;
    std::vector<std::string> folders;
    for (const fs::path& folder : session_.context.plugin_folders) {
      folders.push_back(folder.string());
    }
    const char* path = std::getenv(kPluginPath);
    if (path != nullptr && *path != '\0') folders.emplace_back(path);
    if (!folders.empty()) {
      out.environment = {std::string(kPluginPath) + "=" + joined(folders, ":")};
    }
    out.request = {.words = typed_.words,
                   .threads = shape_.threads,
                   .replicate_of = group,
                   .command = typed_.command};
    out.at_once = shape_.at_once;
    if (!is_cpu_ || shape_.at_once < 2) return out;
    out.room = static_cast<int64_t>(session_.machine.memory_for_runs());
    out.bytes = bytes_of(plan, data);
    return out;
  }

  /// What one replicate needs, as its stages plan it for the first seed.
  int64_t bytes_of(const Plan& plan, const std::optional<PreparedData>& data) {
    if (session_.profile.memory_limit > 0) {
      return static_cast<int64_t>(session_.profile.memory_limit);
    }
    constexpr double kSafety = 1.1;
    double most = 0;
    ProcessSettings process = session_.process();
    process.threads = shape_.threads;
    const auto facts = ask_stages(session_.input(plan, data), process,
                                  [](const PlannedStep&, const StageAnswer&) {});
    for (const auto& [step, fact] : facts) {
      const json memory = fact.get<StageResult>().memory;
      most = std::max(most, record::read<MemoryPlan>(memory).predicted.value_or(0));
    }
    return static_cast<int64_t>(kSafety * most) + kReplicateBytes;
  }

  int report(const fs::path& folder, int code, bool is_kept) {
    Context& context = session_.context;
    if (context.json) {
      json out = replicates_report(folder);
      out["exit_code"] = code;
      print_json(context, "kdgat.run.seeds", out);
    } else {
      context.err << std::flush;
      context.out << replicates_text(folder, true) << std::flush;
    }
    const std::string id = folder.filename().string();
    const std::string name = run_word(folder, session_.profile.root);
    status_.message("info", (is_kept ? "everything is up to date: run " : "run ") + short_run(id) +
                                " in " + folder.string() +
                                "   next: " + (code == 0 ? "" : typed_.command + " · ") +
                                "kdgat runs show " + name + " · kdgat report " + name);
    return code;
  }

  RunSession& session_;
  Status& status_;
  const ReplicateWords& typed_;
  ReplicatePlan shape_;
  bool is_cpu_ = true;
};

}  // namespace

int run_with_seeds(RunSession& session, Status& status, const ReplicateWords& typed) {
  return SeedsCommand(session, status, typed).run();
}

int preview_replicates(RunSession& session, Status& status, int world) {
  const ReplicateWords typed{{}, "", world};
  return SeedsCommand(session, status, typed).preview();
}

}  // namespace kdgat
