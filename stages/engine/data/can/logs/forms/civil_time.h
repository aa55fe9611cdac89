// Seconds since 1970 of a date as logs write it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kdgat::data {

/// Of a day of the Gregorian calendar, UTC: logs name no time zone. Howard Hinnant's
/// days_from_civil.
inline double seconds_of(int64_t year, int64_t month, int64_t day, int64_t hour, int64_t minute,
                         double second) {
  year -= month <= 2 ? 1 : 0;
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const int64_t year_of_era = year - era * 400;
  const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  const int64_t days = era * 146097 + day_of_era - 719468;
  constexpr int64_t kDay = 86400, kHour = 3600, kMinute = 60;
  return static_cast<double>(days * kDay + hour * kHour + minute * kMinute) + second;
}

/// A date in words, or nothing where it is not understood: "Sat Sep 30 10:06:13.191 PM 2017" in
/// English or German with 12 or 24 hours, and ISO 8601, "2017-09-30T15:06:13.191+02:00". UTC where
/// no time zone is named.
std::optional<double> read_date(std::string_view text);
/// A date of numbers with the day first: "24.06.2002 09:07:51.106.0", "18:9:2019 22:17:28:928". The
/// number behind the seconds is a fraction where it follows a point, and milliseconds where it
/// follows a colon.
std::optional<double> read_day_first(std::string_view text);

}  // namespace kdgat::data
