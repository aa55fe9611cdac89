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
#include "pipeline/tune/admission.h"
#include "pipeline/tune/space.h"

namespace kdgat {

struct SweepOptions {
  std::string mode;
  std::string metric;  ///< of validation, by which the best is chosen
  bool is_less_better = true;
  std::vector<std::string> devices;  ///< "cpu", "cuda:1"
  int64_t memory = 0;                ///< bytes that trials and their process may hold on a device
  int64_t buffer = 0;                ///< of these to stay free
  int64_t fixed_reservation = 0;  ///< of every trial, in place of what was measured; 0 = measured
  std::size_t at_once = 0;        ///< most trials at once; 0 = as memory allows
  /// Asynchronous successive halving (arXiv 1810.05934): at epochs first_rung * eta^k a trial goes
  /// on only if it is among the best 1/eta that have come so far. 0 = every trial to its end.
  int64_t first_rung = 0;
  int64_t eta = 3;
};

/// In tune.json, of a trial: the epoch that its numbers are of.
inline constexpr const char* kTrialBestEpoch = "epoch_of_best";

/// One trial of a sweep, as it stands.
struct Trial {
  TrialSpec spec;
  const PlannedStep* step = nullptr;
  std::string state = "waiting";  ///< also running, done, kept, stopped, failed, interrupted
  int64_t planned = 0;            ///< peak bytes of its tensors, as its stage predicts
  int64_t least = 0;              ///< its stage needs so much to begin
  int64_t reserved = 0;           ///< what it was admitted with, last
  int64_t needed = 0;             ///< the peak it came to; 0 = not known
  int attempts = 0;
  double seconds = 0, cpu_seconds = 0;
  int64_t stopped_at = 0;       ///< epoch
  int64_t best_epoch = 0;       ///< that `metrics` are of; 0 = not known
  std::optional<double> value;  ///< of the metric
  nlohmann::json metrics = nlohmann::json::object();
  std::string error;
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

/// The sweep as kSweepFile keeps it, which is rewritten whole after every change.
struct SweepRecord {
  SweepOptions options;
  std::vector<Trial> trials;
  std::vector<DeviceRoom> rooms;
  int64_t context = 0;  ///< bytes of the process beside trials
  double seconds = 0;   ///< from the first measurement to the last end, in the last process
  int threads = 1;      ///< of each trial
  int cores = 1;        ///< of the machine, for this process

  /// The index of the best; none if no trial has the metric.
  std::optional<std::size_t> best() const;
  nlohmann::json json() const;
};

/// Runs every trial that is not kept, in `run`, whose plan holds them after what they need.
/// `made`: see make_request(). Returns the exit code: 0 if no trial failed; the record is complete
/// either way.
int run_sweep(const RunnerInput& input, Run& run, Status& status, const ProcessSettings& process,
              const std::map<std::string, Made>& made, SweepRecord& record);

}  // namespace kdgat
