#include "pipeline/show/quantity.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include "kdgat/error.h"
#include "pipeline/show/text.h"

namespace kdgat {
namespace {

std::optional<double> seconds_of_unit(const std::string& unit) {
  if (unit == "s") return 1;
  if (unit == "m" || unit == "min") return kMinuteSeconds;
  if (unit == "h" || unit == "hour") return kHourSeconds;
  if (unit == "d" || unit == "day") return kDaySeconds;
  return std::nullopt;
}

/// A number above 0, of digits and a point alone.
std::optional<double> positive(const std::string& text) {
  if (text.find_first_not_of("0123456789.") != std::string::npos) return std::nullopt;
  const std::optional<double> number = finite_number(text);
  return number && *number > 0 ? number : std::nullopt;
}

/// `count` of `each` seconds in units of `unit` seconds. Units are multiples of one another, so
/// that one rounding is enough.
std::optional<double> converted(double count, double each, double unit) {
  const double out = each >= unit ? count * (each / unit) : count / (unit / each);
  return std::isfinite(out) ? std::optional(out) : std::nullopt;
}

/// A time in units of `unit` seconds; see parse_seconds().
std::optional<double> parse_time(const std::string& text, double alone, double unit) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::optional<double> count = positive(text.substr(0, end));
  const std::string word = text.substr(std::min(text.find_first_not_of(' ', end), text.size()));
  const bool is_alone = end == text.size();
  const std::optional<double> each = is_alone ? alone : seconds_of_unit(word);
  if (!count || !each || *each <= 0) return std::nullopt;
  return converted(*count, *each, unit);
}

}  // namespace

uint64_t parse_bytes(const std::string& text) {
  static const std::string kUnits = "kmgt";
  const auto refuse = [&](const std::string& why) {
    throw Error(ExitCode::kUsage, "\"" + text + "\" " + why,
                "a size is a number and B, KiB, MiB, GiB or TiB: 4GiB, 512MiB, 1.5G");
  };
  std::size_t at = text.find_first_not_of("0123456789.");
  at = std::min(at, text.size());
  const std::string digits = text.substr(0, at);
  std::string unit;
  for (const char c : text.substr(at)) {
    if (c != ' ') unit += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  char* end = nullptr;
  const double number = std::strtod(digits.c_str(), &end);
  if (digits.empty() || *end != '\0') refuse("is not a size");
  double factor = 1;
  if (const std::size_t power = unit.empty() ? std::string::npos : kUnits.find(unit[0]);
      power != std::string::npos) {
    const std::string rest = unit.substr(1);
    if (!rest.empty() && rest != "b" && rest != "ib") refuse("has an unknown unit");
    factor = std::pow(rest == "b" ? 1000.0 : 1024.0, static_cast<double>(power + 1));
  } else if (!unit.empty() && unit != "b") {
    refuse("has an unknown unit");
  }
  constexpr double kMost = 9e18;  // of an int64_t, as stages count
  if (number * factor > kMost) refuse("is more than can be counted");
  return static_cast<uint64_t>(std::llround(number * factor));
}

std::string exact_bytes(uint64_t bytes) {
  constexpr std::array<const char*, 4> kUnits = {"", "KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  for (; unit + 1 < kUnits.size() && bytes != 0 && bytes % 1024 == 0; ++unit) bytes /= 1024;
  return std::to_string(bytes) + kUnits[unit];
}

std::optional<double> parse_seconds(const std::string& text, double alone) {
  return parse_time(text, alone, 1);
}

std::optional<double> parse_minutes_of(const std::string& text) {
  return parse_time(text, kMinuteSeconds, kMinuteSeconds);
}

std::optional<Rate> parse_rate(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return std::nullopt;
  const std::optional<double> count = positive(text.substr(0, slash));
  const std::optional<double> each = seconds_of_unit(text.substr(slash + 1));
  if (!count || !each) return std::nullopt;
  return Rate{*count, *each};
}

std::optional<double> parse_per_hour(const std::string& text) {
  const std::optional<Rate> rate = parse_rate(text);
  return rate ? converted(rate->count, kHourSeconds, rate->seconds) : positive(text);
}

}  // namespace kdgat
