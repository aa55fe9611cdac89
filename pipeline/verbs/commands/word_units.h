// Words with a unit behind a number, as several verbs take them: rates and times.
#pragma once

#include <optional>
#include <string>

namespace kdgat {

/// Alarms an hour of "100/h", "2/min", "48/day" or "100"; nullopt for other words.
std::optional<double> per_hour(const std::string& text);

/// Seconds of "90s", "5min", "2h" or "1.5h"; nullopt for other words, and for a number alone.
std::optional<double> seconds_of(const std::string& text);

}  // namespace kdgat
