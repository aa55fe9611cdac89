// Times of log rows that are no plain number of seconds: dates and times of day.
#pragma once

#include <string_view>

namespace kdgat::data::row {

/// "2021-03-01 10:00:00.1", also with "T", "/" and a zone (Z, +01:00); UTC without a zone. Seconds
/// since 1970. Returns nullptr, or what is wrong.
const char* read_date_time(std::string_view text, double& time);

/// "14:08:27.508" or "14:08:27.508.0": seconds since midnight. Returns nullptr, or what is wrong.
const char* read_time_of_day(std::string_view text, double& time);

}  // namespace kdgat::data::row
