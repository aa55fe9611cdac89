#include "engine/data/can/logs/forms/civil_time.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "engine/data/can/frames/row_fields.h"

namespace kdgat::data {
namespace {

struct Date {
  int64_t year = 0, month = 0, day = 0, hour = 0, minute = 0;
  double second = 0;
};

std::optional<double> checked(const Date& date) {
  if (date.year < 1970 || date.year > 9999 || date.month < 1 || date.month > 12 || date.day < 1 ||
      date.day > 31 || date.hour < 0 || date.hour > 24 || date.minute < 0 || date.minute > 59 ||
      !(date.second >= 0 && date.second < 61)) {
    return std::nullopt;
  }
  return seconds_of(date.year, date.month, date.day, date.hour, date.minute, date.second);
}

/// Three numbers between `separator`; the last one reaches to the end of the text.
bool read_three(std::string_view text, char separator, int64_t& first, int64_t& second,
                std::string_view& third) {
  const std::size_t one = text.find(separator);
  const std::size_t two = one == std::string_view::npos ? one : text.find(separator, one + 1);
  if (two == std::string_view::npos) return false;
  third = text.substr(two + 1);
  return row::read_decimal(text.substr(0, one), first) &&
         row::read_decimal(text.substr(one + 1, two - one - 1), second);
}

/// "15:06:13.191"
bool read_clock(std::string_view text, Date& date) {
  std::string_view second;
  return read_three(text, ':', date.hour, date.minute, second) &&
         row::read_time(second, date.second) == nullptr;
}

int64_t month_of(std::string_view word) {
  constexpr std::array<std::array<std::string_view, 3>, 12> kMonths = {
      {{"jan"},
       {"feb"},
       {"mar", "mrz", "m\xc3\xa4r"},
       {"apr"},
       {"may", "mai"},
       {"jun"},
       {"jul"},
       {"aug"},
       {"sep"},
       {"oct", "okt"},
       {"nov"},
       {"dec", "dez"}}};
  std::string name(word.substr(0, 4));
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (name.starts_with("m\xe4r")) name = "mrz";  // Latin-1
  int64_t month = 0;
  for (std::size_t m = 0; m < kMonths.size(); ++m) {
    for (const std::string_view known : kMonths[m]) {
      if (!known.empty() && name.starts_with(known)) month = static_cast<int64_t>(m) + 1;
    }
  }
  return month;
}

/// Seconds east of UTC of "Z", "+02:00", "-0330" or "+02"; 0 of "".
bool read_zone(std::string_view text, double& seconds) {
  seconds = 0;
  if (text.empty() || text == "Z" || text == "z") return true;
  if (text.front() != '+' && text.front() != '-') return false;
  std::string digits(text.substr(1));
  std::erase(digits, ':');
  int64_t number = 0;
  if ((digits.size() != 2 && digits.size() != 4) || !row::read_decimal(digits, number)) {
    return false;
  }
  if (digits.size() == 2) number *= 100;
  const int64_t hours = number / 100, minutes = number % 100;
  seconds = static_cast<double>(hours * 3600 + minutes * 60);
  if (text.front() == '-') seconds = -seconds;
  return true;
}

std::optional<double> read_iso(std::string_view text) {
  constexpr std::size_t kDay = 10;  // "2017-09-30"
  if (text.size() <= kDay || (text[kDay] != 'T' && !row::is_blank(text[kDay]))) return std::nullopt;
  Date date;
  std::string_view day;
  if (!read_three(text.substr(0, kDay), text[4], date.year, date.month, day) ||
      !row::read_decimal(day, date.day)) {
    return std::nullopt;
  }
  const std::string_view behind = row::trim(text.substr(kDay + 1));
  const std::size_t end = std::min(behind.find_first_not_of("0123456789:.,"), behind.size());
  std::string clock(behind.substr(0, end));
  std::replace(clock.begin(), clock.end(), ',', '.');
  double east = 0;
  if (!read_clock(clock, date) || !read_zone(row::trim(behind.substr(end)), east)) {
    return std::nullopt;
  }
  const std::optional<double> seconds = checked(date);
  if (!seconds) return std::nullopt;
  return *seconds - east;
}

}  // namespace

std::optional<double> read_date(std::string_view text) {
  text = row::trim(text);
  if (text.size() > 4 && (text[4] == '-' || text[4] == '/')) return read_iso(text);
  row::word(text);  // the day of the week
  Date date;
  date.month = month_of(row::word(text));
  std::string_view day = row::word(text);
  if (day.ends_with('.')) day.remove_suffix(1);
  if (!row::read_decimal(day, date.day) || !read_clock(row::word(text), date)) return std::nullopt;
  std::string_view next = row::word(text);
  const bool is_morning = row::same_word(next, "am"), is_evening = row::same_word(next, "pm");
  if (is_morning || is_evening) {
    date.hour = date.hour % 12 + (is_evening ? 12 : 0);
    next = row::word(text);
  }
  if (!row::read_decimal(next, date.year)) return std::nullopt;
  return checked(date);
}

std::optional<double> read_day_first(std::string_view text) {
  const std::string_view day = row::word(text);
  const std::string_view clock = row::word(text);
  Date date;
  std::string_view year, second;
  if (day.empty() || !read_three(day, day.find('.') == std::string_view::npos ? ':' : '.', date.day,
                                 date.month, year)) {
    return std::nullopt;
  }
  if (!row::read_decimal(year, date.year) ||
      !read_three(clock, ':', date.hour, date.minute, second)) {
    return std::nullopt;
  }
  int64_t milliseconds = 0;
  if (const std::size_t colon = second.find(':'); colon != std::string_view::npos) {
    if (!row::read_decimal(second.substr(colon + 1), milliseconds)) return std::nullopt;
    second = second.substr(0, colon);
  } else if (const std::size_t point = second.find('.'); point != std::string_view::npos) {
    second = second.substr(0, second.find('.', point + 1));  // what follows is below a millisecond
  }
  if (row::read_time(second, date.second) != nullptr) return std::nullopt;
  date.second += static_cast<double>(milliseconds) / 1000;
  return checked(date);
}

}  // namespace kdgat::data
