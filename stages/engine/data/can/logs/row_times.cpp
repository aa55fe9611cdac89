#include "engine/data/can/logs/row_times.h"

#include "engine/data/can/frames/row_fields.h"
#include "engine/data/can/logs/forms/civil_time.h"

namespace kdgat::data::row {
namespace {

/// Takes a number of `least` to `most` digits from the front of `rest`; -1 if there is none.
int64_t take_digits(std::string_view& rest, std::size_t least, std::size_t most) {
  int64_t value = 0;
  std::size_t count = 0;
  while (count < rest.size() && count < most && rest[count] >= '0' && rest[count] <= '9') {
    value = 10 * value + (rest[count++] - '0');
  }
  rest.remove_prefix(count);
  return count < least ? -1 : value;
}

bool take_one(std::string_view& rest, std::string_view any_of) {
  if (rest.empty() || any_of.find(rest.front()) == std::string_view::npos) return false;
  rest.remove_prefix(1);
  return true;
}

/// Hours, minutes and seconds with a fraction at the front of `rest`.
bool take_time_of_day(std::string_view& rest, double& seconds) {
  const int64_t hour = take_digits(rest, 1, 2);
  if (!take_one(rest, ":")) return false;
  const int64_t minute = take_digits(rest, 2, 2);
  if (!take_one(rest, ":")) return false;
  const int64_t second = take_digits(rest, 2, 2);
  constexpr int64_t kMostSeconds = 60;  // a leap second
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > kMostSeconds) {
    return false;
  }
  seconds = static_cast<double>(hour * 3600 + minute * 60 + second);
  if (!take_one(rest, ".,")) return true;
  constexpr std::size_t kNanoseconds = 9;
  int64_t fraction = 0, scale = 1;
  std::size_t count = 0;
  // Some tools divide the fraction once more: 27.508.0.
  for (; !rest.empty(); rest.remove_prefix(1)) {
    const char c = rest.front();
    if (c == '.' && count > 0) continue;
    if (c < '0' || c > '9') break;
    if (++count > kNanoseconds) continue;
    fraction = 10 * fraction + (c - '0');
    scale *= 10;
  }
  seconds += static_cast<double>(fraction) / static_cast<double>(scale);
  return count > 0;
}

/// "", "Z", "UTC", "+01:00", "-0530": seconds to take off.
bool take_zone(std::string_view rest, double& offset) {
  rest = trim(rest);
  offset = 0;
  if (rest.empty() || rest == "Z" || rest == "z" || rest == "UTC") return true;
  const bool is_west = rest.front() == '-';
  if (!take_one(rest, "+-")) return false;
  const int64_t hours = take_digits(rest, 2, 2);
  take_one(rest, ":");
  const int64_t minutes = rest.empty() ? 0 : take_digits(rest, 2, 2);
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || !rest.empty()) return false;
  offset = static_cast<double>(hours * 3600 + minutes * 60) * (is_west ? -1 : 1);
  return true;
}

}  // namespace

const char* read_date_time(std::string_view text, double& time) {
  std::string_view rest = text;
  const int64_t year = take_digits(rest, 4, 4);
  if (!take_one(rest, "-/")) return kBadTime;
  const int64_t month = take_digits(rest, 1, 2);
  if (!take_one(rest, "-/")) return kBadTime;
  const int64_t day = take_digits(rest, 1, 2);
  if (year < 0 || month < 1 || month > 12 || day < 1 || day > 31 || !take_one(rest, "T ")) {
    return kBadTime;
  }
  double seconds = 0, offset = 0;
  rest = trim(rest);
  if (!take_time_of_day(rest, seconds) || !take_zone(rest, offset)) return kBadTime;
  time = seconds_of(year, month, day, 0, 0, seconds) - offset;
  return nullptr;
}

const char* read_time_of_day(std::string_view text, double& time) {
  return take_time_of_day(text, time) && text.empty() ? nullptr : kBadTime;
}

}  // namespace kdgat::data::row
