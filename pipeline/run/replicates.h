// Runs that are the same but for the seed. A run of replicates (kdgat run --seeds) is a run folder
// without steps, whose run.json lists its replicates: ordinary runs of the same data set. Here is
// all that knows how they are listed, which runs belong together, and what their figures come to.
// Starts nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/run/run_figures.h"
#include "pipeline/run/run_record.h"
#include "pipeline/run/seed_statistics.h"
#include "pipeline/system/record.h"

namespace kdgat {

/// One run among those of a run of replicates.
struct Replicate {
  int64_t seed = -1;  ///< -1 = not known, in a damaged file
  std::string run;    ///< id; "" = it has not begun
  std::optional<int> exit_code{};
  std::optional<double> seconds{};
  std::optional<std::string> error{};

  /// "done", "failed", "running" or "waiting"
  std::string state() const;

  static auto keys() {
    using T = Replicate;
    return std::tuple{key("seed", &T::seed, "its seed"),
                      key("run", &T::run, "id of its run; \"\" = not begun"),
                      key("exit_code", &T::exit_code, "once it has ended"),
                      key("seconds", &T::seconds, "wall clock, seconds"),
                      key("error", &T::error, "what went wrong")};
  }
};

/// What run.json says that runs over seeds ask for.
struct SeedsOfRun {
  std::string plan;             ///< fingerprint
  std::optional<int64_t> seed;  ///< of a run that is no run of replicates
  std::optional<int> exit_code;
  nlohmann::json requirements;  ///< as judged; null = none
  std::optional<std::vector<Replicate>> replicates;

  static auto keys() {
    using T = SeedsOfRun;
    return std::tuple{key("plan", &T::plan), key("seed", &T::seed), key("exit_code", &T::exit_code),
                      key("requirements", &T::requirements), key("replicates", &T::replicates)};
  }
};
/// None if there is no such run.
std::optional<SeedsOfRun> seeds_of_run(const std::filesystem::path& run_folder);
/// The replicates of a run; none if it is no run of replicates.
std::vector<Replicate> read_replicates(const std::filesystem::path& run_folder);
/// The folder of a replicate of the run in `run_folder`, which has begun.
std::filesystem::path replicate_folder(const std::filesystem::path& run_folder,
                                       const Replicate& one);

/// Runs that are alike but for the seed.
struct SeedGroup {
  std::string name;               ///< by which it is shown
  std::vector<std::size_t> runs;  ///< among those that were grouped
  std::vector<int64_t> seeds;     ///< of each
};

/// Runs with their seeds, and what they were named by.
struct NamedRuns {
  std::vector<RunRecord> runs;
  std::vector<int64_t> seeds;         ///< of each
  std::vector<std::string> group_of;  ///< of each, the id of its run of replicates; "" = alone
  std::vector<std::string> names;     ///< of each, what its run of replicates or itself is called
};

/// Those of the folders, each once; in the place of a run of replicates its replicates that have
/// begun. Throws as read_run().
NamedRuns read_named_runs(const std::vector<std::filesystem::path>& folders);

/// Which of them are the same but for the seed: options, data, machine and version are equal. In
/// the order of the first run of each; of two runs with the same seed the earlier one named counts.
std::vector<SeedGroup> group_by_seed(const NamedRuns& named,
                                     const std::vector<Difference>& differences);
/// The differences between groups alone.
std::vector<Difference> without_seed(std::vector<Difference> differences);

/// Whether a figure has the same value in every group, seed by seed: that of a step they share.
bool is_shared(const FigureRow& row, const std::vector<SeedGroup>& groups);

/// What a figure came to in a group.
BySeed values_of(const FigureRow& row, const SeedGroup& group);
std::optional<Spread> spread_of(const FigureRow& row, const SeedGroup& group);
/// "0.941 ± 0.003": mean and standard deviation as the figure is written; the mean alone of one
/// run.
std::string spread_text(const Figure& like, const Spread& spread);
/// "+0.012 [0.004, 0.020]": mean of paired differences and its 95 % interval.
std::string difference_text(const Figure& like, const PairedDifference& difference);

/// The headline of replicates: "F1 0.838 ± 0.010  classifier, val, n=5"; "" if they have no
/// figures.
std::string replicates_headline(const std::vector<RunRecord>& runs, const PluginCatalog& catalog);

}  // namespace kdgat
