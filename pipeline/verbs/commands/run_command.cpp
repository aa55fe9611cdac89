#include "pipeline/verbs/commands/run_command.h"

#include <algorithm>
#include <iostream>

#include "kdgat/kinds.h"
#include "pipeline/cli/command_line.h"
#include "pipeline/execute/acceptance.h"
#include "pipeline/execute/begin_run.h"
#include "pipeline/execute/ranks.h"
#include "pipeline/execute/run_origin.h"
#include "pipeline/execute/run_session.h"
#include "pipeline/plugin/schema.h"
#include "pipeline/run/plan_reasons.h"
#include "pipeline/run/run_record.h"
#include "pipeline/show/table.h"
#include "pipeline/show/text.h"
#include "pipeline/system/signals.h"
#include "pipeline/verbs/commands/next_commands.h"
#include "pipeline/verbs/commands/run_replicates.h"
#include "pipeline/verbs/json/json_forms.h"
#include "pipeline/verbs/plan/progress_flag.h"
#include "pipeline/verbs/plan/run_preview.h"

namespace kdgat {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// `flags` and --progress.
RunFlags with_progress(RunFlags flags, ProgressFlag& progress) {
  flags.declare = [&progress, others = std::move(flags.declare)](CommandLine& line,
                                                                 RunOptions& to) {
    if (others) others(line, to);
    progress.declare(line);
  };
  return flags;
}

class RunCommand {
 public:
  RunCommand(Context& context, const std::vector<std::string>& words, const RunStyle& style)
      : context_(context),
        style_(style),
        command_(style.command.empty() ? typed_line(context, style.flags.called, words)
                                       : style.command),
        words_(words),
        session_(context, words, with_progress(style.flags, progress_)) {
    status_ = progress_.status(context);
    std::vector<std::string> names = session_.step_names();
    names.insert(names.begin(), "plan");
    status_->announce(names);
  }

  int preview() { return preview_run(session_, *status_, has_seeds()); }

  int run() {
    install_signal_flags();
    const RecordTargets targets = session_.targets();  // may refuse
    const Place place = session_.place();
    std::unique_ptr<Gathering> gathering;
    if (has_seeds()) {
      return run_with_seeds(session_, *status_, {words_, command_, place.world});
    }
    if (place.world > 1) {
      gathering = std::make_unique<Gathering>(session_.dataset_root, place);
      if (place.rank > 0) return gathering->follow(session_.process());
    }
    session_.tell_notes(*status_);
    const std::optional<PreparedData> data = session_.import(*status_);
    if (const int code = pending_signal(); code != 0) return code;
    Plan plan = session_.plan_for(data);
    const bool is_replicate = !style_.replicate_of.empty();
    std::optional<Run> run = begin_run(
        session_, *status_, plan, [&] { return session_.plan_for(data); }, is_replicate);
    if (!run) {
      if (!session_.options.labels.is_empty()) {
        status_->message("note",
                         "nothing is to be done, so there is no run that could be named; "
                         "kdgat runs note RUN names an earlier one");
      }
      return report_kept(plan);
    }
    RunStart start{command_, session_.device, session_.threads, session_.profile.seed};
    if (is_replicate) {
      start.more = {{"replicate_of", style_.replicate_of}};
      session_.options.labels.name.reset();
    }
    describe_run(*run, session_, data, start);
    run->describe(run_origin(session_, plan));
    if (style_.on_begin) style_.on_begin(run->id());
    label_run(*run, session_);
    for (const std::string& warning : plan.warnings) status_->message("warning", warning);
    announce(plan);

    ProcessSettings process = session_.process();
    process.lock_fd = run->lock_fd();
    const int code = record_run(*run, targets, *status_, [&] {
      return run_plan(session_.input(plan, data), *run, *status_,
                      executor(process, gathering.get()));
    });
    const std::vector<JudgedRequirement> judged = judge(plan, run->folder(), code);
    if (!judged.empty()) run->record_requirements(judged);
    return report(plan, run->document(), run->folder(), code, judged);
  }

  bool is_preview() const { return session_.options.dry_run; }

 private:
  /// A replicate has the seed that it was given.
  bool has_seeds() const { return !session_.seeds.empty() && style_.replicate_of.empty(); }

  Execute executor(const ProcessSettings& process, Gathering* gathering) const {
    if (session_.options.in_process) return execute_here();
    if (gathering != nullptr) return gathering->lead(process, context_.catalog);
    return execute_in_ranks(process, session_.profile.nproc, session_.memory_limit(),
                            context_.catalog);
  }

  void announce(const Plan& plan) {
    const int nproc = session_.profile.nproc;
    std::string text =
        session_.device + ", " + (nproc == 1 ? "" : std::to_string(nproc) + " processes of ") +
        std::to_string(session_.threads) + (session_.threads == 1 ? " thread" : " threads") +
        ", limit " + format_bytes(session_.memory_limit()) + ":";
    std::string names;
    for (const PlannedStep& step : plan.steps) {
      names += (names.empty() ? " " : ", ") + step.spec.name +
               (step.action == Action::kKeep ? " (kept)" : "");
    }
    status_->end({"plan", "done", text + names, 0, 0});
    const uint64_t free = session_.machine.memory_for_runs();
    const uint64_t limit = session_.profile.memory_limit;
    if (session_.device == "cpu" && limit > free && free > 0) {
      status_->message("warning", "memory_limit " + format_bytes(limit) + " is more than the " +
                                      format_bytes(free) + " free here");
    }
  }

  int report_kept(const Plan& plan) {
    json steps = json::array();
    for (const PlannedStep& step : plan.steps) {
      status_->end({step.spec.name, "kept", told_reason(step), 0, 0});
      steps.push_back({{"step", step.spec.name},
                       {"stage", step.spec.stage},
                       {"status", "kept"},
                       {"run", step.kept->run},
                       {"folder", step.kept->folder.string()}});
    }
    return report(plan, {{"id", nullptr}, {"steps", steps}}, "", 0, judge(plan, "", 0));
  }

  /// What was required of a run that went well.
  std::vector<JudgedRequirement> judge(const Plan& plan, const fs::path& run_folder,
                                       int code) const {
    if (code != 0) return {};
    return judge_plan(session_.requirements, plan,
                      [&](const PlannedStep& step) { return result_folder(step, run_folder); });
  }

  fs::path result_folder(const PlannedStep& step, const fs::path& run_folder) const {
    return step.kept ? step.kept->folder : run_folder / step.spec.name;
  }

  /// Files of the steps that made a model of the kind that scores logs.
  std::map<std::string, fs::path> models_of(const Plan& plan, const fs::path& run_folder) const {
    std::map<std::string, fs::path> out;
    for (const PlannedStep& step : plan.steps) {
      const PluginDescription& stage = *context_.catalog.find(step.spec.stage);
      const fs::path file = result_folder(step, run_folder) / stage.model_file;
      if (stage.makes(kind::kModel) && fs::exists(file)) out[step.spec.name] = file;
    }
    return out;
  }

  /// What the steps report that no other step needs, at the end of a run.
  std::string tables(const Plan& plan, const fs::path& run_folder) const {
    std::vector<NamedResult> results;
    for (const PlannedStep& step : plan.steps) {
      const bool is_needed =
          std::any_of(plan.steps.begin(), plan.steps.end(), [&](const PlannedStep& other) {
            return std::find(other.needs.begin(), other.needs.end(), step.spec.name) !=
                   other.needs.end();
          });
      if (!is_needed) {
        results.push_back({step.spec.name, read_result(result_folder(step, run_folder))});
      }
    }
    return joined_tables_text(results);
  }

  /// What to type now.
  std::string next_words(const Plan& plan, const fs::path& run_folder, int code) const {
    if (code == 0 && style_.finish) return style_.finish({models_of(plan, run_folder)});
    if (run_folder.empty()) return typed_line(context_, "kdgat plan", words_) + " --explain";
    const std::string run = run_word(run_folder, session_.profile.root);
    if (code == 0) return commands_after(run_folder, run, context_.catalog);
    return command_ + " · kdgat report " + run;
  }

  /// Results on standard output; where to find them, and what is not as required, on the other.
  /// Returns the exit code.
  int report(const Plan& plan, const json& document, const fs::path& run_folder, int code,
             const std::vector<JudgedRequirement>& judged) {
    const std::string next = "   next: " + next_words(plan, run_folder, code);
    if (context_.json) {
      json out = document;
      const bool is_met = std::all_of(judged.begin(), judged.end(),
                                      [](const JudgedRequirement& one) { return one.is_met; });
      out["exit_code"] = is_met ? code : static_cast<int>(ExitCode::kUnmet);
      if (!judged.empty()) out["requirements"] = judged;
      if (!run_folder.empty()) out["folder"] = run_folder.string();
      for (std::size_t i = 0; i < plan.steps.size(); ++i) {
        out["steps"][i]["result"] = read_result(result_folder(plan.steps[i], run_folder));
      }
      print_json(context_, "kdgat.run", out);
    } else if (code == 0) {
      context_.err << std::flush;
      context_.out << tables(plan, run_folder) << std::flush;
    }
    const std::string where =
        run_folder.empty()
            ? "everything is up to date"
            : "run " + short_run(run_folder.filename().string()) + " in " + run_folder.string();
    status_->message("info", where + next);
    const int unmet = tell_unmet(judged, *status_);
    return unmet != 0 ? unmet : code;
  }

  Context& context_;
  const RunStyle& style_;
  std::string command_;  ///< what was typed
  ProgressFlag progress_;
  std::vector<std::string> words_;
  RunSession session_;
  std::unique_ptr<Status> status_;
};

}  // namespace

int run_words(Context& context, const std::vector<std::string>& words, const RunStyle& style) {
  RunCommand command(context, words, style);
  return command.is_preview() ? command.preview() : command.run();
}

}  // namespace kdgat
