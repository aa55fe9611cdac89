#include "pipeline/alarms/alarm_words.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <utility>

#include "kdgat/error.h"
#include "pipeline/show/text.h"
#include "pipeline/system/secrets.h"

namespace kdgat {

AlarmWords::AlarmWords(const std::string& words, OptionsAt options, std::string form)
    : words_(words), form_(std::move(form)) {
  std::string rest = words.substr(alarm_kind_of(words).size()), listed;
  char between = ',';
  if (options == OptionsAt::kBefore) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    listed = rest.substr(0, colon);
    if (colon < rest.size()) target_ = rest.substr(colon + 1);
  } else {
    between = options == OptionsAt::kQuery ? '&' : ',';
    const std::size_t mark = rest.find(options == OptionsAt::kQuery ? '?' : ',');
    if (mark != std::string::npos) listed = rest.substr(mark + 1);
    rest.resize(std::min(mark, rest.size()));
    if (!rest.empty()) target_ = rest.substr(1);
  }
  if (options == OptionsAt::kBefore && !listed.empty()) listed.erase(0, 1);
  std::istringstream parts(listed);
  for (std::string part; std::getline(parts, part, between);) add_option(part);
}

void AlarmWords::add_option(const std::string& text) {
  const std::size_t equal = text.find('=');
  if (equal == std::string::npos || equal == 0) {
    refuse("\"" + without_secrets(text) + "\" is no option: key=value");
  }
  if (!options_.emplace(text.substr(0, equal), text.substr(equal + 1)).second) {
    refuse(text.substr(0, equal) + " stands twice");
  }
}

std::string AlarmWords::option(const std::string& key, const std::string& otherwise) {
  known_.insert(key);
  const auto found = options_.find(key);
  return found == options_.end() ? otherwise : found->second;
}

int AlarmWords::number(const std::string& key, int otherwise, int least, int most) {
  const std::string text = option(key, std::to_string(otherwise));
  const std::optional<int> value = whole_number(text, least, most);
  if (!value) {
    refuse(key + "=" + text + " is no whole number from " + std::to_string(least) + " to " +
           std::to_string(most));
  }
  return *value;
}

double AlarmWords::seconds(const std::string& key, double otherwise) {
  const std::string text = option(key, "");
  if (options_.count(key) == 0) return otherwise;
  const std::optional<double> seconds = parse_seconds(text, 1);
  if (!seconds || *seconds > kDaySeconds) {
    refuse(key + "=" + text + " is no time of up to a day: 30s, 5min, 1h");
  }
  return *seconds;
}

std::optional<Rate> AlarmWords::rate(const std::string& otherwise) {
  constexpr double kMost = 10000;
  const std::string text = option("rate", otherwise);
  if (text.empty() && options_.count("rate") == 0) return std::nullopt;
  const std::optional<Rate> rate = parse_rate(text);
  if (!rate || rate->count > kMost || rate->count != std::floor(rate->count)) {
    refuse("rate=" + text +
           " is no rate, a whole number of up to 10000 in a time: 1/s, 10/min, 5/h, 10/day");
  }
  return rate;
}

void AlarmWords::check_all_known() const {
  for (const auto& [key, value] : options_) {
    if (known_.count(key) != 0) continue;
    const std::string meant = nearest(key, {known_.begin(), known_.end()});
    refuse("there is no option " + key + (meant.empty() ? "" : ", did you mean " + meant + "?"));
  }
}

void AlarmWords::refuse(const std::string& why) const {
  throw Error(ExitCode::kUsage,
              "--alarm " + one_line(without_secrets(words_)) + ": " + one_line(why),
              "the form is " + form_);
}

std::string alarm_kind_of(const std::string& words) {
  return words.substr(0, words.find_first_of(":,"));
}

std::optional<int> whole_number(const std::string& text, int least, int most) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end || value < least || value > most) return std::nullopt;
  return value;
}

std::optional<std::string> percent_decoded(const std::string& text) {
  constexpr std::size_t kDigits = 2;
  constexpr int kBase = 16;
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    int byte = 0;
    if (text.size() - i <= kDigits) return std::nullopt;
    const char* first = text.data() + i + 1;
    const auto [at, error] = std::from_chars(first, first + kDigits, byte, kBase);
    if (error != std::errc() || at != first + kDigits || byte <= 0) return std::nullopt;
    out += static_cast<char>(byte);
    i += kDigits;
  }
  return out;
}

std::optional<std::vector<std::string>> words_between_blanks(const std::string& text) {
  std::vector<std::string> out;
  bool is_open = false;  // a word has begun
  char quote = 0;
  for (const char c : text) {
    if (quote == 0 && c == ' ') {
      is_open = false;
      continue;
    }
    if (!is_open) out.emplace_back();
    is_open = true;
    if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else {
      out.back() += c;
    }
  }
  if (quote != 0) return std::nullopt;
  return out;
}

}  // namespace kdgat
