// A sweep: many settings of one stage, run as steps of one run. Several at once in one process, as
// many as memory was measured to be there for. Owns admission, what happens to a trial that fails,
// early stopping and the choice of the best; what is tried is space.h's, the steps' folders are as
// those of any run.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/execute/runner.h"
#include "pipeline/tune/saved_sweep.h"

namespace kdgat {

struct SweepOptions : SweepFrame {
  std::vector<std::string> devices;  ///< "cpu", "cuda:1"
  int64_t fixed_reservation = 0;  ///< of every trial, in place of what was measured; 0 = measured
  /// Asynchronous successive halving (arXiv 1810.05934): at epochs first_rung * eta^k a trial goes
  /// on only if it is among the best 1/eta that have come so far. 0 = every trial to its end.
  int64_t first_rung = 0;
  int64_t eta = 3;
};

/// One trial of a sweep, as it stands.
struct Trial : SavedTrial {
  const PlannedStep* step = nullptr;
  int64_t least = 0;  ///< its stage needs so much to begin
  int code = 0;
  std::optional<FrozenPacks> packs{};
};

/// The metric by which trials of a stage are compared: `wanted` if given, else its option
/// monitor_metric, else what people look at first, of validation. Never one of test data.
std::string choose_metric(const std::string& wanted, const nlohmann::json& options);

/// For successive halving: what trials came to at each rung. A trial that says an epoch again, as
/// one that is continued does, counts once.
class Rungs {
 public:
  Rungs(int64_t first, int64_t eta, bool is_less_better)
      : first_(first), eta_(eta), is_less_better_(is_less_better) {}
  /// Whether a trial, by any number of its own, that comes to `epoch` with this value goes on.
  bool goes_on(int64_t trial, int64_t epoch, double value);

 private:
  bool is_rung(int64_t epoch) const;
  int64_t first_, eta_;
  bool is_less_better_;
  std::map<int64_t, std::map<int64_t, double>> costs_;  ///< by epoch and trial
};

/// A sweep at work; kSweepFile keeps it, and is rewritten whole after every change.
struct SweepRecord {
  SweepOptions options;
  std::vector<Trial> trials;
  std::vector<DeviceRoom> rooms;

  /// The index of the best; none if no trial has the metric.
  std::optional<std::size_t> best() const;
  SavedSweep saved() const;
};

/// Runs every trial that is not kept, in `run`, whose plan holds them after what they need.
/// `made`: see make_request(). Returns the exit code: 0 if no trial failed; the record is complete
/// either way.
int run_sweep(const RunnerInput& input, Run& run, Status& status, const ProcessSettings& process,
              const std::map<std::string, Made>& made, SweepRecord& record);

}  // namespace kdgat
