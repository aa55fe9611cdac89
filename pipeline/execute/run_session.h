// What `kdgat run` and `kdgat plan` begin with: from the words of the command line to a checked
// profile, its device and threads, its data and its plan. Makes no run folder and starts no stage
// but to ask for its plan.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/cli/cli.h"
#include "pipeline/execute/ranks.h"
#include "pipeline/execute/run_options.h"
#include "pipeline/execute/runner.h"
#include "pipeline/records/record_targets.h"
#include "pipeline/run/requirements.h"
#include "pipeline/show/status.h"

namespace kdgat {

struct RunSession {
  /// Finds every mistake in the profile and in what it requires before any work begins: throws
  /// Error(kUsage) or Error(kPlugin) with all of them. `extras`: see parse_run_options().
  RunSession(Context& context, const std::vector<std::string>& words, const RunFlags& extras = {});
  /// The same from words that were read already.
  RunSession(Context& context, RunOptions read, bool runs_elsewhere = false,
             bool takes_seeds = false);

  /// Tells what the profile says that has no effect here.
  void tell_notes(Status& status) const;
  /// The steps' names after "plan", as a status wants them announced.
  std::vector<std::string> step_names() const;
  /// The plan for data that are there, or with kUnknownData for those that are not.
  Plan plan_for(const std::optional<PreparedData>& data) const;
  /// What is imported already. Throws what import() would throw without reading the content.
  std::optional<PreparedData> find_data() const;
  /// Imports what the steps read; nullopt if none reads data. Throws as prepare_data(), after a
  /// signal with its code; Error(kUsage) if a required figure is of a part that the data has not.
  std::optional<PreparedData> import(Status& status) const;
  /// Opens the library of every step that will run. Throws Error(kPlugin) with every problem.
  void check_libraries(const Plan& plan) const;
  /// Throws what would keep a run of this plan from being started, for who only says what would
  /// run: libraries, where its numbers go, where its folder would be. Writes nothing.
  void check_start(const Plan& plan) const;
  /// Where its numbers go. Throws Error(kUsage) for an address that cannot be written to.
  RecordTargets targets() const;
  /// Where this program stands among those started together. Throws Error(kUsage) if that does not
  /// go with what the session asks for.
  Place place() const;
  ProcessSettings process() const;
  RunnerInput input(const Plan& plan, const std::optional<PreparedData>& data) const;
  /// What a stage may use in all here: the profile's limit as far as the machine's limits leave it,
  /// or what the machine has free.
  uint64_t memory_limit() const;

  Context& context;
  RunOptions options;
  Profile profile;
  std::filesystem::path dataset_root;
  std::vector<Requirement> requirements;  ///< of the profile, and those that --require added
  bool needs_data = false;
  std::string device;  ///< "cpu" or "cuda[:N]"
  int threads = 1;
  std::vector<int64_t> seeds;  ///< of replicates; none: one run with the profile's seed
  Machine machine;

 private:
  void take_seeds(bool takes_seeds);
  void read_requirements();
  /// Figures that stages have beside the usual ones, as their plan() says: "figures" of its facts.
  std::vector<std::string> announced_figures() const;
  void check_parts(const PreparedData& data) const;

  std::vector<std::string> names_;
  KnownNames known_;
};

/// Asks each stage's plan(), in the order in which the steps would run; the facts of one are input
/// of the next, those of a kept step as it left them. `on_answer` is told every answer; a step that
/// needs one which failed is not asked. Returns the facts of each step that answered.
std::map<std::string, nlohmann::json> ask_stages(
    const RunnerInput& input, const ProcessSettings& process,
    const std::function<void(const PlannedStep& step, const StageAnswer& answer)>& on_answer);

}  // namespace kdgat
