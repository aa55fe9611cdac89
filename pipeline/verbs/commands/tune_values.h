// What `kdgat tune` is told to try: its flags beside those of `kdgat run`, the values and ranges
// among the words of the command line, and the trials that come of them. Starts nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/cli/command_line.h"
#include "pipeline/execute/run_session.h"
#include "pipeline/plugin/plugin_catalog.h"
#include "pipeline/profile/profile.h"
#include "pipeline/tune/space.h"
#include "pipeline/tune/sweep.h"

namespace kdgat {

/// The mode without values of one's own.
inline constexpr const char* kPublishedSweep = "example";
/// How values to try look, for messages.
inline constexpr const char* kValuesToTry = "\"lr=[0.001,0.01]\" or \"lr=log(1e-4,1e-2)\"";

inline constexpr double kGibibyte = 1 << 30;  ///< bytes

/// What was said beside the words of `kdgat run`.
struct TuneFlags {
  std::string mode, metric, goal, devices;
  int64_t samples = 20, first_rung = 1, eta = 3;
  int64_t max_workers = 0;
  double buffer = -1;  ///< GiB; -1 = not said
  double model = 0;    ///< GiB; 0 = measured
  bool is_auto = false;

  /// Keep this object while the words are read.
  void declare(CommandLine& line);
};

/// Flags for a whole number from 1 on, and for GiB from 0 on, which may be a size with a unit; `to`
/// outlives the line. Anything else is a problem of the line.
void whole_number(CommandLine& line, const std::string& name, int64_t& to);
void gibibytes(CommandLine& line, const std::string& names, double& to);

/// The values to try, taken out of what the words of `kdgat run` set.
std::vector<Dimension> take_dimensions(ProfileRequest& profile, const PluginCatalog& catalog);

/// Without values to try and without a published sweep that fits: throws Error(kUsage), which says
/// what can be varied, and how.
[[noreturn]] void refuse_without_values(const Profile& profile, const PluginCatalog& catalog);

/// Chooses the mode where none was said. Throws Error(kUsage) for one that is not known or does not
/// go with values of one's own.
std::vector<TrialSpec> make_trials(TuneFlags& flags, const std::vector<Dimension>& dimensions,
                                   int64_t seed);

/// What the sweep of the session's last step is measured by, and where. Throws Error(kUsage) for a
/// metric, a goal or a device that cannot be.
SweepOptions sweep_options(const TuneFlags& flags, const RunSession& session);

}  // namespace kdgat
