// The figures of one method on some judged logs. Knows no method.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/compare/judged_log.h"

namespace kdgat::compare {

using JudgedLogs = std::vector<const JudgedLog*>;

/// Draws of files for an interval of F1, and their seed.
inline constexpr int64_t kBootstrapDraws = 2000;
inline constexpr uint64_t kBootstrapSeed = 1;

/// Of the logs that the method judged, together; scores count relative to the threshold of their
/// log. {"n_samples","attacks","prevalence","files","auc","pr_auc","f1","f1_low","f1_high","mcc",
///  "recall_at_1_per_hour","recall_at_10_per_hour","false_windows","false_outside_shadows",
///  "missed_windows","benign_hours","false_per_hour","false_per_hour_low","false_per_hour_high",
///  "time_under_alarm","false_events","events","events_found","events_missed","time_to_alarm",
///  "worst_time_to_alarm"}
/// f1_low, f1_high: 95 % of the F1 of as many files drawn with replacement (Efron 1979); null with
/// one file, which says nothing of others. recall_at_N: share of attack windows above the lowest
/// threshold at which these benign windows have no more than N false ones an hour.
/// time_under_alarm: share of the benign time, where an alarm lasts for the false window and two
/// seconds more. events: attack windows near one another. time_to_alarm: seconds from an event's
/// first attack frame to the end of the first window flagged in it; median and worst of the events
/// found, null where there is none. `without_suspects`: JudgedLog::suspect windows are left out.
nlohmann::json summarise(const JudgedLogs& logs, const std::string& method,
                         bool without_suspects = false);

/// F1 of a method on the windows that another one judged, too.
double f1_where(const JudgedLogs& logs, const std::string& method, const std::string& other);

}  // namespace kdgat::compare
