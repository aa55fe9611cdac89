// Numbers with a unit as people write them: sizes, times and rates. The one place that reads them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace kdgat {

/// A size as people write it: 4GiB, 512 MiB, 1.5G, 16GB, plain bytes. K, M, G and T alone or with
/// iB are powers of 1024, with B powers of 1000. Throws Error(kUsage) for anything else.
uint64_t parse_bytes(const std::string& text);
/// The shortest text that parse_bytes() reads as exactly this: 4GiB, 1536MiB, 1000.
std::string exact_bytes(uint64_t bytes);

inline constexpr double kMinuteSeconds = 60, kHourSeconds = 3600, kDaySeconds = 86400;

/// Seconds of a time above 0: "90s", "5min" or "5m", "1.5h", "2d". A number without a unit counts
/// `alone` seconds; if that is 0, it is no time. nullopt for other words.
std::optional<double> parse_seconds(const std::string& text, double alone = 0);
/// The same in minutes, as near as they can be: "1.1h" is 66, though 1.1 * 3600 is more than 3960.
/// A number without a unit counts minutes.
std::optional<double> parse_minutes_of(const std::string& text);

/// So many in so long.
struct Rate {
  double count = 1;
  double seconds = 1;
};
/// "10/min", "100/h", "48/day": a count above 0 and a unit of parse_seconds(). nullopt for other
/// words.
std::optional<Rate> parse_rate(const std::string& text);
/// How many an hour, of a rate or of a count an hour: "100/h", "2/min", "100". nullopt for other
/// words.
std::optional<double> parse_per_hour(const std::string& text);

}  // namespace kdgat
